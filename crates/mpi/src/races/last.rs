//! Message races in memory: messages received from any rank that have replaced others, unread, and
//! how the program uses them.
//!
//! **Soundness.** The two messages could have arrived in the other order, since this rank informed
//! no other rank in between. A use is reported where the two differ in the bytes that the program
//! reads, until it reads the status, which reveals the sender. Only the first bytes of messages are
//! compared.

use commsan_callsite::Site;
use commsan_shadow::{Access, Footprint, Live, Mode, OpId, Pages};
use std::ops::{ControlFlow, Range};

/// Bytes kept of each message, to be compared with those of another.
pub(crate) const KEPT: usize = 64;
/// Messages that are followed, and uses that are reported, at most.
const MAX_LASTS: usize = 16;

/// The first bytes of a message, and where they were put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub address: usize,
    pub bytes: [u8; KEPT],
    pub length: usize,
}

impl Content {
    /// What is known of this part.
    fn part(&self, bytes: &Range<usize>) -> Option<&[u8]> {
        let start = bytes.start.checked_sub(self.address)?;
        self.bytes[..self.length].get(start..bytes.end.checked_sub(self.address)?)
    }
}

/// A message that was received from any rank.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    /// Where it was received.
    pub by: Site,
    pub sender: u32,
    pub content: Content,
}

/// A message that has replaced another one.
pub(crate) struct Replacing {
    /// The communicator's name.
    pub comm: u64,
    pub first: Message,
    pub last: Message,
}

/// The effect of an access to memory.
#[derive(Default)]
pub(crate) struct Seen {
    /// A message that has replaced another one is used; uses are numbered as they are found.
    pub used: Option<(u32, Replacing)>,
    /// From now on the program may know the sender of the message whose use has this number.
    pub known: Option<u32>,
    /// The program has looked at the status of the last probe.
    pub looked: bool,
}

enum State {
    /// The program has not read it.
    Unseen(Box<Replacing>),
    /// The program has read the message, but not its status.
    Used(u32),
}

/// All messages that have replaced others.
pub(crate) struct Lasts {
    watched: Live<()>,
    all: Vec<(OpId, Option<Range<usize>>, State)>,
    /// Addresses of reported uses, and of the last receive before.
    reported: Vec<(usize, usize)>,
}

impl Lasts {
    pub fn watching(pages: Option<Pages>) -> Lasts {
        let watched = pages.map_or_else(Live::unmarked, Live::new);
        Lasts { watched, all: Vec::new(), reported: Vec::new() }
    }

    pub fn ranges(&self) -> usize {
        self.watched.ranges()
    }

    /// A message has replaced another one; the program may find out its sender from the status.
    pub fn push(&mut self, replacing: Replacing, status: Option<Range<usize>>) {
        if self.all.len() == MAX_LASTS {
            self.remove(0);
        }
        let Content { address, length, .. } = replacing.last.content;
        let ranges = [Some(address..address + length), status.clone()];
        let id = self.watched.begin(&mut ranges.map(watch), ());
        self.all.push((id, status, State::Unseen(Box::new(replacing))));
    }

    /// The program, or a call for it, accesses memory at a place.
    pub fn touched(&mut self, access: &Access, pc: usize) -> Seen {
        let mut seen = Seen::default();
        let mut met = None;
        let _ = self.watched.conflicts(access.mode, &access.footprint, |id, _, _| {
            met = Some(id);
            ControlFlow::Break(())
        });
        let Some(at) = met.and_then(|id| self.all.iter().rposition(|(other, ..)| *other == id))
        else {
            return seen;
        };
        let (status, state) = self.remove(at);
        match state {
            State::Used(number) => seen.known = Some(number),
            State::Unseen(replacing) if differs(&replacing, access) => {
                let place = (pc, replacing.last.by.pc);
                if self.reported.len() < MAX_LASTS && !self.reported.contains(&place) {
                    let number = self.reported.len() as u32;
                    self.reported.push(place);
                    let id = self.watched.begin(&mut [watch(status.clone())], ());
                    self.all.push((id, status, State::Used(number)));
                    seen.used = Some((number, *replacing));
                }
            }
            State::Unseen(_) => {}
        }
        seen
    }

    /// Stops following messages.
    pub fn clear(&mut self) {
        while !self.all.is_empty() {
            self.remove(0);
        }
    }

    fn remove(&mut self, at: usize) -> (Option<Range<usize>>, State) {
        let (id, status, state) = self.all.remove(at);
        self.watched.end(id);
        (status, state)
    }
}

fn watch(bytes: Option<Range<usize>>) -> Option<Access> {
    Some(Access { mode: Mode::Write, footprint: Footprint::Dense(bytes?) })
}

/// Whether the access reads bytes in which the two messages differ.
fn differs(replacing: &Replacing, access: &Access) -> bool {
    let (Mode::Read, Footprint::Dense(bytes)) = (access.mode, &access.footprint) else {
        return false;
    };
    let (first, last) = (&replacing.first.content, &replacing.last.content);
    first.part(bytes).zip(last.part(bytes)).is_some_and(|(first, last)| first != last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;

    fn message(sender: u32, text: &str) -> Message {
        let by = Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: 5, remote: None };
        let mut bytes = [0; KEPT];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Message { by, sender, content: Content { address: 1000, bytes, length: text.len() } }
    }

    fn look(bytes: Range<usize>) -> Access {
        Access { mode: Mode::Read, footprint: Footprint::Dense(bytes) }
    }

    fn after(accesses: &[Access]) -> Vec<(Option<u32>, Option<u32>)> {
        let mut lasts = Lasts::watching(None);
        let (first, last) = (message(1, "same, one"), message(2, "same, two"));
        lasts.push(Replacing { comm: 3, first, last }, Some(2000..2024));
        let read = |access| {
            let Seen { used, known, .. } = lasts.touched(access, 7);
            (used.map(|(number, _)| number), known)
        };
        accesses.iter().map(read).collect()
    }

    #[test]
    fn what_differs_is_told_until_the_status_is_seen() {
        let nothing = (None, None);
        assert_eq!(after(&[look(1006..1007)]), [(Some(0), None)]);
        assert_eq!(after(&[look(1000..1004), look(1006..1007)]), [nothing, nothing]);
        assert_eq!(after(&[look(900..1000), look(1006..1007)]), [nothing, (Some(0), None)]);
        assert_eq!(after(&[look(2000..2004), look(1006..1007)]), [nothing, nothing]);
        assert_eq!(
            after(&[look(1006..1009), look(1006..1009), look(2008..2012)]),
            [(Some(0), None), nothing, (None, Some(0))]
        );
        let written = Access { mode: Mode::Write, ..look(1006..1007) };
        assert_eq!(after(&[written, look(1006..1007)]), [nothing, nothing]);
    }
}
