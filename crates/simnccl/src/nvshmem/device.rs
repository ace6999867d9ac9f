//! What NVSHMEM's functions for kernels find on the device.
//!
//! They are code of NVIDIA's headers, compiled into the program, and take what they need from a
//! variable that `libnvshmem_device.a` defines, `nvshmemi_device_state_d`: who this PE is, and by
//! what address each PE's memory is reached, as between devices that NVLink connects. So puts,
//! gets and atomics are loads and stores of the kernel. Where they go is written here as windows
//! of addresses, one for each PE, in which each of its bytes has the address that this PE has for
//! it. The simulated device asks for the memory that is mapped there ([`find`]), and knows a PE
//! or an address that does not exist.
//!
//! Barriers and syncs of kernels pass counts by symmetric memory, which belongs to a team's slot.

use super::World;
use super::team::Team;
use crate::cuda::{self, Stream};
use crate::error::Result;
use crate::rendezvous::{MAX_RANKS, message, word};
use commsan_cuda_abi::nvshmem::{FOUND, NO_MEMORY, NO_PE, PEER_DISTANCE, PeerMemory};
use std::ffi::{CStr, c_int};

/// The variable, of type `nvshmemi_device_host_state_t`.
const STATE: &CStr = c"nvshmemi_device_state_d";

/// Offsets in it, the same in NVSHMEM 3.4 to 3.8 (`device_host/nvshmem_types.h`).
mod state {
    pub const PE: usize = 4;
    pub const PES: usize = 8;
    pub const PE_ON_NODE: usize = 12;
    pub const PES_ON_NODE: usize = 16;
    /// `NVSHMEMI_PE_DIST_BLOCK`.
    pub const DISTRIBUTION: usize = 20;
    /// `NVSHMEMI_JOB_GPU_LDST_ATOMICS`: kernels reach all memory by loads, stores and atomics.
    pub const CONNECTIVITY: usize = 32;
    pub const HEAP_SIZE: usize = 48;
    pub const PEERS: usize = 56;
    pub const TIMEOUT: usize = 80;
    pub const WAIT_ANY_START: usize = 88;
    pub const TEAMS: usize = 96;
    pub const SYNC_MEMORY: usize = 104;
    pub const SYNC_COUNTERS: usize = 112;
    /// `barrier_dissem_kval`, and behind it those of other collectives: radices of their trees.
    pub const RADICES: usize = 124;
    pub const RADIX_COUNT: usize = 4;
    pub const REDUCTION_MEMORY: usize = 168;
    /// Size of what is common to all versions.
    pub const SIZE: usize = 632;
}

/// Offsets in a team, of type `nvshmemi_team_t`.
mod team {
    pub const PE: usize = 4;
    pub const START: usize = 8;
    pub const STRIDE: usize = 12;
    pub const PES: usize = 16;
    pub const SLOT: usize = 20;
    /// Phases of a reduction by pairwise exchanges, whose plan is not written: so many that its
    /// memory would not do, and another algorithm is taken.
    pub const EXCHANGES: usize = 132;
    pub const TOO_MANY: i32 = 1 << 28;
    pub const IS_CONNECTED: usize = 236;
    /// A pointer to the members, and behind them to the number of each PE among these.
    pub const MEMBERS: usize = 784;
    pub const SIZE: usize = 816;
}

/// PEs below 0, and beyond the last, whose windows kernels find, so that what they do there is
/// known to be wrong.
const MARGIN: usize = 1024;

/// Slots of teams.
pub const SLOTS: usize = 32;

/// Memory in which reductions of a team gather values, in bytes.
const REDUCTION_BYTES: usize = 512 << 10;
/// Symmetric memory of a slot in bytes, at least what any version takes: 20 parts of 27,648 words,
/// what reductions need, and a word for each PE (`get_psync_len_per_team`).
const SLOT_BYTES: usize = (20 * 27_648 + MAX_RANKS) * 8 + REDUCTION_BYTES;
/// Size of a page, in bytes.
const PAGE: usize = 4096;

/// The numbers of a team in device memory: its PEs, and the place of each PE of the job.
const MEMBER_BYTES: usize = 2 * MAX_RANKS * 4;

/// Memory of the device that kernels read, and write counts to.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    tables: u64,
    sync_memory: u64,
}

/// Where the parts of this memory begin.
impl Device {
    const COUNTERS: usize = 0;
    const POINTERS: usize = Self::COUNTERS + SLOTS * 2 * 8;
    const TEAMS: usize = Self::POINTERS + SLOTS * 8;
    const MEMBERS: usize = Self::TEAMS + SLOTS * team::SIZE;
    const TIMEOUT: usize = Self::MEMBERS + SLOTS * MEMBER_BYTES;
    const WAIT_ANY_START: usize = Self::TIMEOUT + 64;
    const PEERS: usize = Self::WAIT_ANY_START + 8;

