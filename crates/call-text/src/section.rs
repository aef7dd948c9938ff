//! A stretch of calls: markers, one call after another, closing markers.

use crate::cursor::{Cursor, Look, Stop};
use crate::format::{Body, Format};
use crate::named::eat_fence;
use crate::printed::Printed;
use crate::tools::Context;

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
