//! The exported functions of NVSHMEM.
//!
//! Most of NVSHMEM's functions return nothing: an error ends the program, as in NVSHMEM, with the
//! reason on standard error.

use super::job::{Job, Operand, number};
use super::start::{end, start};
use super::team::{INVALID, Team};
use super::values::{Bits, Integer as _, Value as _, change, combine, holds};
use super::{World, world};
use crate::cuda;
use crate::error::{Failure, Result};
use commsan_cuda_abi::nvshmem::{Attributes, Id, Version};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

/// `NVSHMEM_THREAD_SERIALIZED`.
const SERIALIZED: c_int = 2;
/// `NVSHMEMX_SUCCESS` and `NVSHMEMX_ERROR_NOT_SUPPORTED`.
const DONE: c_int = 0;
const UNSUPPORTED: c_int = 3;
/// The version of the interface.
const VERSION: Version = Version { major: 3, minor: 4, patch: 5 };

fn warn(call: &str, failure: &Failure) {
    eprintln!("commsan: simulated NVSHMEM: {call}: {}", failure.message);
}

/// The value of a call; an error ends the program.
fn must<T>(call: &str, done: Result<T>) -> T {
    done.unwrap_or_else(|failure| {
        warn(call, &failure);
        // No code of the program may run any more, and no exit handler that waits for others.
        // SAFETY: it does not return.
        unsafe { libc::_exit(255) }
    })
}

fn code(call: &str, done: Result) -> c_int {
    match done {
        Ok(()) => DONE,
        Err(failure) => {
            warn(call, &failure);
            1
        }
    }
}

/// Defines functions that run a job at once (`host`), or when a stream reaches it; the stream is
/// then the last argument.
macro_rules! define {
    (host [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $job:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($($name),*))]
            extern "C" fn function($($arg: $ty),*) -> $result {
                now(concat!($($name),*), &$job);
                <$result>::default()
            }
        };
    };
    (stream [$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, $job:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($($name),*))]
            extern "C" fn function($($arg: $ty,)* stream: usize) -> $result {
                in_stream(concat!($($name),*), stream, $job);
                <$result>::default()
            }
        };
    };
}

/// Defines a function of the host that returns a value.
macro_rules! gives {
    ([$($name:literal)*] ($($arg:ident: $ty:ty),*) -> $result:ty, |$world:ident| $done:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($($name),*))]
            extern "C" fn function($($arg: $ty),*) -> $result {
                must(concat!($($name),*), world().and_then(|$world| $done))
            }
        };
    };
}

