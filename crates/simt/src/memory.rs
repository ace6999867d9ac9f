//! Memory as kernels see it: windows of generic addresses, bounds checks, accesses to host memory.

use crate::texture::{Surface, Texture};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Where shared memory appears among generic addresses: beyond the 48-bit addresses of a process.
pub const SHARED_WINDOW: u64 = 1 << 48;
/// Where a thread's local memory appears among generic addresses.
pub const LOCAL_WINDOW: u64 = 2 << 48;
/// Where a kernel's arguments appear among generic addresses.
pub const ARGUMENT_WINDOW: u64 = 3 << 48;
/// Where functions appear among generic addresses.
pub const FUNCTION_WINDOW: u64 = 4 << 48;
/// Size of each window, in bytes.
const WINDOW: u64 = 1 << 48;
/// Where the memory of processing element (PE) 0 appears among generic addresses. That of others
/// lies as many windows away as their number says, which may be negative: a PE that does not exist
/// is found out when it is accessed.
pub const PEERS: u64 = 0x8000 << 48;
/// How many windows on either side of [`PEERS`] belong to PEs.
const PEERS_ON_EITHER_SIDE: u64 = 0x4000;

/// Whether a generic address is in a window.
pub fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW
}

/// The PE in whose window an address lies, and the address there.
pub fn at_peer(address: u64) -> Option<(i32, u64)> {
    let number = (address >> 48).wrapping_sub(PEERS >> 48) as i64;
    let is_one = number.unsigned_abs() <= PEERS_ON_EITHER_SIDE;
    is_one.then_some((number as i32, address % WINDOW))
}

/// Symmetric memory of a PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// By what addresses PEs know it.
    pub known: Range<u64>,
    /// Where the first byte is mapped in this process.
    pub start: u64,
}

/// Why there is no memory at an address of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPeer {
    /// The PE does not exist.
    Pe,
    /// The address is in no symmetric memory.
    Memory,
}

/// The host memory that a grid may access.
pub trait Reach {
    /// The allocation that contains an address. It must stay accessible until the call of
    /// [`crate::Grid::advance`] that asked returns.
    fn allocation(&self, address: u64) -> Option<Range<u64>>;

    /// The texture of a handle.
    fn texture(&self, handle: u64) -> Option<Arc<Texture>>;

    /// The surface of a handle.
    fn surface(&self, handle: u64) -> Option<Arc<Surface>>;

    /// The symmetric memory of a PE that contains an address.
    fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer> {
        let _ = (pe, address);
        Err(NoPeer::Pe)
    }
}

/// Why an access is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The address is in no allocation.
    Outside,
    /// The address is not a multiple of the access's size.
    Misaligned,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wrong::Outside => "out of bounds",
            Wrong::Misaligned => "misaligned",
        })
    }
}

const CACHED_ALLOCATIONS: usize = 64;

/// Global memory during one call of `advance`, with a cache of allocations.
pub struct Global<'a> {
    reach: &'a dyn Reach,
    /// Memory that belongs to the launch itself.
    own: Range<u64>,
    /// The allocation that each instruction hit last, by the instruction's number.
    cache: [(u64, u64); CACHED_ALLOCATIONS],
    /// The PE that was accessed last, and its memory there.
    peer: Option<(i32, Mapped)>,
}

impl<'a> Global<'a> {
    /// Global memory that `reach` and `own` allow.
    pub fn new(reach: &'a dyn Reach, own: Range<u64>) -> Global<'a> {
        Global { reach, own, cache: [(1, 0); CACHED_ALLOCATIONS], peer: None }
    }

    /// Where `size` bytes of a PE are mapped; `None` if they leave the memory that they begin in.
    pub fn mapped(&mut self, pe: i32, address: u64, size: u64) -> Result<Option<u64>, NoPeer> {
        let hits =
            |(known, memory): &(i32, Mapped)| *known == pe && memory.known.contains(&address);
        let last = self.peer.take_if(|last| hits(last));
        let (_, memory) = match last {
            Some(last) => self.peer.insert(last),
            None => self.peer.insert((pe, self.reach.peer(pe, address)?)),
        };
        let fits = address.checked_add(size).is_some_and(|end| end <= memory.known.end);
        Ok(fits.then(|| memory.start + (address - memory.known.start)))
    }

    /// The texture of a handle.
    pub fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        self.reach.texture(handle)
    }

