//! Access callbacks.
//!
//! Telling what kernels access, to who checks the program.
//!
//! A launch carries the tag that its thread has set before ([`crate::thread::set_tag`]). In a
//! graph, a kernel has the tag of the call that made its node, captured or added; a launch of the
//! graph adds its own tag to it, so that who leaves the upper bits of one and the lower bits of the
//! other free knows node and launch. What carries no tag, and what nobody wants, runs as ever.
//!
//! **When, and under which locks.** [`Wants`] is called when the kernel begins, [`Touched`] while
//! it runs, before it counts as complete: nobody who waits for it goes on before all is told. Both
//! are called by whichever thread executes: one that waits in a call of the runtime, that submits
//! work which the seed has run early, or the one that executes for programs that wait without
//! calling. It holds the runtime's lock, so that neither may call the runtime, nor take a lock that
//! anybody holds who calls it.
//!
//! What is told is exact, but in no particular order: bytes that an instruction accesses again and
//! again, or that touch each other, are told as one as far as they fit in what is kept back until
//! the kernel ends or waits.

use commsan_ptx::{Module, Site, Strength};
use commsan_simt::{Access, Kind, Observer};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char};
use std::ops::Range;

/// Whether the accesses of the kernel with a tag are to be reported.
pub type Wants = extern "C" fn(tag: u64) -> bool;

/// The kernel with a tag reads or writes `size` bytes from an address on, in a line of a file,
/// whose name is null if it is not known, and else stays where it is. Strong accesses do not race
/// with each other: 1 if those of one device do not, 2 if no others, nor the host's, 0 for weak
/// ones ([`Strength::number`]). Those that write may read as well.
pub type Touched = extern "C" fn(
    tag: u64,
    write: bool,
    address: u64,
    size: u64,
    file: *const c_char,
    line: u32,
    strength: u32,
);

/// Who watches.
#[derive(Clone, Copy, Debug)]
pub struct Watcher {
    /// Is asked.
    pub wants: Wants,
    /// The callback.
    pub touched: Touched,
}

impl Watcher {
    /// Asks whether the kernel with that tag is to be watched.
    pub fn watch(self, tag: u64) -> Option<Watch> {
        (self.wants)(tag).then_some(Watch { tag, touched: self.touched })
    }
}

/// The callback for one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    tag: u64,
    touched: Touched,
}

/// What is to be reported of an instruction.
#[derive(Debug)]
struct Told {
    file: *const c_char,
    line: u32,
    strength: Strength,
}

impl Told {
    fn of(module: &Module, site: Site) -> Told {
        let line = module.own_line(&[site]);
        let strength = module.instruction(site).map_or(Strength::Weak, |i| i.strength());
        Told {
            file: line.map_or(std::ptr::null(), |(file, _)| kept(file)),
            line: line.map_or(0, |(_, line)| line),
            strength,
        }
    }
}

// SAFETY: names are kept for good, and nobody writes them.
unsafe impl Send for Told {}

/// A name where it stays, the same place each time.
pub(crate) fn kept(file: &str) -> *const c_char {
    static KEPT: Mutex<BTreeSet<&'static CStr>> = Mutex::new(BTreeSet::new());
    let Ok(file) = CString::new(file) else { return std::ptr::null() };
    let mut all = KEPT.lock();
    let known =
        all.get(file.as_c_str()).copied().unwrap_or_else(|| Box::leak(file.into_boxed_c_str()));
    all.insert(known);
    known.as_ptr()
}

/// Maximum number of ranges that are buffered before they are reported.
const MAX_BUFFERED_RANGES: usize = 4096;

/// Disjoint ranges of addresses that do not touch each other: where they begin and end.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range; returns by how much their number grows.
    fn add(&mut self, range: Range<u64>) -> isize {
        let Range { mut start, mut end } = range;
        let mut grown = 1;
        while let Some((&first, &last)) = self.0.range(..=end).next_back()
            && last >= start
        {
            if first <= start && last >= end {
                return grown - 1;
            }
            (start, end, grown) = (start.min(first), end.max(last), grown - 1);
            self.0.remove(&first);
        }
        self.0.insert(start, end);
        grown
    }
}

/// Watches one kernel.
#[derive(Debug)]
pub struct Watching {
    watch: Watch,
    /// What was accessed and is not reported yet, by instruction and whether it is written.
    kept: FxHashMap<(Site, bool), Ranges>,
    /// Ranges in it.
    count: usize,
    told: FxHashMap<Site, Told>,
}

impl Watching {
    /// Nothing was accessed yet.
    pub fn new(watch: Watch) -> Watching {
        Watching { watch, kept: FxHashMap::default(), count: 0, told: FxHashMap::default() }
    }

    /// An observer for as long as the module is at hand.
    pub fn with<'a>(&'a mut self, module: &'a Module) -> impl Observer + 'a {
        With { watching: self, module }
    }

    /// Tells what was kept back.
    pub fn tell(&mut self, module: &Module) {
        let Watch { tag, touched } = self.watch;
        self.count = 0;
        for ((site, write), ranges) in &mut self.kept {
            let told = self.told.entry(*site).or_insert_with(|| Told::of(module, *site));
            for (start, end) in std::mem::take(&mut ranges.0) {
                touched(
                    tag,
                    *write,
                    start,
                    end - start,
                    told.file,
                    told.line,
                    told.strength.number(),
                );
            }
        }
    }
}

struct With<'a> {
    watching: &'a mut Watching,
    module: &'a Module,
}

impl Observer for With<'_> {
    fn access(&mut self, access: &Access<'_>) {
        let site = Site { function: access.function, instruction: access.instruction };
        let ranges = self.watching.kept.entry((site, access.kind != Kind::Load)).or_default();
        let (mut grown, mut run) = (0, None::<Range<u64>>);
        for (lane, &start) in access.addresses.iter().enumerate() {
            if access.lanes >> lane & 1 == 0 {
                continue;
            }
            let end = start + access.size;
            match &mut run {
                Some(run) if start <= run.end && run.start <= end => {
                    *run = run.start.min(start)..run.end.max(end);
                }
                run => grown += run.replace(start..end).map_or(0, |before| ranges.add(before)),
            }
        }
        grown += run.map_or(0, |last| ranges.add(last));
        self.watching.count = self.watching.count.saturating_add_signed(grown);
        if self.watching.count > MAX_BUFFERED_RANGES {
            self.watching.tell(self.module);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_hold_what_was_added_and_stay_apart(
            added in prop::collection::vec((0u64..60, 1u64..12), 0..20),
        ) {
            let (mut ranges, mut count, mut bytes) = (Ranges::default(), 0, BTreeSet::new());
            for (start, size) in added {
                count += ranges.add(start..start + size);
                bytes.extend(start..start + size);
                prop_assert_eq!(ranges.0.len() as isize, count);
            }
            let held: Vec<u64> = ranges.0.iter().flat_map(|(start, end)| *start..*end).collect();
            prop_assert!(held.iter().eq(&bytes));
            let starts = ranges.0.keys().skip(1);
            prop_assert!(ranges.0.values().zip(starts).all(|(end, start)| end < start));
        }
    }
}
