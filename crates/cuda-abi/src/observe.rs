//! The callback ABI of the simulated device, through which a checker or profiler observes kernels.
//!
//! `commsan-simgpu` exports the functions that register these callbacks, and calls them under its
//! lock: they must neither call the runtime nor take a lock that a caller of the runtime may hold.
//! Strings are never freed; a null file is unknown.

use std::ffi::c_char;

/// Registers no or both of the checker's callbacks: `commsan_simgpu_watch`.
pub type SetWatch = unsafe extern "C" fn(wants: Option<Wants>, touched: Option<Touched>);

/// Registers the checker's callback for failures: `commsan_simgpu_failures`.
pub type SetFailures = unsafe extern "C" fn(failed: Option<Failed>);

/// Registers the checker's callback for mistakes within kernels: `commsan_simgpu_mistakes`.
pub type SetMistakes = unsafe extern "C" fn(mistaken: Option<Mistaken>);

/// Registers the profiler's callback: `commsan_simgpu_profile`.
pub type SetProfile = unsafe extern "C" fn(moved: Option<Moved>);

/// Whether the accesses of the kernel with a tag are to be reported.
pub type Wants = extern "C" fn(tag: u64) -> bool;

/// Reports that the kernel with a tag reads or writes `size` bytes from an address on, in a line of
/// a file. The strength says which accesses do not race with each other (`Strength::number` in
/// `commsan-ptx`): 1 with those of the same device, 2 with those of other devices and the host as
/// well, 0 for weak accesses. An access that writes may read as well.
pub type Touched = extern "C" fn(
    tag: u64,
    write: bool,
    address: u64,
    size: u64,
    file: *const c_char,
    line: u32,
    strength: u32,
);

/// A failed kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelFailure {
    /// The launch's tag.
    pub tag: u64,
    /// The fault, such as `out of bounds global store of 4 bytes`.
    pub what: *const c_char,
    /// Source file of the instruction.
    pub file: *const c_char,
    /// The source line, from 1.
    pub line: u32,
    /// The index of the block in the grid.
    pub block: [u32; 3],
    /// The index of the thread in the block.
    pub thread: [u32; 3],
    /// Whether the access would have written memory.
    pub write: bool,
    /// The address in global memory of the invalid access.
    pub address: u64,
    /// Size of the access in bytes; 0 if the fault does not concern global memory.
    pub size: u64,
    /// Whether it was to memory of another processing element of NVSHMEM, which does not exist, or
    /// has no symmetric memory there; the address is that which its processes know it by.
    pub symmetric: bool,
    /// That processing element.
    pub pe: i32,
}

/// Reports a failed kernel.
pub type Failed = extern "C" fn(failure: &KernelFailure);

/// Two accesses of a kernel race with each other.
pub const RACE: u32 = 0;
/// Two stores of the same value race with each other.
pub const SAME_VALUE: u32 = 1;
/// A barrier, mask or barrier object is used in a way that is undefined.
pub const SYNCHRONISATION: u32 = 2;
/// A kernel reads what nobody has written.
pub const UNINITIALISED: u32 = 3;

/// Something that threads of a kernel do wrong. The strings are valid during the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelMistake {
    /// The launch's tag.
    pub tag: u64,
    /// [`RACE`], [`SAME_VALUE`], [`SYNCHRONISATION`] or [`UNINITIALISED`].
    pub kind: u32,
    /// What they do, in words; of two sides the later one first.
    pub what: *const c_char,
    /// The memory in words if it is shared memory, else null.
    pub shared: *const c_char,
    /// Why that is wrong, in words.
    pub why: *const c_char,
    /// Whether the later side writes memory.
    pub write: bool,
    /// Source files of the later side and of the earlier one, which are never freed; the same file
    /// and line if there is one side.
    pub files: [*const c_char; 2],
    /// Their source lines, from 1; the indices of their instructions where there is no file.
    pub lines: [u32; 2],
    /// The address in global memory.
    pub address: u64,
    /// Size of the access in bytes; 0 if it is none of global memory.
    pub size: u64,
}

/// Reports a mistake within a kernel.
pub type Mistaken = extern "C" fn(mistake: &KernelMistake);

/// Accesses to a run of bytes by threads of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Accesses {
    /// The origin number of the launch.
    pub origin: u64,
    /// The kernel's mangled name.
    pub kernel: *const c_char,
    /// The instruction, such as `ld.global.f32`.
    pub instruction: *const c_char,
    /// Source file of the instruction.
    pub file: *const c_char,
    /// The source line, from 1; 0 without a file.
    pub line: u32,
    /// The device that the kernel runs on.
    pub device: u32,
    /// The kind of access: [`LOAD`], [`STORE`] or [`ATOMIC`].
    pub kind: u32,
    /// Bytes that each thread accesses.
    pub size: u32,
    /// The device that owns the memory, by its number in the owning process; [`HOST`] for the
    /// host's.
    pub owner: u32,
    /// Address of the first byte.
    pub start: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// How often each byte was accessed.
    pub times: u64,
}

/// A read.
pub const LOAD: u32 = 0;
/// A write.
pub const STORE: u32 = 1;
/// An atomic read and write.
pub const ATOMIC: u32 = 2;

/// The owner of host memory.
pub const HOST: u32 = u32::MAX;

/// Reports accesses outside the memory of the kernel's own device.
pub type Moved = extern "C" fn(accesses: &Accesses);
