//! What a rank has moved: `rank-N.traffic`; where several jobs of one run have such a rank,
//! `rank-N.2.traffic` and so on.
//!
//! A rank counts while it runs and writes all it knows from time to time, each time as a whole, so
//! that a killed rank has left what it knew a little earlier. The size depends on the number of
//! places in the program, not on what moved through them.
//!
//! The file is a header of 32 bytes, little endian — `CSTRAFIC`, version (4 bytes), CRC-32 of the
//! rest (4), length of the rest (8), length unpacked (8) — and a [`Snapshot`] in postcard's
//! encoding, as one LZ4 block.

use crate::read_error::ReadError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Version of the format; readers refuse others.
pub const VERSION: u32 = 6;

const MAGIC: &[u8; 8] = b"CSTRAFIC";
const HEADER: usize = 32;

/// What is unpacked at most: far more than a rank writes, and what a damaged header could ask for.
const MAX_UNPACKED: u64 = 1 << 32;

/// All that a rank knows of what it has moved. Numbers of tables are positions in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Rank in `MPI_COMM_WORLD`; 0 in programs without MPI.
    pub rank: u32,
    /// Size of `MPI_COMM_WORLD`.
    pub size: u32,
    /// What the processes of one job have in common, and no others; empty if nothing is known.
    pub job: String,
    /// Process identifier on `host`.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// The process's number as a processing element of NVSHMEM, and its device on `host`.
    pub pe: Option<(u32, u32)>,
    /// MPI library: `Open MPI 4.1.4`; empty without.
    pub mpi: String,
    /// Path of the executable.
    pub program: String,
    /// When counting began, in nanoseconds since 1970.
    pub began: u64,
    /// When this was written, in nanoseconds since 1970.
    pub until: u64,
    /// Whether the rank has ended in order: otherwise something may be missing.
    pub complete: bool,
    /// Nanoseconds that a time bin covers, a power of two of milliseconds. Bin n begins n widths
    /// after `epoch`.
    pub bin: u64,
    /// When bin 0 begins, in nanoseconds since 1970: the same in all ranks of a run.
    pub epoch: u64,
    /// Details (extents) are of one transfer in so many; counts and bytes are always of all.
    pub sample: u32,
    /// Names of the objects that alone are of interest; all if empty.
    pub only: Vec<String>,
    /// Regions, the same.
    pub only_regions: Vec<String>,
    /// Kernels, the same.
    pub only_kernels: Vec<String>,
    /// Names that the other tables refer to: functions, files, calls, regions.
    pub strings: Vec<String>,
    /// Paths of executables and libraries.
    pub modules: Vec<String>,
    /// Call paths, innermost frame first; the first is empty.
    pub stacks: Vec<Vec<Frame>>,
    /// What was allocated, by call path of the allocation.
    pub objects: Vec<Object>,
    /// Other jobs.
    pub links: Vec<Link>,
    /// Groups of communicators, as ranks of the job (or devices, of NCCL), ascending by rank in the
    /// group.
    pub groups: Vec<Vec<Place>>,
    /// What was moved.
    pub transfers: Vec<Transfer>,
    /// Time spent in calls.
    pub calls: Vec<Calls>,
    /// What the user should know, in words.
    pub notes: Vec<String>,
}

/// Where one job has met another (MPI 4.1 chapter 11): both ends of the intercommunicator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What the other job is to this one.
    pub tie: Tie,
    /// Those of this job, in order.
    pub own: Vec<u32>,
    /// How many there are of the other.
    pub others: u32,
    /// When the call began and ended, in nanoseconds since 1970.
    pub span: (u64, u64),
}

/// What another job is to the one that records the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tie {
    /// It has been spawned by this one.
    #[default]
    Child,
    /// It has spawned this one.
    Parent,
    /// It has connected to a port of this one.
    Client,
    /// This one has connected to its port.
    Server,
}

