//! All memory that the runtime knows: allocated, pinned, registered or opened.
//!
//! All of it lies in this process's address space, so that a pointer is an ordinary address for the
//! program, for kernels, and for MPI.

use crate::arena::{ALIGNMENT, Arena};
use crate::error::{Error, Result};
use crate::mapping::{Mapping, PAGE};
use commsan_kernel_checks::FRESH;
use std::collections::BTreeMap;
use std::ops::Range;

/// Address range of each device in bytes: several times its memory, since freed addresses are
/// reused last.
const DEVICE_RANGE: usize = 64 << 30;
/// Address ranges of managed and of pinned memory, in bytes.
const HOST_RANGE: usize = 256 << 30;

/// Bytes of an allocation that are marked at most, so that large ones take no longer.
const MARKED: usize = 64 << 20;

/// The kind of an allocation, which decides how copies and frees of it synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `cudaMalloc`.
    Device,
    /// `cudaMallocAsync`: memory of a pool.
    Pool,
    /// An allocation node of a graph, whose memory lives as long as the graph.
    Graph,
    /// A variable of a module.
    Variable,
    /// The texels of a CUDA array.
    Array,
    /// `cudaMallocManaged`.
    Managed,
    /// `cudaMallocHost`, `cudaHostAlloc`.
    Pinned,
    /// `cudaHostRegister`: the program's own memory.
    Registered,
    /// `cudaIpcOpenMemHandle`: device memory of another process.
    Opened,
}

/// The location of memory, as the synchronisation rules distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// On a device.
    Device,
    /// Managed memory, which migrates.
    Managed,
    /// Page-locked host memory.
    Pinned,
    /// Any other host memory.
    Pageable,
}

/// The state of a pool allocation in stream order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// No free was submitted.
    Live,
    /// A free is in a stream.
    Leaving,
}

/// One allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The bytes that the program requested.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: Kind,
    /// Its device; for host memory, the device that was current.
    pub device: usize,
    /// Flags of `cudaHostAlloc` and `cudaHostRegister`.
    pub flags: u32,
    /// The pool it was allocated from, if any.
    pub pool: Option<u64>,
    /// Whether a free was submitted.
    pub life: Life,
}

impl Allocation {
    /// Its location.
    pub fn place(&self) -> Place {
        match self.kind {
            Kind::Device
            | Kind::Pool
            | Kind::Graph
            | Kind::Variable
            | Kind::Array
            | Kind::Opened => Place::Device,
            Kind::Managed => Place::Managed,
            Kind::Pinned | Kind::Registered => Place::Pinned,
        }
    }
}

#[derive(Debug)]
struct Region {
    mapping: Mapping,
    arena: Arena,
}

impl Region {
    fn new(mapping: std::io::Result<Mapping>) -> Result<Region> {
        let mapping = mapping.map_err(|_| Error::MEMORY_ALLOCATION)?;
        Ok(Region { arena: Arena::new(mapping.range()), mapping })
    }

    fn take(&mut self, size: usize, alignment: usize) -> Result<Range<usize>> {
        let part = self.arena.take(size, alignment).ok_or(Error::MEMORY_ALLOCATION)?;
        if self.mapping.commit(part.clone()).is_err() {
            self.arena.give(part);
            return Err(Error::MEMORY_ALLOCATION);
        }
        Ok(part)
    }

    fn give(&mut self, part: Range<usize>) {
        self.mapping.discard(part.clone());
        self.arena.give(part);
    }
}

/// Location of an allocation for other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// File descriptor of the device's memory in this process.
    pub file: i32,
    /// Offset of the allocation in the file.
    pub offset: usize,
    /// Size of the allocation, in bytes.
    pub size: usize,
    /// The device, by its number in this process.
    pub device: usize,
}

/// All allocations.
#[derive(Debug)]
pub struct Memory {
    devices: Vec<Region>,
    host: Region,
    allocations: BTreeMap<usize, Allocation>,
    /// Mappings of other processes' memory by first address, with their device in that process.
    opened: BTreeMap<usize, (Mapping, usize)>,
    used: Vec<usize>,
    /// Number of allocations that the host can read while devices write them.
    seen_by_host: usize,
    /// Memory of each device, in bytes.
    capacity: usize,
    /// Whether new memory holds [`FRESH`], so that reads of it are seen.
    marked: bool,
}

