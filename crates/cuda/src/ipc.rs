//! What several processes share, in segments of shared memory that all of them read: of events,
//! `cudaIpcGetEventHandle`, what their records stand for; of device memory, `cudaIpcGetMemHandle`,
//! what each does with it ([`ledger`]).
//!
//! A clock counts work of one process's streams. In a record that others read it is a list: so much
//! of the work in that slot of that process has happened before. Who reads it has a slot of its own
//! for each of these, without any work, so that clocks carry them on like others: to what is put
//! behind them, to further records, and back to the process whose work it is.
//!
//! A host that has waited for work of another process may release to that one by any means, and
//! leaves a note of it in that one's segment, which takes it as waited for by all of its own
//! threads.
//!
//! **Soundness.** Where it is not known what a record stands for, for want of room or of somebody
//! who says so, who waits for it counts as waiting for all work that its process has put into
//! streams so far.

mod ledger;

pub use ledger::SharedMemory;
pub(crate) use ledger::{Glimpse, Spot, Use};

use crate::clock::{Clock, Epoch};
use crate::order::Order;
use commsan_job_shm::shm_segments::{SegmentName, ShmSegments};
use ledger::{Ledger, Uses};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

/// Events that a process can share.
const EVENTS: usize = 128;
/// Stream slots that a record has room for.
const LANES: usize = 62;
/// Words of an event: a version, odd while it is written, how many slots follow, and these.
const EVENT: usize = 2 + 2 * LANES;
/// A record that has more slots than there is room for.
const TOO_MANY: u64 = u64::MAX;
/// Stream slots of a process whose work others can note as waited for; a word counts the notes
/// before them.
const HEARD: usize = 512;
/// Where in a segment it is written what is done with memory.
const LEDGER: usize = 1 + HEARD + EVENTS * EVENT;
/// Words of a segment.
const WORDS: usize = LEDGER + ledger::WORDS;
/// Looks at an event that somebody else is writing.
const TRIES: usize = 1000;

type Words = &'static [AtomicU64];

/// An event of some process's segment, as others find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedEvent {
    /// Its segment of shared memory.
    pub segment: u64,
    /// Which of its events.
    pub number: u64,
}

/// What is shared with other processes.
#[derive(Default)]
pub struct Ipc {
    segments: ShmSegments,
    own: Option<Own>,
    /// Where records of shared events are; nothing if nobody knows.
    events: FxHashMap<usize, Option<Words>>,
    /// Stream slots of other processes, and what they are here.
    slots: FxHashMap<(u64, u32), u32>,
}

struct Own {
    name: SegmentName,
    words: Words,
    events: usize,
    memories: u64,
    uses: Uses,
    /// Notes that were read.
    heard: u64,
}

/// What a record of an event stands for.
pub enum Recorded {
    /// Nothing: it was not recorded.
    Never,
    /// This.
    At(Clock),
    /// That is not known.
    Unknown,
}

impl Ipc {
    /// Whether anything is shared.
    pub fn is_used(&self) -> bool {
        !self.events.is_empty() || self.own.is_some()
    }

    /// Other processes may open an event. Where they find it, unless there is no room.
    pub fn export(&mut self, event: usize) -> Option<SharedEvent> {
        let place = self.own().filter(|own| own.events < EVENTS).map(|own| {
            own.events += 1;
            let number = own.events - 1;
            let shared = SharedEvent { segment: own.name.to_bits(), number: number as u64 };
            (shared, words_of(own.words, number))
        });
        self.events.insert(event, place.map(|(_, words)| words));
        place.map(|(shared, _)| shared)
    }

    /// An event of another process was opened.
    pub fn open(&mut self, event: usize, shared: Option<SharedEvent>) {
        // One's own segment is needed for what others note.
        self.own();
        let words = shared.filter(|shared| shared.number < EVENTS as u64).and_then(|shared| {
            let segment = self.read(shared.segment)?;
            Some(words_of(segment, shared.number as usize))
        });
        self.events.insert(event, words);
    }

    /// An event is no more, here.
    pub fn forget(&mut self, event: usize) {
        self.events.remove(&event);
    }

