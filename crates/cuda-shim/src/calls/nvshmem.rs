//! NVSHMEM: the functions of its host library.

use crate::nvshmem::{
    Asks, Elements, How, Shape, allocate, asked, asks, destroy_team, end, free, init, reached,
    split,
};
use commsan_cuda::nvshmem::WORLD;
use commsan_cuda_abi::nvshmem::{Attributes, Version};
use std::ffi::{c_int, c_uint, c_void};

/// A function that is called as it is, by the host or in a stream.
macro_rules! entry {
    ([$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $stream:expr, $asks:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($($name),*))]
            #[inline(never)]
            unsafe extern "C" fn entry($($arg: $ty),*) -> $result {
                const NAME: &str = concat!($($name),*);
                let Some(real) = crate::real::real!(
                    match std::ffi::CStr::from_bytes_with_nul(concat!($($name,)* "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    },
                    fn($($ty),*) -> $result
                ) else {
                    // SAFETY: numbers, of which zero is one; there is nothing that could be called.
                    return unsafe { std::mem::zeroed() };
                };
                let how = How { name: NAME, stream: $stream };
                // SAFETY: the program's arguments.
                asked(how, commsan_process::caller!(), $asks, || unsafe { real($($arg),*) })
            }
        };
    };
}

/// A function that is called as it is, with a stream behind its arguments where one does it.
macro_rules! in_either {
    (host [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $asks:expr) => {
        entry!([$($name)*] ($($arg: $ty),*) -> $result, None, $asks);
    };
    (stream [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $asks:expr) => {
        entry!([$($name)*] ($($arg: $ty,)* stream: usize) -> $result, Some(stream), $asks);
    };
}

macro_rules! function {
    (p $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (to: usize, value: $t, pe: c_int) -> (),
            Asks::Put { to: elements::<$t>(to, 1), from: None, pe });
    };
    (g $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (from: usize, pe: c_int) -> $t,
            Asks::Get { from: elements::<$t>(from, 1), to: None, pe });
    };
    (put $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (to: usize, from: usize, count: usize, pe: c_int) -> (),
            Asks::Put { to: elements::<$t>(to, count), from: Some(elements::<$t>(from, count)), pe });
    };
    (get $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (to: usize, from: usize, count: usize, pe: c_int) -> (),
            Asks::Get { from: elements::<$t>(from, count), to: Some(elements::<$t>(to, count)), pe });
    };
    (iput $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name
            (to: usize, from: usize, step: isize, own: isize, count: usize, pe: c_int) -> (),
            Asks::Put {
                to: elements::<$t>(to, count).every(step),
                from: Some(elements::<$t>(from, count).every(own)),
                pe,
            });
    };
    (iget $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name
            (to: usize, from: usize, own: isize, step: isize, count: usize, pe: c_int) -> (),
            Asks::Get {
                from: elements::<$t>(from, count).every(step),
                to: Some(elements::<$t>(to, count).every(own)),
                pe,
            });
    };
    (put_signal $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name
            (to: usize, from: usize, count: usize, signal: usize, value: u64, op: c_int, pe: c_int) -> (),
            Asks::PutSignal {
                to: elements::<$t>(to, count),
                from: elements::<$t>(from, count),
                signal,
                pe,
            });
    };
    (change $way:ident $name:tt $t:ident $r:ident $op:ident) => { function!(p $way $name $t $r); };
    (increment $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (to: usize, pe: c_int) -> (),
            Asks::Put { to: elements::<$t>(to, 1), from: None, pe });
    };
    (fetch_increment $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (at: usize, pe: c_int) -> $t,
            Asks::FetchAndChange { at: elements::<$t>(at, 1), pe });
    };
    (fetch_change $way:ident $name:tt $t:ident $r:ident $op:ident) => {
        in_either!($way $name (at: usize, value: $t, pe: c_int) -> $t,
            Asks::FetchAndChange { at: elements::<$t>(at, 1), pe });
    };
    (compare_swap $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (at: usize, condition: $t, value: $t, pe: c_int) -> $t,
            Asks::FetchAndChange { at: elements::<$t>(at, 1), pe });
    };
    (broadcast $way:ident $name:tt $t:ident $r:ident) => {
        in_either!($way $name (team: c_int, to: usize, from: usize, count: usize, root: c_int) -> c_int,
            collective::<$t>(team, Shape::FromRoot(root), to, from, count));
    };
    (fcollect $way:ident $name:tt $t:ident $r:ident) => {
        function!(@all $way $name $t Shape::Gather);
    };
    (alltoall $way:ident $name:tt $t:ident $r:ident) => {
        function!(@all $way $name $t Shape::AllToAll);
    };
    (reduce $way:ident $name:tt $t:ident $r:ident $op:ident) => {
        function!(@all $way $name $t Shape::Reduce);
    };
    (reducescatter $way:ident $name:tt $t:ident $r:ident $op:ident) => {
        function!(@all $way $name $t Shape::Scatter);
    };
    (@all $way:ident $name:tt $t:ident $shape:expr) => {
        in_either!($way $name (team: c_int, to: usize, from: usize, count: usize) -> c_int,
            collective::<$t>(team, $shape, to, from, count));
    };
}