impl Memory {
    /// Reserves address space for some devices with `capacity` bytes of memory each.
    pub fn new(devices: usize, capacity: usize) -> Result<Memory> {
        let capacity = capacity.min(DEVICE_RANGE);
        let regions: Result<_> =
            (0..devices).map(|_| Region::new(Mapping::shareable(DEVICE_RANGE))).collect();
        Ok(Memory {
            devices: regions?,
            host: Region::new(Mapping::private(HOST_RANGE))?,
            allocations: BTreeMap::new(),
            opened: BTreeMap::new(),
            used: vec![0; devices],
            seen_by_host: 0,
            capacity,
            marked: false,
        })
    }

    /// Memory that shows from now on whether it was written since it was allocated.
    pub fn marked(self, marked: bool) -> Memory {
        Memory { marked, ..self }
    }

    /// The address range of a device's memory.
    pub fn of_device(&self, device: usize) -> Range<usize> {
        self.devices[device].mapping.range()
    }

    /// Address ranges of devices' memory, including that of other processes, with the device.
    pub fn owners(&self) -> Vec<(Range<usize>, usize)> {
        let own = self.devices.iter().enumerate();
        let own = own.map(|(device, region)| (region.mapping.range(), device));
        let opened = self.opened.values().map(|(mapping, device)| (mapping.range(), *device));
        own.chain(opened).collect()
    }

    /// Free and total memory of a device, in bytes.
    pub fn info(&self, device: usize) -> (usize, usize) {
        (self.capacity - self.used[device], self.capacity)
    }

    /// Allocates memory. Host memory is page-aligned, as programs that register it with other
    /// libraries expect.
    pub fn allocate(&mut self, kind: Kind, device: usize, size: usize) -> Result<usize> {
        let part = if on_device(kind) {
            if size > self.capacity - self.used[device] {
                return Err(Error::MEMORY_ALLOCATION);
            }
            self.devices[device].take(size, ALIGNMENT)
        } else {
            // Whole pages, which become inaccessible when they are freed.
            let whole = size.max(1).checked_next_multiple_of(PAGE);
            self.host.take(whole.ok_or(Error::MEMORY_ALLOCATION)?, PAGE)
        };
        let part = part?;
        if on_device(kind) {
            self.used[device] += part.len();
        }
        let range = part.start..part.start + size;
        if self.marked && matches!(kind, Kind::Device | Kind::Pool | Kind::Graph | Kind::Managed) {
            let words = size.min(MARKED) / FRESH.len();
            // SAFETY: the memory was committed, has this size, and nobody knows of it yet.
            let fresh = unsafe {
                std::slice::from_raw_parts_mut(part.start as *mut [u8; FRESH.len()], words)
            };
            fresh.fill(FRESH);
        }
        self.insert(Allocation { range, kind, device, flags: 0, pool: None, life: Life::Live });
        Ok(part.start)
    }