impl Tie {
    /// What the recording job is to the other.
    pub fn reverse(self) -> Tie {
        match self {
            Tie::Child => Tie::Parent,
            Tie::Parent => Tie::Child,
            Tie::Client => Tie::Server,
            Tie::Server => Tie::Client,
        }
    }
}

/// One frame of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Frame {
    /// Code: module, and offset from its load address, one byte before the return address.
    Code(u32, u64),
    /// A place that is known by its line: function, file (strings) and line. Python frames, and
    /// lines in kernels.
    Line(u32, u32, u32),
}

/// Where data is, or who accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// A rank, with its host memory.
    Rank(u32),
    /// A device, by its number on its host: that of the rank that writes this.
    Device(u32),
    /// A device of another process: rank, number there.
    DeviceOf(u32, u32),
    /// The device of a processing element of NVSHMEM, whose process says which that is.
    Pe(u32),
    /// A rank of another job: one of `links`, rank in the group that it leads to.
    Linked(u32, u32),
    /// A file, by its name in `strings`.
    File(u32),
    /// Not known.
    Unknown,
}

/// An allocation site, or a variable, and what it has allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// What kind of memory.
    pub memory: Memory,
    /// Where it lies.
    pub place: Place,
    /// Call path of the allocation; for variables on the stack that of the function; empty for
    /// globals.
    pub stack: u32,
    /// `malloc`, `cudaMalloc`, `MPI_Win_allocate`: a string.
    pub call: Option<u32>,
    /// The name that the program gave by `commsan_name`: a string.
    pub name: Option<u32>,
    /// Size of the largest, in bytes; 0 if unknown.
    pub bytes: u64,
    /// How many there were.
    pub count: u64,
    /// Address of the first, for people.
    pub address: u64,
    /// Where in the module its call path begins, and others whose path is otherwise the same: in
    /// the order in which they have first allocated anything. A line may allocate several. Empty if
    /// there are no others.
    pub beside: Vec<u64>,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Memory {
    /// `malloc`, `new`, `ALLOCATE`, `mmap`.
    Heap,
    /// A variable of a module: module and offset, which its symbol table names.
    Global(u32, u64),
    /// Local variables of the function that `stack` begins with.
    Stack,
    /// Of a device.
    Device,
    /// Managed by CUDA: host and devices.
    Managed,
    /// Of the host, known to CUDA.
    Pinned,
    /// Of an MPI window, or `MPI_Alloc_mem`.
    Window,
    /// Nothing is known of it.
    Unknown,
}

/// What kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// MPI point-to-point.
    PointToPoint,
    /// MPI collective, in its logical shape.
    Collective,
    /// MPI one-sided.
    Rma,
    /// Copy from host to device.
    HostToDevice,
    /// Copy from device to host.
    DeviceToHost,
    /// Copy between devices, or within one.
    DeviceToDevice,
    /// Copy between host memories by CUDA.
    HostToHost,
    /// A kernel reads another device's memory.
    PeerLoad,
    /// A kernel writes another device's memory.
    PeerStore,
    /// A kernel's atomic on another device's memory.
    PeerAtomic,
    /// A kernel reads host memory, pinned or managed.
    HostLoad,
    /// A kernel writes host memory.
    HostStore,
    /// NCCL.
    Nccl,
    /// NVSHMEM.
    Nvshmem,
    /// From a file.
    FileRead,
    /// To a file.
    FileWrite,
}

impl Kind {
    /// All, in the order that tools show.
    pub const ALL: [Kind; 16] = [
        Kind::PointToPoint,
        Kind::Collective,
        Kind::Rma,
        Kind::HostToDevice,
        Kind::DeviceToHost,
        Kind::DeviceToDevice,
        Kind::HostToHost,
        Kind::PeerLoad,
        Kind::PeerStore,
        Kind::PeerAtomic,
        Kind::HostLoad,
        Kind::HostStore,
        Kind::Nccl,
        Kind::Nvshmem,
        Kind::FileRead,
        Kind::FileWrite,
    ];

