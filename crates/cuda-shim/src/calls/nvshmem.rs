//! NVSHMEM: what calls of its host library move, and its symmetric memory.

use crate::nvshmem::{Asks, Elements, Shape, allocate, counted, forget_team, free, reached};
use std::ffi::c_int;

/// A function that is called as it is, after what it asks for has been counted.
macro_rules! entry {
    ([$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $asks:expr) => {
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
                let _inside = counted(NAME, commsan_process::caller!(), $asks);
                // SAFETY: the program's arguments.
                unsafe { real($($arg),*) }
            }
        };
    };
}

/// A function that is called as it is, with a stream behind its arguments where one does it.
macro_rules! in_either {
    (host [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $asks:expr) => {
        entry!([$($name)*] ($($arg: $ty),*) -> $result, $asks);
    };
    (stream [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $asks:expr) => {
        entry!([$($name)*] ($($arg: $ty,)* stream: usize) -> $result, $asks);
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

entry!(["nvshmemx_signal_op_on_stream"]
    (at: usize, value: u64, op: c_int, pe: c_int, stream: usize) -> (),
    Asks::Put { to: elements::<u64>(at, 1), from: None, pe });

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
unsafe extern "C" fn nvshmem_team_destroy(team: c_int) {
    forget_team(team);
    if let Some(real) = crate::real::real!(@name nvshmem_team_destroy, fn(c_int) -> ()) {
        // SAFETY: the program's argument.
        unsafe { real(team) };
    }
}