    /// Registers host memory of the program, which must not be known yet.
    pub fn register(&mut self, range: Range<usize>, device: usize, flags: u32) -> Result {
        if self.overlaps(&range) {
            return Err(Error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let kind = Kind::Registered;
        self.insert(Allocation { range, kind, device, flags, pool: None, life: Life::Live });
        Ok(())
    }

    /// Adds mapped memory of another process, which starts `skip` bytes into the mapping.
    pub fn open(&mut self, mapping: Mapping, skip: usize, shared: &Shared, device: usize) -> usize {
        let start = mapping.range().start + skip;
        self.opened.insert(start, (mapping, shared.device));
        let range = start..start + shared.size;
        let kind = Kind::Opened;
        self.insert(Allocation { range, kind, device, flags: 0, pool: None, life: Life::Live });
        start
    }

    /// Removes an allocation and frees its address range.
    pub fn release(&mut self, start: usize) -> Option<Allocation> {
        let allocation = self.allocations.remove(&start)?;
        self.seen_by_host -= usize::from(allocation.place() != Place::Device);
        self.opened.remove(&start);
        let size = |unit| allocation.range.len().max(1).next_multiple_of(unit);
        match allocation.kind {
            Kind::Registered | Kind::Opened => {}
            Kind::Managed | Kind::Pinned => self.host.give(start..start + size(PAGE)),
            Kind::Device | Kind::Pool | Kind::Graph | Kind::Variable | Kind::Array => {
                self.devices[allocation.device].give(start..start + size(ALIGNMENT));
                self.used[allocation.device] -= size(ALIGNMENT);
            }
        }
        Some(allocation)
    }

    /// The allocation that an address lies in.
    pub fn find(&self, address: usize) -> Option<&Allocation> {
        let (_, allocation) = self.allocations.range(..=address).next_back()?;
        // A pointer to an allocation of no bytes still points into it.
        let range = &allocation.range;
        (range.contains(&address) || range.start == address).then_some(allocation)
    }

    /// The allocation that starts at an address.
    pub fn at(&mut self, start: usize) -> Option<&mut Allocation> {
        self.allocations.get_mut(&start)
    }

    /// The location of an address, known or not.
    pub fn place(&self, address: usize) -> Place {
        self.find(address).map_or(Place::Pageable, Allocation::place)
    }

    /// The device whose memory an address lies in, allocated or not. Opened memory counts for the
    /// device on which it was opened.
    pub fn device_of(&self, address: usize) -> Option<usize> {
        self.devices
            .iter()
            .position(|region| region.arena.contains(address))
            .or_else(|| self.find(address).filter(|a| a.kind == Kind::Opened).map(|a| a.device))
    }

    /// Whether `size` bytes from an address on lie in one allocation, or entirely in memory that
    /// the runtime does not know.
    pub fn is_whole(&self, address: usize, size: usize) -> bool {
        match self.find(address) {
            Some(allocation) => size <= allocation.range.end - address,
            None => self.device_of(address).is_none(),
        }
    }

    /// The location, for other processes, of the allocation that an address lies in, if it is
    /// device memory from `cudaMalloc`.
    pub fn shared(&self, address: usize) -> Option<Shared> {
        let allocation = self.find(address).filter(|a| a.kind == Kind::Device)?;
        let mapping = &self.devices[allocation.device].mapping;
        let offset = allocation.range.start - mapping.range().start;
        let (size, device) = (allocation.range.len(), allocation.device);
        Some(Shared { file: mapping.file()?, offset, size, device })
    }

    /// Whether the host can see what devices write without a call of the runtime.
    pub fn is_seen_by_host(&self) -> bool {
        self.seen_by_host > 0
    }

    /// First addresses of the allocations of a device for which `keep` returns false.
    pub fn starts(&self, device: usize, keep: impl Fn(&Allocation) -> bool) -> Vec<usize> {
        let of_device = |a: &&Allocation| a.device == device && !keep(a);
        self.allocations.values().filter(of_device).map(|a| a.range.start).collect()
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        self.allocations
            .range(..range.end)
            .next_back()
            .is_some_and(|(_, a)| a.range.end > range.start)
    }

    fn insert(&mut self, allocation: Allocation) {
        self.seen_by_host += usize::from(allocation.place() != Place::Device);
        self.allocations.insert(allocation.range.start, allocation);
    }
}

fn on_device(kind: Kind) -> bool {
    matches!(kind, Kind::Device | Kind::Pool | Kind::Graph | Kind::Variable | Kind::Array)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_tell_their_device_and_kind() {
        let mut memory = Memory::new(2, 1 << 20).expect("address space");
        let a = memory.allocate(Kind::Device, 1, 1000).expect("room");
        let b = memory.allocate(Kind::Managed, 0, 1000).expect("room");
        assert_eq!((memory.device_of(a + 500), memory.place(a + 999)), (Some(1), Place::Device));
        assert_eq!((memory.device_of(b), memory.place(b)), (None, Place::Managed));
        assert_eq!(memory.place(a + 1000), Place::Pageable);
        assert!(memory.is_whole(a + 500, 500) && !memory.is_whole(a + 500, 501));
        assert_eq!(memory.info(1).0, (1 << 20) - 1024);
        memory.release(a);
        assert_eq!(memory.info(1).0, 1 << 20);
        assert!(!memory.is_whole(a, 1));
    }

    #[test]
    fn a_device_has_no_more_than_its_memory() {
        let mut memory = Memory::new(1, 1 << 20).expect("address space");
        let refused = memory.allocate(Kind::Device, 0, (1 << 20) + 1);
        assert_eq!(refused, Err(Error::MEMORY_ALLOCATION));
        memory.allocate(Kind::Device, 0, 1 << 20).expect("room for exactly that");
        assert_eq!(memory.allocate(Kind::Device, 0, 1), Err(Error::MEMORY_ALLOCATION));
    }

    #[test]
    fn registered_memory_is_registered_once() {
        let mut memory = Memory::new(1, 1 << 20).expect("address space");
        memory.register(0x1000..0x2000, 0, 0).expect("new");
        let again = memory.register(0x1800..0x2800, 0, 0);
        assert_eq!(again, Err(Error::HOST_MEMORY_ALREADY_REGISTERED));
        memory.register(0x2000..0x3000, 0, 0).expect("beside");
    }
}