    /// The surface of a handle.
    pub fn surface(&self, handle: u64) -> Option<Arc<Surface>> {
        self.reach.surface(handle)
    }

    /// Whether all of `low..high` is in the allocation that the instruction accessed last.
    #[inline(always)]
    pub fn hits(&self, instruction: u32, low: u64, high: u64) -> bool {
        let (start, end) = self.cache[instruction as usize % CACHED_ALLOCATIONS];
        start <= low && low <= high && high <= end
    }

    /// Checks an access of one lane.
    #[inline]
    pub fn check(&mut self, instruction: u32, address: u64, size: u64) -> Result<(), Wrong> {
        let end = address.checked_add(size).ok_or(Wrong::Outside)?;
        if self.hits(instruction, address, end) {
            return Ok(());
        }
        let own = || Some(self.own.clone()).filter(|own| own.contains(&address));
        match self.reach.allocation(address).or_else(own) {
            Some(range) if range.start <= address && end <= range.end => {
                self.cache[instruction as usize % CACHED_ALLOCATIONS] = (range.start, range.end);
                Ok(())
            }
            _ => Err(Wrong::Outside),
        }
    }
}

/// Values in memory that other threads and processes may access concurrently.
///
/// # Safety
/// Implementations access exactly the bytes of the value.
pub unsafe trait Cell: Copy {
    /// Reads a value.
    ///
    /// # Safety
    /// `at` is aligned to the value's size, at most 8, and readable.
    unsafe fn load(at: *const u8) -> Self;

    /// Writes a value.
    ///
    /// # Safety
    /// `at` is aligned to the value's size, at most 8, and writable.
    unsafe fn store(at: *mut u8, value: Self);
}

macro_rules! cells {
    ($($ty:ident $atomic:ident;)*) => { $(
        // SAFETY: the atomic type has the integer's size.
        unsafe impl Cell for $ty {
            #[inline(always)]
            unsafe fn load(at: *const u8) -> $ty {
                // SAFETY: the caller's promise. Relaxed, since others may write concurrently.
                unsafe { $atomic::from_ptr(at.cast_mut().cast()) }.load(Ordering::Relaxed)
            }

            #[inline(always)]
            unsafe fn store(at: *mut u8, value: $ty) {
                // SAFETY: the caller's promise.
                unsafe { $atomic::from_ptr(at.cast()) }.store(value, Ordering::Relaxed);
            }
        }
    )* };
}
cells! { u8 AtomicU8; u16 AtomicU16; u32 AtomicU32; u64 AtomicU64; }

// SAFETY: two halves of eight bytes.
unsafe impl Cell for u128 {
    unsafe fn load(at: *const u8) -> u128 {
        // SAFETY: the caller's promise, for each half.
        let (low, high) = unsafe { (u64::load(at), u64::load(at.add(8))) };
        u128::from(low) | u128::from(high) << 64
    }

    unsafe fn store(at: *mut u8, value: u128) {
        // SAFETY: the caller's promise, for each half.
        unsafe {
            u64::store(at, value as u64);
            u64::store(at.add(8), (value >> 64) as u64);
        }
    }
}