macro_rules! function {
    (p $way:ident $name:tt $t:ident $r:ident) => {
        define!($way $name (to: usize, value: $t, pe: c_int) -> (),
            Job::Value { to, bits: value.bits(), bytes: size_of::<$t>(), pe });
    };
    (g host $name:tt $t:ident $r:ident) => {
        gives!($name (from: usize, pe: c_int) -> $t, |world| value::<$t>(&world, from, pe));
    };
    // It returns a value, so the host waits for the stream.
    (g stream $name:tt $t:ident $r:ident) => {
        gives!($name (from: usize, pe: c_int, stream: usize) -> $t,
            |world| cuda::wait_for(stream).and_then(|()| value::<$t>(&world, from, pe)));
    };
    (put $way:ident $name:tt $t:ident $r:ident) => {
        define!($way $name (to: usize, from: usize, count: usize, pe: c_int) -> (),
            Job::Put { to, from, bytes: count * size_of::<$t>(), pe });
    };
    (get $way:ident $name:tt $t:ident $r:ident) => {
        define!($way $name (to: usize, from: usize, count: usize, pe: c_int) -> (),
            Job::Get { to, from, bytes: count * size_of::<$t>(), pe });
    };
    (iput $way:ident $name:tt $t:ident $r:ident) => { function!(@strided $way $name $t true); };
    (iget $way:ident $name:tt $t:ident $r:ident) => { function!(@strided $way $name $t false); };
    (@strided $way:ident $name:tt $t:ident $puts:literal) => {
        define!($way $name
            (to: usize, from: usize, to_step: isize, from_step: isize, count: usize, pe: c_int) -> (),
            Job::Each {
                puts: $puts,
                to: (to, to_step),
                from: (from, from_step),
                size: size_of::<$t>(),
                count,
                pe,
            });
    };
    (put_signal $way:ident $name:tt $t:ident $r:ident) => {
        define!($way $name
            (to: usize, from: usize, count: usize, signal: usize, value: u64, op: c_int, pe: c_int) -> (),
            Job::PutSignal { to, from, bytes: count * size_of::<$t>(), signal: (signal, value, op), pe });
    };
    (change host $name:tt $t:ident $r:ident $op:ident) => {
        gives!($name (at: usize, value: $t, pe: c_int) -> (),
            |world| update::<$t>(&world, at, pe, |old| function!(@op $op old value)).map(drop));
    };
    (fetch_change host $name:tt $t:ident $r:ident $op:ident) => {
        gives!($name (at: usize, value: $t, pe: c_int) -> $t,
            |world| update::<$t>(&world, at, pe, |old| function!(@op $op old value)));
    };
    (increment host $name:tt $t:ident $r:ident) => {
        gives!($name (at: usize, pe: c_int) -> (),
            |world| update::<$t>(&world, at, pe, |old| old.sum(1)).map(drop));
    };
    (fetch_increment host $name:tt $t:ident $r:ident) => {
        gives!($name (at: usize, pe: c_int) -> $t, |world| update::<$t>(&world, at, pe, |old| old.sum(1)));
    };
    (compare_swap host $name:tt $t:ident $r:ident) => {
        gives!($name (at: usize, condition: $t, value: $t, pe: c_int) -> $t,
            |world| update::<$t>(&world, at, pe, |old| if old == condition { value } else { old }));
    };
    (@op set $old:ident $value:ident) => {{ let _ = $old; $value }};
    (@op $op:ident $old:ident $value:ident) => { $old.$op($value) };
    (broadcast $way:ident $name:tt $t:ident $r:ident) => {
        define!($way $name (team: c_int, to: usize, from: usize, count: usize, root: c_int) -> c_int,
            Job::Broadcast { team, to, from, bytes: count * size_of::<$t>(), root });
    };
    (fcollect $way:ident $name:tt $t:ident $r:ident) => { function!(@all $way $name $t false); };
    (alltoall $way:ident $name:tt $t:ident $r:ident) => { function!(@all $way $name $t true); };
    (@all $way:ident $name:tt $t:ident $parts:literal) => {
        define!($way $name (team: c_int, to: usize, from: usize, count: usize) -> c_int,
            Job::FromAll { team, to, from, bytes: count * size_of::<$t>(), parts: $parts });
    };
    (reduce $way:ident $name:tt $t:ident $r:ident $op:ident) => {
        function!(@reduce $way $name $t $r $op false);
    };
    (reducescatter $way:ident $name:tt $t:ident $r:ident $op:ident) => {
        function!(@reduce $way $name $t $r $op true);
    };
    (@reduce $way:ident $name:tt $t:ident $r:ident $op:ident $parts:literal) => {
        define!($way $name (team: c_int, to: usize, from: usize, count: usize) -> c_int,
            Job::Reduce {
                team,
                to,
                from,
                bytes: count * size_of::<$t>(),
                parts: $parts,
                combine: combine::$op::<$r>,
            });
    };
}

use half::{bf16, f16};
commsan_cuda_abi::nvshmem_functions!(function);

fn now(call: &'static str, job: &Job) {
    must(call, world().and_then(|world| job.run(&world)));
}

fn in_stream(call: &'static str, stream: usize, job: Job) {
    let put = |world: Arc<World>| cuda::call(stream, move || must(call, job.run(&world)));
    must(call, world().and_then(put));
}

/// # Safety
/// A readable `T` lies at the address, in the program's or symmetric memory.
unsafe fn read<T: Copy>(at: usize) -> T {
    // SAFETY: by this function's contract.
    unsafe { (at as *const T).read_unaligned() }
}

fn value<T: Copy>(world: &World, from: usize, pe: c_int) -> Result<T> {
    let from = world.at(from, size_of::<T>(), number(pe))?;
    // SAFETY: the bytes of a value, in symmetric memory.
    Ok(unsafe { read(from) })
}

fn update<T: Bits>(world: &World, at: usize, pe: c_int, new: impl Fn(T) -> T) -> Result<T> {
    let at = world.at(at, size_of::<T>(), number(pe))?;
    if !at.is_multiple_of(size_of::<T>()) {
        return Err(Failure::argument(format!("a value at {at:#x} is not where it may be")));
    }
    // SAFETY: the bytes of an aligned value, in symmetric memory.
    Ok(unsafe { change(at, new) })
}