    fn own(&mut self) -> Option<&mut Own> {
        if self.own.is_none() {
            let (name, words) = self.segments.allocate(WORDS).ok()?;
            let uses = Uses::default();
            self.own = Some(Own { name, words, events: 0, memories: 0, uses, heard: 0 });
        }
        self.own.as_mut()
    }

    fn read(&mut self, segment: u64) -> Option<Words> {
        match &self.own {
            Some(own) if own.name.to_bits() == segment => Some(own.words),
            _ => self.segments.open(SegmentName::from_bits(segment), WORDS).ok(),
        }
    }

    /// A record of an event stands for this. Nothing happens if it is not shared.
    pub fn record(&mut self, event: usize, clock: &Clock) {
        let Some(Some(words)) = self.events.get(&event).copied() else { return };
        let Some(own) = self.own().map(|own| own.name.to_bits()) else { return };
        let names: FxHashMap<u32, (u64, u32)> =
            self.slots.iter().map(|(name, slot)| (*slot, *name)).collect();
        let slots = clock.epochs().map(|Epoch { agent: slot, time: number }| {
            let (segment, slot) = names.get(&slot).copied().unwrap_or((own, slot));
            [segment, u64::from(slot) << 32 | u64::from(number)]
        });
        write(words, &slots.collect::<Vec<_>>());
    }

    /// What the last record of an event stands for, whoever has made it; `None` if it is not
    /// shared.
    pub fn recorded(&mut self, event: usize, order: &mut Order) -> Option<Recorded> {
        let Some(words) = self.events.get(&event)? else { return Some(Recorded::Unknown) };
        let slots = match read(words) {
            Some(slots) if slots.is_empty() => return Some(Recorded::Never),
            Some(slots) => slots,
            None => return Some(Recorded::Unknown),
        };
        let own = self.own.as_ref().map(|own| own.name.to_bits());
        let mut clock = Clock::default();
        for [segment, epoch] in slots {
            let (slot, number) = ((epoch >> 32) as u32, epoch as u32);
            let slot = match own == Some(segment) {
                true => slot,
                false => *self.slots.entry((segment, slot)).or_insert_with(|| order.add_afar()),
            };
            clock.acquire(Epoch { agent: slot, time: number });
        }
        Some(Recorded::At(clock))
    }

    /// The host has waited for this: other processes acquire that of their work in it.
    pub fn release(&mut self, clock: &Clock) {
        let slots: Vec<_> = self.slots.iter().map(|(name, slot)| (*name, *slot)).collect();
        for ((segment, theirs), slot) in slots {
            let number = clock.time(slot);
            if number == 0 || theirs as usize >= HEARD {
                continue;
            }
            let Some(words) = self.read(segment) else { continue };
            if words[1 + theirs as usize].fetch_max(number.into(), Release) < number.into() {
                words[0].fetch_add(1, Release);
            }
        }
    }

    /// Announces that other processes may open memory of this one. Returns where they record their
    /// work on it, unless there is no space left.
    pub fn share(&mut self) -> Option<SharedMemory> {
        let own = self.own().filter(|own| Ledger::has_room(own.memories))?;
        own.memories += 1;
        Some(SharedMemory { segment: own.name.to_bits(), number: own.memories - 1 })
    }

    /// Whether memory is this process's.
    pub fn is_own(&self, memory: SharedMemory) -> bool {
        self.own.as_ref().is_some_and(|own| own.name.to_bits() == memory.segment)
    }

    /// This process has opened another one's memory, at a place.
    pub fn open_memory(&mut self, memory: SharedMemory, at: Spot) {
        let Some(own) = self.own().map(|own| own.name.to_bits()) else { return };
        if let Some(ledger) = self.ledger(memory.segment) {
            ledger.open(memory.number, own, at);
        }
    }

    /// It has closed it.
    pub fn close_memory(&mut self, memory: SharedMemory) {
        let Some(own) = self.own.as_ref().map(|own| own.name.to_bits()) else { return };
        if let Some(ledger) = self.ledger(memory.segment) {
            ledger.close(memory.number, own);
        }
    }