fn elements<T>(at: usize, count: usize) -> Elements {
    Elements::new(at, size_of::<T>(), count)
}

fn collective<T>(team: c_int, shape: Shape, to: usize, from: usize, count: usize) -> Asks {
    let (to, from) = (elements::<T>(to, count), elements::<T>(from, count));
    Asks::Collective { team, shape, to, from }
}

commsan_cuda_abi::nvshmem_functions!(function);

in_either!(stream ["nvshmemx_signal_op_on_stream"]
    (at: usize, value: u64, op: c_int, pe: c_int) -> (),
    Asks::Put { to: elements::<u64>(at, 1), from: None, pe });

/// What waits for this PE's memory to have some value, in a stream.
macro_rules! waits {
    ($($name:literal $t:ident)*) => {$(
        in_either!(stream ["nvshmemx_" $name "_wait_until_on_stream"]
            (at: usize, how: c_int, with: $t) -> (),
            Asks::Await { at: elements::<$t>(at, 1) });
        in_either!(stream ["nvshmemx_" $name "_wait_until_all_on_stream"]
            (at: usize, count: usize, status: usize, how: c_int, with: $t) -> (),
            Asks::Await { at: elements::<$t>(at, count) });
        in_either!(stream ["nvshmemx_" $name "_wait_until_all_vector_on_stream"]
            (at: usize, count: usize, status: usize, how: c_int, with: usize) -> (),
            Asks::Await { at: elements::<$t>(at, count) });
    )*};
}

waits! {
    "short" i16 "int" i32 "long" i64 "longlong" i64 "ushort" u16 "uint" u32 "ulong" u64
    "ulonglong" u64 "int32" i32 "int64" i64 "uint32" u32 "uint64" u64 "size" usize "ptrdiff" isize
}
in_either!(stream ["nvshmemx_signal_wait_until_on_stream"] (at: usize, how: c_int, with: u64) -> (),
    Asks::Await { at: elements::<u64>(at, 1) });

in_either!(host ["nvshmem_barrier_all"] () -> (), Asks::Meet { team: WORLD });
in_either!(host ["nvshmem_sync_all"] () -> (), Asks::Meet { team: WORLD });
in_either!(host ["nvshmem_barrier"] (team: c_int) -> c_int, Asks::Meet { team });
in_either!(host ["nvshmem_team_sync"] (team: c_int) -> c_int, Asks::Meet { team });
in_either!(stream ["nvshmemx_barrier_all_on_stream"] () -> (), Asks::Meet { team: WORLD });
in_either!(stream ["nvshmemx_sync_all_on_stream"] () -> (), Asks::Meet { team: WORLD });
in_either!(stream ["nvshmemx_barrier_on_stream"] (team: c_int) -> c_int, Asks::Meet { team });
in_either!(stream ["nvshmemx_team_sync_on_stream"] (team: c_int) -> c_int, Asks::Meet { team });
in_either!(host ["nvshmem_quiet"] () -> (), Asks::Quiet);
in_either!(stream ["nvshmemx_quiet_on_stream"] () -> (), Asks::Quiet);

/// A function that allocates, with the size that it gives.
macro_rules! allocates {
    ($($name:ident($($arg:ident),*) $size:expr;)*) => {$(
        #[unsafe(no_mangle)]
        #[inline(never)]
        unsafe extern "C" fn $name($($arg: usize),*) -> usize {
            let real = crate::real::real!(@name $name, fn($(allocates!(@word $arg)),*) -> usize);
            let Some(real) = real else { return 0 };
            // SAFETY: the program's arguments.
            allocate(stringify!($name), commsan_process::caller!(), $size, || unsafe { real($($arg),*) })
        }
    )*};
    (@word $arg:ident) => { usize };
}

