//! What observers are told: the accesses of kernels, and what orders them.

use commsan_ptx::Site;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read.
    Load,
    /// A write.
    Store,
    /// An atomic read and write.
    Atomic,
}

/// An access of a warp to global memory, or to the shared memory of its block.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The function, by its index in the module.
    pub function: u32,
    /// The instruction, by its index in the function's body.
    pub instruction: u32,
    /// The kind of access.
    pub kind: Kind,
    /// Bytes that each lane accesses.
    pub size: u64,
    /// Bytes of one element: less than `size` if the access is that of a vector.
    pub width: u64,
    /// The mask of accessing lanes.
    pub lanes: u32,
    /// The address of each lane, or its offset in shared memory; undefined for other lanes.
    pub addresses: &'a [u64; 32],
    /// The block, by its number in the grid.
    pub block: u64,
    /// The warp, by its number in the block.
    pub warp: u32,
    /// What a store writes: the bytes of an element of a lane. `None` for other accesses.
    pub stored: Option<&'a dyn Fn(usize, usize) -> [u8; 16]>,
    /// What is in memory before: the bytes of an element of a lane. `None` unless the observer is
    /// `ORDERED`.
    pub before: Option<&'a dyn Fn(usize, usize) -> [u8; 16]>,
    /// The mask of lanes all of whose bytes are those of a pattern of four bytes, which memory
    /// repeats from each address that is a multiple of four. `None` unless the observer is
    /// `ORDERED`.
    pub repeats: Option<&'a dyn Fn([u8; 4]) -> u32>,
}

/// Where something happens that orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The block, by its number in the grid.
    pub block: u64,
    /// The warp, by its number in the block.
    pub warp: u32,
    /// The lanes that take part.
    pub lanes: u32,
}

/// Something that orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A fence, or that part of an access which acquires or releases.
    Fence {
        /// The function, by its index in the module.
        function: u32,
        /// The instruction, by its index in the function's body.
        instruction: u32,
    },
    /// Lanes arrive at a barrier of their block.
    Arrive {
        /// The number of the barrier.
        barrier: u32,
        /// The generation that they complete, or wait for.
        generation: u32,
        /// Whether all threads of the block take part.
        whole: bool,
        /// Whether they wait there.
        waits: bool,
        /// How many threads take part, if the instruction says so.
        count: Option<u32>,
        /// Whether all threads of a warp must execute the instruction together.
        aligned: bool,
        /// The instruction.
        by: Site,
    },
    /// Lanes that have waited for a generation of a barrier go on.
    Pass {
        /// The number of the barrier.
        barrier: u32,
        /// The generation, which is complete.
        generation: u32,
    },
    /// Lanes have synchronised with each other (`__syncwarp`).
    Converge,
    /// Lanes come to an exchange between lanes of their warp: `__syncwarp`, shuffles, votes,
    /// matches and reductions.
    Exchange {
        /// The lanes that they name.
        members: u32,
        /// The instruction.
        by: Site,
    },
    /// A lane uses a barrier object in shared memory.
    Mbarrier {
        /// Its offset in shared memory.
        address: u64,
        /// What it does.
        does: Mbarrier,
        /// Whether that completes a phase.
        completes: bool,
        /// How many arrivals it counts beyond those that the phase waits for.
        excess: u32,
        /// The instruction.
        by: Site,
    },
    /// Asynchronous copies since the last such event make a group (`cp.async.commit_group`).
    CopiesCommitted,
    /// All groups of asynchronous copies are complete but the last ones.
    CopiesAwaited {
        /// How many may be incomplete; `None` if none may, nor any copy that is in no group.
        but: Option<u32>,
    },
    /// The device's heap hands out memory, which may have been in use before.
    Allocate {
        /// The first byte.
        start: u64,
        /// Number of bytes.
        size: u64,
    },
    /// All threads of the block have exited.
    End,
}

/// What a lane does with a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    /// Initialises it.
    Init,
    /// Ends its use.
    Invalidate,
    /// Arrives, or counts bytes that have arrived.
    Arrive,
    /// Arrives once its asynchronous copies are complete.
    ArriveCopies,
    /// Finds that the phase which it waits for is complete.
    Pass,
    /// Finds that it is not, or changes what is expected.
    Look,
}

/// Observes every access before it happens.
pub trait Observer {
    /// Whether it observes anything; a constant, so that an observer that does not costs nothing.
    const WANTED: bool = true;

    /// Whether it also observes accesses to shared memory, and what orders accesses.
    const ORDERED: bool = false;

    /// Called for each valid access to global memory.
    fn access(&mut self, access: &Access<'_>);

    /// Called for each valid access to shared memory, if `ORDERED`.
    fn shared(&mut self, access: &Access<'_>) {
        let _ = access;
    }

    /// Called for what orders accesses, if `ORDERED`.
    fn event(&mut self, at: &At, event: Event) {
        let _ = (at, event);
    }
}

/// Observes nothing.
impl Observer for () {
    const WANTED: bool = false;

    fn access(&mut self, _: &Access<'_>) {}
}
