//! The simulated device tells what kernels really touch, and that they have failed.
//!
//! It has functions of its own: by one, the work that a thread is about to put into a stream gets a tag, for
//! which the ticket is taken; by others, it learns whom to ask whether tagged work is of interest, and to tell
//! what it touches, and whom to tell that it has failed. It does so on any thread, with its own lock held: the
//! runtime's lock is taken inside that one, and never the other way round.

use crate::Event;
use crate::entry::{Call, SUCCESS, quietly};
use crate::process::process;
use crate::real::Real;
use commsan_cuda::{Failure, Line, Strength, Ticket};
use commsan_cuda_abi::observe::{KernelFailure, SetFailures, SetWatch};
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_process::thread::{self, Thread};
use commsan_shadow::Mode;
use commsan_threads::Here;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, LazyLock, OnceLock};

/// `commsan_simgpu_tag`.
pub(crate) type Tag = unsafe extern "C" fn(u64);

/// Set to 1, simulated devices do not say what their kernels access, just as hardware does not: what is found then is
/// what hardware must show (`gpu-check` compares both).
const OPAQUE: &str = "COMMSAN_GPU_OPAQUE";

/// What tags work, if the device is a simulated one that may say what kernels access. The first call begins to watch it.
#[inline]
pub(crate) fn tag(call: &Call) -> Option<Tag> {
    static TAG: OnceLock<Option<Tag>> = OnceLock::new();
    *TAG.get_or_init(|| {
        if std::env::var_os(OPAQUE).is_some_and(|value| value == "1") {
            return None;
        }
        static TAG: Real = Real::new(c"commsan_simgpu_tag");
        static WATCH: Real = Real::new(c"commsan_simgpu_watch");
        static FAILURES: Real = Real::new(c"commsan_simgpu_failures");
        let (tag, watch, failures) = (TAG.get()?, WATCH.get()?, FAILURES.get()?);
        // SAFETY: the simulated runtime's functions of these names.
        unsafe {
            std::mem::transmute::<*mut _, SetWatch>(watch)(Some(wants), Some(touched));
            std::mem::transmute::<*mut _, SetFailures>(failures)(Some(failed));
            quietly(|| call.tell(Event::DoubtsAreResolved));
            Some(std::mem::transmute::<*mut _, Tag>(tag))
        }
    })
}

/// Does something that puts work into a stream, which is known by a ticket.
#[inline]
pub(crate) fn tagged(tag: Tag, ticket: Option<Ticket>, put: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: by what it is, it may be called at any time.
    unsafe { tag(ticket.map_or(0, |ticket| ticket.0)) };
    let code = put();
    if code != SUCCESS {
        // SAFETY: as above. Work that was refused has not taken it.
        unsafe { tag(0) };
    }
    code
}

/// `commsan_simgpu_execute`.
type Execute = unsafe extern "C" fn(u32);

/// How long kernels may take that nobody waits for, in milliseconds.
const LIMIT: u32 = 1000;

/// Work will never be executed, or nobody be interested any more: if it is suspected of something, let it be
/// executed now. Nothing happens where no device tells.
pub fn execute_suspects(thread: &Thread) {
    static EXECUTE: Real = Real::new(c"commsan_simgpu_execute");
    if process().is_some_and(|process| process.suspects(thread))
        && let Some(execute) = EXECUTE.get()
    {
        // SAFETY: the simulated runtime's function of this name, which may be called at any time.
        unsafe { std::mem::transmute::<*mut _, Execute>(execute)(LIMIT) };
    }
}

extern "C" fn wants(tag: u64) -> bool {
    let wanted = quietly(|| {
        let _inside = Inside::enter();
        let process = process()?;
        Some(thread::with(|thread| process.wants(thread, Ticket(tag))))
    });
    wanted.flatten().unwrap_or(false)
}

extern "C" fn touched(
    tag: u64,
    write: bool,
    address: u64,
    size: u64,
    file: *const c_char,
    line: u32,
    strength: u32,
) {
    quietly(|| {
        let _inside = Inside::enter();
        let Some(process) = process() else { return };
        let nowhere = Caller { pc: 0, frame: 0, sp: 0 };
        let bytes = address as usize..(address + size) as usize;
        let mode = if write { Mode::Write } else { Mode::Read };
        let line = file_name(file).map(|file| Line { file, line });
        let strength = Strength::from_number(strength);
        let event = Event::Touched { ticket: Ticket(tag), mode, strength, bytes, line };
        thread::with(|thread| process.tell(&Here::new(nowhere, thread), &event));
    });
}

extern "C" fn failed(failed: &KernelFailure) {
    quietly(|| {
        let _inside = Inside::enter();
        let Some(process) = process() else { return };
        let nowhere = Caller { pc: 0, frame: 0, sp: 0 };
        let mode = if failed.write { Mode::Write } else { Mode::Read };
        let bytes =
            failed.address as usize..(failed.address as usize).saturating_add(failed.size as usize);
        let failure = Failure {
            // SAFETY: the device passes a string that it keeps.
            what: unsafe { CStr::from_ptr(failed.what) }.to_string_lossy().into_owned(),
            block: failed.block,
            thread: failed.thread,
            line: file_name(failed.file).map(|file| Line { file, line: failed.line }),
            access: (failed.size > 0).then_some((mode, bytes)),
        };
        let event = Event::Failed { ticket: Ticket(failed.tag), failure: &failure };
        thread::with(|thread| process.tell(&Here::new(nowhere, thread), &event));
    });
}

/// A file's name, kept once for each place that the device has it at.
fn file_name(file: *const c_char) -> Option<Arc<str>> {
    static NAMES: LazyLock<Mutex<FxHashMap<usize, Arc<str>>>> = LazyLock::new(Mutex::default);
    if file.is_null() {
        return None;
    }
    let mut names = NAMES.lock();
    let name = names.entry(file as usize).or_insert_with(|| {
        // SAFETY: the device passes a string that it keeps.
        unsafe { CStr::from_ptr(file) }.to_string_lossy().into()
    });
    Some(Arc::clone(name))
}
