//! Functions of the C library by which the system reads and writes the program's memory. Where a
//! page is closed to the calling thread, a system call fails instead of faulting: so they are
//! interposed, tell what they access, and run with all pages open.
//!
//! They are interposed for the whole process, and are jumps while nothing is closed. Within MPI
//! everything is open.
//!
//! **Soundness.** What has been transferred counts as accessed, when the function returns: an
//! operation that another thread completes meanwhile is not met. System calls of other functions
//! (`getrandom`, `ioctl`, `aio_read`) fail with `EFAULT` where the program passes them memory that
//! a pending receive writes.

use crate::caller;
use crate::modules;
use crate::next::Next;
use crate::stack::Caller;
use crate::thread::{self, Thread};
use commsan_guards::keys::Open;
use commsan_guards::protection;
use commsan_shadow::Mode;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// Called when the system has accessed memory of the program, some of which may be closed.
pub type Observer = fn(by: &'static str, mode: Mode, bytes: Range<usize>, caller: Caller);

/// Called before something is written to a file.
pub type Reader = unsafe fn(data: *const c_void, size: usize);

/// Called when the program changes what may be done with pages.
pub type Protected = fn(pages: Range<usize>);

static OBSERVER: OnceLock<(Observer, Protected)> = OnceLock::new();
static READER: OnceLock<Reader> = OnceLock::new();
/// Whether there is a reader.
static IS_READ: AtomicBool = AtomicBool::new(false);
/// Whether `mprotect` is observed.
static IS_OBSERVED: AtomicBool = AtomicBool::new(false);
/// Never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Starts to report to `observer`, and to `protected` pages that `mprotect` concerns.
pub fn observe(observer: Observer, protected: Protected) {
    let _ = OBSERVER.set((observer, protected));
    IS_OBSERVED.store(true, Relaxed);
}

/// Starts to show what `write` writes to `reader`.
pub fn read_along(reader: Reader) {
    let _ = READER.set(reader);
    IS_READ.store(true, Relaxed);
}

/// Functions are looked up before signal handlers may call them.
pub fn prepare() {
    for (next, real, foreign) in all() {
        let function = next.get();
        foreign.store(!function.is_null() && !modules::is_system_code(function as usize), Relaxed);
        real.store(function, Relaxed);
    }
}

/// The memory that a call names: its parts, each a pointer and a size.
trait Memory: Copy {
    /// Visits the parts.
    ///
    /// # Safety
    /// What the caller of the function has passed.
    unsafe fn each(self, visit: &mut dyn FnMut(Range<usize>));
}

#[derive(Clone, Copy)]
struct Bytes(*const c_void, usize);

impl Memory for Bytes {
    unsafe fn each(self, visit: &mut dyn FnMut(Range<usize>)) {
        visit(self.0 as usize..(self.0 as usize).saturating_add(self.1));
    }
}

#[derive(Clone, Copy)]
struct Vectors(*const libc::iovec, usize);

impl Memory for Vectors {
    unsafe fn each(self, visit: &mut dyn FnMut(Range<usize>)) {
        for index in 0..self.1 {
            // SAFETY: as many as the caller says.
            let libc::iovec { iov_base, iov_len } = unsafe { *self.0.add(index) };
            // SAFETY: as of the parts.
            unsafe { Bytes(iov_base, iov_len).each(visit) };
        }
    }
}

#[derive(Clone, Copy)]
struct Message(*const libc::msghdr);

impl Memory for Message {
    unsafe fn each(self, visit: &mut dyn FnMut(Range<usize>)) {
        // SAFETY: the caller's message.
        if let Some(message) = unsafe { self.0.as_ref() } {
            // SAFETY: as of the parts.
            unsafe { Vectors(message.msg_iov, message.msg_iovlen).each(visit) };
        }
    }
}

/// Runs a function that transfers so many bytes as it returns, with all pages open, and reports
/// them.
#[cold]
#[inline(never)]
fn watched(
    by: &'static str,
    mode: Mode,
    memory: impl Memory,
    caller: Caller,
    transfer: &mut dyn FnMut() -> usize,
) {
    if thread::with(Thread::is_inside) {
        transfer();
        return;
    }
    let open = Open::new();
    if protection::is_on() && mode == Mode::Write {
        // SAFETY: what the caller of the function has passed.
        unsafe { memory.each(&mut |bytes| _ = protection::open(&bytes)) };
    }
    let mut left = transfer();
    if let Some((observer, _)) = OBSERVER.get() {
        // SAFETY: the C library's own variable.
        let errno = unsafe { *libc::__errno_location() };
        let mut report = |bytes: Range<usize>| {
            let done = left.min(bytes.len());
            left -= done;
            if done > 0 {
                observer(by, mode, bytes.start..bytes.start + done, caller);
            }
        };
        // SAFETY: what the caller of the function has passed; the C library's own variable.
        unsafe {
            memory.each(&mut report);
            *libc::__errno_location() = errno;
        }
    }
    drop(open);
}

macro_rules! transfers {
    ($($name:ident($($parameter:ident: $type:ty),*) -> $result:ty = $mode:ident $memory:expr, $unit:expr;)*) => {
        $(commsan_machine::interpose!(
            $name,
            real::$name,
            foreign::$name,
            commsan_guards::ANY,
            NEVER,
            instead::$name
        );)*

        mod instead {
            use super::*;
            $(
                #[inline(never)]
                pub unsafe extern "C" fn $name($($parameter: $type),*) -> $result {
                    type Real = unsafe extern "C" fn($($type),*) -> $result;
                    let mut result = 0;
                    let mut transfer = || {
                        // SAFETY: the C library's function, with the caller's arguments.
                        result = unsafe {
                            let next = next::$name.required();
                            std::mem::transmute::<*mut c_void, Real>(next)($($parameter),*)
                        };
                        usize::try_from(result).map_or(0, |count| count.saturating_mul($unit))
                    };
                    watched(stringify!($name), Mode::$mode, $memory, caller!(), &mut transfer);
                    result
                }
            )*
        }

        /// Where the C library's functions are, once they have been looked up.
        #[allow(non_upper_case_globals, reason = "named after the functions")]
        mod real {
            use super::{AtomicPtr, c_void, null_mut};
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(null_mut());)*
            pub static write: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            pub static mprotect: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
        }

        /// Whether the next function is none of the C library's.
        #[allow(non_upper_case_globals, reason = "named after the functions")]
        mod foreign {
            use super::AtomicBool;
            $(pub static $name: AtomicBool = AtomicBool::new(false);)*
            pub static write: AtomicBool = AtomicBool::new(false);
            pub static mprotect: AtomicBool = AtomicBool::new(false);
        }

        #[allow(non_upper_case_globals, reason = "named after the functions")]
        mod next {
            use super::Next;
            use std::ffi::CStr;
            $(
                pub static $name: Next = Next::new(
                    match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!(),
                    },
                );
            )*
            pub static write: Next = Next::new(c"write");
            pub static mprotect: Next = Next::new(c"mprotect");
        }

        fn all() -> impl Iterator<Item = Function> {
            let own: [Function; 2] = [
                (&next::write, &real::write, &foreign::write),
                (&next::mprotect, &real::mprotect, &foreign::mprotect),
            ];
            [$((&next::$name, &real::$name, &foreign::$name)),*].into_iter().chain(own)
        }
    };
}

