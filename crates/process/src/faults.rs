//! Faults by which guards show accesses, and the program's own handling of that signal.
//!
//! From [`begin`] on this process's handler of SIGSEGV is commsan's. What the program does about the
//! signal is remembered, and done where the fault is none of a guard's: `sigaction` and `signal`,
//! interposed, change and return that.
//!
//! A fault while the signal is blocked ends the process. So from [`want`] on no thread blocks it,
//! nor does any handler: without guards that would make no difference to faults, but to
//! signals sent by others.
//!
//! **Soundness.** Handlers set by system calls of the program's own are not known; they get faults
//! of guards, too.

use crate::machine;
use crate::next::Next;
use commsan_guards::keys::{self, Open};
use commsan_guards::{PAGE, instruction};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A page was closed to an instruction of the program.
pub struct Fault {
    /// The first byte that could not be accessed.
    pub address: usize,
    /// The address of the instruction.
    pub pc: usize,
    /// Whether it stores.
    pub writes: bool,
    /// Whether the page can be read.
    pub is_readable: bool,
    context: *mut c_void,
}

impl Fault {
    /// The thread goes on with all pages open.
    pub fn open(&self) {
        self.set(keys::opened);
    }

    /// The thread goes on with the rights of the program's threads.
    pub fn close(&self) {
        self.set(keys::closed);
    }

    fn set(&self, change: impl Fn(u32) -> u32) {
        // SAFETY: the handler has not returned.
        if let Some(rights) = unsafe { machine::key_rights_of(self.context) } {
            *rights = change(*rights);
        }
    }

    /// The bytes that the instruction accesses, as far as that is certain.
    pub fn bytes(&self) -> Range<usize> {
        // The next page may hold no code.
        let length = instruction::LONGEST.min(PAGE - self.pc % PAGE);
        // SAFETY: the instruction has been executed, and code is readable; the handler has not
        // returned.
        let (code, registers) = unsafe {
            let code = std::slice::from_raw_parts(self.pc as *const u8, length);
            (code, machine::registers(self.context))
        };
        instruction::accessed(code, self.pc, &registers, self.address)
    }
}

/// Called in the handler, with all pages open. The instruction is repeated when it returns, so that
/// it must have opened the page, or the thread's rights.
pub type Observer = fn(&Fault);

static OBSERVER: OnceLock<Observer> = OnceLock::new();
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// What the program does about the signal: the latest of some actions, which signal handlers may
/// change, and others read meanwhile.
static PROGRAMS: Actions =
    Actions { latest: AtomicUsize::new(0), all: UnsafeCell::new([None; 64]) };

struct Actions {
    /// How many there have been.
    latest: AtomicUsize,
    all: UnsafeCell<[Option<libc::sigaction>; 64]>,
}

// SAFETY: an action is written before its number is published, and overwritten only when as many
// others have followed as there is room for.
unsafe impl Sync for Actions {}

impl Actions {
    fn set(&self, action: libc::sigaction) {
        let next = self.latest.load(Relaxed) + 1;
        // SAFETY: nobody reads this one.
        unsafe { (*self.all.get())[next % 64] = Some(action) };
        self.latest.store(next, Release);
    }

    fn get(&self) -> Option<libc::sigaction> {
        let latest = self.latest.load(Acquire);
        // SAFETY: it was written before.
        unsafe { (*self.all.get())[latest % 64] }
    }
}

/// Guards are wanted in this process: from now on nothing blocks the signal.
pub fn want() {
    IS_WANTED.store(true, Relaxed);
    SIGACTION.get();
    SIGNAL.get();
    SIGPROCMASK.get();
    PTHREAD_SIGMASK.get();
    let mut own = none();
    // SAFETY: a set of one signal.
    unsafe {
        libc::sigaddset(&mut own, libc::SIGSEGV);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &own, null_mut());
    }
}

fn none() -> libc::sigset_t {
    let mut none = std::mem::MaybeUninit::uninit();
    // SAFETY: initialises the set.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        none.assume_init()
    }
}

/// Takes the signal over: faults of guards go to `observer`. Returns whether that has succeeded.
pub fn begin(observer: Observer) -> bool {
    if OBSERVER.set(observer).is_err() {
        return false;
    }
    let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only; the action is the one to be kept.
    unsafe {
        if real_sigaction(libc::SIGSEGV, null(), before.as_mut_ptr()) != 0 {
            return false;
        }
        let before = before.assume_init();
        PROGRAMS.set(before);
        install(&before)
    }
}

/// Makes commsan's handler that of the process, under the conditions of the program's action.
fn install(programs: &libc::sigaction) -> bool {
    let ours = libc::sigaction {
        sa_sigaction: come as *const () as usize,
        sa_flags: programs.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART)
            | libc::SA_SIGINFO
            | libc::SA_ONSTACK,
        ..*programs
    };
    // SAFETY: a handler for three arguments.
    unsafe { real_sigaction(libc::SIGSEGV, &ours, null_mut()) == 0 }
}

/// What the kernel says about a fault of a key: the code, and where the key is in the description.
const SEGV_PKUERR: c_int = 4;
const KEY_AT: usize = 32;

