//! Appends records to a rank's log from inside the rank.
//!
//! The caller owns the buffer, because this runs inside MPI calls and signal handlers of
//! somebody else's program: nothing here allocates, and a line reaches the file by one `write`,
//! so that lines of a killed rank are whole or missing.

use crate::Record;
use std::io::{self, Write};

/// Encodes `record` as one line, newline included, at the start of `buffer`.
///
/// # Errors
/// [`TooLong`] holds the size that the buffer would have needed; `buffer` then holds no record.
pub fn encode<'b>(record: &Record<'_>, buffer: &'b mut [u8]) -> Result<&'b [u8], TooLong> {
    let available = buffer.len();
    let mut line = Line { buffer, needed: 0 };
    // `Line` accepts every write and records hold only strings, numbers and arrays, so there is
    // nothing to fail; an error value of serde_json would have been allocated.
    let encoded = serde_json::to_writer(&mut line, record).is_ok();
    let _ = line.write_all(b"\n");
    let needed = line.needed;
    if encoded && needed <= available { Ok(&buffer[..needed]) } else { Err(TooLong { needed }) }
}

/// Appends `record` to `log` as one line by one write; `buffer` is scratch space.
///
/// # Errors
/// [`AppendError`] when the record does not fit the buffer or the file does not take it.
pub fn append(
    log: &mut impl Write,
    record: &Record<'_>,
    buffer: &mut [u8],
) -> Result<(), AppendError> {
    let line = encode(record, buffer).map_err(AppendError::TooLong)?;
    let written = loop {
        match log.write(line) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result.map_err(AppendError::Io)?,
        }
    };
    if written < line.len() {
        // Ends the fragment, so that a later record does not become part of it.
        let _ = log.write(b"\n");
        return Err(AppendError::Short { written, length: line.len() });
    }
    Ok(())
}

/// Counts what does not fit instead of failing: see [`encode`].
struct Line<'b> {
    buffer: &'b mut [u8],
    needed: usize,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.needed + bytes.len();
        if let Some(room) = self.buffer.get_mut(self.needed..end) {
            room.copy_from_slice(bytes);
        }
        self.needed = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A record does not fit the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Size in bytes that the buffer would have needed.
    pub needed: usize,
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the record needs a buffer of {} bytes", self.needed)
    }
}

impl std::error::Error for TooLong {}

/// Why a record was not appended.
#[derive(Debug)]
pub enum AppendError {
    /// It does not fit the buffer; nothing was written.
    TooLong(TooLong),
    /// The file refused it; nothing was written.
    Io(io::Error),
    /// The file took a part only, as full disks do.
    Short {
        /// Bytes that reached the file.
        written: usize,
        /// Bytes of the whole line.
        length: usize,
    },
}

impl std::fmt::Display for AppendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AppendError::TooLong(error) => error.fmt(f),
            AppendError::Io(error) => error.fmt(f),
            AppendError::Short { written, length } => {
                write!(f, "only {written} of {length} bytes were written: is the disk full?")
            }
        }
    }
}

impl std::error::Error for AppendError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{End, Ending};

    const END: Record<'_> = Record::End(End { how: Ending::Finalized, dropped: 0 });
    const END_LINE: &[u8] = b"{\"t\":\"end\",\"how\":\"finalized\",\"dropped\":0}\n";

    #[test]
    fn a_line_fills_its_buffer_exactly_or_is_refused() {
        let mut buffer = [0; END_LINE.len()];
        assert_eq!(encode(&END, &mut buffer), Ok(END_LINE));
        let needed = END_LINE.len();
        assert_eq!(encode(&END, &mut buffer[..needed - 1]), Err(TooLong { needed }));
        assert_eq!(encode(&END, &mut []), Err(TooLong { needed }));
    }

    /// Takes `room` bytes, then a newline at most.
    struct FullDisk {
        room: usize,
        content: Vec<u8>,
    }

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = if bytes == b"\n" { 1 } else { bytes.len().min(self.room) };
            self.content.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_ends_the_line() {
        let mut disk = FullDisk { room: 10, content: Vec::new() };
        let result = append(&mut disk, &END, &mut [0; 100]);
        assert!(matches!(result, Err(AppendError::Short { written: 10, .. })), "{result:?}");
        assert_eq!(disk.content, b"{\"t\":\"end\"\n");
    }
}