    /// The name in tables and exports, which stays.
    pub fn name(self) -> &'static str {
        match self {
            Kind::PointToPoint => "point-to-point",
            Kind::Collective => "collective",
            Kind::Rma => "rma",
            Kind::HostToDevice => "host-to-device",
            Kind::DeviceToHost => "device-to-host",
            Kind::DeviceToDevice => "device-to-device",
            Kind::HostToHost => "host-to-host",
            Kind::PeerLoad => "peer-load",
            Kind::PeerStore => "peer-store",
            Kind::PeerAtomic => "peer-atomic",
            Kind::HostLoad => "host-load",
            Kind::HostStore => "host-store",
            Kind::Nccl => "nccl",
            Kind::Nvshmem => "nvshmem",
            Kind::FileRead => "file-read",
            Kind::FileWrite => "file-write",
        }
    }
}

/// Which end of transfers has been seen. Each end counts what it sees: totals are those of sources,
/// and of both; targets only add where the data went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Side {
    /// Whoever sends: `object` is what is read.
    Source,
    /// Whoever receives: `object` is what is written. Counts repeat what the source counts.
    Target,
    /// One process sees both: `object` is what is read, `other` what is written.
    Both,
}

/// One end of transfers, or a pattern of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum End {
    /// One place.
    At(Place),
    /// Each member of a group but the other end.
    Others(u32),
    /// Each member with a higher rank in the group than the other end's.
    Above(u32),
    /// Each member with a lower rank.
    Below(u32),
}

/// Everything but time and bytes that describes a transfer. In a file, numbers stand for call
/// paths; in the process that counts them, `P` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key<P = u32> {
    /// What kind.
    pub kind: Kind,
    /// The call or instruction: `MPI_Isend`, `ld.global.f32`: a string.
    pub call: u32,
    /// The call path, or that of the launch, preceded by the line in the kernel.
    pub path: P,
    /// Who has seen it.
    pub side: Side,
    /// From where.
    pub source: End,
    /// To where.
    pub target: End,
    /// The communicator's group.
    pub group: Option<u32>,
    /// The message tag.
    pub tag: Option<i32>,
    /// The object at the end that `side` says.
    pub object: Option<u32>,
    /// The object at the other end, where one process sees both.
    pub other: Option<u32>,
    /// The region of the program, set by `commsan_begin`: a string.
    pub region: Option<u32>,
}

impl<P> Key<P> {
    /// Transfers from the first of `ends` to the second, without what only some have.
    pub fn new(kind: Kind, call: u32, path: P, side: Side, ends: (End, End)) -> Key<P> {
        Key {
            kind,
            call,
            path,
            side,
            source: ends.0,
            target: ends.1,
            group: None,
            tag: None,
            object: None,
            other: None,
            region: None,
        }
    }

    /// The key with another call path.
    pub fn with_path<Q>(self, path: Q) -> Key<Q> {
        let Key { kind, call, side, source, target, group, tag, object, other, region, .. } = self;
        Key { kind, call, path, side, source, target, group, tag, object, other, region }
    }
}

/// Transfers that have everything in common but time and the bytes of their objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// What they have in common.
    pub key: Key,
    /// How many, to each target.
    pub count: u64,
    /// Bytes of all of them, to each target.
    pub bytes: u64,
    /// By time bin, ascending; sums are `count` and `bytes`.
    pub bins: Vec<Bin>,
    /// Which bytes of `object`, ascending, apart.
    pub extents: Vec<Extent>,
    /// Which bytes of `other`.
    pub other_extents: Vec<Extent>,
    /// Of messages: the same for the very same ones at both ends, and for no others. `None` where
    /// their order is not known.
    pub order: Option<u64>,
}

impl Transfer {
    /// Transfers of which neither the time nor the bytes of the objects are known.
    pub fn new(key: Key, count: u64, bytes: u64) -> Transfer {
        let (bins, extents, other_extents) = Default::default();
        Transfer { key, count, bytes, bins, extents, other_extents, order: None }
    }
}

/// What happened in one time bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Its number.
    pub bin: u32,
    /// How many.
    pub count: u64,
    /// Bytes, or nanoseconds of [`Calls`].
    pub amount: u64,
}

