//! Functions of the C library by which the system reads and writes the program's memory. Where a page
//! is closed to the calling thread, a system call fails instead of faulting: so they are interposed,
//! tell what they access, and run with all pages open.
//!
//! They are interposed for the whole process, and are jumps while nothing is closed. Within MPI
//! everything is open.
//!
//! **Soundness.** What a function may access at most counts as accessed: the whole of a buffer that
//! is read into in part. System calls of other functions (`getrandom`, `ioctl`, `aio_read`) fail with
//! `EFAULT` where the program passes them memory that a pending receive writes.

use crate::caller;
use crate::next::Next;
use crate::stack::Caller;
use crate::thread::{self, Thread};
use commsan_guards::keys::Open;
use commsan_shadow::Mode;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// Called before the system accesses memory of the program, some of which may be closed.
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
    for (next, real) in all() {
        real.store(next.get(), Relaxed);
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

/// Reports what is accessed, and opens all pages as long as the result is there.
#[cold]
#[inline(never)]
fn watched(by: &'static str, mode: Mode, memory: impl Memory, caller: Caller) -> Option<Open> {
    if thread::with(Thread::is_inside) {
        return None;
    }
    let (observer, _) = OBSERVER.get()?;
    // SAFETY: what the caller of the function has passed.
    unsafe { memory.each(&mut |bytes| observer(by, mode, bytes, caller)) };
    Open::new()
}

macro_rules! transfers {
    ($($name:ident($($parameter:ident: $type:ty),*) -> $result:ty = $mode:ident $memory:expr;)*) => {
        $(commsan_machine::interpose!(
            $name,
            real::$name,
            commsan_guards::ANY,
            NEVER,
            instead::$name
        );)*

        mod instead {
            use super::*;
            $(
                #[inline(never)]
                pub unsafe extern "C" fn $name($($parameter: $type),*) -> $result {
                    let _open = watched(stringify!($name), Mode::$mode, $memory, caller!());
                    type Real = unsafe extern "C" fn($($type),*) -> $result;
                    // SAFETY: the C library's function, with the caller's arguments.
                    unsafe {
                        let next = next::$name.required();
                        std::mem::transmute::<*mut c_void, Real>(next)($($parameter),*)
                    }
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

        fn all() -> impl Iterator<Item = (&'static Next, &'static AtomicPtr<c_void>)> {
            let own = [(&next::write, &real::write), (&next::mprotect, &real::mprotect)];
            [$((&next::$name, &real::$name)),*].into_iter().chain(own)
        }
    };
}

type Address = *mut libc::sockaddr;
type Length = libc::socklen_t;

transfers! {
    read(file: c_int, data: *mut c_void, size: usize) -> isize = Write Bytes(data, size);
    pread(file: c_int, data: *mut c_void, size: usize, at: i64) -> isize = Write Bytes(data, size);
    pread64(file: c_int, data: *mut c_void, size: usize, at: i64) -> isize = Write Bytes(data, size);
    pwrite(file: c_int, data: *const c_void, size: usize, at: i64) -> isize = Read Bytes(data, size);
    pwrite64(file: c_int, data: *const c_void, size: usize, at: i64) -> isize =
        Read Bytes(data, size);
    readv(file: c_int, parts: *const libc::iovec, count: c_int) -> isize =
        Write Vectors(parts, count.max(0) as usize);
    writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize =
        Read Vectors(parts, count.max(0) as usize);
    preadv(file: c_int, parts: *const libc::iovec, count: c_int, at: i64) -> isize =
        Write Vectors(parts, count.max(0) as usize);
    pwritev(file: c_int, parts: *const libc::iovec, count: c_int, at: i64) -> isize =
        Read Vectors(parts, count.max(0) as usize);
    recv(socket: c_int, data: *mut c_void, size: usize, flags: c_int) -> isize =
        Write Bytes(data, size);
    send(socket: c_int, data: *const c_void, size: usize, flags: c_int) -> isize =
        Read Bytes(data, size);
    recvfrom(socket: c_int, data: *mut c_void, size: usize, flags: c_int, from: Address, length: *mut Length)
        -> isize = Write Bytes(data, size);
    sendto(socket: c_int, data: *const c_void, size: usize, flags: c_int, to: Address, length: Length)
        -> isize = Read Bytes(data, size);
    recvmsg(socket: c_int, message: *mut libc::msghdr, flags: c_int) -> isize =
        Write Message(message);
    sendmsg(socket: c_int, message: *const libc::msghdr, flags: c_int) -> isize =
        Read Message(message);
    fread(data: *mut c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Write Bytes(data, size.saturating_mul(count));
    fread_unlocked(data: *mut c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Write Bytes(data, size.saturating_mul(count));
    fwrite(data: *const c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Read Bytes(data, size.saturating_mul(count));
    fwrite_unlocked(data: *const c_void, size: usize, count: usize, file: *mut libc::FILE) -> usize =
        Read Bytes(data, size.saturating_mul(count));
}

commsan_machine::interpose!(write, real::write, commsan_guards::ANY, IS_READ, written);
commsan_machine::interpose!(mprotect, real::mprotect, IS_OBSERVED, NEVER, protected);

/// Instead of `write`.
#[inline(never)]
unsafe extern "C" fn written(file: c_int, data: *const c_void, size: usize) -> isize {
    if let Some(reader) = READER.get() {
        // SAFETY: the caller's arguments.
        unsafe { reader(data, size) };
    }
    let _open = match commsan_guards::are_any() {
        true => watched("write", Mode::Read, Bytes(data, size), caller!()),
        false => None,
    };
    type Real = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Real>(next::write.required())(file, data, size) }
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
