//! Files of whole lines: appended to, rotated by size, sound after a crash.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A log file with its predecessors `NAME.1` (the latest), `NAME.2`, ….
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: File,
    size: u64,
    /// From how many bytes on the file is put aside.
    rotate_at: u64,
    /// How many predecessors are kept.
    keep: u32,
    /// The last write failed, and may have left half a line.
    is_torn: bool,
}

impl Lines {
    /// Opens a file for appending. A last line that a crash left incomplete is ended, so that the
    /// next one stands by itself.
    pub(super) fn open(path: &Path, rotate_at: u64, keep: u32) -> io::Result<Self> {
        let (file, size) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            size,
            rotate_at,
            keep,
            is_torn: false,
        })
    }

    /// Appends complete lines in one write.
    pub(super) fn append(&mut self, lines: &str) -> io::Result<()> {
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(length) > self.rotate_at {
            self.rotate()?;
        }
        if self.is_torn {
            self.file.write_all(b"\n")?;
        }
        self.is_torn = true;
        self.file.write_all(lines.as_bytes())?;
        self.is_torn = false;
        self.size = self.size.saturating_add(length);
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        for number in (1..self.keep).rev() {
            let from = self.predecessor(number);
            if from.exists() {
                std::fs::rename(from, self.predecessor(number + 1))?;
            }
        }
        if self.keep > 0 {
            std::fs::rename(&self.path, self.predecessor(1))?;
        } else {
            std::fs::remove_file(&self.path)?;
        }
        (self.file, self.size) = open(&self.path)?;
        Ok(())
    }

    fn predecessor(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let mut size = file.metadata()?.len();
    if size > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            size += 1;
        }
    }
    Ok((file, size))
}