/// Bytes of an object that were touched equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First byte, counted from the object's beginning.
    pub start: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How often each was touched.
    pub count: u64,
}

/// Extents added up: where counts change, and by how much.
#[derive(Default)]
pub struct ExtentSum(BTreeMap<u64, i128>);

impl ExtentSum {
    /// Adds bytes that were touched so many times.
    pub fn add(&mut self, bytes: Range<u64>, count: u64) {
        if !bytes.is_empty() {
            *self.0.entry(bytes.start).or_default() += i128::from(count);
            *self.0.entry(bytes.end).or_default() -= i128::from(count);
        }
    }

    /// Everything, ascending and apart.
    pub fn extents(self) -> Vec<Extent> {
        let (mut extents, mut depth, mut from) = (Vec::new(), 0, 0);
        for (at, change) in self.0.into_iter().filter(|(_, change)| *change != 0) {
            if depth > 0 {
                let count = u64::try_from(depth).unwrap_or(u64::MAX);
                extents.push(Extent { start: from, bytes: at - from, count });
            }
            depth += change;
            from = at;
        }
        extents
    }
}

/// Time in calls at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// The call: a string.
    pub call: u32,
    /// The call path.
    pub stack: u32,
    /// The group of the communicator that it names.
    pub group: Option<u32>,
    /// The only other end that it names.
    pub peer: Option<Place>,
    /// How many.
    pub count: u64,
    /// Nanoseconds in all of them.
    pub time: u64,
    /// Nanoseconds of the longest.
    pub longest: u64,
    /// By time bin, ascending; amounts are nanoseconds.
    pub bins: Vec<Bin>,
}

