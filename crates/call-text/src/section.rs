//! A stretch of calls: markers, one call after another, closing markers.

use crate::cursor::{Cursor, Look, Stop};
use crate::format::{BARE_TAGS, Body, Format};
use crate::named::eat_fence;
use crate::printed::Printed;
use crate::tools::Context;
use crate::{tags, trigger};

/// How many opening markers are read in a row: of more, the last ones open the call.
const MAX_MARKERS: usize = 8;

/// Calls that were read, and how many bytes they and their markers take.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) calls: Vec<Printed>,
    pub(crate) length: usize,
}

/// What follows calls.
#[derive(Debug)]
pub(crate) enum Next {
    Calls(Found),
    /// No more calls; so many bytes of closing markers.
    Over(usize),
}

/// Reads the first calls of a stretch, whose markers begin at the cursor.
pub(crate) fn begin(format: &Format, mut cursor: Cursor<'_>, context: Context<'_>) -> Look<Found> {
    read(format, &mut cursor, context)
}

fn read(format: &Format, cursor: &mut Cursor<'_>, context: Context<'_>) -> Look<Found> {
    // The markers of harmony are part of the header.
    if !matches!(format.body, Body::Harmony) {
        for _ in 0..MAX_MARKERS {
            if !cursor.eat_any(format.open)? {
                break;
            }
            cursor.skip_space();
        }
    }
    if eat_fence(cursor)? {
        cursor.skip_space();
        if !format.is_marked()
            && !context.is_expected()
            && let Some(found) = inside_fence(*cursor, context)?
        {
            cursor.at = found.length;
            return Ok(found);
        }
    }
    let calls = format.read(cursor, context)?;
    Ok(Found {
        calls,
        length: cursor.at,
    })
}

/// Goes on behind calls: closing markers and further calls.
pub(crate) fn go_on(format: &Format, mut cursor: Cursor<'_>, context: Context<'_>) -> Look<Next> {
    let mut closed = 0;
    loop {
        skip_between(&mut cursor)?;
        let Some(marker) = cursor.sees_any(format.close)? else {
            break;
        };
        cursor.at += marker.len();
        closed = cursor.at;
        // Another fence may begin behind a fence.
        if marker == "```" {
            break;
        }
    }
    match read(format, &mut cursor, context) {
        Ok(found) => Ok(Next::Calls(found)),
        Err(Stop::More) => Err(Stop::More),
        Err(Stop::Not) => Ok(Next::Over(closed)),
    }
}

/// Calls with markers of their own in a fence that is the whole reply.
fn inside_fence(cursor: Cursor<'_>, context: Context<'_>) -> Look<Option<Found>> {
    let rest = cursor.rest();
    let marked = trigger::formats_at(rest).filter(|format| {
        let mut markers = format.open.iter();
        markers.any(|marker| rest.starts_with(marker))
    });
    let tags = tags::may_open_call(rest).then_some(&BARE_TAGS);
    for format in marked.chain(tags) {
        let mut found = match begin(format, cursor, context) {
            Ok(found) => found,
            Err(Stop::Not) => continue,
            Err(Stop::More) => return Err(Stop::More),
        };
        let mut behind = cursor;
        loop {
            behind.at = found.length;
            match go_on(format, behind, context)? {
                Next::Calls(more) => {
                    found.calls.extend(more.calls);
                    found.length = more.length;
                }
                Next::Over(closed) => {
                    found.length = found.length.max(closed);
                    return Ok(Some(found));
                }
            }
        }
    }
    if trigger::may_become_marker(rest) && !cursor.is_end {
        return Err(Stop::More);
    }
    Ok(None)
}

/// White space, commas and semicolons.
pub(crate) fn skip_between(cursor: &mut Cursor<'_>) -> Look<()> {
    loop {
        cursor.skip_space();
        if !matches!(cursor.peek_or_end()?, b',' | b';') {
            return Ok(());
        }
        cursor.at += 1;
    }
}
