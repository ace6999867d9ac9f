//! Guards of buffers, for code without hooks: what comes of a fault, and of system calls that have
//! accessed buffers.

use crate::options::mpi::{Guards as Wanted, Options};
use crate::state;
use commsan_callsite::Findings;
use commsan_guards::keys::{self, Open, Unavailable};
use commsan_guards::{Closes, Guards, Memory, protection};
use commsan_mpi::Tracker;
use commsan_process::faults::{self, Fault};
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_process::{abi, allocate, heap, memory, modules, thread, transfers};
use commsan_shadow::Mode;
use commsan_threads::Interrupted;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What this process has to close pages by, or why it has nothing; unset if it is not wanted.
static MEANS: OnceLock<Means> = OnceLock::new();

/// Which pages can be closed, and why no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Means {
    closes: Closes,
    lacks: Option<Unavailable>,
    has_adapter: bool,
}

impl Means {
    /// By keys, where they can be had; else by write protection, beside which no adapter must work.
    fn choose(
        wanted: Wanted,
        keys: impl FnOnce() -> Result<(), Unavailable>,
        has_adapter: impl FnOnce() -> bool,
    ) -> Means {
        let taken = if wanted == Wanted::Sends { Err(Unavailable::Unwanted) } else { keys() };
        let lacks = taken.err();
        let has_adapter = lacks.is_some() && has_adapter();
        let closes = match lacks {
            None => Closes::All,
            Some(_) if has_adapter => Closes::Nothing,
            Some(_) => Closes::Sends,
        };
        Means { closes, lacks, has_adapter }
    }

    /// What is said of it to who asks for guards of all.
    fn shortcoming(self) -> Option<String> {
        let why = match self.lacks? {
            Unavailable::Unsupported => {
                "neither this processor nor its system has protection keys of memory. Recompile with \
                 `commsan cc`, or run where /proc/cpuinfo lists `ospke`"
            }
            Unavailable::Taken => "the program uses all protection keys of memory",
            Unavailable::Unwanted if !self.has_adapter => return None,
            Unavailable::Unwanted => "an adapter may register them to write to them",
        };
        Some(match self.closes {
            Closes::Nothing => format!("{NO_PAGES}: {why}"),
            _ => format!(
                "pages of receive buffers are not guarded, only those of what is sent: {why}"
            ),
        })
    }
}

const NO_PAGES: &str = "pages of buffers are not guarded, only checksums compared";

/// The process that is the rank; forked children have its pages as they are, and nobody to open
/// them.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Variables of modules, as far as these were loaded when guards began.
static VARIABLES: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Guards may be wanted. Threads that the program creates from now on have its rights.
pub fn want(options: &Options) {
    if options.guards == Wanted::Never {
        return;
    }
    allocate::isolate(options.isolate_buffers);
    let means = Means::choose(options.guards, keys::acquire, protection::has_adapter);
    if means.closes != Closes::Nothing {
        faults::want();
        OWNER.store(std::process::id(), Relaxed);
    }
    let _ = MEANS.set(means);
}

/// This process is a forked child of a rank, with one thread: all is open to it.
pub fn forked() {
    std::mem::forget(Open::new());
    protection::open_all();
}

/// MPI is initialised: guards begin, if they are wanted. Returns why no pages, or not all, are
/// closed, where that was asked for.
pub fn begin(options: &Options, tracker: &mut Tracker) -> Option<String> {
    let means = *MEANS.get()?;
    let is_asked_for = options.guards != Wanted::Auto;
    if !is_asked_for && abi::abi().hooked.load(Relaxed) > 0 {
        keys::give_up();
        return None;
    }
    let has_devices = modules::has_devices();
    let _ = VARIABLES.set(modules::variables());
    let why = match means.closes {
        Closes::Nothing => means.shortcoming(),
        _ if has_devices => Some(format!(
            "{NO_PAGES}: the program uses devices, which may access them. Recompile with `commsan cc`"
        )),
        _ if !faults::begin(on_fault) => Some(format!("{NO_PAGES}: SIGSEGV cannot be handled")),
        _ => None,
    };
    let closes = if why.is_some() { Closes::Nothing } else { means.closes };
    match closes {
        Closes::Nothing => keys::give_up(),
        _ => transfers::observe(on_transfer, on_protected),
    }
    if closes == Closes::Sends {
        protection::begin();
    }
    let lie = if has_devices { where_beside_devices } else { where_it_lies };
    let guards = Guards::new(options.guard_budget, closes, lie, memory::read);
    tracker.watch_buffers(guards, options.guards == Wanted::Windows);
    why.or_else(|| means.shortcoming()).filter(|_| is_asked_for)
}