macro_rules! waits {
    ($($name:literal $t:ident)*) => {$(
        define!(stream ["nvshmemx_" $name "_wait_until_on_stream"] (at: usize, how: c_int, with: $t) -> (),
            Job::Wait { at, count: 1, status: 0, with: Operand::Value(with.bits()), holds: holds::<$t>, how });
        define!(stream ["nvshmemx_" $name "_wait_until_all_on_stream"]
            (at: usize, count: usize, status: usize, how: c_int, with: $t) -> (),
            Job::Wait { at, count, status, with: Operand::Value(with.bits()), holds: holds::<$t>, how });
        define!(stream ["nvshmemx_" $name "_wait_until_all_vector_on_stream"]
            (at: usize, count: usize, status: usize, how: c_int, with: usize) -> (),
            Job::Wait { at, count, status, with: Operand::Values(with), holds: holds::<$t>, how });
    )*};
}

waits! {
    "short" i16 "int" i32 "long" i64 "longlong" i64 "ushort" u16 "uint" u32 "ulong" u64 "ulonglong" u64
    "int32" i32 "int64" i64 "uint32" u32 "uint64" u64 "size" usize "ptrdiff" isize
}
define!(stream ["nvshmemx_signal_wait_until_on_stream"] (at: usize, how: c_int, with: u64) -> (),
    Job::Wait { at, count: 1, status: 0, with: Operand::Value(with.into()), holds: holds::<u64>, how });
define!(stream ["nvshmemx_signal_op_on_stream"] (at: usize, value: u64, op: c_int, pe: c_int) -> (),
    Job::Signal { signal: (at, value, op), pe });
define!(host ["nvshmem_quiet"] () -> (), Job::Nothing);
define!(host ["nvshmem_fence"] () -> (), Job::Nothing);
define!(stream ["nvshmemx_quiet_on_stream"] () -> (), Job::Nothing);
define!(host ["nvshmem_barrier_all"] () -> (), Job::Meet { team: 0 });
define!(host ["nvshmem_sync_all"] () -> (), Job::Meet { team: 0 });
define!(host ["nvshmem_barrier"] (team: c_int) -> c_int, Job::Meet { team });
define!(host ["nvshmem_team_sync"] (team: c_int) -> c_int, Job::Meet { team });
define!(stream ["nvshmemx_barrier_all_on_stream"] () -> (), Job::Meet { team: 0 });
define!(stream ["nvshmemx_sync_all_on_stream"] () -> (), Job::Meet { team: 0 });
define!(stream ["nvshmemx_barrier_on_stream"] (team: c_int) -> c_int, Job::Meet { team });
define!(stream ["nvshmemx_team_sync_on_stream"] (team: c_int) -> c_int, Job::Meet { team });

gives!(["nvshmem_signal_fetch"] (at: usize) -> u64, |world| value(&world, at, world.pe as c_int));
gives!(["nvshmem_malloc"] (size: usize) -> usize, |world| world.allocate(size));
gives!(["nvshmem_align"] (_alignment: usize, size: usize) -> usize, |world| world.allocate(size));
gives!(["nvshmem_calloc"] (count: usize, size: usize) -> usize, |world| {
    let bytes = count.saturating_mul(size);
    let address = world.allocate(bytes)?;
    // SAFETY: just allocated.
    unsafe { (address as *mut u8).write_bytes(0, bytes) };
    world.team(0).and_then(|team| team.meet()).map(|()| address)
});
gives!(["nvshmem_free"] (address: usize) -> (), |world| world.free(address));

