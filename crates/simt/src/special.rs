//! Special registers that are constant while a warp runs, as rows that are filled when its block
//! starts (PTX ISA chapter 10).

use crate::memory::FUNCTION_WINDOW;
use crate::rows::{Bank, LANES, Rows, Slot, Storage, each_lane, storage};
use commsan_ptx::words::Special;

/// The rows in their order in memory: registers, with their number of dimensions or elements.
const ROWS: [(Special, u8); 31] = [
    (Special::Tid, 4),
    (Special::Ntid, 4),
    (Special::CtaId, 4),
    (Special::NctaId, 4),
    (Special::LaneId, 1),
    (Special::WarpId, 1),
    (Special::NwarpId, 1),
    (Special::SmId, 1),
    (Special::NsmId, 1),
    (Special::GridId, 1),
    (Special::IsExplicitCluster, 1),
    (Special::ClusterId, 4),
    (Special::NclusterId, 4),
    (Special::ClusterCtaId, 4),
    (Special::ClusterNctaId, 4),
    (Special::ClusterCtaRank, 1),
    (Special::ClusterNctaRank, 1),
    (Special::LanemaskEq, 1),
    (Special::LanemaskLe, 1),
    (Special::LanemaskLt, 1),
    (Special::LanemaskGe, 1),
    (Special::LanemaskGt, 1),
    (Special::Envreg, 4),
    (Special::TotalSmemSize, 1),
    (Special::DynamicSmemSize, 1),
    (Special::AggregateSmemSize, 1),
    (Special::ReservedSmemBegin, 1),
    (Special::ReservedSmemEnd, 1),
    (Special::ReservedSmemCap, 1),
    (Special::ReservedSmem0, 1),
    (Special::ReservedSmem1, 1),
];

/// Size in bytes of the shared memory reserved for the system, in which cooperative groups keep
/// tiles of several warps. It precedes the program's own, as on hardware, in kernels that read its
/// position.
pub const RESERVED_SHARED: u32 = 1024;

/// Registers that differ between the blocks of a grid; all lanes have the same value.
const DIFFERING: [Special; 3] = [Special::CtaId, Special::ClusterId, Special::SmId];

const ROW: u32 = 4 * LANES as u32;

/// Offset of dynamic shared memory: not a special register, but as constant as these.
pub const DYNAMIC_SHARED: Slot = Slot::new(Bank::Specials, 0);

/// Whether the register describes the system's shared memory.
pub fn is_reserved_shared(special: Special) -> bool {
    use Special::*;
    matches!(
        special,
        ReservedSmemBegin | ReservedSmemEnd | ReservedSmemCap | ReservedSmem0 | ReservedSmem1
    )
}

/// The row of 32-bit values of a special register, if it is constant.
pub fn slot(special: Special, at: u8) -> Option<Slot> {
    let row = ROWS.iter().position(|(s, _)| *s == special)?;
    let before: u32 = ROWS[..row].iter().map(|(_, count)| u32::from(*count)).sum();
    let offset = (1 + before + u32::from(at)) * ROW;
    (at < ROWS[row].1).then(|| Slot::new(Bank::Specials, offset))
}

/// The generic address of a function.
pub fn function_address(index: u32) -> u64 {
    FUNCTION_WINDOW + 16 * u64::from(index)
}

/// The function at a generic address.
pub fn function_at(address: u64) -> Option<u32> {
    let offset = address.checked_sub(FUNCTION_WINDOW)?;
    (offset % 16 == 0).then(|| u32::try_from(offset / 16).ok())?
}

/// The values that a warp's special registers derive from.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number of blocks of the grid.
    pub grid: [u32; 3],
    /// Number of threads of the block.
    pub block: [u32; 3],
    /// The index of the block.
    pub index: [u32; 3],
    /// The number of the block.
    pub number: u64,
    /// The number of the warp in its block.
    pub warp: u32,
    /// A number that differs between resident blocks, `%smid`.
    pub processor: u32,
    /// Maximum number of resident blocks, `%nsmid`.
    pub processors: u32,
    /// The number of the grid.
    pub grid_id: u32,
    /// The registers from `%envreg0` on.
    pub environment: [u32; 4],
    /// Size in bytes of the shared memory reserved for the system, which comes first.
    pub reserved_shared: u32,
    /// Size of static shared memory, in bytes.
    pub static_shared: u32,
    /// Size of dynamic shared memory, in bytes.
    pub dynamic_shared: u32,
}