/// Where a buffer lies, and where what lies behind it begins. A stack is there as long as its
/// thread, and grows when it is read. What is in an allocated block, or in a variable, can be read
/// and written.
fn where_it_lies(bytes: &Range<usize>) -> (Memory, usize) {
    let holds = |part: &Range<usize>| part.start <= bytes.start && bytes.end <= part.end;
    if thread::with(|thread| holds(&thread.stack_bounds())) {
        return (Memory::Stack, bytes.end);
    }
    if let Some(block) = heap::block_of(bytes.start).filter(holds) {
        let is_last = bytes.end == block.end;
        return (Memory::Own, if is_last { allocate::end_of(&block) } else { bytes.end });
    }
    match VARIABLES.get().is_some_and(|variables| variables.iter().any(holds)) {
        true => (Memory::Own, bytes.end),
        false => (Memory::Elsewhere, bytes.end),
    }
}

/// Where a buffer lies, if what is not known may be a device's.
fn where_beside_devices(bytes: &Range<usize>) -> (Memory, usize) {
    match where_it_lies(bytes) {
        (Memory::Elsewhere, end) => (Memory::Unknown, end),
        known => known,
    }
}

/// An instruction has come to a closed page.
fn on_fault(fault: &Fault) {
    let begun = Instant::now();
    if std::process::id() != OWNER.load(Relaxed) {
        return fault.open();
    }
    // MPI, or a signal handler that has interrupted it.
    let Some(inside) = Inside::enter() else { return fault.open() };
    fault.close();
    // A thread, or signal handler, that had fewer rights than others.
    if fault.is_readable && !fault.writes {
        return;
    }
    let place = Interrupted::at(&inside, fault.pc);
    let bytes = fault.bytes();
    let is_known = place.return_addresses().iter().any(|pc| modules::is_communication_code(*pc))
        || modules::is_hooked_code(fault.pc);
    let mut goes_on = false;
    with_tracker(&inside, |tracker, out| {
        let pages = bytes.start.min(fault.address)..bytes.end;
        if !is_known {
            let mode = if fault.writes { Mode::Write } else { Mode::Read };
            let by = if fault.writes { "store" } else { "load" };
            let place = place.with_python();
            tracker.used_while_closed(by, mode, bytes.clone(), &place, out);
            tracker.used_while_exposed(mode, &bytes, (fault.pc, begun), &place, out);
        }
        // What an instruction repeats, it would do step by step.
        let opens = is_known
            || bytes.len() > LARGEST_OPERAND
            || tracker.has_met_often(fault.pc, fault.address)
            || !fault.step();
        if opens {
            tracker.open_pages(pages);
        }
        goes_on = true;
    });
    if !goes_on || protection::is_on() {
        fault.open();
    }
}

/// Bytes that an instruction accesses at once, at most.
const LARGEST_OPERAND: usize = 64;

fn with_tracker(inside: &Inside, f: impl FnOnce(&mut Tracker, &mut dyn Findings)) {
    state::with(inside, |checker, out| f(&mut checker.tracker, out));
}

/// The system has accessed memory for the program.
fn on_transfer(by: &'static str, mode: Mode, bytes: Range<usize>, caller: Caller) {
    if bytes.is_empty() || !state::may_conflict(&bytes, mode) || modules::is_hooked_code(caller.pc)
    {
        return;
    }
    let Some(inside) = Inside::enter() else { return };
    let place = Interrupted::returning_to(&inside, caller.pc).with_python();
    with_tracker(&inside, |tracker, out| {
        tracker.used_while_closed(by, mode, bytes, &place, out);
    });
}

/// The program changes what may be done with pages. Where these may be guarded, it would not find
/// them as it has left them.
fn on_protected(pages: Range<usize>) {
    if where_it_lies(&(pages.start..pages.start + 1)).0 != Memory::Own {
        return;
    }
    let Some(inside) = Inside::enter() else { return };
    with_tracker(&inside, |tracker, out| tracker.stop_guarding_for_own_pages(out));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_protection_stands_in_for_keys_unless_an_adapter_works() {
        let all = Means::choose(Wanted::Auto, || Ok(()), || true);
        assert_eq!((all.closes, all.shortcoming()), (Closes::All, None));
        for why in [Unavailable::Unsupported, Unavailable::Taken] {
            let sends = Means::choose(Wanted::Always, || Err(why), || false);
            assert_eq!(sends.closes, Closes::Sends);
            assert!(sends.shortcoming().unwrap().starts_with("pages of receive buffers"));
            let none = Means::choose(Wanted::Auto, || Err(why), || true);
            assert_eq!(none.closes, Closes::Nothing);
            assert!(none.shortcoming().unwrap().starts_with(NO_PAGES));
        }
        let wanted = Means::choose(Wanted::Sends, || unreachable!(), || false);
        assert_eq!((wanted.closes, wanted.shortcoming()), (Closes::Sends, None));
        let adapter = Means::choose(Wanted::Sends, || unreachable!(), || true);
        assert_eq!(adapter.closes, Closes::Nothing);
        assert!(adapter.shortcoming().unwrap().contains("an adapter"));
    }
}
