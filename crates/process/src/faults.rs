//! Faults by which guards show accesses, and the program's own handling of these signals.
//!
//! From [`begin`] on this process's handler of SIGSEGV is commsan's, and that of SIGTRAP, by which
//! a thread stops after it has executed one instruction with all pages open. What the program does
//! about the signals is remembered, and done where they are none of a guard's: `sigaction` and
//! `signal`, interposed, change and return that.
//!
//! What is to be done about a fault is done on a stack of commsan's: the handler may have to run on
//! an alternative one of the program's, which is small.
//!
//! A fault while the signal is blocked ends the process. So from [`want`] on no thread blocks it,
//! nor does any handler: without guards that would make no difference to faults, but to signals
//! sent by others.
//!
//! **Soundness.** Handlers set by system calls of the program's own are not known; they get faults
//! of guards, too. Under a debugger no thread stops: the page is opened.

use crate::machine;
use crate::next::Next;
use crate::thread;
use commsan_guards::keys::{self, Open};
use commsan_guards::{PAGE, instruction, protection};
use commsan_machine::interpose;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

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
    /// The thread goes on with all pages open. Where these are write-protected, which is not a
    /// thread's, that of the fault is opened.
    pub fn open(&self) {
        if protection::is_on() {
            protection::open(&(self.address..self.address + 1));
        }
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

    /// The fault at a page of a guard's; `None` if it is another one.
    ///
    /// # Safety
    /// Only in the handler, with its arguments.
    unsafe fn of(info: *mut libc::siginfo_t, context: *mut c_void) -> Option<Fault> {
        // SAFETY: the kernel's descriptions.
        unsafe {
            let address = (*info).si_addr() as usize;
            let pc = machine::instruction_pointer(context);
            let (is_readable, writes) = match (*info).si_code {
                SEGV_PKUERR => {
                    let key = *info.cast::<u8>().add(KEY_AT).cast::<u32>();
                    (keys::is_own(key)?, machine::is_store_fault(context))
                }
                // What can be read: only a store faults, or what takes it for code.
                SEGV_ACCERR if protection::is_on() && pc != address => {
                    (protection::holds(address).then_some(true)?, true)
                }
                _ => return None,
            };
            Some(Fault { address, pc, writes, is_readable, context })
        }
    }

    /// The thread executes the instruction with all pages open, and goes on with the rights of the
    /// program's threads. Returns whether that is possible.
    pub fn step(&self) -> bool {
        if protection::is_on() || is_traced() {
            return false;
        }
        self.open();
        thread::with(|thread| thread.steps.set(thread.steps.get() + 1));
        // SAFETY: the handler has not returned.
        unsafe { machine::set_single_step(self.context, true) };
        true
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

/// Whether a debugger would see the thread stop.
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_none_or(|tracer| tracer.trim() != "0")
}

/// Called in the handler, with all pages open that have keys. The instruction is repeated when it
/// returns, so that it must have opened the page, or the thread's rights.
pub type Observer = fn(&Fault);

static OBSERVER: OnceLock<Observer> = OnceLock::new();
static IS_WANTED: AtomicBool = AtomicBool::new(false);
/// Never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The signals that are taken over.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGTRAP];

/// What the program does about each.
static PROGRAMS: [Actions; SIGNALS.len()] = [const { Actions::new() }; SIGNALS.len()];

/// What the program does about a signal: the latest of some actions, which signal handlers may
/// change, and others read meanwhile.
struct Actions {
    /// How many there have been.
    latest: AtomicUsize,
    all: UnsafeCell<[Option<libc::sigaction>; 64]>,
}

// SAFETY: an action is written before its number is published, and overwritten only when as many
// others have followed as there is room for.
unsafe impl Sync for Actions {}

impl Actions {
    const fn new() -> Actions {
        Actions { latest: AtomicUsize::new(0), all: UnsafeCell::new([None; 64]) }
    }

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

/// What the program does about a signal that commsan handles for it; `None` for others.
fn programs(signal: c_int) -> Option<&'static Actions> {
    let index = SIGNALS.iter().position(|taken| *taken == signal)?;
    Some(&PROGRAMS[index]).filter(|actions| actions.latest.load(Relaxed) != 0)
}

/// Guards are wanted in this process: from now on nothing blocks the signals.
pub fn want() {
    IS_WANTED.store(true, Relaxed);
    let mut own = none();
    // SAFETY: a set of signals.
    unsafe {
        SIGNALS.iter().for_each(|signal| _ = libc::sigaddset(&mut own, *signal));
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &own, null_mut());
    }
}