#[unsafe(no_mangle)]
extern "C" fn nvshmem_ptr(address: usize, pe: c_int) -> usize {
    world().and_then(|world| world.at(address, 0, number(pe))).unwrap_or(0)
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_my_pe() -> c_int {
    world().map_or(-1, |world| world.pe as c_int)
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_n_pes() -> c_int {
    world().map_or(-1, |world| world.pes as c_int)
}

fn team(number: c_int) -> Option<Arc<Team>> {
    world().and_then(|world| world.team(number)).ok()
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_team_my_pe(number: c_int) -> c_int {
    team(number).map_or(INVALID, |team| team.me as c_int)
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_team_n_pes(number: c_int) -> c_int {
    team(number).map_or(INVALID, |team| team.members.len() as c_int)
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_team_translate_pe(from: c_int, pe: c_int, to: c_int) -> c_int {
    let (Some(from), Some(to)) = (team(from), team(to)) else { return INVALID };
    let known = from.members.get(number(pe));
    let there = known.and_then(|pe| to.members.iter().position(|member| member == pe));
    there.map_or(INVALID, |at| at as c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmem_team_split_strided(
    parent: c_int,
    from: c_int,
    step: c_int,
    size: c_int,
    _config: *const c_void,
    _mask: i64,
    new: *mut c_int,
) -> c_int {
    let members: Vec<usize> = (0..size).map(|at| number(from + at * step)).collect();
    let split = world().and_then(|world| world.split(parent, &members));
    // SAFETY: the program's output pointer.
    unsafe { new.write(*split.as_ref().unwrap_or(&INVALID)) };
    code("nvshmem_team_split_strided", split.map(drop))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmem_team_split_2d(
    parent: c_int,
    width: c_int,
    _x_config: *const c_void,
    _x_mask: i64,
    x_team: *mut c_int,
    _y_config: *const c_void,
    _y_mask: i64,
    y_team: *mut c_int,
) -> c_int {
    let split = || {
        let (world, of) = (world()?, team(parent));
        let of = of.ok_or_else(|| Failure::argument("there is no such team"))?;
        let (size, width) = (of.members.len(), (width.max(1) as usize).min(of.members.len()));
        let (row, column) = (of.me / width, of.me % width);
        let row: Vec<usize> = (row * width..size.min((row + 1) * width)).collect();
        let column: Vec<usize> = (column..size).step_by(width).collect();
        Ok([world.split(parent, &row)?, world.split(parent, &column)?])
    };
    let teams = split();
    let [x, y] = *teams.as_ref().unwrap_or(&[INVALID; 2]);
    // SAFETY: the program's output pointers.
    unsafe {
        x_team.write(x);
        y_team.write(y);
    }
    code("nvshmem_team_split_2d", teams.map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_team_destroy(team: c_int) {
    if let Ok(world) = world() {
        world.teams.lock().remove(team);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemx_hostlib_init_attr(
    flags: c_uint,
    attributes: *const Attributes,
) -> c_int {
    // SAFETY: the program's attributes, or null.
    code("nvshmemx_hostlib_init_attr", start(flags, unsafe { attributes.as_ref() }))
}

/// Defines what `nvshmem_init` calls in a program that is linked with this library alone, for
/// versions of `nvshmemx_init_attr_t`, which begin alike.
macro_rules! init_threads {
    ($($function:ident $name:literal;)*) => {$(
        /// # Safety
        /// Every pointer is valid for its type.
        #[unsafe(export_name = $name)]
        unsafe extern "C" fn $function(
            _requested: c_int,
            provided: *mut c_int,
            flags: c_uint,
            attributes: *const Attributes,
            _version: Version,
        ) -> c_int {
            // SAFETY: by this function's contract.
            unsafe {
                provided.write(SERIALIZED);
                code("nvshmem_init", start(flags, attributes.as_ref()))
            }
        }
    )*};
}
init_threads! {
    init_thread "_Z20nvshmemi_init_threadiPijP21nvshmemx_init_attr_v118nvshmemi_version_t";
    init_thread_v2 "_Z20nvshmemi_init_threadiPijP21nvshmemx_init_attr_v218nvshmemi_version_t";
}

/// Initialises a program that is also linked with `libnvshmem_device.a`, whose variables the
/// simulated device finds by their names.
///
/// # Safety
/// Every pointer is valid for its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemid_hostlib_init_attr(
    _requested: c_int,
    provided: *mut c_int,
    flags: c_uint,
    attributes: *const Attributes,
    _version: Version,
    _device: *const c_void,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        provided.write(SERIALIZED);
        code("nvshmem_init", start(flags, attributes.as_ref()))
    }
}

/// By which transport kernels reach PEs that they cannot store to
/// (`NVSHMEMI_DEVICE_TRANSPORT_TYPE_PROXY`); `libnvshmem_device.a` reads it.
#[unsafe(no_mangle)]
static nvshmem_selected_device_transport: c_int = 0;

macro_rules! ends {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() {
            // The program continues: it may have failed long ago.
            if let Err(failure) = end() {
                warn("nvshmem_finalize", &failure);
            }
        }
    )*};
}
ends!(nvshmemx_hostlib_finalize nvshmemid_hostlib_finalize nvshmemi_finalize);

/// Functions that the simulated hardware does not support.
macro_rules! lacks {
    ($($name:ident -> $result:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> usize {
            $result
        }
    )*};
}
lacks! {
    nvshmemx_mc_ptr -> 0;
    nvshmemx_buffer_register_symmetric -> 0;
    nvshmemx_buffer_unregister_symmetric -> UNSUPPORTED as usize;
    nvshmemx_team_get_uniqueid -> UNSUPPORTED as usize;
    nvshmemx_team_init -> UNSUPPORTED as usize;
}

/// Functions for kernels that the program loads itself.
macro_rules! of_kernels {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> c_int {
            eprintln!(concat!(
                "commsan: simulated NVSHMEM: ",
                stringify!($name),
                " is not simulated: kernels that are loaded by the driver API cannot call NVSHMEM"
            ));
            UNSUPPORTED
        }
    )*};
}
of_kernels!(nvshmemx_cumodule_init nvshmemx_cumodule_finalize nvshmemx_culibrary_init nvshmemx_culibrary_finalize);

/// Whether NVSHMEM is initialised.
#[unsafe(no_mangle)]
extern "C" fn nvshmemx_init_status() -> c_int {
    /// `NVSHMEM_STATUS_IS_INITIALIZED`.
    const INITIALIZED: c_int = 2;
    if world().is_ok() { INITIALIZED } else { 0 }
}

#[unsafe(no_mangle)]
extern "C" fn nvshmemid_init_status() -> c_int {
    nvshmemx_init_status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemx_get_uniqueid(id: *mut Id) -> c_int {
    let made = crate::abi::UniqueId::new().map(|made| {
        let mut bytes = [0; 124];
        bytes[..24].copy_from_slice(&made.0[..24]);
        // SAFETY: the program's output pointer.
        unsafe { (*id).bytes = bytes };
    });
    code("nvshmemx_get_uniqueid", made)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemx_set_attr_uniqueid_args(
    rank: c_int,
    ranks: c_int,
    id: *const Id,
    attributes: *mut Attributes,
) -> c_int {
    // SAFETY: the program's attributes.
    let by_id = unsafe { &mut (*attributes).by_id };
    (by_id.id, by_id.rank, by_id.ranks) = (id, rank, ranks);
    DONE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemx_set_attr_mpi_comm_args(
    comm: *const c_void,
    attributes: *mut Attributes,
) -> c_int {
    // SAFETY: the program's attributes.
    unsafe { (*attributes).comm = comm };
    DONE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmem_query_thread(provided: *mut c_int) {
    // SAFETY: the program's output pointer.
    unsafe { provided.write(SERIALIZED) };
}

#[unsafe(no_mangle)]
extern "C" fn nvshmem_global_exit(status: c_int) {
    std::process::exit(status);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmem_info_get_version(major: *mut c_int, minor: *mut c_int) {
    // SAFETY: the program's output pointers. NVSHMEM reports OpenSHMEM 1.3.
    unsafe {
        major.write(1);
        minor.write(3);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmem_info_get_name(name: *mut c_char) {
    let text = c"simulated NVSHMEM (commsan)";
    // SAFETY: the program provides `NVSHMEM_MAX_NAME_LEN`, 256 bytes.
    unsafe { name.copy_from(text.as_ptr(), text.count_bytes() + 1) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvshmemx_vendor_get_version_info(
    major: *mut c_int,
    minor: *mut c_int,
    patch: *mut c_int,
) {
    // SAFETY: the program's output pointers.
    unsafe {
        major.write(VERSION.major);
        minor.write(VERSION.minor);
        patch.write(VERSION.patch);
    }
}

/// Any memory may be the local end of a transfer, so registration has no effect.
#[unsafe(no_mangle)]
extern "C" fn nvshmemx_buffer_register(_address: usize, _length: usize) -> c_int {
    DONE
}

#[unsafe(no_mangle)]
extern "C" fn nvshmemx_buffer_unregister(_address: usize) -> c_int {
    DONE
}

#[unsafe(no_mangle)]
extern "C" fn nvshmemx_buffer_unregister_all() {}
