//! What depends on the processor: registers, the time-stamp counter, assembler, and what the system
//! calls its parts. One module a processor, all with the same items; `portable` stands in
//! elsewhere, where commsan checks less but compiles and does no harm.
//!
//! Not here is what has a portable form beside it that means the same: kernels compiled for wider
//! vectors (`simt`), and the C of `instrument/hooks`, whose `machine.h` is this file's twin.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub use aarch64::*;

#[cfg(not(target_arch = "x86_64"))]
mod lacking;
#[cfg(not(target_arch = "x86_64"))]
pub use lacking::*;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod portable;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub use portable::*;

/// The call that ends code, if any does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTo {
    /// A function at this distance from the return address.
    Distance(i32),
    /// A function whose address is in a register or in memory.
    Anything,
}

/// Type of `dlsym`.
pub type Dlsym =
    unsafe extern "C" fn(*mut std::ffi::c_void, *const std::ffi::c_char) -> *mut std::ffi::c_void;

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, c_char, c_void};
    use std::sync::atomic::AtomicPtr;
    use std::sync::atomic::Ordering::Relaxed;

    #[inline(never)]
    fn frame() -> (usize, usize) {
        let frame = frame_pointer!();
        // SAFETY: the tests are compiled with frame pointers (.cargo/config.toml).
        (frame, unsafe { *(frame as *const usize) })
    }

    #[test]
    #[inline(never)]
    fn a_frame_holds_that_of_its_caller() {
        let (inner, outer) = frame();
        assert_eq!(outer, frame_pointer!());
        assert!(inner < outer);
    }

    #[test]
    fn each_thread_has_a_pointer_of_its_own() {
        let here = thread_pointer();
        assert_eq!(here, thread_pointer());
        assert_ne!(here, std::thread::spawn(thread_pointer).join().unwrap());
    }

    #[test]
    fn the_counter_moves_on() {
        let before = ticks();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(ticks() > before);
    }

    #[test]
    fn weak_symbols_have_an_address_or_none() {
        assert_ne!(weak_address!("malloc"), 0);
        assert_eq!(weak_address!("commsan_no_such_function"), 0);
    }

    #[test]
    fn the_stack_pointer_of_an_interrupted_thread_lies_in_its_stack() {
        static SEEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
            // SAFETY: what the kernel has passed.
            SEEN.store(unsafe { stack_pointer(context) } as *mut c_void, Relaxed);
        }
        let local = 0_u8;
        // SAFETY: a handler that only stores.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
            libc::raise(libc::SIGUSR2);
        }
        let distance = (&raw const local as usize).abs_diff(SEEN.load(Relaxed) as usize);
        assert!(distance < 1 << 16, "{distance}");
    }

    #[test]
    fn the_dynamic_linker_is_the_one_that_has_loaded_this() {
        unsafe extern "C" fn is_loader(
            module: *mut libc::dl_phdr_info,
            _: usize,
            _: *mut c_void,
        ) -> i32 {
            // SAFETY: a string of the dynamic linker's.
            let name = unsafe { CStr::from_ptr((*module).dlpi_name) };
            i32::from(name.to_bytes() == LOADER.as_bytes())
        }
        // SAFETY: the callback keeps nothing.
        assert_eq!(unsafe { libc::dl_iterate_phdr(Some(is_loader), std::ptr::null_mut()) }, 1);
    }

    /// `dlsym` in this test program is commsan's.
    mod interposed {
        use super::*;

        static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

        extern "C" fn find() -> *mut c_void {
            let version = OLDEST_GLIBC.as_ptr();
            // SAFETY: a lookup by name and version.
            let real = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version) };
            REAL.store(real, Relaxed);
            real
        }

        unsafe extern "C" fn in_library(handle: *mut c_void, name: *const c_char) -> *mut c_void {
            // SAFETY: the caller's string.
            assert!(unsafe { CStr::from_ptr(name) }.to_bytes().starts_with(b"MPI"));
            handle
        }

        interpose_dlsym!(REAL, find, in_library);
    }

    #[test]
    fn lookups_of_mpi_functions_in_a_library_are_told_from_all_others() {
        // SAFETY: lookups by name.
        unsafe {
            let library = libc::dlopen(std::ptr::null(), libc::RTLD_NOW);
            assert!(!libc::dlsym(library, c"malloc".as_ptr()).is_null());
            assert!(!libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()).is_null());
            assert!(!libc::dlsym(libc::RTLD_NEXT, c"malloc".as_ptr()).is_null());
            assert!(libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Send".as_ptr()).is_null());
            assert_eq!(libc::dlsym(library, c"MPI_Send".as_ptr()), library);
            assert!(libc::dlsym(library, c"MP".as_ptr()).is_null());
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn loads_and_stores_that_fault_are_told_apart() {
        static STORED: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        static PAGE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
            // SAFETY: what the kernel has passed; the page exists.
            unsafe {
                STORED.store(usize::from(is_store_fault(context)) as *mut c_void, Relaxed);
                libc::mprotect(PAGE.load(Relaxed), 4096, libc::PROT_READ | libc::PROT_WRITE);
            }
        }
        // SAFETY: a page of its own, and a handler that makes it accessible.
        unsafe {
            let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_NONE);
            let page = libc::mmap(std::ptr::null_mut(), 4096, none, flags, -1, 0);
            PAGE.store(page, Relaxed);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut());
            let byte = page.cast::<u8>();
            byte.write_volatile(1);
            assert_eq!(STORED.load(Relaxed) as usize, 1);
            libc::mprotect(page, 4096, none);
            assert_eq!(byte.read_volatile(), 1);
            assert_eq!(STORED.load(Relaxed) as usize, 0);
        }
    }
}
