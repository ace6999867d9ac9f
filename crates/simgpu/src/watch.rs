//! Telling what kernels access, to who checks the program.
//!
//! A launch carries the tag that its thread has set before ([`crate::thread::set_tag`]). In a graph, a
//! kernel has the tag of the call that made its node, captured or added; a launch of the graph adds its
//! own tag to it, so that who leaves the upper bits of one and the lower bits of the other free knows
//! node and launch. What carries no tag, and what nobody wants, runs as ever.
//!
//! **When, and under which locks.** [`Wants`] is called when the kernel begins, [`Touched`] while it
//! runs, before it counts as complete: nobody who waits for it goes on before all is told. Both are
//! called by whichever thread executes: one that waits in a call of the runtime, that submits work
//! which the seed has run early, or the one that executes for programs that wait without calling. It
//! holds the runtime's lock, so that neither may call the runtime, nor take a lock that anybody holds
//! who calls it.
//!
//! What is told is exact, but in no particular order: accesses of one instruction whose bytes touch are
//! told as one, however often they happen, as long as they follow each other.

use commsan_ptx::{Module, Site};
use commsan_simt::{Access, Kind, Observer};
use rustc_hash::FxHashMap;
use std::ffi::{CString, c_char};
use std::ops::Range;

/// Whether it is to be told what the kernel with a tag accesses.
pub type Wants = extern "C" fn(tag: u64) -> bool;

/// The kernel with a tag reads or writes `size` bytes from an address on, in a line of a file, which is
/// null if it is not known, and there until the call returns. `atomic` accesses do not race with each
/// other; those that write may read as well.
pub type Touched = extern "C" fn(
    tag: u64,
    write: bool,
    address: u64,
    size: u64,
    file: *const c_char,
    line: u32,
    atomic: bool,
);

/// Who watches.
#[derive(Clone, Copy, Debug)]
pub struct Watcher {
    /// Is asked.
    pub wants: Wants,
    /// Is told.
    pub touched: Touched,
}

impl Watcher {
    /// Asks whether the kernel with that tag is to be watched.
    pub fn watch(self, tag: u64) -> Option<Watch> {
        (self.wants)(tag).then_some(Watch { tag, touched: self.touched })
    }
}

/// Who is told of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    tag: u64,
    touched: Touched,
}

/// What is to be told of an instruction.
#[derive(Debug)]
struct Told {
    file: Option<CString>,
    line: u32,
    strong: bool,
}

impl Told {
    fn of(module: &Module, site: Site) -> Told {
        let line = module.own_line(&[site]);
        let strong = module.instruction(site).is_some_and(|i| i.is_strong());
        Told {
            file: line.and_then(|(file, _)| CString::new(file).ok()),
            line: line.map_or(0, |(_, line)| line),
            strong,
        }
    }
}

/// Bytes that an instruction has accessed and that have not been told yet.
#[derive(Clone, Debug)]
struct Pending {
    site: Site,
    kind: Kind,
    bytes: Range<u64>,
}

/// How many instructions' bytes are kept back.
const PENDING: usize = 64;

/// Watches one kernel.
#[derive(Debug)]
pub struct Watching {
    watch: Watch,
    pending: Vec<Option<Pending>>,
    told: FxHashMap<Site, Told>,
}

impl Watching {
    /// Nothing was accessed yet.
    pub fn new(watch: Watch) -> Watching {
        Watching { watch, pending: vec![None; PENDING], told: FxHashMap::default() }
    }

    /// An observer for as long as the module is at hand; what it was told of last is told by
    /// [`Watching::tell`].
    pub fn with<'a>(&'a mut self, module: &'a Module) -> impl Observer + 'a {
        With { watching: self, module }
    }

    /// Tells what was kept back.
    pub fn tell(&mut self, module: &Module) {
        for at in 0..self.pending.len() {
            if let Some(pending) = self.pending[at].take() {
                self.tell_one(module, &pending);
            }
        }
    }

    fn tell_one(&mut self, module: &Module, pending: &Pending) {
        let Pending { site, kind, bytes } = pending;
        let told = self.told.entry(*site).or_insert_with(|| Told::of(module, *site));
        let Watch { tag, touched } = self.watch;
        let file = told.file.as_ref().map_or(std::ptr::null(), |file| file.as_ptr());
        let size = bytes.end - bytes.start;
        touched(tag, *kind != Kind::Load, bytes.start, size, file, told.line, told.strong);
    }

    fn note(&mut self, module: &Module, site: Site, kind: Kind, bytes: Range<u64>) {
        let at = site.instruction as usize % PENDING;
        if let Some(known) = &mut self.pending[at]
            && known.site == site
            && known.kind == kind
            && bytes.start <= known.bytes.end
            && known.bytes.start <= bytes.end
        {
            known.bytes.start = known.bytes.start.min(bytes.start);
            known.bytes.end = known.bytes.end.max(bytes.end);
            return;
        }
        let before = self.pending[at].replace(Pending { site, kind, bytes });
        if let Some(before) = before {
            self.tell_one(module, &before);
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
        let mut note = |bytes| self.watching.note(self.module, site, access.kind, bytes);
        let mut run: Option<Range<u64>> = None;
        for (lane, &start) in access.addresses.iter().enumerate() {
            if access.lanes >> lane & 1 == 0 {
                continue;
            }
            let end = start + access.size;
            match &mut run {
                Some(run) if start <= run.end && run.start <= end => {
                    *run = run.start.min(start)..run.end.max(end);
                }
                run => {
                    if let Some(before) = run.replace(start..end) {
                        note(before);
                    }
                }
            }
        }
        run.into_iter().for_each(note);
    }
}