impl Place {
    /// The index of a thread in its block, by its number.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [number % x, number / x % y, number / (x * y)]
    }

    fn value(&self, special: Special, at: usize, lane: u32) -> u32 {
        let [threads, blocks] = [self.block, self.grid].map(|e| e.iter().product::<u32>());
        let dimension = |of: [u32; 3], beyond| of.get(at).copied().unwrap_or(beyond);
        match special {
            Special::Tid => dimension(self.thread(self.warp * 32 + lane), 0),
            Special::Ntid => dimension(self.block, 1),
            Special::CtaId | Special::ClusterId => dimension(self.index, 0),
            Special::NctaId | Special::NclusterId => dimension(self.grid, 1),
            Special::LaneId => lane,
            Special::WarpId => self.warp,
            Special::NwarpId => threads.div_ceil(32),
            Special::SmId => self.processor,
            Special::NsmId => self.processors.min(blocks),
            Special::GridId => self.grid_id,
            Special::ClusterNctaId | Special::ClusterNctaRank => 1,
            Special::LanemaskEq => 1 << lane,
            Special::LanemaskLt => (1 << lane) - 1,
            Special::LanemaskLe => (1 << lane) | ((1 << lane) - 1),
            Special::LanemaskGe => u32::MAX << lane,
            Special::LanemaskGt => (u32::MAX << lane) & !(1 << lane),
            Special::Envreg => self.environment[at],
            Special::TotalSmemSize => self.static_shared + self.dynamic_shared,
            Special::DynamicSmemSize => self.dynamic_shared,
            Special::AggregateSmemSize => {
                RESERVED_SHARED + self.static_shared + self.dynamic_shared
            }
            Special::ReservedSmemEnd | Special::ReservedSmemCap => RESERVED_SHARED,
            // Of its two parts, the second belongs to cooperative groups, which need 288 bytes.
            Special::ReservedSmem1 => RESERVED_SHARED / 2,
            // A block is its own cluster.
            _ => 0,
        }
    }

    /// Fills the rows of a warp. If `into` holds the rows of the same warp of another block of the
    /// grid, only the registers that differ between blocks are filled.
    pub fn rows(&self, into: &mut Option<Storage>) {
        let again = into.is_some();
        let count: u32 = 1 + ROWS.iter().map(|(_, count)| u32::from(*count)).sum::<u32>();
        let specials = into.get_or_insert_with(|| storage(count * ROW));
        let unused = Storage::default();
        // Written like a frame, and read-only from then on.
        let rows = Rows::new(specials, &unused, &unused);
        let mut offset = 0;
        let mut put = |value: &dyn Fn(u32) -> u32, differs: bool| {
            let slot = Slot::new(Bank::Frame, offset);
            match (differs, again) {
                (true, _) => rows.write(slot, [value(0); LANES]),
                (false, false) => rows.write(slot, each_lane(|lane| value(lane as u32))),
                (false, true) => {}
            }
            offset += ROW;
        };
        put(&|_| self.reserved_shared + self.static_shared, false);
        for (special, count) in ROWS {
            let differs = DIFFERING.contains(&special);
            for at in 0..count.into() {
                put(&|lane| self.value(special, at, lane), differs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_addresses_of_their_own() {
        assert_eq!(function_at(function_address(7)), Some(7));
        assert_eq!(function_at(function_address(7) + 1), None);
        assert_eq!(function_at(0), None);
    }

    #[test]
    fn threads_are_numbered_x_first() {
        let place = Place {
            grid: [1; 3],
            block: [3, 4, 5],
            index: [0; 3],
            number: 0,
            warp: 1,
            processor: 0,
            processors: 1,
            grid_id: 0,
            environment: [0; 4],
            reserved_shared: 0,
            static_shared: 0,
            dynamic_shared: 0,
        };
        assert_eq!(place.thread(33), [0, 3, 2]);
        assert_eq!(place.value(Special::Tid, 1, 1), 3);
        assert_eq!(place.value(Special::LanemaskLe, 0, 31), u32::MAX);
        assert_eq!(place.value(Special::LanemaskGt, 0, 31), 0);
    }
}