/// The signal has come.
unsafe extern "C" fn come(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the C library's own variable; the kernel's descriptions.
    unsafe {
        let errno = *libc::__errno_location();
        if (*info).si_code == SEGV_PKUERR
            && let Some(is_readable) = keys::is_own(*info.cast::<u8>().add(KEY_AT).cast::<u32>())
            && let Some(observer) = OBSERVER.get()
        {
            let fault = Fault {
                address: (*info).si_addr() as usize,
                pc: machine::instruction_pointer(context),
                writes: machine::is_store_fault(context),
                is_readable,
                context,
            };
            let open = Open::new();
            observer(&fault);
            drop(open);
        } else {
            // What the program does about it may use any memory.
            std::mem::forget(Open::new());
            pass_on(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Does what the program would have done.
///
/// # Safety
/// Only in the handler, with its arguments.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(action) = PROGRAMS.get() else { return };
    // SAFETY: by the caller.
    let was_sent = unsafe { (*info).si_code } <= 0;
    match action.sa_sigaction {
        libc::SIG_IGN if was_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // A fault recurs by itself, and ends the process, also if it is ignored.
            let default = libc::sigaction { sa_sigaction: libc::SIG_DFL, ..action };
            // SAFETY: what the program has set; the signal comes again as it was.
            unsafe {
                real_sigaction(signal, &default, null_mut());
                if was_sent {
                    let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
                    libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
                }
            }
        }
        handler => {
            if action.sa_flags & libc::SA_RESETHAND != 0 {
                PROGRAMS.set(libc::sigaction { sa_sigaction: libc::SIG_DFL, ..action });
            }
            type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the program's handler; one that takes a single argument ignores the others,
            // which it would also get from the kernel.
            unsafe { std::mem::transmute::<usize, Handler>(handler)(signal, info, context) };
        }
    }
}

type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Signal = unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
type Sigmask = unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

static SIGACTION: Next = Next::new(c"sigaction");
static SIGNAL: Next = Next::new(c"signal");
static SIGPROCMASK: Next = Next::new(c"sigprocmask");
static PTHREAD_SIGMASK: Next = Next::new(c"pthread_sigmask");

unsafe fn real_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Sigaction>(SIGACTION.required())(signal, new, old) }
}

/// Whether commsan handles the signal for the program.
fn is_taken(signal: c_int) -> bool {
    signal == libc::SIGSEGV && PROGRAMS.latest.load(Relaxed) != 0
}

/// Interposes `sigaction`.
///
/// # Safety
/// The contract of `sigaction`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if !IS_WANTED.load(Relaxed) {
        // SAFETY: the caller's arguments.
        return unsafe { real_sigaction(signal, new, old) };
    }
    // SAFETY: null or an action.
    let mut action = unsafe { new.as_ref() }.copied();
    if let Some(action) = &mut action {
        // SAFETY: a set of signals.
        unsafe { libc::sigdelset(&mut action.sa_mask, libc::SIGSEGV) };
    }
    if !is_taken(signal) {
        let new = action.as_ref().map_or(null(), |action| action as *const _);
        // SAFETY: as the caller has asked, but for the mask.
        return unsafe { real_sigaction(signal, new, old) };
    }
    if let Some(before) = PROGRAMS.get()
        && !old.is_null()
    {
        // SAFETY: the caller's room for an action.
        unsafe { old.write(before) };
    }
    if let Some(action) = action {
        PROGRAMS.set(action);
        install(&action);
    }
    0
}

/// Interposes `signal`.
///
/// # Safety
/// The contract of `signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    if !is_taken(signal) {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe {
            std::mem::transmute::<*mut c_void, Signal>(SIGNAL.required())(signal, handler)
        };
    }
    let new = libc::sigaction {
        sa_sigaction: handler,
        sa_mask: none(),
        sa_flags: libc::SA_RESTART,
        sa_restorer: None,
    };
    let before = PROGRAMS.get().map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    PROGRAMS.set(new);
    install(&new);
    before
}

/// Calls one of the functions that change this thread's mask, which never blocks the signal.
///
/// # Safety
/// The contract of `sigprocmask`.
unsafe fn mask(
    next: &Next,
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: null or a set.
    let mut changed = unsafe { set.as_ref() }.copied().filter(|_| IS_WANTED.load(Relaxed));
    if let Some(changed) = &mut changed
        && how != libc::SIG_UNBLOCK
    {
        // SAFETY: a set of signals.
        unsafe { libc::sigdelset(changed, libc::SIGSEGV) };
    }
    let set = changed.as_ref().map_or(set, |changed| changed as *const _);
    // SAFETY: the C library's function, with the caller's arguments, but for that signal.
    unsafe { std::mem::transmute::<*mut c_void, Sigmask>(next.required())(how, set, old) }
}

/// Interposes `sigprocmask`.
///
/// # Safety
/// The contract of `sigprocmask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { mask(&SIGPROCMASK, how, set, old) }
}

/// Interposes `pthread_sigmask`.
///
/// # Safety
/// The contract of `pthread_sigmask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { mask(&PTHREAD_SIGMASK, how, set, old) }
}
