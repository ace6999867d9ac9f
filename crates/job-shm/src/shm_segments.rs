//! Memory of one process that others on the node read, taken and given back again and again.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::AtomicU64;

/// What identifies a sheet on the node: a process, and a file of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentName(u64);

impl SegmentName {
    fn new(process: u32, file: RawFd) -> SegmentName {
        SegmentName(u64::from(process) << 32 | u64::from(file as u32))
    }

    /// As a number.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Back from [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u64) -> SegmentName {
        SegmentName(bits)
    }

    /// The process.
    pub fn process(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn path(self) -> String {
        format!("/proc/{}/fd/{}", self.process(), self.0 as u32)
    }
}

/// The sheets that this process has made or read. None is ever unmapped: those that are given back are
/// empty, and taken again.
#[derive(Default)]
pub struct ShmSegments {
    own: Vec<Own>,
    others: Vec<(SegmentName, &'static [AtomicU64])>,
}

struct Own {
    name: SegmentName,
    words: &'static [AtomicU64],
    lent: bool,
}

impl ShmSegments {
    /// A sheet of so many words, all zero.
    pub fn allocate(&mut self, words: usize) -> io::Result<(SegmentName, &'static [AtomicU64])> {
        let fits = |own: &&mut Own| !own.lent && own.words.len() >= words;
        if let Some(own) = self.own.iter_mut().filter(fits).min_by_key(|own| own.words.len()) {
            own.lent = true;
            return Ok((own.name, own.words));
        }
        // SAFETY: a system call; the name only shows in /proc.
        let raw = unsafe { libc::memfd_create(c"commsan".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and owned by nobody else.
        let file = unsafe { File::from_raw_fd(raw) };
        file.set_len(8 * words as u64)?;
        let words = map(&file, words)?;
        let name = SegmentName::new(std::process::id(), file.as_raw_fd());
        // Others may come late.
        std::mem::forget(file);
        self.own.push(Own { name, words, lent: true });
        Ok((name, words))
    }

    /// Nobody needs what is in a sheet any more. Who still reads it should look whether it has changed hands.
    pub fn release(&mut self, name: SegmentName) {
        if let Some(own) = self.own.iter_mut().find(|own| own.name == name) {
            let (start, size) = (own.words.as_ptr().cast_mut(), size_of_val(own.words));
            // SAFETY: a mapping of this process's; readers of atomics see zeros from now on.
            own.lent = unsafe { libc::madvise(start.cast(), size, libc::MADV_REMOVE) } != 0;
        }
    }

    /// A sheet that another process has taken.
    pub fn open(&mut self, name: SegmentName, words: usize) -> io::Result<&'static [AtomicU64]> {
        if let Some((_, known)) = self.others.iter().find(|(known, _)| *known == name) {
            return Ok(known);
        }
        let file = open(&name.path())?;
        let size = file.metadata()?.len() as usize / 8;
        if size < words {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another sheet"));
        }
        let words = map(&file, size)?;
        self.others.push((name, words));
        Ok(words)
    }
}

/// Opens memory of another process by its path below `/proc`, and nothing else: the process may be gone, and another
/// one have its number.
pub(crate) fn open(path: &str) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let target = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    match target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:commsan") {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "not memory of commsan")),
    }
}

/// Maps so many words of a file for as long as the process lives.
pub(crate) fn map(file: &File, words: usize) -> io::Result<&'static [AtomicU64]> {
    // SAFETY: a new mapping of an open file.
    let base = unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let kind = kind | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), 8 * words, access, kind, file.as_raw_fd(), 0)
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as long as the file, zeroed or written by atomics, page-aligned, and never unmapped; all access
    // is by atomics.
    Ok(unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), words) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn files_of_others_are_left_alone() {
        let path = std::env::temp_dir().join(format!("commsan-sheet-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.unwrap();
        file.set_len(8 * 1000).unwrap();
        let name = SegmentName::new(std::process::id(), file.as_raw_fd());
        let read = ShmSegments::default().open(name, 1000);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn sheets_are_read_by_name_and_taken_again_empty() {
        let (mut mine, mut theirs) = (ShmSegments::default(), ShmSegments::default());
        let (name, words) = mine.allocate(1000).unwrap();
        words[999].store(7, Relaxed);
        let seen = theirs.open(SegmentName::from_bits(name.to_bits()), 1000).unwrap();
        assert_eq!(seen[999].load(Relaxed), 7);
        let (other, _) = mine.allocate(10).unwrap();
        assert_ne!(other, name);
        assert!(theirs.open(other, 11).is_err());
        mine.release(name);
        assert_eq!(seen[999].load(Relaxed), 0);
        assert_eq!(mine.allocate(900).unwrap().0, name);
    }
}
