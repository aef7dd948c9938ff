//! Input as batches of lines, in bounded memory.

use std::io::{self, ErrorKind, Read};

/// Most bytes that one read takes.
const READ_BYTES: usize = 64 << 10;
/// Most lines of a batch: few, so that lines of very different cost spread over the cores.
const BATCH_LINES: usize = 16;
/// How much of a line that is too long is kept: enough to find its id.
const BEGINNING_BYTES: usize = 64 << 10;

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// The beginning of a line that is longer than the limit.
    TooLong(Vec<u8>),
}

impl Line {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) | Self::TooLong(bytes) => bytes,
        }
    }

    fn is_blank(&self) -> bool {
        self.bytes().iter().all(u8::is_ascii_whitespace)
    }
}

/// Cuts an input into lines. It hands out what one read brought before it reads again, so that a
/// dialogue gets each answer before its next line.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    /// What one read brought, and how much of it is used up.
    chunk: Vec<u8>,
    used: usize,
    filled: usize,
    /// The line that has begun, as far as it is kept, and whether it is too long.
    begun: Vec<u8>,
    is_too_long: bool,
    is_first: bool,
}

impl<R: Read> Lines<R> {
    /// `limit` is the longest line, in bytes.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            limit,
            chunk: vec![0; READ_BYTES],
            used: 0,
            filled: 0,
            begun: Vec::new(),
            is_too_long: false,
            is_first: true,
        }
    }

    /// The next lines, at least one; `None` at the end. Blank lines are none.
    pub(crate) fn next_batch(&mut self) -> io::Result<Option<Vec<Line>>> {
        let mut batch = Vec::new();
        loop {
            while let Some(line) = self.next_in_chunk() {
                batch.extend(Some(line).filter(|line| !line.is_blank()));
                if batch.len() == BATCH_LINES {
                    return Ok(Some(batch));
                }
            }
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
            if !self.fill()? {
                let last = self.end_line();
                return Ok((!last.is_blank()).then(|| vec![last]));
            }
        }
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.used = 0;
        self.filled = 0;
        loop {
            match self.input.read(&mut self.chunk) {
                Ok(count) => {
                    self.filled = count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next line that ends in the chunk; what is left of the chunk begins the one after.
    fn next_in_chunk(&mut self) -> Option<Line> {
        let rest = self.chunk.get(self.used..self.filled).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n');
        let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.is_too_long |= self.begun.len() + part.len() > self.limit;
        if self.is_too_long {
            self.begun.truncate(BEGINNING_BYTES);
            self.begun.shrink_to_fit();
        }
        let room = if self.is_too_long {
            BEGINNING_BYTES.saturating_sub(self.begun.len())
        } else {
            part.len()
        };
        self.begun
            .extend_from_slice(part.get(..room).unwrap_or(part));
        self.used += part.len() + usize::from(end.is_some());
        end.map(|_| self.end_line())
    }

    fn end_line(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.is_first) && line.starts_with("\u{FEFF}".as_bytes()) {
            line.drain(.."\u{FEFF}".len());
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if std::mem::take(&mut self.is_too_long) {
            Line::TooLong(line)
        } else {
            Line::Whole(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its parts one a read.
    struct Parts(Vec<Vec<u8>>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0);
            buffer[..part.len()].copy_from_slice(&part);
            Ok(part.len())
        }
    }

    fn batches(parts: &[&str], limit: usize) -> Vec<Vec<String>> {
        let parts = parts.iter().map(|part| part.as_bytes().to_vec()).collect();
        let mut lines = Lines::new(Parts(parts), limit);
        let mut batches = Vec::new();
        while let Some(batch) = lines.next_batch().unwrap() {
            let show = |line: &Line| {
                let text = String::from_utf8_lossy(line.bytes()).into_owned();
                match line {
                    Line::Whole(_) => text,
                    Line::TooLong(_) => format!("{text}…"),
                }
            };
            batches.push(batch.iter().map(show).collect());
        }
        batches
    }

    #[test]
    fn lines_come_with_the_read_that_ends_them() {
        for (parts, want) in [
            (
                &["a\nb\n", "c\n"] as &[&str],
                &[&["a", "b"] as &[&str], &["c"]] as &[&[&str]],
            ),
            (&["a\nb", "c\nd"], &[&["a"], &["bc"], &["d"]]),
            (
                &["\u{FEFF}a\r\n\n  \r\n\u{FEFF}b\n"],
                &[&["a", "\u{FEFF}b"]],
            ),
            (
                &["123456\n12345", "6\n12345\n", "1234567"],
                &[&["123456…"], &["123456…", "12345"], &["1234567…"]],
            ),
            (&["\n\n"], &[]),
            (&[], &[]),
        ] {
            assert_eq!(batches(parts, 5), want, "{parts:?}");
        }
    }

    #[test]
    fn a_line_that_never_ends_is_not_kept() {
        let mut lines = Lines::new(io::repeat(b'x').take(10 << 20), 1 << 20);
        let batch = lines.next_batch().unwrap().unwrap();
        assert_eq!(batch, [Line::TooLong(vec![b'x'; BEGINNING_BYTES])]);
        assert!(lines.next_batch().unwrap().is_none());
    }

    #[test]
    fn batches_are_small() {
        let many = "x\n".repeat(1000);
        assert!(
            batches(&[&many], 5)
                .iter()
                .all(|batch| batch.len() <= BATCH_LINES)
        );
    }
}