    fn bytes(pes: usize) -> usize {
        Self::PEERS + (2 * MARGIN + pes) * 8
    }

    fn at(&self, offset: usize) -> u64 {
        self.tables + offset as u64
    }

    /// Where the number of the next barrier is counted, and behind it that of other collectives.
    fn counter(&self, slot: usize) -> u64 {
        self.at(Self::COUNTERS + slot * 16)
    }

    /// Writes a team to a slot; its first barrier has a number that is beyond all those that
    /// earlier teams of the slot have left in the memory of a member.
    fn write_team(&self, stream: &Stream, team: &Team, slot: usize, first: u64) -> Result {
        let members = self.at(Self::MEMBERS + slot * MEMBER_BYTES);
        let mut numbers = vec![0xff; MEMBER_BYTES];
        let mut put = |at: usize, number: usize| {
            numbers[at * 4..][..4].copy_from_slice(&(number as u32).to_le_bytes());
        };
        for (number, &pe) in team.members.iter().enumerate() {
            put(number, pe);
            put(team.members.len() + pe, number);
        }
        stream.write(members, &numbers)?;
        let mut bytes = [0; team::SIZE];
        let mut put =
            |at: usize, value: i32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let stride = stride(&team.members);
        put(team::PE, team.me as i32);
        put(team::START, team.members[0] as i32);
        put(team::STRIDE, stride.unwrap_or(-1));
        put(team::PES, team.members.len() as i32);
        put(team::SLOT, slot as i32);
        put(team::EXCHANGES, team::TOO_MANY);
        bytes[team::IS_CONNECTED] = 1;
        bytes[team::MEMBERS..][..8].copy_from_slice(&members.to_le_bytes());
        stream.write(self.at(Self::TEAMS + slot * team::SIZE), &bytes)?;
        stream.write(self.counter(slot), &first.to_le_bytes())
    }

    /// Writes the number by which kernels find the team of a slot.
    fn write_number(&self, stream: &Stream, number: c_int, slot: usize) -> Result {
        let team = self.at(Self::TEAMS + slot * team::SIZE);
        stream.write(self.at(Self::POINTERS + number as usize * 8), &team.to_le_bytes())
    }

    /// The bytes of the variable.
    fn state(&self, world: &World, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        let number = |number: usize| (number as u32).to_le_bytes();
        put(0, &number((1 << 16) + size));
        put(state::PE, &number(world.pe));
        put(state::PES, &number(world.pes));
        put(state::PE_ON_NODE, &number(world.pe));
        put(state::PES_ON_NODE, &number(world.pes));
        put(state::DISTRIBUTION, &number(1));
        put(state::CONNECTIVITY, &number(1));
        put(state::HEAP_SIZE, &(1_u64 << 47).to_le_bytes());
        let places = [
            (state::PEERS, Self::PEERS + MARGIN * 8),
            (state::TIMEOUT, Self::TIMEOUT),
            (state::WAIT_ANY_START, Self::WAIT_ANY_START),
            (state::TEAMS, Self::POINTERS),
            (state::SYNC_COUNTERS, Self::COUNTERS),
        ];
        for (at, offset) in places {
            put(at, &self.at(offset).to_le_bytes());
        }
        put(state::SYNC_MEMORY, &self.sync_memory.to_le_bytes());
        put(state::REDUCTION_MEMORY, &(REDUCTION_BYTES as u64).to_le_bytes());
        (0..state::RADIX_COUNT).for_each(|radix| put(state::RADICES + radix * 4, &number(2)));
        bytes
    }
}

/// The distance between members, if it is the same for all.
fn stride(members: &[usize]) -> Option<i32> {
    let [first, second, ..] = *members else { return Some(1) };
    let is_even = members
        .windows(2)
        .all(|pair| pair[1] as i64 - pair[0] as i64 == second as i64 - first as i64);
    (is_even && second > first).then(|| (second - first) as i32)
}