type Function = (&'static Next, &'static AtomicPtr<c_void>, &'static AtomicBool);
type Address = *mut libc::sockaddr;
type Length = libc::socklen_t;

transfers! {
    read(file: c_int, data: *mut c_void, size: usize) -> isize = Write Bytes(data, size), 1;
    pread(file: c_int, data: *mut c_void, size: usize, at: i64) -> isize = Write Bytes(data, size), 1;
    pread64(file: c_int, data: *mut c_void, size: usize, at: i64) -> isize = Write Bytes(data, size), 1;
    pwrite(file: c_int, data: *const c_void, size: usize, at: i64) -> isize = Read Bytes(data, size), 1;
    pwrite64(file: c_int, data: *const c_void, size: usize, at: i64) -> isize =
        Read Bytes(data, size), 1;
    readv(file: c_int, parts: *const libc::iovec, count: c_int) -> isize =
        Write Vectors(parts, count.max(0) as usize), 1;
    writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize =
        Read Vectors(parts, count.max(0) as usize), 1;
    preadv(file: c_int, parts: *const libc::iovec, count: c_int, at: i64) -> isize =
        Write Vectors(parts, count.max(0) as usize), 1;
    pwritev(file: c_int, parts: *const libc::iovec, count: c_int, at: i64) -> isize =
        Read Vectors(parts, count.max(0) as usize), 1;
    recv(socket: c_int, data: *mut c_void, size: usize, flags: c_int) -> isize =
        Write Bytes(data, size), 1;
    send(socket: c_int, data: *const c_void, size: usize, flags: c_int) -> isize =
        Read Bytes(data, size), 1;
    recvfrom(socket: c_int, data: *mut c_void, size: usize, flags: c_int, from: Address, length: *mut Length)
        -> isize = Write Bytes(data, size), 1;
    sendto(socket: c_int, data: *const c_void, size: usize, flags: c_int, to: Address, length: Length)
        -> isize = Read Bytes(data, size), 1;
    recvmsg(socket: c_int, message: *mut libc::msghdr, flags: c_int) -> isize =
        Write Message(message), 1;
    sendmsg(socket: c_int, message: *const libc::msghdr, flags: c_int) -> isize =
        Read Message(message), 1;
    fread(data: *mut c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Write Bytes(data, size.saturating_mul(count)), size;
    fread_unlocked(data: *mut c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Write Bytes(data, size.saturating_mul(count)), size;
    fwrite(data: *const c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Read Bytes(data, size.saturating_mul(count)), size;
    fwrite_unlocked(data: *const c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Read Bytes(data, size.saturating_mul(count)), size;
}

commsan_machine::interpose!(
    write,
    real::write,
    foreign::write,
    commsan_guards::ANY,
    IS_READ,
    written
);
commsan_machine::interpose!(
    mprotect,
    real::mprotect,
    foreign::mprotect,
    IS_OBSERVED,
    NEVER,
    protected
);

/// Instead of `write`.
#[inline(never)]
unsafe extern "C" fn written(file: c_int, data: *const c_void, size: usize) -> isize {
    if let Some(reader) = READER.get() {
        // SAFETY: the caller's arguments.
        unsafe { reader(data, size) };
    }
    type Real = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
    let mut result = 0;
    let mut transfer = || {
        // SAFETY: the C library's function, with the caller's arguments.
        result = unsafe {
            std::mem::transmute::<*mut c_void, Real>(next::write.required())(file, data, size)
        };
        usize::try_from(result).unwrap_or(0)
    };
    match commsan_guards::are_any() {
        true => watched("write", Mode::Read, Bytes(data, size), caller!(), &mut transfer),
        false => _ = transfer(),
    }
    result
}

/// Instead of `mprotect`.
unsafe extern "C" fn protected(start: *mut c_void, size: usize, rights: c_int) -> c_int {
    if let Some((_, observer)) = OBSERVER.get() {
        observer(start as usize..(start as usize).saturating_add(size));
    }
    type Real = unsafe extern "C" fn(*mut c_void, usize, c_int) -> c_int;
    let next = next::mprotect.required();
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Real>(next)(start, size, rights) }
}
