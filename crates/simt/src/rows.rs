//! The register file of a warp: each register is a row of one value per lane, so that an
//! instruction is a loop over rows, which the compiler vectorises.

use half::{bf16, f16};

/// Number of lanes of a warp.
pub const LANES: usize = 32;

/// A set of lanes, bit `n` for lane `n`.
pub type Mask = u32;

/// All lanes.
pub const ALL: Mask = Mask::MAX;

/// The lanes of a set, in ascending order.
pub fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The lanes of a set that have the same value as its first lane.
pub fn alike<T: PartialEq>(set: Mask, of: impl Fn(usize) -> T) -> Mask {
    let Some(first) = lanes(set).next().map(&of) else { return 0 };
    // Usually all are equal; a loop without early exit is vectorised.
    if set == ALL && (0..LANES).fold(true, |all, lane| all & (of(lane) == first)) {
        return set;
    }
    lanes(set).filter(|lane| of(*lane) == first).fold(0, |all, lane| all | 1 << lane)
}

/// A unit of storage of rows, aligned for the widest vector registers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

/// Memory that holds rows.
pub type Storage = Box<[Line]>;

/// Zeroed storage of at least `bytes` bytes.
pub fn storage(bytes: u32) -> Storage {
    vec![Line([0; 64]); (bytes as usize).div_ceil(64)].into_boxed_slice()
}

/// Clears the first bytes, rounded up to whole lines.
pub fn clear(storage: &mut Storage, bytes: u32) {
    storage.iter_mut().take((bytes as usize).div_ceil(64)).for_each(|line| line.0 = [0; 64]);
}

/// The position of a row: a storage and an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u32);

/// The storages that an instruction may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Bank {
    /// The registers of the function.
    Frame,
    /// Constants of the program; read-only.
    Constants,
    /// Special registers; read-only for instructions.
    Specials,
}

impl Slot {
    const BANK: u32 = 30;
    /// The upper bound of offsets in a storage.
    pub const END: u32 = 1 << Self::BANK;

    /// The row at an offset in a storage.
    pub const fn new(bank: Bank, offset: u32) -> Slot {
        debug_assert!(offset < Self::END);
        Slot((bank as u32) << Self::BANK | offset)
    }

    /// The row's offset, in bytes.
    pub fn offset(self) -> u32 {
        self.0 & (Self::END - 1)
    }
}

/// Plain data that rows consist of.
///
/// # Safety
/// Every bit pattern is a value, and there is no padding.
pub unsafe trait Lane: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty)*) => { $(
        // SAFETY: a number, or a wrapper of one.
        unsafe impl Lane for $ty {}
    )* };
}
plain! { u8 u16 u32 u64 u128 i8 i16 i32 i64 f32 f64 f16 bf16 [u8; 2] [u16; 2] [i16; 2] [f16; 2] [bf16; 2] [f32; 2] [f64; 2] }

/// One value per lane.
pub type Row<T> = [T; LANES];

/// A row computed lane by lane: a plain loop, which the compiler vectorises; `array::from_fn` would
/// remain a series of calls in code for other processors.
#[inline(always)]
pub fn each_lane<T: Lane>(f: impl Fn(usize) -> T) -> Row<T> {
    let mut row = [f(0); LANES];
    for (lane, value) in row.iter_mut().enumerate().skip(1) {
        *value = f(lane);
    }
    row
}

/// The storages that a warp's instructions work on.
///
/// Lowering makes every [`Slot`] of an instruction within the sizes that it assigns to the
/// storages; the accesses here rely on that.
pub struct Rows {
    banks: [*mut u8; 3],
}

impl Rows {
    /// Rows over a function's frame, the program's constants and the warp's special registers. They
    /// must only be used while these live and are not otherwise referenced.
    pub fn new(frame: &mut Storage, constants: &Storage, specials: &Storage) -> Rows {
        let frame = frame.as_mut_ptr().cast();
        // Read-only: lowering puts results only into the frame.
        let [constants, specials] = [constants, specials].map(|s| s.as_ptr().cast_mut().cast());
        Rows { banks: [frame, constants, specials] }
    }

    fn at<T>(&self, slot: Slot) -> *mut T {
        let bank = self.banks[(slot.0 >> Slot::BANK) as usize];
        // SAFETY: lowering has placed the slot within the storage.
        unsafe { bank.add(slot.offset() as usize).cast() }
    }

    /// The values of a row.
    #[inline(always)]
    pub fn row<T: Lane>(&self, slot: Slot) -> &Row<T> {
        // SAFETY: the slot is that of a row of this width, aligned to it; any bits are a value.
        // Rows are written only through `write`, whose caller holds no reference to a row.
        unsafe { &*self.at(slot) }
    }

    /// The value of one lane.
    #[inline(always)]
    pub fn get<T: Lane>(&self, slot: Slot, lane: usize) -> T {
        self.row(slot)[lane]
    }

    /// Sets the value of one lane.
    #[inline(always)]
    pub fn set<T: Lane>(&self, slot: Slot, lane: usize, value: T) {
        assert!(lane < LANES);
        // SAFETY: as in `row`; the lane is within it.
        unsafe { self.at::<T>(slot).add(lane).write(value) }
    }

    /// Writes a row.
    #[inline(always)]
    pub fn write<T: Lane>(&self, slot: Slot, row: Row<T>) {
        // SAFETY: as in `row`.
        unsafe { self.at::<Row<T>>(slot).write(row) }
    }

    /// A predicate: the mask of lanes in which it is true.
    #[inline(always)]
    pub fn predicate(&self, slot: Slot) -> Mask {
        // SAFETY: as in `row`; predicates take four bytes.
        unsafe { *self.at::<Mask>(slot) }
    }

    /// Sets a predicate in some lanes.
    #[inline(always)]
    pub fn set_predicate(&self, slot: Slot, mask: Mask, value: Mask) {
        let old = self.predicate(slot);
        // SAFETY: as in `predicate`.
        unsafe { *self.at::<Mask>(slot) = old & !mask | value & mask }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_a_set_come_in_order() {
        assert_eq!(lanes(0).count(), 0);
        assert_eq!(lanes(ALL).collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
        assert_eq!(lanes(0x8000_0101).collect::<Vec<_>>(), [0, 8, 31]);
    }

    #[test]
    fn lanes_that_are_alike_are_found() {
        assert_eq!(alike(0, |lane| lane), 0);
        assert_eq!(alike(0xf0, |lane| lane % 2), 0x50);
        assert_eq!(alike(ALL, |_| 0), ALL);
    }

    #[test]
    fn rows_hold_what_was_written() {
        let (mut frame, constants, specials) = (storage(512), storage(64), storage(64));
        let rows = Rows::new(&mut frame, &constants, &specials);
        let slot = Slot::new(Bank::Frame, 128);
        rows.write(slot, std::array::from_fn(|i| i as u32));
        rows.set(slot, 5, 77u32);
        assert_eq!((rows.get::<u32>(slot, 4), rows.get::<u32>(slot, 5)), (4, 77));
        let predicate = Slot::new(Bank::Frame, 4);
        rows.set_predicate(predicate, 0xf0, ALL);
        assert_eq!(rows.predicate(predicate), 0xf0);
    }
}