impl Snapshot {
    /// The file's contents.
    pub fn encode(&self) -> Vec<u8> {
        // All of its parts have encodings.
        let plain = postcard::to_allocvec(self).unwrap_or_default();
        let packed = lz4_flex::block::compress(&plain);
        let mut file = Vec::with_capacity(HEADER + packed.len());
        file.extend_from_slice(MAGIC);
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&crc32fast::hash(&packed).to_le_bytes());
        file.extend_from_slice(&(packed.len() as u64).to_le_bytes());
        file.extend_from_slice(&(plain.len() as u64).to_le_bytes());
        file.extend_from_slice(&packed);
        file
    }

    /// Reads what [`encode`](Self::encode) has made.
    ///
    /// # Errors
    /// When these are other bytes.
    pub fn decode(file: &[u8]) -> Result<Snapshot, ReadError> {
        let word = |at: usize| file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        let long = |at: usize| file.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        if !file.starts_with(MAGIC) {
            return Err(ReadError::Foreign("traffic file"));
        }
        let short = ReadError::Damaged("it ends within its header");
        let header = (word(8), word(12), long(16), long(24));
        let (Some(version), Some(sum), Some(packed), Some(plain)) = header else {
            return Err(short);
        };
        let version = u32::from_le_bytes(version);
        if version != VERSION {
            return Err(ReadError::Version { found: version, read: VERSION });
        }
        let rest = &file[HEADER..];
        if rest.len() as u64 != u64::from_le_bytes(packed) {
            return Err(ReadError::Damaged("it is not as long as it says"));
        }
        if crc32fast::hash(rest) != u32::from_le_bytes(sum) {
            return Err(ReadError::Damaged("its checksum does not fit"));
        }
        let plain = u64::from_le_bytes(plain);
        if plain > MAX_UNPACKED {
            return Err(ReadError::Damaged("it claims to be larger than such files are"));
        }
        let bytes = lz4_flex::block::decompress(rest, plain as usize)
            .map_err(|_| ReadError::Damaged("it cannot be unpacked"))?;
        if bytes.len() as u64 != plain {
            return Err(ReadError::Damaged("it is not as long as it says"));
        }
        let snapshot: Snapshot = postcard::from_bytes(&bytes)
            .map_err(|_| ReadError::Damaged("its contents are not of this format"))?;
        if snapshot.is_consistent() {
            Ok(snapshot)
        } else {
            Err(ReadError::Damaged("its tables refer to what they do not hold"))
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Snapshot, ReadError> {
        Snapshot::decode(&fs::read(path)?)
    }

    /// Whether every number is a position in its table.
    pub(crate) fn is_consistent(&self) -> bool {
        let string = |number: u32| (number as usize) < self.strings.len();
        let stack = |number: u32| (number as usize) < self.stacks.len();
        let object = |number: Option<u32>| number.is_none_or(|n| (n as usize) < self.objects.len());
        let group = |number: u32| (number as usize) < self.groups.len();
        let module = |number: u32| (number as usize) < self.modules.len();
        let place = |place: Place| match place {
            Place::File(name) => string(name),
            Place::Linked(link, _) => (link as usize) < self.links.len(),
            _ => true,
        };
        let end = |end: End| match end {
            End::At(at) => place(at),
            End::Others(number) | End::Above(number) | End::Below(number) => group(number),
        };
        let frame = |frame: &Frame| match *frame {
            Frame::Code(number, _) => module(number),
            Frame::Line(function, file, _) => string(function) && string(file),
        };
        self.stacks.iter().flatten().all(frame)
            && self.groups.iter().flatten().all(|at| place(*at))
            && self.objects.iter().all(|object| {
                stack(object.stack)
                    && place(object.place)
                    && object.call.is_none_or(string)
                    && object.name.is_none_or(string)
                    && !matches!(object.memory, Memory::Global(number, _) if !module(number))
            })
            && self.transfers.iter().all(|transfer| {
                string(transfer.key.call)
                    && stack(transfer.key.path)
                    && end(transfer.key.source)
                    && end(transfer.key.target)
                    && transfer.key.group.is_none_or(group)
                    && object(transfer.key.object)
                    && object(transfer.key.other)
                    && transfer.key.region.is_none_or(string)
            })
            && self.calls.iter().all(|calls| {
                string(calls.call)
                    && stack(calls.stack)
                    && calls.group.is_none_or(group)
                    && calls.peer.is_none_or(place)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let ends = (End::At(Place::Rank(1)), End::At(Place::Rank(0)));
        let key = Key::new(Kind::PointToPoint, 0, 1, Side::Source, ends);
        let key = Key { tag: Some(7), ..key };
        Snapshot {
            rank: 1,
            size: 2,
            host: "node1".to_owned(),
            bin: 1_000_000,
            sample: 1,
            strings: vec!["MPI_Send".to_owned()],
            modules: vec!["/bin/app".to_owned()],
            stacks: vec![vec![], vec![Frame::Code(0, 0x1234)]],
            transfers: vec![Transfer {
                bins: vec![Bin { bin: 2, count: 3, amount: 24 }],
                extents: vec![Extent { start: 0, bytes: 8, count: 3 }],
                order: Some(1),
                ..Transfer::new(key, 3, 24)
            }],
            ..Snapshot::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let snapshot = snapshot();
        assert_eq!(Snapshot::decode(&snapshot.encode()).unwrap(), snapshot);
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_noticed() {
        let file = snapshot().encode();
        for end in 0..file.len() {
            assert!(Snapshot::decode(&file[..end]).is_err(), "{end}");
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x11;
            assert!(Snapshot::decode(&changed).is_err(), "{at}");
        }
    }

    #[test]
    fn other_versions_are_told_apart_from_damage() {
        let mut file = snapshot().encode();
        file[8] = 9;
        assert!(matches!(Snapshot::decode(&file), Err(ReadError::Version { found: 9, .. })));
        assert!(matches!(Snapshot::decode(b"PAR1...."), Err(ReadError::Foreign(_))));
    }

    #[test]
    fn numbers_beyond_their_tables_are_damage() {
        let mut snapshot = snapshot();
        snapshot.transfers[0].key.path = 2;
        assert!(matches!(Snapshot::decode(&snapshot.encode()), Err(ReadError::Damaged(_))));
    }
}
