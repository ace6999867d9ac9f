//! Records of intervals as bytes: what a rank appends while it runs, folds, and readers decode.
//!
//! Numbers are LEB128, times are ticks relative to the record before. A call takes six bytes or so,
//! and five more for each message.

/// Bytes that a record takes at most, but for its parts.
const HEAD: usize = 5 * 10;
/// Bytes that a part takes at most.
const PART: usize = 3 * 10;
/// Parts that are kept of one call: a record always fits in a chunk.
pub const MAX_PARTS: usize = 256;
/// Bytes that a record takes at most.
pub const MAX_RECORD: usize = HEAD + MAX_PARTS * PART;

/// What a part of a call is one of: all who take part number it alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Of {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// Messages: a position in the file's table.
    Messages(u32),
    /// Collectives: a position in the file's table.
    Collectives(u32),
}

impl Of {
    fn code(self) -> u64 {
        match self {
            Of::Nothing => 0,
            Of::Messages(at) => u64::from(at) * 2 + 1,
            Of::Collectives(at) => u64::from(at) * 2 + 2,
        }
    }

    fn of_code(code: u64) -> Result<Of, NoRecord> {
        let Some(code) = code.checked_sub(1) else { return Ok(Of::Nothing) };
        let at = u32::try_from(code / 2).map_err(|_| NoRecord)?;
        Ok(if code % 2 == 0 { Of::Messages(at) } else { Of::Collectives(at) })
    }
}

/// A message or collective that a call takes part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// What it is one of.
    pub of: Of,
    /// Its number there, from 1; both ends count alike.
    pub number: u64,
    /// Whether the call completes what another one has started.
    pub completes: bool,
    /// Its bytes at this end; 0 if the call completes it.
    pub bytes: u64,
}

/// An interval, or several that are folded into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is, a position in the file's table.
    pub shape: u32,
    /// When it begins, in ticks; of folded ones, when the first does.
    pub begin: u64,
    /// When it ends; of folded ones, when the last does.
    pub end: u64,
    /// How many there are and the ticks in all of them, if they are folded.
    pub folded: Option<(u64, u64)>,
}

/// The bytes are no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRecord;

/// Appends records to memory of a fixed size.
#[derive(Debug)]
pub struct Pen<'a> {
    bytes: &'a mut [u8],
    at: usize,
    last: u64,
}

impl<'a> Pen<'a> {
    /// Continues after `at` bytes, the last record of which has ended at `last`.
    #[inline]
    pub fn new(bytes: &'a mut [u8], at: usize, last: u64) -> Pen<'a> {
        Pen { bytes, at, last }
    }

    /// Whether a record with so many parts certainly fits.
    #[inline]
    pub fn has_room(&self, parts: usize) -> bool {
        self.bytes.len() - self.at >= HEAD + parts * PART
    }

    /// Appends a record, which has room. Returns how many bytes there are now, and the time that
    /// the next is relative to.
    #[inline]
    pub fn write(mut self, record: &Record, parts: &[Part]) -> (usize, u64) {
        self.number(u64::from(record.shape) << 1 | u64::from(record.folded.is_some()));
        let since = record.begin.wrapping_sub(self.last) as i64;
        self.number((since << 1 ^ since >> 63) as u64);
        self.number(record.end.saturating_sub(record.begin));
        match record.folded {
            Some((count, time)) => {
                self.number(count);
                self.number(time);
                self.last = record.begin;
            }
            None => {
                self.number(parts.len() as u64);
                for part in parts {
                    self.number(part.of.code() << 1 | u64::from(part.completes));
                    self.number(part.number);
                    if !part.completes {
                        self.number(part.bytes);
                    }
                }
                self.last = record.end.max(record.begin);
            }
        }
        (self.at, self.last)
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes[self.at] = number as u8 | 0x80;
            self.at += 1;
            number >>= 7;
        }
        self.bytes[self.at] = number as u8;
        self.at += 1;
    }
}

/// Reads the records of a chunk.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    last: u64,
}

