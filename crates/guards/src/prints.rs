//! Checksums of what pending operations send, where pages do not watch it.

use crate::PAGE;
use rapidhash::v3::rapidhash_v3;
use std::ops::Range;

/// Checksums that are kept at a time; those of later operations are not taken.
pub const MAX_PRINTS: usize = 512;

/// Where bytes lie, and so how they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// In an allocated block or a variable: it is there until that is freed, and pages in it may be
    /// closed.
    Own,
    /// On the stack of the thread that asks: it is there.
    Stack,
    /// On another stack, in a mapping of the program's own: it may be gone when it is read again.
    Elsewhere,
    /// Not to be read: perhaps a device's.
    Unknown,
}

/// Any odd number: makes the order of parts count.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Reads memory that may be gone: returns how many bytes it has read.
pub type Read = fn(usize, &mut [u8]) -> usize;

/// A part of a buffer, at most a page, with the checksum that it had.
struct Print<O> {
    operation: O,
    bytes: Range<usize>,
    sum: u64,
}

/// The checksums of pending operations.
pub struct Prints<O> {
    prints: Vec<Print<O>>,
    read: Read,
}

impl<O: Copy + PartialEq> Prints<O> {
    /// No checksums. Memory that may be gone is read by `read`.
    pub fn new(read: Read) -> Prints<O> {
        Prints { prints: Vec::with_capacity(MAX_PRINTS), read }
    }

    /// The checksum of a range; `None` if it cannot be read. What lies in memory of the program's
    /// own, or on this thread's stack, must be there, and open to this thread.
    #[inline]
    pub fn sum(&self, bytes: &Range<usize>, memory: Memory) -> Option<u64> {
        match memory {
            Memory::Own | Memory::Stack => {
                // SAFETY: the caller knows them to be there.
                let bytes =
                    unsafe { std::slice::from_raw_parts(bytes.start as *const u8, bytes.len()) };
                Some(rapidhash_v3(bytes))
            }
            Memory::Elsewhere => self.sum_of_copy(bytes),
            Memory::Unknown => None,
        }
    }

    fn sum_of_copy(&self, bytes: &Range<usize>) -> Option<u64> {
        let mut copy = [0; PAGE];
        let mut sum = 0u64;
        for start in bytes.clone().step_by(PAGE) {
            let part = &mut copy[..(bytes.end - start).min(PAGE)];
            if (self.read)(start, part) < part.len() {
                return None;
            }
            sum = rapidhash_v3(part).wrapping_add(sum.wrapping_mul(MIX));
        }
        Some(sum)
    }

    /// Takes the checksums of a part of an operation's buffer. Returns for how many bytes.
    pub fn add(&mut self, operation: O, bytes: &Range<usize>, memory: Memory) -> usize {
        let mut start = bytes.start;
        while start < bytes.end {
            let end = ((start | (PAGE - 1)) + 1).min(bytes.end);
            let part = start..end;
            let Some(sum) = self.sum(&part, memory).filter(|_| self.prints.len() < MAX_PRINTS)
            else {
                break;
            };
            self.prints.push(Print { operation, bytes: part, sum });
            start = end;
        }
        start - bytes.start
    }

    /// Keeps the checksum of a whole buffer, which was taken when the operation started.
    pub fn keep(&mut self, operation: O, bytes: Range<usize>, sum: u64) {
        if self.prints.len() < MAX_PRINTS {
            self.prints.push(Print { operation, bytes, sum });
        }
    }

    /// Whether a checksum is kept.
    pub fn is_empty(&self) -> bool {
        self.prints.is_empty()
    }

