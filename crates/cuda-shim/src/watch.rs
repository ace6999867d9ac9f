//! The simulated device reports what kernels really access, and that they have failed.
//!
//! It has functions of its own: by one, the work that a thread is about to put into a stream gets a
//! tag, for which the ticket is taken; by others, it gets callbacks that say whether tagged work is
//! of interest, and that take what it accesses, and that it has failed. It calls them on any
//! thread, with its own lock held: the runtime's lock is taken inside that one, and never the other
//! way round.

use crate::call::Call;
use crate::process::{process, quietly, with_streams};
use crate::real::{Real, SUCCESS};
use commsan_cuda::{Failure, Line, Mistake, Strength, Ticket};
use commsan_cuda_abi::observe::{
    KernelFailure, KernelMistake, SAME_VALUE, SYNCHRONISATION, SetFailures, SetMistakes, SetWatch,
    UNINITIALISED,
};
use commsan_findings::Code;
use commsan_process::inside::Inside;
use commsan_process::thread::Thread;
use commsan_shadow::Mode;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, LazyLock, OnceLock};

/// `commsan_simgpu_tag`.
pub(crate) type Tag = unsafe extern "C" fn(u64);

/// Set to 1, simulated devices do not say what their kernels access, just as hardware does not:
/// what is found then is what hardware must show (`gpu-check` compares both).
const OPAQUE: &str = "COMMSAN_GPU_OPAQUE";

/// What tags work, if the device is a simulated one that may say what kernels access. The first
/// call begins to watch it.
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
        static MISTAKES: Real = Real::new(c"commsan_simgpu_mistakes");
        let (tag, watch) = (TAG.get()?, WATCH.get()?);
        let (failures, mistakes) = (FAILURES.get()?, MISTAKES.get()?);
        // SAFETY: the simulated runtime's functions of these names.
        unsafe {
            std::mem::transmute::<*mut _, SetWatch>(watch)(Some(wants), Some(touched));
            std::mem::transmute::<*mut _, SetFailures>(failures)(Some(failed));
            std::mem::transmute::<*mut _, SetMistakes>(mistakes)(Some(mistaken));
            quietly(|| call.with(|streams, _, _| streams.observe_accesses()));
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
const EXECUTION_TIMEOUT: u32 = 1000;

/// Work may never be executed otherwise: if it is suspected of something, let it be
/// executed now. Nothing happens where no device reports.
pub fn execute_suspects(thread: &Thread) {
    static EXECUTE: Real = Real::new(c"commsan_simgpu_execute");
    let mut suspects = false;
    if let Some(process) = process() {
        process.with(thread, &mut |streams, _| suspects = streams.suspects());
    }
    if suspects && let Some(execute) = EXECUTE.get() {
        // SAFETY: the simulated runtime's function of this name, which may be called at any time.
        unsafe { std::mem::transmute::<*mut _, Execute>(execute)(EXECUTION_TIMEOUT) };
    }
}

extern "C" fn wants(tag: u64) -> bool {
    let wanted = quietly(|| {
        let _inside = Inside::enter();
        let mut wanted = false;
        with_streams(&mut |streams, _, _| wanted = streams.wants(Ticket(tag)));
        wanted
    });
    wanted.unwrap_or(false)
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
        let bytes = address as usize..(address + size) as usize;
        let mode = if write { Mode::Write } else { Mode::Read };
        let line = file_name(file).map(|file| Line { file, line });
        let strength = Strength::from_number(strength);
        with_streams(&mut |streams, _, out| {
            streams.touched(Ticket(tag), mode, strength, &bytes, line.as_ref(), out);
        });
    });
}

extern "C" fn failed(failed: &KernelFailure) {
    quietly(|| {
        let _inside = Inside::enter();
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
            pe: failed.symmetric.then_some(failed.pe),
        };
        with_streams(&mut |streams, _, out| streams.failed(Ticket(failed.tag), &failure, out));
    });
}

extern "C" fn mistaken(told: &KernelMistake) {
    quietly(|| {
        let _inside = Inside::enter();
        let mode = if told.write { Mode::Write } else { Mode::Read };
        let start = told.address as usize;
        let bytes = start..start.saturating_add(told.size as usize);
        // SAFETY: the device passes strings that are valid during the call.
        let text = |text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        let [later, earlier] = told.files.map(file_name);
        let line = |file: Option<Arc<str>>, line| file.map(|file| Line { file, line });
        let code = match told.kind {
            SAME_VALUE => Code::KernelStoresSame,
            SYNCHRONISATION => Code::KernelSynchronisation,
            UNINITIALISED => Code::KernelUninitialised,
            _ => Code::KernelRace,
        };
        let mistake = Mistake {
            code,
            what: text(told.what),
            shared: (!told.shared.is_null()).then(|| text(told.shared)),
            why: text(told.why),
            lines: [line(later, told.lines[0]), line(earlier, told.lines[1])],
            instructions: told.lines,
            access: (told.size > 0).then_some((mode, bytes)),
        };
        with_streams(&mut |streams, _, out| streams.mistaken(Ticket(told.tag), &mistake, out));
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