/// Makes PEs known to kernels, together with all others: nothing, if no program has kernels that
/// call NVSHMEM.
pub fn begin(world: &World) -> Result {
    // A process may have no device yet, or kernels that cannot be loaded.
    let variables = cuda::variables(STATE).unwrap_or_default();
    let fit: Vec<_> = variables.into_iter().filter(|(_, size)| *size >= state::SIZE).collect();
    let known = *world.device.lock();
    let device = match known {
        Some(device) => device,
        None => {
            let has_some = u64::from(!fit.is_empty());
            let all = world.rendezvous.lock().exchange(&message(&[has_some]))?;
            if all.iter().all(|message| word(message, 0) == 0) {
                return Ok(());
            }
            let device = create(world)?;
            *world.device.lock() = Some(device);
            device
        }
    };
    let stream = Stream::new()?;
    let write =
        |(address, size): &(u64, usize)| stream.write(*address, &device.state(world, *size));
    fit.iter().try_for_each(write)?;
    stream.destroy()
}

fn create(world: &World) -> Result<Device> {
    let base = cuda::find_peers_by(find)?;
    let sync_memory = world.allocate(SLOTS * SLOT_BYTES)? as u64;
    let size = Device::bytes(world.pes);
    let device = Device { tables: cuda::allocate(size)?, sync_memory };
    let stream = Stream::new()?;
    stream.set(device.tables, 0, size)?;
    clear(&stream, sync_memory)?;
    let ones = [1_u64.to_le_bytes(); 2 * SLOTS].concat();
    stream.write(device.counter(0), &ones)?;
    let window = |number: usize| {
        let pe = number as i64 - MARGIN as i64;
        base.wrapping_add(PEER_DISTANCE.wrapping_mul(pe as u64)).to_le_bytes()
    };
    let windows: Vec<u8> = (0..2 * MARGIN + world.pes).flat_map(window).collect();
    stream.write(device.at(Device::PEERS), &windows)?;
    let teams = world.teams.lock().all();
    for (number, team) in teams {
        device.write_team(&stream, &team, team.slot, 1)?;
        device.write_number(&stream, number, team.slot)?;
    }
    stream.destroy()?;
    // No kernel may tell this PE anything before.
    world.rendezvous.lock().exchange(&message(&[]))?;
    Ok(device)
}

/// Makes symmetric memory of all slots zero. New memory is, but for a part of a page at either end:
/// and where it is not, since it shows what was never written, its pages are there already.
fn clear(stream: &Stream, memory: u64) -> Result {
    let inside = (memory + PAGE as u64) as *const u64;
    // SAFETY: a word of device memory, which is mapped here.
    if unsafe { inside.read_volatile() } != 0 {
        return stream.set(memory, 0, SLOTS * SLOT_BYTES);
    }
    stream.set(memory, 0, PAGE)?;
    stream.set(memory + (SLOTS * SLOT_BYTES - PAGE) as u64, 0, PAGE)
}

impl World {
    /// A team has been made, and has no number yet: its barriers of kernels may be used once all
    /// members have come here.
    pub fn prepare_on_device(&self, team: &Team) -> Result {
        let Some(device) = *self.device.lock() else { return Ok(()) };
        if team.slot >= SLOTS {
            return Ok(());
        }
        let counter = device.counter(team.slot) as *const u64;
        // SAFETY: a word of device memory, which is mapped here.
        let first = team.highest(unsafe { counter.read_volatile() })?;
        let stream = Stream::new()?;
        device.write_team(&stream, team, team.slot, first)?;
        stream.destroy()
    }

    /// Kernels may use a team by its number.
    pub fn number_on_device(&self, number: c_int, team: &Team) -> Result {
        let Some(device) = *self.device.lock() else { return Ok(()) };
        if team.slot >= SLOTS || number as usize >= SLOTS {
            return Ok(());
        }
        let stream = Stream::new()?;
        device.write_number(&stream, number, team.slot)?;
        stream.destroy()
    }

    /// Kernels find nothing any more.
    pub fn leave_device(&self) -> Result {
        let device = self.device.lock().take();
        device.map_or(Ok(()), |device| cuda::free(device.tables))
    }
}

/// Finds symmetric memory of a PE, for the simulated device.
extern "C" fn find(pe: i32, address: u64, found: &mut PeerMemory) -> c_int {
    let Ok(world) = super::world() else { return NO_MEMORY };
    let Some(pe) = usize::try_from(pe).ok().filter(|pe| *pe < world.pes) else { return NO_PE };
    match world.heap.read().block(address as usize) {
        Some((known, at)) => {
            let (known, size, start) = (known.start as u64, known.len() as u64, at[pe] as u64);
            *found = PeerMemory { known, size, start };
            FOUND
        }
        None => NO_MEMORY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_of_teams() {
        assert_eq!(stride(&[3]), Some(1));
        assert_eq!(stride(&[0, 1, 2]), Some(1));
        assert_eq!(stride(&[1, 4, 7]), Some(3));
        assert_eq!(stride(&[0, 1, 3]), None);
        assert_eq!(stride(&[2, 1, 0]), None);
    }
}