    /// From the first to the last of the parts of an operation's buffer that have changed. `lie`
    /// says where the bytes lie now; `compared` is told of each part.
    pub fn changed(
        &self,
        operation: O,
        lie: impl Fn(&Range<usize>) -> Memory,
        mut compared: impl FnMut(usize, Memory),
    ) -> Option<Range<usize>> {
        let mut changed = None::<Range<usize>>;
        for print in self.prints.iter().filter(|print| print.operation == operation) {
            let memory = lie(&print.bytes);
            compared(print.bytes.len(), memory);
            // What cannot be read any more is not known to have changed.
            if self.sum(&print.bytes, memory).is_none_or(|sum| sum == print.sum) {
                continue;
            }
            let Range { start, end } = print.bytes;
            changed = Some(match changed {
                Some(known) => known.start.min(start)..known.end.max(end),
                None => start..end,
            });
        }
        changed
    }

    /// An operation is over.
    pub fn remove(&mut self, operation: O) {
        let mut index = 0;
        while index < self.prints.len() {
            match self.prints[index].operation == operation {
                true => drop(self.prints.swap_remove(index)),
                false => index += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(bytes: &[u8]) -> Range<usize> {
        bytes.as_ptr_range().start as usize..bytes.as_ptr_range().end as usize
    }

    fn copy(from: usize, into: &mut [u8]) -> usize {
        if from < PAGE {
            return 0;
        }
        // SAFETY: only memory of the tests is passed.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, into.as_mut_ptr(), into.len()) };
        into.len()
    }

    proptest! {
        /// A change of any byte shows, wherever the memory lies, and as the page that holds it.
        #[test]
        fn any_change_shows(
            mut bytes in prop::collection::vec(any::<u8>(), 1..3 * PAGE),
            at in any::<prop::sample::Index>(),
            own in any::<bool>(),
        ) {
            let memory = if own { Memory::Own } else { Memory::Elsewhere };
            let mut prints = Prints::new(copy);
            let changed = |prints: &Prints<u32>, operation| {
                let mut all = 0;
                let changed = prints.changed(operation, |_| memory, |bytes, _| all += bytes);
                (changed, all)
            };
            let whole = of(&bytes);
            prop_assert_eq!(prints.add(1, &whole, memory), bytes.len());
            prints.keep(2, whole.clone(), prints.sum(&whole, memory).unwrap());
            prop_assert_eq!(changed(&prints, 1), (None, bytes.len()));
            prop_assert_eq!(changed(&prints, 2), (None, bytes.len()));
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            let address = whole.start + at;
            let page = address & !(PAGE - 1)..(address | (PAGE - 1)) + 1;
            let part = page.start.max(whole.start)..page.end.min(whole.end);
            prop_assert_eq!(changed(&prints, 1).0, Some(part));
            prop_assert_eq!(changed(&prints, 2).0, Some(whole));
            prop_assert_eq!(changed(&prints, 3), (None, 0));
            prints.remove(1);
            prop_assert_eq!(changed(&prints, 1), (None, 0));
            bytes[at] ^= 1;
            prop_assert_eq!(changed(&prints, 2).0, None);
        }
    }

    #[test]
    fn what_is_gone_has_not_changed() {
        let mut prints = Prints::new(copy);
        assert_eq!(prints.add(1, &(8..16), Memory::Elsewhere), 0);
        prints.keep(1, 8..16, 7);
        assert_eq!(prints.changed(1, |_| Memory::Elsewhere, |_, _| {}), None);
        let bytes = [0u8; 16];
        assert_eq!(prints.add(2, &of(&bytes), Memory::Unknown), 0);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let bytes = [0u8; 16];
        let mut prints = Prints::new(copy);
        for operation in 0..MAX_PRINTS {
            assert_eq!(prints.add(operation, &of(&bytes), Memory::Stack), 16);
        }
        assert_eq!(prints.add(MAX_PRINTS, &of(&bytes), Memory::Own), 0);
        prints.keep(MAX_PRINTS, of(&bytes), 0);
        let count = |operation| {
            let mut count = 0;
            prints.changed(operation, |_| Memory::Own, |_, _| count += 1);
            count
        };
        assert_eq!((count(0), count(MAX_PRINTS)), (1, 0));
    }
}
