//! A call in pairs that cannot be read: whatever stands in it is text, up to its closing marker.

use super::Tags;
use crate::cursor::{Cursor, Look};
use crate::format::{Body, Format};

/// How far the walk is in such a call.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// The format of which a call may stand here that was refused.
    of: Option<(&'static Format, &'static Tags)>,
    /// Whether one of its pairs has begun, so that it was meant as a call.
    is_inside: bool,
    /// Opening markers in it whose closing ones have not come.
    markers: usize,
    /// Values that are open.
    values: usize,
}

impl Refused {
    /// A call of this format may begin here that cannot be read.
    pub(crate) fn refuse(&mut self, format: &'static Format) {
        if let Body::Pairs(tags) = format.body
            && !self.is_inside
        {
            self.of = Some((format, tags));
        }
    }

    /// Whether a call that began here would be content of the broken one.
    pub(crate) fn is_inside(&self) -> bool {
        self.is_inside
    }

    /// Goes on over a tag; its length if it belongs to the broken call.
    pub(crate) fn see(&mut self, cursor: &Cursor<'_>) -> Look<Option<usize>> {
        let Some((format, tags)) = self.of else {
            return Ok(None);
        };
        if cursor.sees(tags.value[0])? {
            self.is_inside = true;
            self.values += 1;
            return Ok(Some(tags.value[0].len()));
        }
        if cursor.sees(tags.key[0])? {
            self.is_inside = true;
            return Ok(Some(tags.key[0].len()));
        }
        if self.values > 0 {
            let mut behind = *cursor;
            if !behind.eat(tags.value[1])? {
                return Ok(None);
            }
            if self.values > 1 || super::ends_value(behind, tags, format.open, format.close)? {
                self.values -= 1;
            }
            return Ok(Some(tags.value[1].len()));
        }
        if self.is_inside
            && let Some(marker) = cursor.sees_any(format.open)?
        {
            self.markers += 1;
            return Ok(Some(marker.len()));
        }
        if let Some(marker) = cursor.sees_any(format.close)? {
            if self.markers > 0 {
                self.markers -= 1;
                return Ok(Some(marker.len()));
            }
            *self = Self::default();
        }
        Ok(None)
    }
}
