//! Access callbacks: report to a checker what kernels access.
//!
//! A launch carries the tag that its thread set before ([`crate::thread::set_tag`]). In a graph, a
//! kernel has the tag of the call that made its node, captured or added; a launch of the graph adds
//! its own tag to it, so that a checker that uses the upper bits for one and the lower bits for the
//! other can identify node and launch. Kernels without a tag, or that the checker does not want,
//! run at full speed.
//!
//! **When, and under which locks.** [`Wants`] is called when the kernel begins, [`Touched`] while
//! it runs, before it counts as complete: no thread that waits for it continues before everything
//! is reported. Both are called by the thread that executes the kernel: one that waits in a call of
//! the runtime, one that submits work which the seed runs early, or the one that executes for
//! programs that wait without calling. That thread holds the runtime's lock, so callbacks must
//! neither call the runtime nor take a lock that a caller of the runtime may hold.
//!
//! Reports are exact, but in no particular order: bytes that an instruction accesses repeatedly, or
//! that are adjacent, are reported once, as far as they fit into the buffer that is flushed when
//! the kernel ends or waits.

use commsan_cuda_abi::observe::{Touched, Wants};
use commsan_ptx::{Module, Site, Strength};
use commsan_simt::{Access, Kind, Observer};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char};
use std::ops::Range;

/// The checker's callbacks.
#[derive(Clone, Copy, Debug)]
pub struct Watcher {
    /// Decides which kernels are reported.
    pub wants: Wants,
    /// The callback for accesses.
    pub touched: Touched,
}

impl Watcher {
    /// The watch of the kernel with that tag, if it is wanted.
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

/// The constant part of the report of an instruction.
#[derive(Debug)]
struct InstructionInfo {
    file: *const c_char,
    line: u32,
    strength: Strength,
}

impl InstructionInfo {
    fn of(module: &Module, site: Site) -> InstructionInfo {
        let line = module.own_line(&[site]);
        let strength = module.instruction(site).map_or(Strength::Weak, |i| i.strength());
        InstructionInfo {
            file: line.map_or(std::ptr::null(), |(file, _)| kept(file)),
            line: line.map_or(0, |(_, line)| line),
            strength,
        }
    }
}

// SAFETY: the names are never freed and never written.
unsafe impl Send for InstructionInfo {}

/// Interns a file name, at one address for good.
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

/// Disjoint, non-adjacent address ranges: start and end.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range; returns by how much the number of ranges grows.
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

/// Records the accesses of one kernel.
#[derive(Debug)]
pub struct Watching {
    watch: Watch,
    /// Unreported accesses, by instruction and whether they write.
    kept: FxHashMap<(Site, bool), Ranges>,
    /// Number of ranges in `kept`.
    count: usize,
    instructions: FxHashMap<Site, InstructionInfo>,
}

impl Watching {
    /// A recorder without accesses.
    pub fn new(watch: Watch) -> Watching {
        Watching { watch, kept: FxHashMap::default(), count: 0, instructions: FxHashMap::default() }
    }

    /// An observer that also has the kernel's module.
    pub fn with<'a>(&'a mut self, module: &'a Module) -> impl Observer + 'a {
        With { watching: self, module }
    }

    /// Reports the buffered accesses.
    pub fn flush(&mut self, module: &Module) {
        let Watch { tag, touched } = self.watch;
        self.count = 0;
        for ((site, write), ranges) in &mut self.kept {
            let instructions = self
                .instructions
                .entry(*site)
                .or_insert_with(|| InstructionInfo::of(module, *site));
            for (start, end) in std::mem::take(&mut ranges.0) {
                touched(
                    tag,
                    *write,
                    start,
                    end - start,
                    instructions.file,
                    instructions.line,
                    instructions.strength.number(),
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
            self.watching.flush(self.module);
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
