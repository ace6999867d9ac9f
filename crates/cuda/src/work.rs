//! What is put into streams, as the shim hands it over.

use commsan_ptx::Strength;
use commsan_shadow::{Footprint, Mode, Pattern};
use std::ops::Range;
use std::sync::Arc;

/// A stream, as a call names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamName {
    /// The legacy default stream of a device.
    Legacy {
        /// The device.
        device: u32,
    },
    /// The default stream of a thread on a device, where each thread has its own.
    PerThread {
        /// The device.
        device: u32,
        /// The host thread.
        thread: u32,
    },
    /// One that the program has created.
    Created {
        /// Its handle.
        handle: usize,
    },
}

/// Memory as far as CUDA distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Of one device; the host cannot access it.
    Device,
    /// Migrates between devices and the host.
    Managed,
    /// Of the host, page-locked, perhaps mapped into devices.
    Pinned,
}

/// Memory that the program has allocated or registered through CUDA.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Its kind.
    pub kind: MemoryKind,
    /// The device that is current, whose memory it is if it is a device's.
    pub device: u32,
    /// Its bytes.
    pub bytes: Range<usize>,
    /// The stream in whose order it comes into being, for `cudaMallocAsync`.
    pub stream: Option<StreamName>,
}

/// How memory is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// `cudaFree`.
    Device,
    /// `cudaFreeHost`.
    Host,
    /// `cudaHostUnregister`: the memory stays, but is pageable again.
    Unregister,
    /// `cudaFreeAsync`, in the order of a stream.
    Async(StreamName),
}

/// One access of stream work, to memory of any kind.
#[derive(Clone, Debug)]
pub struct KernelAccess {
    /// Reads or writes.
    pub mode: Mode,
    /// With what else it does not race.
    pub strength: Strength,
    /// Which bytes.
    pub bytes: Bytes,
    /// Whether all of these bytes are touched whenever the work runs. What is not certain is no
    /// finding before an execution has confirmed it.
    pub certain: bool,
    /// The line of the access inside a kernel.
    pub line: Option<Line>,
}

/// Bytes that stream work touches.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// These.
    Exactly(Footprint),
    /// Some of the allocation that this address lies in.
    Within(usize),
    /// Any memory that a device can reach.
    Anywhere,
}

/// A line of device code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The source file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl Line {
    /// The file and the line.
    pub fn parts(&self) -> (Arc<str>, u32) {
        (Arc::clone(&self.file), self.line)
    }
}

/// Work for a stream.
#[derive(Clone, Debug)]
pub struct Work {
    /// The call: `cudaMemcpyAsync`, `cudaLaunchKernel`.
    pub call: &'static str,
    /// Its stream.
    pub stream: StreamName,
    /// The kernel, demangled, if it is one.
    pub kernel: Option<Arc<str>>,
    /// What it touches.
    pub accesses: Arc<[KernelAccess]>,
    /// What the host waits for before the call returns.
    pub wait: Wait,
}

/// What the host has waited for when a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: the work is in its stream.
    Nothing,
    /// The work itself.
    Work,
}

/// A copy, of rows.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The call.
    pub call: &'static str,
    /// Its stream.
    pub stream: StreamName,
    /// Whether it is one of the `Async` calls.
    pub asynchronous: bool,
    /// Where to.
    pub to: Rows,
    /// Where from.
    pub from: Rows,
    /// Bytes of each row.
    pub width: usize,
    /// Rows of each slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
    /// The devices all of whose work it is serialised with, for `cudaMemcpyPeer`.
    pub serialises: Vec<u32>,
}

/// Rows at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// The first byte.
    pub start: usize,
    /// From one row to the next.
    pub pitch: usize,
    /// From one slice to the next.
    pub slice: usize,
}

/// A setting of bytes.
#[derive(Clone, Debug)]
pub struct Set {
    /// The call.
    pub call: &'static str,
    /// Its stream.
    pub stream: StreamName,
    /// Whether it is one of the `Async` calls.
    pub asynchronous: bool,
    /// Where.
    pub to: Rows,
    /// Bytes of each row.
    pub width: usize,
    /// Rows of each slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

impl Work {
    /// What touches memory: the kernel, or the call.
    pub fn by(&self) -> &str {
        self.kernel.as_deref().unwrap_or(self.call)
    }
}

impl Rows {
    /// The bytes of so many of them.
    fn footprint(&self, [width, height, depth]: [usize; 3]) -> Footprint {
        let row = Pattern::dense(0, width as isize);
        let slice = row.repeat(height, self.pitch as isize);
        Footprint::new(self.start, slice.repeat(depth, self.slice as isize))
    }
}

impl KernelAccess {
    /// Those that are certain, with their bytes.
    pub fn certain(accesses: &[KernelAccess]) -> impl Iterator<Item = (&KernelAccess, &Footprint)> {
        accesses.iter().filter(|access| access.certain).filter_map(|access| match &access.bytes {
            Bytes::Exactly(footprint) => Some((access, footprint)),
            Bytes::Within(_) | Bytes::Anywhere => None,
        })
    }

    /// Whether the host may wait for what it writes while the work goes on.
    pub(crate) fn signals_host(&self) -> bool {
        self.mode == Mode::Write && self.strength == Strength::System
    }

    /// Whether the work may wait for what the host writes there.
    pub(crate) fn awaits_host(&self) -> bool {
        self.mode == Mode::Read && self.strength == Strength::System
    }

    /// What a copy or a set does.
    pub fn of_rows(to: Rows, from: Option<Rows>, size: [usize; 3]) -> Vec<KernelAccess> {
        let access = |mode, rows: Rows| KernelAccess {
            mode,
            strength: Strength::Weak,
            bytes: Bytes::Exactly(rows.footprint(size)),
            certain: true,
            line: None,
        };
        let from = from.map(|from| access(Mode::Read, from));
        from.into_iter().chain([access(Mode::Write, to)]).collect()
    }
}