impl<'a> Records<'a> {
    /// Those of a chunk that begins at `base`.
    pub fn new(bytes: &'a [u8], base: u64) -> Records<'a> {
        Records { bytes, last: base }
    }

    /// The next record, with its parts.
    ///
    /// # Errors
    /// If the bytes are no records.
    #[inline]
    pub fn next(&mut self, parts: &mut Vec<Part>) -> Result<Option<Record>, NoRecord> {
        parts.clear();
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let shape = self.number()?;
        let (is_folded, shape) = (shape & 1 != 0, u32::try_from(shape >> 1));
        let since = self.number()?;
        let begin = self.last.wrapping_add((since >> 1) ^ (since & 1).wrapping_neg());
        let end = begin.checked_add(self.number()?).ok_or(NoRecord)?;
        let mut folded = None;
        if is_folded {
            folded = Some((self.number()?, self.number()?));
            self.last = begin;
        } else {
            let number = self.number()?;
            if number > MAX_PARTS as u64 {
                return Err(NoRecord);
            }
            for _ in 0..number {
                let of = self.number()?;
                let (completes, of) = (of & 1 != 0, Of::of_code(of >> 1)?);
                let number = self.number()?;
                let bytes = if completes { 0 } else { self.number()? };
                parts.push(Part { of, number, completes, bytes });
            }
            self.last = end;
        }
        Ok(Some(Record { shape: shape.map_err(|_| NoRecord)?, begin, end, folded }))
    }

    #[inline]
    fn number(&mut self) -> Result<u64, NoRecord> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first().ok_or(NoRecord)?;
            self.bytes = rest;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(NoRecord);
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(NoRecord)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record() -> impl Strategy<Value = (Record, Vec<Part>)> {
        let time = 0..u64::MAX >> 1;
        let folded = prop::option::of((any::<u64>(), any::<u64>()));
        let of = prop_oneof![
            Just(Of::Nothing),
            any::<u32>().prop_map(Of::Messages),
            any::<u32>().prop_map(Of::Collectives),
        ];
        let part = (of, any::<u64>(), any::<bool>(), any::<u64>()).prop_map(
            |(of, number, completes, bytes)| {
                let bytes = if completes { 0 } else { bytes };
                Part { of, number, completes, bytes }
            },
        );
        let parts = prop::collection::vec(part, 0..4);
        (0..u32::MAX >> 1, time.clone(), time, folded, parts).prop_map(
            |(shape, begin, lasts, folded, parts)| {
                let parts = if folded.is_some() { Vec::new() } else { parts };
                (Record { shape, begin, end: begin + lasts, folded }, parts)
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(all in prop::collection::vec(record(), 0..40)) {
            let mut bytes = vec![0; 1 << 16];
            let (mut at, mut last) = (0, 7);
            for (record, parts) in &all {
                let pen = Pen::new(&mut bytes, at, last);
                prop_assert!(pen.has_room(parts.len()));
                (at, last) = pen.write(record, parts);
            }
            let mut records = Records::new(&bytes[..at], 7);
            let mut parts = vec![];
            for (record, expected) in &all {
                prop_assert_eq!(records.next(&mut parts), Ok(Some(*record)));
                prop_assert_eq!(&parts, expected);
            }
            prop_assert_eq!(records.next(&mut parts), Ok(None));
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (mut records, mut parts) = (Records::new(&bytes, 0), vec![]);
            while let Ok(Some(_)) = records.next(&mut parts) {}
        }
    }

    #[test]
    fn the_largest_record_has_room() {
        let mut bytes = vec![0; MAX_RECORD];
        let of = Of::Collectives(u32::MAX);
        let part = Part { of, number: u64::MAX, completes: false, bytes: u64::MAX };
        let record = Record { shape: u32::MAX >> 1, begin: 0, end: u64::MAX, folded: None };
        let pen = Pen::new(&mut bytes, 0, u64::MAX);
        assert!(pen.has_room(MAX_PARTS) && !pen.has_room(MAX_PARTS + 1));
        pen.write(&record, &[part; MAX_PARTS]);
    }
}