allocates! {
    nvshmem_malloc(size) size;
    nvshmem_calloc(count, size) count.saturating_mul(size);
    nvshmem_align(alignment, size) size;
}

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmem_free(address: usize) {
    if let Some(real) = crate::real::real!(@name nvshmem_free, fn(usize) -> ()) {
        // SAFETY: the program's argument.
        free(commsan_process::caller!(), address, || unsafe { real(address) });
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmem_ptr(address: usize, pe: c_int) -> usize {
    let Some(real) = crate::real::real!(@name nvshmem_ptr, fn(usize, c_int) -> usize) else {
        return 0;
    };
    // SAFETY: the program's arguments.
    reached(commsan_process::caller!(), (address, pe), || unsafe { real(address, pe) })
}

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmem_team_destroy(team: c_int) {
    if let Some(real) = crate::real::real!(@name nvshmem_team_destroy, fn(c_int) -> ()) {
        // SAFETY: the program's argument.
        destroy_team(commsan_process::caller!(), team, || unsafe { real(team) });
    }
}

/// What a call gives where there is no library: an error, or no PE.
const NONE: c_int = -1;

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmem_team_split_strided(
    parent: c_int,
    first: c_int,
    stride: c_int,
    size: c_int,
    config: *const c_void,
    mask: i64,
    made: *mut c_int,
) -> c_int {
    let real = crate::real::real!(
        @name nvshmem_team_split_strided,
        fn(c_int, c_int, c_int, c_int, *const c_void, i64, *mut c_int) -> c_int
    );
    let Some(real) = real else { return NONE };
    let name = "nvshmem_team_split_strided";
    // SAFETY: the program's arguments.
    split(name, commsan_process::caller!(), parent, &[made], || unsafe {
        real(parent, first, stride, size, config, mask, made)
    })
}

#[unsafe(no_mangle)]
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "they are NVSHMEM's")]
unsafe extern "C" fn nvshmem_team_split_2d(
    parent: c_int,
    width: c_int,
    x_config: *const c_void,
    x_mask: i64,
    x: *mut c_int,
    y_config: *const c_void,
    y_mask: i64,
    y: *mut c_int,
) -> c_int {
    let real = crate::real::real!(
        @name nvshmem_team_split_2d,
        fn(
            c_int,
            c_int,
            *const c_void,
            i64,
            *mut c_int,
            *const c_void,
            i64,
            *mut c_int,
        ) -> c_int
    );
    let Some(real) = real else { return NONE };
    // SAFETY: the program's arguments.
    split("nvshmem_team_split_2d", commsan_process::caller!(), parent, &[x, y], || unsafe {
        real(parent, width, x_config, x_mask, x, y_config, y_mask, y)
    })
}

/// Calls that only ask.
macro_rules! asks {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        #[inline(never)]
        unsafe extern "C" fn $name() -> c_int {
            let real = crate::real::real!(@name $name, fn() -> c_int);
            let Some(real) = real else { return NONE };
            // SAFETY: it takes nothing.
            asks(stringify!($name), commsan_process::caller!(), || unsafe { real() })
        }
    )*};
}

asks!(nvshmem_my_pe nvshmem_n_pes);

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmemx_hostlib_init_attr(
    flags: c_uint,
    attributes: *const Attributes,
) -> c_int {
    let real = crate::real::real!(
        @name nvshmemx_hostlib_init_attr,
        fn(c_uint, *const Attributes) -> c_int
    );
    let Some(real) = real else { return NONE };
    // SAFETY: the program's arguments.
    unsafe { init(commsan_process::caller!(), flags, attributes, || real(flags, attributes)) }
}

/// What `nvshmem_init` calls in a program that is linked with the host's library alone, for
/// versions of `nvshmemx_init_attr_t`, which begin alike.
macro_rules! init_threads {
    ($($function:ident $name:literal;)*) => {$(
        #[unsafe(export_name = $name)]
        #[inline(never)]
        unsafe extern "C" fn $function(
            requested: c_int,
            provided: *mut c_int,
            flags: c_uint,
            attributes: *const Attributes,
            version: Version,
        ) -> c_int {
            let real = crate::real::real!(
                match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                },
                fn(c_int, *mut c_int, c_uint, *const Attributes, Version) -> c_int
            );
            let Some(real) = real else { return NONE };
            // SAFETY: the program's arguments.
            unsafe {
                init(commsan_process::caller!(), flags, attributes, || {
                    real(requested, provided, flags, attributes, version)
                })
            }
        }
    )*};
}
init_threads! {
    init_thread "_Z20nvshmemi_init_threadiPijP21nvshmemx_init_attr_v118nvshmemi_version_t";
    init_thread_v2 "_Z20nvshmemi_init_threadiPijP21nvshmemx_init_attr_v218nvshmemi_version_t";
}

/// `nvshmem_init` calls this in a program that is linked with the library of kernels, too.
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn nvshmemid_hostlib_init_attr(
    requested: c_int,
    provided: *mut c_int,
    flags: c_uint,
    attributes: *const Attributes,
    version: Version,
    device: *const c_void,
) -> c_int {
    let real = crate::real::real!(
        @name nvshmemid_hostlib_init_attr,
        fn(c_int, *mut c_int, c_uint, *const Attributes, Version, *const c_void) -> c_int
    );
    let Some(real) = real else { return NONE };
    // SAFETY: the program's arguments.
    unsafe {
        init(commsan_process::caller!(), flags, attributes, || {
            real(requested, provided, flags, attributes, version, device)
        })
    }
}

/// Calls that finalize; those of some programs have arguments, which are passed on.
macro_rules! ends {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        #[inline(never)]
        unsafe extern "C" fn $name(first: usize, second: usize) {
            let real = crate::real::real!(@name $name, fn(usize, usize) -> ());
            if let Some(real) = real {
                // SAFETY: the program's arguments.
                end(commsan_process::caller!(), || unsafe { real(first, second) });
            }
        }
    )*};
}

ends!(nvshmemx_hostlib_finalize nvshmemid_hostlib_finalize nvshmemi_finalize);