    /// Where others have opened memory of this process, which still have it open.
    pub fn openers(&mut self, memory: SharedMemory) -> Vec<Spot> {
        let ledger = self.ledger(memory.segment);
        let openers = ledger.into_iter().flat_map(|ledger| ledger.openers(memory.number));
        let is_alive = |segment| {
            Path::new(&format!("/proc/{}", SegmentName::from_bits(segment).process())).exists()
        };
        openers.filter(|(segment, _)| is_alive(*segment)).filter_map(|(_, spot)| spot).collect()
    }

    /// Records that concurrent work of this process may synchronise with that of others.
    pub fn signal(&mut self) {
        if let Some(own) = &self.own {
            ledger_of(own.words).signal();
        }
    }

    /// This process does something with such memory; its host has waited for it in a segment of its
    /// time, unless that is 0.
    pub fn note_use(&mut self, used: Use, done: u32) {
        if let Some(own) = &mut self.own {
            own.uses.add(used, done, ledger_of(own.words));
        }
    }

    /// The host has waited for all of this, in a segment of its time.
    pub fn complete(&mut self, clock: &Clock, segment: u32) {
        if let Some(own) = &mut self.own {
            own.uses.complete(clock, segment, ledger_of(own.words));
        }
    }

    /// What other processes do with memory and `concerns` who asks: nothing if some who have it
    /// open may order their work in ways that nobody sees. Of work that this clock comes after, and
    /// what some host has waited for that has noted it, nothing is of interest.
    pub fn uses_of_others(
        &mut self,
        memory: SharedMemory,
        clock: &Clock,
        concerns: impl Fn(&Glimpse) -> bool,
    ) -> Vec<Use> {
        let Some(own) = self.own.as_ref().map(|own| own.name.to_bits()) else { return Vec::new() };
        let Some(first) = self.ledger(memory.segment) else { return Vec::new() };
        let mut segments = vec![memory.segment, own];
        segments.extend(first.openers(memory.number).map(|(segment, _)| segment));
        segments.sort_unstable();
        segments.dedup();
        let mut found = Vec::new();
        for segment in segments {
            let Some(words) = self.read(segment) else { continue };
            let ledger = ledger_of(words);
            if ledger.signals() {
                return Vec::new();
            }
            if segment == own {
                continue;
            }
            let is_known = |epoch: Epoch| {
                let slot = self.slots.get(&(segment, epoch.agent));
                let noted =
                    words[1..=HEARD].get(epoch.agent as usize).map(|word| word.load(Acquire));
                slot.is_some_and(|slot| clock.time(*slot) >= epoch.time)
                    || noted.is_none_or(|noted| noted >= epoch.time.into())
            };
            ledger.read(
                memory,
                |glimpse| !glimpse.epoch.is_some_and(is_known) && concerns(glimpse),
                |used, _| found.push(used),
            );
        }
        found
    }

    fn ledger(&mut self, segment: u64) -> Option<Ledger> {
        self.read(segment).map(ledger_of)
    }

    /// What hosts of other processes have waited for since this was asked last.
    pub fn acquire(&mut self) -> Option<Clock> {
        let own = self.own.as_mut()?;
        let notes = own.words[0].load(Acquire);
        if notes == own.heard {
            return None;
        }
        own.heard = notes;
        let mut clock = Clock::default();
        for (slot, word) in own.words[1..=HEARD].iter().enumerate() {
            let number = word.load(Acquire) as u32;
            if number != 0 {
                clock.acquire(Epoch { agent: slot as u32, time: number });
            }
        }
        Some(clock)
    }
}

fn ledger_of(segment: Words) -> Ledger {
    Ledger(&segment[LEDGER..])
}

fn words_of(segment: Words, event: usize) -> Words {
    &segment[1 + HEARD + event * EVENT..][..EVENT]
}

/// Replaces a record. One that somebody else writes at the same time stays his.
fn write(event: Words, slots: &[[u64; 2]]) {
    for _ in 0..TRIES {
        let version = event[0].load(Acquire);
        let free = version & 1 == 0;
        if free && event[0].compare_exchange(version, version + 1, Acquire, Relaxed).is_ok() {
            fence(Release);
            let fits = slots.len() <= LANES;
            event[1].store(if fits { slots.len() as u64 } else { TOO_MANY }, Relaxed);
            if fits {
                let words = slots.iter().flatten();
                event[2..].iter().zip(words).for_each(|(to, word)| to.store(*word, Relaxed));
            }
            event[0].store(version + 2, Release);
            return;
        }
        std::hint::spin_loop();
    }
}

