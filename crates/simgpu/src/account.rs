//! Reports what kernels access outside their device's memory to the profiler.
//!
//! A launch carries the number that its thread has set before, its origin
//! ([`crate::thread::set_origin`]); in a graph, a kernel has that of the call that made its node.
//! What is told is exact: every access of every thread, by instruction, as runs of bytes that were
//! accessed equally often. When and under which locks, is as in [`crate::watch`].

use crate::watch::kept;
use commsan_ptx::{Module, Site};
use commsan_simt::{Access, Kind, Observer, name_of};
use rustc_hash::FxHashMap;
use std::ffi::c_char;
use std::ops::Range;

/// Accesses of a run of bytes by threads of a kernel. Names stay where they are; a null file is
/// unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Accesses {
    /// What the launch's thread has said.
    pub origin: u64,
    /// The kernel's name, mangled.
    pub kernel: *const c_char,
    /// The instruction: `ld.global.f32`.
    pub instruction: *const c_char,
    /// Source file of the instruction.
    pub file: *const c_char,
    /// Its line, from 1.
    pub line: u32,
    /// The device that the kernel runs on.
    pub device: u32,
    /// What the instruction does: loads (0), stores (1), or both at once (2).
    pub kind: u32,
    /// Bytes that one thread accesses.
    pub size: u32,
    /// The device whose memory it is, by its number where that belongs; [`HOST`] for the host's.
    pub owner: u32,
    /// The first byte.
    pub start: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How often each was accessed.
    pub times: u64,
}

/// The owner of memory that is no device's.
pub const HOST: u32 = u32::MAX;

/// The callback.
pub type Moved = extern "C" fn(accesses: &Accesses);

/// The callback for one kernel.
#[derive(Clone, Debug)]
pub struct Account {
    /// The launch's.
    pub origin: u64,
    /// The device.
    pub device: usize,
    /// Addresses of its own memory, which are not reported.
    pub own: (u64, u64),
    /// Addresses of all devices' memory, and whose it is.
    pub owners: Vec<(Range<usize>, usize)>,
    /// The callback.
    pub moved: Moved,
}

/// Maximum number of runs that are buffered before they are reported.
const MAX_BUFFERED_RUNS: usize = 1 << 16;

/// Counts what one kernel accesses.
#[derive(Debug)]
pub struct Accounting {
    account: Account,
    kernel: *const c_char,
    /// By instruction and run of bytes.
    runs: FxHashMap<(Site, u64, u64), u64>,
    /// What is to be reported of an instruction.
    known: FxHashMap<Site, Accesses>,
}

// SAFETY: names are kept for good, and nobody writes them.
unsafe impl Send for Accounting {}

impl Accounting {
    /// Nothing was accessed yet by the kernel with this name.
    pub fn new(account: Account, kernel: &str) -> Accounting {
        let (runs, known) = (FxHashMap::default(), FxHashMap::default());
        Accounting { account, kernel: kept(kernel), runs, known }
    }

    /// Takes an access of a warp.
    pub fn access(&mut self, access: &Access<'_>, module: &Module) {
        let (first, end) = self.account.own;
        let mut run = None::<Range<u64>>;
        for (lane, &start) in access.addresses.iter().enumerate() {
            if access.lanes >> lane & 1 == 0 || (start >= first && start < end) {
                continue;
            }
            match &mut run {
                Some(run) if run.end == start => run.end += access.size,
                run => {
                    if let Some(run) = run.replace(start..start + access.size) {
                        self.add(access, run, module);
                    }
                }
            }
        }
        if let Some(run) = run {
            self.add(access, run, module);
        }
    }

    fn add(&mut self, access: &Access<'_>, run: Range<u64>, module: &Module) {
        let site = Site { function: access.function, instruction: access.instruction };
        let (account, kernel) = (&self.account, self.kernel);
        self.known.entry(site).or_insert_with(|| {
            let line = module.own_line(&[site]);
            Accesses {
                origin: account.origin,
                kernel,
                instruction: module.instruction(site).map_or(kept(""), |i| kept(&name_of(i))),
                file: line.map_or(std::ptr::null(), |(file, _)| kept(file)),
                line: line.map_or(0, |(_, line)| line),
                device: account.device as u32,
                kind: match access.kind {
                    Kind::Load => 0,
                    Kind::Store => 1,
                    Kind::Atomic => 2,
                },
                size: access.size as u32,
                owner: HOST,
                start: 0,
                bytes: 0,
                times: 0,
            }
        });
        *self.runs.entry((site, run.start, run.end - run.start)).or_default() += 1;
        if self.runs.len() > MAX_BUFFERED_RUNS {
            self.tell();
        }
    }

    /// Tells what was kept back.
    pub fn tell(&mut self) {
        for ((site, start, bytes), times) in self.runs.drain() {
            let mut owners = self.account.owners.iter();
            let owner = owners.find(|(range, _)| range.contains(&(start as usize)));
            let owner = owner.map_or(HOST, |(_, device)| *device as u32);
            // Another process's memory may be of the same device.
            if let Some(known) = self.known.get(&site).filter(|known| known.device != owner) {
                (self.account.moved)(&Accesses { owner, start, bytes, times, ..*known });
            }
        }
    }
}

/// Hands accesses to both who want to know of them.
pub struct Both<'a, W> {
    /// Who watches, if anybody.
    pub watching: Option<W>,
    /// Who counts, if anybody.
    pub accounting: Option<&'a mut Accounting>,
    /// The kernel's module.
    pub module: &'a Module,
}

impl<W: Observer> Observer for Both<'_, W> {
    fn access(&mut self, access: &Access<'_>) {
        if let Some(accounting) = &mut self.accounting {
            accounting.access(access, self.module);
        }
        if let Some(watching) = &mut self.watching {
            watching.access(access);
        }
    }
}