/// Replaces a value atomically by `update` of it, and returns the old one.
///
/// Sequentially consistent, whatever the instruction's order and scope: at least as strong as any.
///
/// # Safety
/// `at` is aligned to `width`, which is 2, 4 or 8, readable and writable.
pub unsafe fn update(at: *mut u8, width: u64, update: impl Fn(u64) -> u64) -> u64 {
    const ORDER: Ordering = Ordering::SeqCst;
    macro_rules! exchange {
        ($atomic:ident, $ty:ident) => {{
            // SAFETY: the caller's promise.
            let cell = unsafe { $atomic::from_ptr(at.cast()) };
            let mut old = cell.load(ORDER);
            while let Err(now) =
                cell.compare_exchange_weak(old, update(old.into()) as $ty, ORDER, ORDER)
            {
                old = now;
            }
            old.into()
        }};
    }
    match width {
        2 => exchange!(AtomicU16, u16),
        4 => exchange!(AtomicU32, u32),
        _ => exchange!(AtomicU64, u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(Range<u64>);

    impl Reach for One {
        fn allocation(&self, address: u64) -> Option<Range<u64>> {
            self.0.contains(&address).then(|| self.0.clone())
        }

        fn texture(&self, _: u64) -> Option<Arc<Texture>> {
            None
        }

        fn surface(&self, _: u64) -> Option<Arc<Surface>> {
            None
        }
    }

    #[test]
    fn accesses_are_checked_to_the_byte() {
        let reach = One(0x1000..0x1010);
        let mut global = Global::new(&reach, 0x5000..0x5008);
        assert_eq!(global.check(0, 0x1000, 16), Ok(()));
        assert_eq!(global.check(0, 0x100c, 4), Ok(()));
        assert_eq!(global.check(0, 0x100d, 4), Err(Wrong::Outside));
        assert_eq!(global.check(0, 0xfff, 1), Err(Wrong::Outside));
        assert_eq!(global.check(0, u64::MAX - 1, 4), Err(Wrong::Outside));
        assert_eq!(global.check(1, 0x5004, 4), Ok(()));
        assert_eq!(global.check(1, 0, 1), Err(Wrong::Outside));
    }

    #[test]
    fn windows_of_peers_are_told_from_others() {
        for pe in [0, 1, 63, -1, 0x4000, -0x4000] {
            let window = PEERS.wrapping_add((i64::from(pe) << 48) as u64);
            assert_eq!(at_peer(window + 0x7fff_1234_5678), Some((pe, 0x7fff_1234_5678)));
        }
        let others = [0, 0x7fff_ffff_ffff, SHARED_WINDOW, FUNCTION_WINDOW + 16, u64::MAX];
        assert!(others.iter().all(|address| at_peer(*address).is_none()));
    }

    #[test]
    fn memory_of_peers_is_mapped_to_the_byte() {
        struct Pes;
        impl Reach for Pes {
            fn allocation(&self, _: u64) -> Option<Range<u64>> {
                None
            }

            fn texture(&self, _: u64) -> Option<Arc<Texture>> {
                None
            }

            fn surface(&self, _: u64) -> Option<Arc<Surface>> {
                None
            }

            fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer> {
                let known = 0x1000..0x1010;
                match (pe, known.contains(&address)) {
                    (0 | 1, true) => Ok(Mapped { known, start: 0x5000 + 0x1000 * pe as u64 }),
                    (0 | 1, false) => Err(NoPeer::Memory),
                    _ => Err(NoPeer::Pe),
                }
            }
        }
        let mut global = Global::new(&Pes, 0..0);
        for (pe, at) in [(1, 0x6004), (0, 0x5004), (0, 0x5004), (1, 0x6004)] {
            assert_eq!(global.mapped(pe, 0x1004, 4), Ok(Some(at)));
        }
        assert_eq!(global.mapped(1, 0x100c, 4), Ok(Some(0x600c)));
        assert_eq!(global.mapped(1, 0x100c, 8), Ok(None));
        assert_eq!(global.mapped(1, 0x1010, 1), Err(NoPeer::Memory));
        assert_eq!(global.mapped(2, 0x1004, 4), Err(NoPeer::Pe));
        assert_eq!(global.mapped(0, 0x1000, 16), Ok(Some(0x5000)));
    }

    #[test]
    fn updates_of_many_threads_are_all_there() {
        let mut cell = 0u64;
        let at = &raw mut cell as usize;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..1000 {
                        // SAFETY: the cell outlives the scope, and is only accessed like this.
                        unsafe { update(at as *mut u8, 4, |old| old + 1) };
                    }
                });
            }
        });
        assert_eq!(cell, 4000);
    }
}