/// Takes the signals out of a set of signals to be blocked.
fn admit(set: &mut libc::sigset_t) {
    for signal in SIGNALS {
        // SAFETY: a set of signals.
        unsafe { libc::sigdelset(set, signal) };
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

/// Takes the signals over: faults of guards go to `observer`. Returns whether that has succeeded.
pub fn begin(observer: Observer) -> bool {
    OBSERVER.set(observer).is_ok()
        && SIGNALS.iter().zip(&PROGRAMS).all(|(signal, programs)| {
            let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: asks only, and fills the place if it succeeds.
            let before = unsafe {
                if real_sigaction(*signal, null(), before.as_mut_ptr()) != 0 {
                    return false;
                }
                before.assume_init()
            };
            programs.set(before);
            install(*signal, &before)
        })
}

/// Makes commsan's handler that of the process, under the conditions of the program's action.
fn install(signal: c_int, programs: &libc::sigaction) -> bool {
    let handler: Handler = if signal == libc::SIGTRAP { has_stepped } else { has_faulted };
    let ours = libc::sigaction {
        sa_sigaction: handler as *const () as usize,
        sa_flags: programs.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART)
            | libc::SA_SIGINFO
            | libc::SA_ONSTACK,
        ..*programs
    };
    // SAFETY: a handler for three arguments.
    unsafe { real_sigaction(signal, &ours, null_mut()) == 0 }
}

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// What the kernel says about a fault of a key: the code, and where the key is in the description.
const SEGV_PKUERR: c_int = 4;
/// And about one of a page that does not allow the access.
const SEGV_ACCERR: c_int = 2;
const KEY_AT: usize = 32;

/// A thread has executed an instruction, perhaps with all pages open for it alone.
unsafe extern "C" fn has_stepped(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let has_stepped = thread::with(|thread| {
        let steps = thread.steps.get();
        // SAFETY: the kernel's description.
        let has = steps > 0 && unsafe { (*info).si_code } == libc::TRAP_TRACE;
        thread.steps.set(steps - u32::from(has));
        has
    });
    // SAFETY: in the handler, with its arguments.
    unsafe {
        if has_stepped {
            machine::set_single_step(context, false);
            if let Some(rights) = machine::key_rights_of(context) {
                *rights = keys::closed(*rights);
            }
        } else {
            pass_on(signal, info, context);
        }
    }
}

/// A thread has faulted.
unsafe extern "C" fn has_faulted(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the C library's own variable; the kernel's descriptions.
    unsafe {
        let errno = *libc::__errno_location();
        if let Some(fault) = Fault::of(info, context)
            && let Some(observer) = OBSERVER.get()
        {
            let open = Open::new();
            on_large_stack(&mut || observer(&fault));
            drop(open);
        } else if is_repeated(info, context) {
            // What the program does about it may use any memory.
            std::mem::forget(Open::new());
            pass_on(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Bytes of a stack on which a fault is looked at. Alternative stacks of programs often have 8 KiB
/// (`SIGSTKSZ`), of which the system takes up to half for the registers.
const STACK: usize = 256 << 10;

/// Where stacks end that were used, and are not now.
static STACKS: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Runs `f` on a stack that is large enough; on this one if there is none.
fn on_large_stack(mut f: &mut dyn FnMut()) {
    unsafe extern "C" fn run(f: *mut c_void) {
        // SAFETY: the closure below.
        unsafe { (*f.cast::<&mut dyn FnMut()>())() };
    }
    let unused = STACKS.iter().map(|stack| stack.swap(0, Relaxed)).find(|top| *top != 0);
    let Some(top) = unused.or_else(new_stack) else { return f() };
    // SAFETY: a stack of nobody's, and the closure, which is called during this call.
    unsafe { machine::call_on_stack(run, (&raw mut f).cast(), top) };
    let free = |stack: &AtomicUsize| stack.compare_exchange(0, top, Relaxed, Relaxed).is_ok();
    if !STACKS.iter().any(free) {
        // SAFETY: nothing is left on it.
        unsafe { libc::syscall(libc::SYS_munmap, top - STACK, STACK) };
    }
}

/// The end of a stack, below which is a page that nothing may access.
fn new_stack() -> Option<usize> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
    let kind = kind | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: new memory. By no function that is observed.
    unsafe {
        let start = libc::syscall(libc::SYS_mmap, 0, STACK, access, kind, -1, 0);
        let start = usize::try_from(start).ok()?;
        libc::syscall(libc::SYS_mprotect, start, PAGE, libc::PROT_NONE);
        Some(start + STACK)
    }
}

/// Whether a fault that is none of a guard's has come again. Another thread may have opened a
/// write-protected page since: then the instruction is repeated, and succeeds.
///
/// # Safety
/// Only in the handler, with its arguments.
unsafe fn is_repeated(info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: the kernel's descriptions.
    unsafe {
        if !protection::is_on() || (*info).si_code != SEGV_ACCERR {
            return true;
        }
        let fault =
            ((*info).si_addr() as usize).rotate_left(32) ^ machine::instruction_pointer(context);
        thread::with(|thread| thread.repeated.replace(fault) == fault)
    }
}

/// Does what the program would have done.
///
/// # Safety
/// Only in the handler, with its arguments.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(programs) = programs(signal) else { return };
    let Some(action) = programs.get() else { return };
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
                programs.set(libc::sigaction { sa_sigaction: libc::SIG_DFL, ..action });
            }
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

/// Where the C library's functions are, once they have been looked up.
static REAL_SIGACTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static REAL_SIGNAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static REAL_SIGPROCMASK: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static REAL_PTHREAD_SIGMASK: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

interpose!(sigaction, REAL_SIGACTION, NEVER, IS_WANTED, IS_WANTED, set_action);
interpose!(signal, REAL_SIGNAL, NEVER, IS_WANTED, IS_WANTED, set_handler);
interpose!(sigprocmask, REAL_SIGPROCMASK, NEVER, IS_WANTED, IS_WANTED, set_process_mask);
interpose!(pthread_sigmask, REAL_PTHREAD_SIGMASK, NEVER, IS_WANTED, IS_WANTED, set_thread_mask);

/// Looks up the C library's functions.
pub fn prepare() {
    REAL_SIGACTION.store(SIGACTION.get(), Relaxed);
    REAL_SIGNAL.store(SIGNAL.get(), Relaxed);
    REAL_SIGPROCMASK.store(SIGPROCMASK.get(), Relaxed);
    REAL_PTHREAD_SIGMASK.store(PTHREAD_SIGMASK.get(), Relaxed);
}

unsafe fn real_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Sigaction>(SIGACTION.required())(signal, new, old) }
}

/// Instead of `sigaction`.
unsafe extern "C" fn set_action(
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
        admit(&mut action.sa_mask);
    }
    let Some(programs) = programs(signal) else {
        let new = action.as_ref().map_or(null(), |action| action as *const _);
        // SAFETY: as the caller has asked, but for the mask.
        return unsafe { real_sigaction(signal, new, old) };
    };
    if let Some(before) = programs.get()
        && !old.is_null()
    {
        // SAFETY: the caller's room for an action.
        unsafe { old.write(before) };
    }
    if let Some(action) = action {
        programs.set(action);
        install(signal, &action);
    }
    0
}

/// Instead of `signal`.
unsafe extern "C" fn set_handler(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let Some(programs) = programs(signal) else {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe {
            std::mem::transmute::<*mut c_void, Signal>(SIGNAL.required())(signal, handler)
        };
    };
    let new = libc::sigaction {
        sa_sigaction: handler,
        sa_mask: none(),
        sa_flags: libc::SA_RESTART,
        sa_restorer: None,
    };
    let before = programs.get().map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    programs.set(new);
    install(signal, &new);
    before
}

/// Calls one of the functions that change this thread's mask, which never blocks the signals.
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
        admit(changed);
    }
    let set = changed.as_ref().map_or(set, |changed| changed as *const _);
    // SAFETY: the C library's function, with the caller's arguments, but for these signals.
    unsafe { std::mem::transmute::<*mut c_void, Sigmask>(next.required())(how, set, old) }
}

/// Instead of `sigprocmask`.
unsafe extern "C" fn set_process_mask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { mask(&SIGPROCMASK, how, set, old) }
}

/// Instead of `pthread_sigmask`.
unsafe extern "C" fn set_thread_mask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { mask(&PTHREAD_SIGMASK, how, set, old) }
}
