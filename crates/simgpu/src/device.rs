//! The simulated device: its attributes and limits, and the state of each device.
//!
//! It is modelled on a current data-centre device of compute capability 9.0; features that are not
//! simulated, such as cube maps, are reported as absent.

use crate::error::{Error, Result};
use crate::order::StreamId;
use rustc_hash::FxHashSet;

/// The device's name.
pub const NAME: &str = "commsan simulated device";

/// Memory of each device, in bytes.
pub const MEMORY: usize = 16 << 30;

/// Limits that are reported through several functions.
pub mod limits {
    /// Threads of a warp.
    pub const WARP: u32 = 32;
    /// Maximum threads of a block.
    pub const BLOCK_THREADS: u32 = 1024;
    /// Maximum threads of a block in x, y and z.
    pub const BLOCK: [u32; 3] = [1024, 1024, 64];
    /// Maximum blocks of a grid in x, y and z.
    pub const GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];
    /// Number of multiprocessors.
    pub const MULTIPROCESSORS: u32 = 132;
    /// Maximum threads of a multiprocessor.
    pub const THREADS: u32 = 2048;
    /// Maximum blocks of a multiprocessor.
    pub const BLOCKS: u32 = 32;
    /// Registers of a block, and of a multiprocessor.
    pub const REGISTERS: u32 = 65536;
    /// Shared memory of a block in bytes, unless its kernel opts in to more.
    pub const SHARED: usize = 48 << 10;
    /// Maximum shared memory of a block in bytes, with opt-in.
    pub const SHARED_OPTIN: usize = 227 << 10;
    /// Shared memory of a multiprocessor in bytes, of which each block reserves some.
    pub const SHARED_MULTIPROCESSOR: usize = 228 << 10;
    /// Shared memory reserved by each block, in bytes.
    pub const SHARED_RESERVED: usize = 1 << 10;
    /// Constant memory, in bytes.
    pub const CONSTANT: usize = 64 << 10;
    /// Alignment of memory that is read as a texture, in bytes.
    pub const TEXTURE_ALIGNMENT: usize = 512;
    /// Maximum texels of a texture of linear memory.
    pub const TEXTURE_LINEAR: usize = 1 << 28;
    /// Maximum pitch, in bytes.
    pub const PITCH: usize = 0x7fff_ffff;
    /// Highest and lowest priority of streams.
    pub const PRIORITIES: (i32, i32) = (-5, 0);
    /// Alignment of rows of pitched allocations, in bytes.
    pub const PITCH_ALIGNMENT: usize = 512;
}

/// The state of a device.
#[derive(Debug)]
pub struct Device {
    /// The legacy default stream.
    pub legacy: StreamId,
    /// The error that has made it unusable, if any.
    pub fault: Option<Error>,
    /// Virtual time of the last completion.
    pub finished: u64,
    /// Devices whose memory its kernels may access.
    pub peers: FxHashSet<usize>,
    /// The pool that `cudaMallocAsync` allocates from.
    pub pool: usize,
    /// Flags of `cudaSetDeviceFlags`.
    pub flags: u32,
    /// Values of `cudaDeviceSetLimit`.
    pub limits: [Option<usize>; LIMITS.len()],
}

/// Limits by number (`cudaLimit`), with their initial values.
const LIMITS: [(u32, usize); 7] =
    [(0, 1024), (1, 7 << 20), (2, 8 << 20), (3, 2), (4, 2048), (5, 128), (6, 0)];

impl Device {
    /// A device in its initial state.
    pub fn new(legacy: StreamId, pool: usize) -> Device {
        Device {
            legacy,
            fault: None,
            finished: 0,
            peers: FxHashSet::default(),
            pool,
            flags: 0,
            limits: [None; LIMITS.len()],
        }
    }

    /// The value of a limit.
    pub fn limit(&self, number: u32) -> Result<usize> {
        let at = limit(number)?;
        Ok(self.limits[at].unwrap_or(LIMITS[at].1))
    }

    /// Sets a limit.
    pub fn set_limit(&mut self, number: u32, value: usize) -> Result {
        self.limits[limit(number)?] = Some(value);
        Ok(())
    }
}

fn limit(number: u32) -> Result<usize> {
    LIMITS.iter().position(|row| row.0 == number).ok_or(Error::UNSUPPORTED_LIMIT)
}

/// Numbers of attributes that are computed rather than looked up.
const PCI_BUS: u32 = 33;