/// Reads a record: no slots if there is none, `None` if it keeps changing or has too many slots.
fn read(event: Words) -> Option<Vec<[u64; 2]>> {
    for _ in 0..TRIES {
        let version = event[0].load(Acquire);
        let count = event[1].load(Relaxed);
        let words = event[2..].chunks_exact(2).take(count.min(LANES as u64) as usize);
        let slots = words.map(|pair| [pair[0].load(Relaxed), pair[1].load(Relaxed)]).collect();
        fence(Acquire);
        if version & 1 == 0 && event[0].load(Relaxed) == version {
            return (count <= LANES as u64).then_some(slots);
        }
        std::hint::spin_loop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Kind;
    use crate::work::StreamName;

    struct Process {
        ipc: Ipc,
        order: Order,
    }

    impl Process {
        fn new() -> Process {
            Process { ipc: Ipc::default(), order: Order::default() }
        }

        fn stream(&mut self, handle: usize) -> u32 {
            let name = StreamName::Created { handle };
            self.order.create(name, 0, Kind::NonBlocking);
            self.order.slot(name, 0)
        }

        fn record(&mut self, event: usize, slot: u32) {
            self.order.record(event, slot, None);
            self.ipc.record(event, &self.order.event(event).unwrap().clone());
        }

        fn recorded(&mut self, event: usize) -> Option<Clock> {
            match self.ipc.recorded(event, &mut self.order) {
                Some(Recorded::At(clock)) => Some(clock),
                _ => None,
            }
        }
    }

    #[test]
    fn order_comes_back_through_another_process() {
        let (mut one, mut other) = (Process::new(), Process::new());
        let (s, t) = (one.stream(1), one.stream(2));
        let u = other.stream(1);
        let ready = one.ipc.export(10).unwrap();
        let done = one.ipc.export(11).unwrap();
        other.ipc.open(20, Some(ready));
        other.ipc.open(21, Some(done));
        assert!(matches!(other.ipc.recorded(20, &mut other.order), Some(Recorded::Never)));
        let (before, _) = one.order.enqueue(s, None);
        one.record(10, s);
        let (after, _) = one.order.enqueue(s, None);
        // Not what has not waited for it.
        other.record(21, u);
        assert!(one.recorded(11).is_none_or(|clock| !before.happens_before(&clock)));
        let ready = other.recorded(20).unwrap();
        other.order.add(u, &ready);
        other.order.enqueue(u, None);
        other.record(21, u);
        let done = one.recorded(11).unwrap();
        assert!(before.happens_before(&done) && !after.happens_before(&done));
        one.order.add(t, &done);
        assert!(before.happens_before(&one.order.of_stream(t)));
        assert!(one.ipc.acquire().is_none());
        let known = other.order.of_stream(u);
        other.ipc.release(&known);
        let heard = one.ipc.acquire().unwrap();
        assert!(before.happens_before(&heard) && !after.happens_before(&heard));
        assert!(one.ipc.acquire().is_none());
    }

    #[test]
    fn what_has_no_room_is_not_known() {
        let (mut one, mut other) = (Process::new(), Process::new());
        let slots: Vec<u32> = (0..LANES + 1).map(|handle| one.stream(handle)).collect();
        let shared = one.ipc.export(10).unwrap();
        other.ipc.open(20, Some(shared));
        for slot in slots {
            let (epoch, clock) = one.order.enqueue(slot, None);
            let mut clock = clock;
            clock.acquire(epoch);
            one.order.wait(&clock, None);
        }
        let slot = one.stream(1000);
        one.record(10, slot);
        assert!(matches!(other.ipc.recorded(20, &mut other.order), Some(Recorded::Unknown)));
        other.ipc.open(30, None);
        assert!(matches!(other.ipc.recorded(30, &mut other.order), Some(Recorded::Unknown)));
        assert!(other.ipc.recorded(40, &mut other.order).is_none());
    }
}
