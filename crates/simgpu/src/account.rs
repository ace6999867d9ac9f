//! Profiler callbacks: report what kernels access outside their device's memory.
//!
//! A launch carries the origin number that its thread set before ([`crate::thread::set_origin`]);
//! in a graph, a kernel has that of the call that made its node. Reports are exact: every access of
//! every thread, by instruction, as runs of bytes that were accessed equally often. Callbacks run
//! at the times and under the locks that [`crate::watch`] describes.

use crate::watch::kept;
use commsan_cuda_abi::observe::{ATOMIC, Accesses, HOST, LOAD, Moved, STORE};
use commsan_ptx::{Module, Site};
use commsan_simt::{Access, Kind, Observer, name_of};
use rustc_hash::FxHashMap;
use std::ffi::c_char;
use std::ops::Range;

/// The profiler of one kernel launch.
#[derive(Clone, Debug)]
pub struct Account {
    /// The origin number of the launch.
    pub origin: u64,
    /// The device that the kernel runs on.
    pub device: usize,
    /// Address range of the device's own memory, which is not reported.
    pub own: (u64, u64),
    /// Address ranges of all devices' memory, with the owning device.
    pub owners: Vec<(Range<usize>, usize)>,
    /// The callback.
    pub moved: Moved,
}

/// Maximum number of runs that are buffered before they are reported.
const MAX_BUFFERED_RUNS: usize = 1 << 16;

/// Counts the accesses of one kernel.
#[derive(Debug)]
pub struct Accounting {
    account: Account,
    kernel: *const c_char,
    /// Number of accesses, by instruction and run of bytes (start, end).
    runs: FxHashMap<(Site, u64, u64), u64>,
    /// The constant part of the report of each instruction.
    known: FxHashMap<Site, Accesses>,
}

// SAFETY: the names are never freed and never written.
unsafe impl Send for Accounting {}

impl Accounting {
    /// A counter without accesses, for the kernel with this name.
    pub fn new(account: Account, kernel: &str) -> Accounting {
        let (runs, known) = (FxHashMap::default(), FxHashMap::default());
        Accounting { account, kernel: kept(kernel), runs, known }
    }

    /// Counts an access of a warp.
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
                    Kind::Load => LOAD,
                    Kind::Store => STORE,
                    Kind::Atomic => ATOMIC,
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
            self.flush();
        }
    }

    /// Reports the buffered runs.
    pub fn flush(&mut self) {
        for ((site, start, bytes), times) in self.runs.drain() {
            let mut owners = self.account.owners.iter();
            let owner = owners.find(|(range, _)| range.contains(&(start as usize)));
            let owner = owner.map_or(HOST, |(_, device)| *device as u32);
            // Another process's memory may belong to the same device.
            if let Some(known) = self.known.get(&site).filter(|known| known.device != owner) {
                (self.account.moved)(&Accesses { owner, start, bytes, times, ..*known });
            }
        }
    }
}

/// An observer that passes accesses to both the checker's and the profiler's callbacks.
pub struct Both<'a, W> {
    /// The checker's watcher, if there is one.
    pub watching: Option<W>,
    /// The profiler's counter, if there is one.
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