/// Attributes (`cudaDeviceAttr`) that are not zero.
#[rustfmt::skip]
const ATTRIBUTES: &[(u32, i32)] = &[
    (1, limits::BLOCK_THREADS as i32),
    (2, limits::BLOCK[0] as i32), (3, limits::BLOCK[1] as i32), (4, limits::BLOCK[2] as i32),
    (5, limits::GRID[0] as i32), (6, limits::GRID[1] as i32), (7, limits::GRID[2] as i32),
    (8, limits::SHARED as i32),
    (9, limits::CONSTANT as i32),
    (10, limits::WARP as i32),
    (11, limits::PITCH as i32),
    (12, limits::REGISTERS as i32),
    (13, 1_000_000),            // kHz of virtual time: an instruction takes a nanosecond
    (14, limits::TEXTURE_ALIGNMENT as i32), // textures of memory
    (15, 1),                    // copies overlap kernels
    (16, limits::MULTIPROCESSORS as i32),
    (19, 1),                    // host memory can be mapped
    (21, 131_072), (22, 131_072), (23, 65_536), // textures of one and two dimensions
    (24, 16_384), (25, 16_384), (26, 16_384), // of three
    (27, 32_768), (28, 32_768), (29, 2048), // layers of two
    (30, 512),                  // surface alignment
    (31, 1),                    // kernels run concurrently
    (36, 2_619_000),            // kHz of memory
    (37, 5120),                 // bits of the memory bus
    (38, 50 << 20),             // L2 cache
    (39, limits::THREADS as i32),
    (40, 3),                    // copy engines
    (41, 1),                    // one address space
    (42, 32_768), (43, 2048),   // layers of textures of one dimension
    (45, 32_768), (46, 32_768), // textures that are gathered from
    (51, 32),                   // texture pitch alignment
    (55, 32_768), (56, 131_072), (57, 65_536), // surfaces, as textures
    (58, 16_384), (59, 16_384), (60, 16_384),
    (61, 32_768), (62, 2048), (63, 32_768), (64, 32_768), (65, 2048),
    (69, limits::TEXTURE_LINEAR as i32), // textures of memory, of one and two dimensions
    (70, 131_072), (71, 65_000), (72, 2_097_120),
    (75, 9), (76, 0),           // compute capability
    (78, 1),                    // streams have priorities
    (79, 1), (80, 1),           // L1 caches globals and locals
    (81, limits::SHARED_MULTIPROCESSOR as i32),
    (82, limits::REGISTERS as i32),
    (83, 1),                    // managed memory
    (86, 1),                    // atomics on host memory
    (87, 2),                    // single to double precision
    (89, 1),                    // managed memory is coherent
    (90, 1),                    // kernels are preempted
    (91, 1),                    // registered memory has one address
    (95, 1),                    // cooperative launches
    (97, limits::SHARED_OPTIN as i32),
    (98, 1),                    // remote writes can be flushed
    (99, 1),                    // host memory can be registered
    (106, limits::BLOCKS as i32),
    (111, limits::SHARED_RESERVED as i32),
    (115, 1),                   // memory pools
    (125, 1),                   // events between processes
    (126, 1),                   // one memory synchronisation domain
    (134, -1),                  // no NUMA
];

/// The highest valid attribute.
const LAST_ATTRIBUTE: u32 = 160;

/// The value of a device's attribute.
pub fn attribute(number: u32, device: usize) -> Result<i32> {
    match number {
        0 => Err(Error::INVALID_VALUE),
        PCI_BUS => Ok(device as i32 + 1),
        _ if number > LAST_ATTRIBUTE => Err(Error::INVALID_VALUE),
        _ => Ok(ATTRIBUTES.iter().find(|row| row.0 == number).map_or(0, |row| row.1)),
    }
}

/// Maximum number of resident blocks of a kernel on a multiprocessor.
pub fn occupancy(threads: u32, shared: usize, registers: u32) -> u32 {
    let warps = threads.div_ceil(limits::WARP).max(1);
    let by_threads = limits::THREADS / limits::WARP / warps;
    let by_shared = limits::SHARED_MULTIPROCESSOR / (shared + limits::SHARED_RESERVED);
    // Registers are allocated to a warp in units of 256.
    let of_warp = (registers.max(1) * limits::WARP).next_multiple_of(256);
    let by_registers = limits::REGISTERS / of_warp / warps;
    limits::BLOCKS.min(by_threads).min(by_shared as u32).min(by_registers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_in_order_and_in_range() {
        assert!(ATTRIBUTES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(ATTRIBUTES.iter().all(|row| row.0 <= LAST_ATTRIBUTE));
        assert_eq!((attribute(75, 0), attribute(33, 2)), (Ok(9), Ok(3)));
        assert_eq!(attribute(0, 0), Err(Error::INVALID_VALUE));
    }

    #[test]
    fn what_limits_occupancy() {
        assert_eq!(occupancy(1024, 0, 32), 2, "threads");
        assert_eq!(occupancy(32, 0, 32), 32, "blocks");
        assert_eq!(occupancy(128, 100 << 10, 32), 2, "shared memory");
        assert_eq!(occupancy(256, 0, 255), 1, "registers");
    }
}
