//! The file of the audit log: whole lines, appended; rotated by size.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where lines go.
pub(super) trait Sink: Send {
    /// Writes a line that has its end of line, whole or not at all if that is possible.
    fn line(&mut self, line: &[u8]) -> io::Result<()>;

    /// Brings what was written so far to the disk, if that was asked for.
    fn sync(&mut self) -> io::Result<()>;
}

/// How the file is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileOptions {
    /// Bytes from which on the next line goes into a new file.
    pub(super) rotate_at: u64,
    /// Full files that are kept.
    pub(super) keep: u32,
    /// Whether every batch is brought to the disk.
    pub(super) sync: bool,
}

/// A file of lines.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    options: FileOptions,
    file: File,
    size: u64,
    /// The last line has no end: a process died, or the disk was full.
    torn: bool,
}

impl LogFile {
    /// Opens the file for appending. Fails if another writer has it open.
    pub(super) fn open(path: &Path, options: FileOptions) -> io::Result<Self> {
        let (file, size, torn) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            options,
            file,
            size,
            torn,
        })
    }

    /// `log` becomes `log.1`, `log.1` becomes `log.2`, the oldest goes.
    fn rotate(&mut self) -> io::Result<()> {
        // Without a file to move away the older ones stay where they are.
        if self.path.exists() {
            self.shift()?;
        }
        (self.file, self.size, self.torn) = open(&self.path)?;
        Ok(())
    }

    fn shift(&self) -> io::Result<()> {
        for number in (1..self.options.keep).rev() {
            let from = numbered(&self.path, number);
            if from.exists() {
                std::fs::rename(from, numbered(&self.path, number + 1))?;
            }
        }
        if self.options.keep == 0 {
            std::fs::remove_file(&self.path)?;
        } else {
            std::fs::rename(&self.path, numbered(&self.path, 1))?;
        }
        Ok(())
    }
}

impl Sink for LogFile {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let length = line.len() as u64;
        if self.size > 0 && self.size.saturating_add(length) > self.options.rotate_at {
            // A file that cannot be moved away is better too long than not written.
            if let Err(error) = self.rotate() {
                tracing::warn!(%error, "the audit log could not be rotated");
            }
        }
        if self.torn {
            self.file.write_all(b"\n")?;
            self.size += 1;
            self.torn = false;
        }
        let mut rest = line;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.size += written as u64;
                    rest = rest.get(written..).unwrap_or_default();
                    self.torn = !rest.is_empty();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.options.sync {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// Opens a file for appending and looks at its end.
fn open(path: &Path) -> io::Result<(File, u64, bool)> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .read(true)
        .open(path)?;
    match file.try_lock() {
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another writer has it open; give every process its own file",
            ));
        }
    }
    let size = file.metadata()?.len();
    let mut last = [b'\n'];
    if size > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok((file, size, last != [b'\n']))
}

/// `log.jsonl` as `log.jsonl.3`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}
