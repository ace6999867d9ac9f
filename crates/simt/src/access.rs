//! Memory accesses of a warp, bounds-checked before they happen.

use crate::code::{Address, Atomic, Base, CopyAsync, CopyBulk, Transfer, Where};
use crate::fault::Cause;
use crate::memory::{
    ARGUMENT_WINDOW, Cell, Global, LOCAL_WINDOW, SHARED_WINDOW, Wrong, at_peer, in_window, update,
};
use crate::observe::{Access, Kind, Observer};
use crate::rows::{ALL, LANES, Lane, Mask, Row, Rows, Slot, each_lane, lanes};

/// A fault of a lane, before its source location is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The cause.
    pub cause: Cause,
    /// The lane.
    pub lane: usize,
}

/// The bytes of a texel; the rest is unused.
pub type Texel = [u8; 16];

/// Memory that belongs to the simulator: shared, local or argument memory.
#[derive(Clone, Copy)]
pub struct Region {
    /// The first byte.
    pub base: *mut u8,
    /// Distance between the memories of two lanes, in bytes; 0 if they share it.
    pub stride: usize,
    /// Size that each lane may access, in bytes.
    pub size: u64,
}

/// The memories that a warp may access.
pub struct Memories<'a, 'g, O> {
    /// The host's memory.
    pub global: &'a mut Global<'g>,
    /// The block's shared memory.
    pub shared: Region,
    /// The lanes' local memory.
    pub local: Region,
    /// Offset of the function's frame in local memory.
    pub frame: u64,
    /// The launch's arguments, which are read-only.
    pub arguments: Region,
    /// Observes accesses.
    pub observer: &'a mut O,
    /// The block, by its number in the grid.
    pub block: u64,
    /// The warp, by its number in the block.
    pub warp: u32,
    /// The executing function, by index.
    pub function: u32,
    /// The executing instruction, by index.
    pub instruction: u32,
}

/// What lanes do with memory.
#[derive(Clone, Copy)]
struct Use<'a> {
    kind: Kind,
    /// Bytes that each lane accesses.
    size: u64,
    /// Bytes of one element.
    width: u64,
    /// What a store writes: the bytes of an element of a lane.
    stored: Option<&'a dyn Fn(usize, usize) -> [u8; 16]>,
}

impl Use<'_> {
    /// The access of one element.
    fn one(kind: Kind, size: u64) -> Use<'static> {
        Use { kind, size, width: size, stored: None }
    }
}

/// The addresses of a set of lanes that access one memory.
struct Target<'a> {
    base: *mut u8,
    stride: usize,
    addresses: &'a Row<u64>,
}

impl Target<'_> {
    #[inline(always)]
    fn pointer(&self, lane: usize, offset: u64) -> *mut u8 {
        let address = (self.addresses[lane] + offset) as usize;
        match self.base.is_null() {
            // Global memory: the program's allocations, whose addresses the kernel was given.
            true => std::ptr::with_exposed_provenance_mut(address),
            false => self.base.wrapping_add(lane * self.stride + address),
        }
    }
}

#[inline(always)]
fn addresses(rows: &Rows, address: &Address) -> Row<u64> {
    let offset = address.offset as u64;
    match address.base {
        None => [offset; LANES],
        Some(Base::Wide(slot)) => {
            let row = rows.row::<u64>(slot);
            each_lane(|lane| row[lane].wrapping_add(offset))
        }
        Some(Base::Narrow(slot)) => {
            let row = rows.row::<u32>(slot);
            each_lane(|lane| row[lane].wrapping_add(offset as u32).into())
        }
    }
}

/// The offset in shared memory of an address that is known to lie there.
pub fn offset_in_shared(rows: &Rows, address: &Address, lane: usize) -> u64 {
    let at = addresses(rows, address)[lane];
    if in_window(at, SHARED_WINDOW) { at - SHARED_WINDOW } else { at }
}

/// The lowest and highest address of a set of lanes, and the bitwise or of their addresses.
#[inline(always)]
fn extremes(addresses: &Row<u64>, mask: Mask) -> (u64, u64, u64) {
    let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
    for (lane, address) in addresses.iter().enumerate() {
        if mask >> lane & 1 == 1 {
            (low, high, bits) = (low.min(*address), high.max(*address), bits | address);
        }
    }
    (low, high, bits)
}

/// A quick, conservative variant of `extremes` for all lanes: bounds below and above every address,
/// and the bitwise or of the addresses. Bits in which the addresses differ count as 0 below and as
/// 1 above.
#[inline(always)]
fn bounds(addresses: &Row<u64>) -> (u64, u64, u64) {
    let first = addresses[0];
    let (mut differ, mut bits) = (0, 0);
    for address in addresses {
        (differ, bits) = (differ | (address ^ first), bits | address);
    }
    let differ = u64::MAX.checked_shr(differ.leading_zeros()).unwrap_or(0);
    (first & !differ, first | differ, bits)
}

/// Whether the addresses of a set of lanes are aligned to `size`, a power of two, and within what
/// `fits` allows; `fits` may first be called with wider bounds.
#[inline(always)]
fn are_fine(addresses: &Row<u64>, mask: Mask, size: u64, fits: impl Fn(u64, u64) -> bool) -> bool {
    if mask == ALL {
        let (low, high, bits) = bounds(addresses);
        if fits(low, high) {
            return bits & (size - 1) == 0;
        }
    }
    let (low, high, bits) = extremes(addresses, mask);
    bits & (size - 1) == 0 && fits(low, high)
}

/// Memories that have a window of generic addresses.
const WINDOWS: [(Where, u64); 3] = [
    (Where::Shared, SHARED_WINDOW),
    (Where::Local, LOCAL_WINDOW),
    (Where::Arguments, ARGUMENT_WINDOW),
];

impl<O: Observer> Memories<'_, '_, O> {
    /// Executes a load.
    #[inline]
    pub fn load(&mut self, rows: &Rows, load: &Transfer, mask: Mask) -> Result<(), Trap> {
        let size = load.width * load.values.len() as u64;
        let does = Use { width: load.width, ..Use::one(Kind::Load, size) };
        self.each(rows, &load.address, mask, &does, |target, mask| {
            for (slot, n) in load.values.iter().zip(0..) {
                let offset = n * load.width;
                match load.width {
                    1 => gather::<u8>(rows, *slot, target, offset, mask),
                    2 => gather::<u16>(rows, *slot, target, offset, mask),
                    4 => gather::<u32>(rows, *slot, target, offset, mask),
                    8 => gather::<u64>(rows, *slot, target, offset, mask),
                    _ => gather::<u128>(rows, *slot, target, offset, mask),
                }
            }
        })
    }

    /// Executes a store.
    #[inline]
    pub fn store(&mut self, rows: &Rows, store: &Transfer, mask: Mask) -> Result<(), Trap> {
        let size = store.width * store.values.len() as u64;
        let stored =
            |lane, element: usize| bytes_of(rows, store.values[element], lane, store.width);
        let stored: &dyn Fn(usize, usize) -> [u8; 16] = &stored;
        let stored = O::ORDERED.then_some(stored);
        let does = Use { kind: Kind::Store, size, width: store.width, stored };
        self.each(rows, &store.address, mask, &does, |target, mask| {
            for (slot, n) in store.values.iter().zip(0..) {
                let offset = n * store.width;
                match store.width {
                    1 => scatter::<u8>(rows, *slot, target, offset, mask),
                    2 => scatter::<u16>(rows, *slot, target, offset, mask),
                    4 => scatter::<u32>(rows, *slot, target, offset, mask),
                    8 => scatter::<u64>(rows, *slot, target, offset, mask),
                    _ => scatter::<u128>(rows, *slot, target, offset, mask),
                }
            }
        })
    }

    /// Executes an atomic, one lane after another.
    pub fn atomic(&mut self, rows: &Rows, atomic: &Atomic, mask: Mask) -> Result<(), Trap> {
        let width = atomic.width;
        let size = width * atomic.rows.len() as u64;
        let does = Use { width, ..Use::one(Kind::Atomic, size) };
        self.each(rows, &atomic.address, mask, &does, |target, mask| {
            for lane in lanes(mask) {
                for ([d, b, c], n) in atomic.rows.iter().zip(0..) {
                    let operand = |slot| read_bits(rows, slot, lane, width);
                    let (b, c) = (operand(*b), operand(*c));
                    let change = |old| (atomic.update)(old, b, c);
                    // SAFETY: `each` has checked that the lane may access these bytes.
                    let old = unsafe { update(target.pointer(lane, n * width), width, change) };
                    write_bits(rows, *d, lane, width, old);
                }
            }
        })
    }

    /// Executes `cp.async`: copies from global to shared memory and fills the rest with zeros.
    pub fn copy(&mut self, rows: &Rows, copy: &CopyAsync, mask: Mask) -> Result<(), Trap> {
        let sizes: Row<u64> = match copy.source_size {
            None => [copy.size; LANES],
            Some(slot) => rows.row::<u32>(slot).map(|size| u64::from(size).min(copy.size)),
        };
        let mut bytes = [[0u8; 16]; LANES];
        for lane in lanes(mask).filter(|lane| sizes[*lane] > 0) {
            // Alignment applies to the whole source, even if less of it is read.
            let address = addresses(rows, &copy.from)[lane];
            if !address.is_multiple_of(copy.size) {
                return Err(self.wrong(
                    Wrong::Misaligned,
                    Kind::Load,
                    Where::Global,
                    address,
                    copy.size,
                    lane,
                ));
            }
            let mut n = 0;
            while n < sizes[lane] {
                let part = if sizes[lane] - n >= 4 { 4 } else { 1 };
                let mut at = [0; LANES];
                at[lane] = address.wrapping_add(n);
                let does = Use::one(Kind::Load, part);
                self.global_access(&at, 1 << lane, &does, |target, _| {
                    for byte in 0..part {
                        let to = &mut bytes[lane][(n + byte) as usize];
                        // SAFETY: checked to be accessible.
                        *to = unsafe { u8::load(target.pointer(lane, byte)) };
                    }
                })?;
                n += part;
            }
        }
        let does = Use::one(Kind::Store, copy.size);
        self.each(rows, &copy.to, mask, &does, |target, mask| {
            for lane in lanes(mask) {
                for n in 0..copy.size {
                    // SAFETY: `each` has checked that the lane may access these bytes.
                    unsafe { u8::store(target.pointer(lane, n), bytes[lane][n as usize]) };
                }
            }
        })
    }

    /// Reads texels from the memory of textures and surfaces; inactive lanes get zeros.
    pub fn read_texels(
        &mut self,
        addresses: &Row<u64>,
        mask: Mask,
        size: u64,
    ) -> Result<[Texel; LANES], Trap> {
        let mut texels = [[0; 16]; LANES];
        if mask != 0 {
            self.global_access(addresses, mask, &Use::one(Kind::Load, size), |target, mask| {
                for lane in lanes(mask) {
                    for (byte, n) in texels[lane].iter_mut().zip(0..size) {
                        // SAFETY: checked to be accessible.
                        *byte = unsafe { u8::load(target.pointer(lane, n)) };
                    }
                }
            })?;
        }
        Ok(texels)
    }

    /// Writes texels to the memory of surfaces.
    pub fn write_texels(
        &mut self,
        addresses: &Row<u64>,
        mask: Mask,
        size: u64,
        texels: &[Texel; LANES],
    ) -> Result<(), Trap> {
        if mask == 0 {
            return Ok(());
        }
        self.global_access(addresses, mask, &Use::one(Kind::Store, size), |target, mask| {
            for lane in lanes(mask) {
                for (byte, n) in texels[lane].iter().zip(0..size) {
                    // SAFETY: checked to be accessible.
                    unsafe { u8::store(target.pointer(lane, n), *byte) };
                }
            }
        })
    }

    /// Executes `cp.async.bulk`: copies from global to shared memory, one lane after another, 16
    /// bytes at a time; sizes and addresses are multiples of 16 (PTX ISA, `cp.async.bulk`).
    pub fn copy_bulk(&mut self, rows: &Rows, copy: &CopyBulk, mask: Mask) -> Result<(), Trap> {
        const PART: u64 = 16;
        let (from, to) = (addresses(rows, &copy.from), addresses(rows, &copy.to));
        for lane in lanes(mask) {
            let size = u64::from(rows.get::<u32>(copy.size, lane));
            if !size.is_multiple_of(PART) {
                let (wrong, kind) = (Wrong::Misaligned, Kind::Load);
                return Err(self.wrong(wrong, kind, Where::Global, from[lane], size, lane));
            }
            for at in (0..size).step_by(PART as usize) {
                let [from, to] = [from, to].map(|row| row.map(|start| start.wrapping_add(at)));
                let mut part = 0u128;
                let (load, store) = (Use::one(Kind::Load, PART), Use::one(Kind::Store, PART));
                self.global_access(&from, 1 << lane, &load, |target, _| {
                    // SAFETY: checked to be accessible.
                    part = unsafe { u128::load(target.pointer(lane, 0)) };
                })?;
                self.own_access(Where::Shared, &to, 1 << lane, &store, |target, _| {
                    // SAFETY: checked to be accessible.
                    unsafe { u128::store(target.pointer(lane, 0), part) };
                })?;
            }
        }
        Ok(())
    }

    /// Replaces an eight-byte object in shared memory by `change` of its value, and returns the old
    /// value.
    pub fn change(
        &mut self,
        rows: &Rows,
        address: &Address,
        lane: usize,
        change: impl Fn(u64) -> u64,
    ) -> Result<u64, Trap> {
        let mut old = 0;
        self.each(rows, address, 1 << lane, &Use::one(Kind::Atomic, 8), |target, _| {
            // SAFETY: `each` has checked that the lane may access these bytes.
            old = unsafe { update(target.pointer(lane, 0), 8, &change) };
        })?;
        Ok(old)
    }

    /// Checks an access of a set of lanes, then calls `act` with the addresses, once for each
    /// memory that is accessed.
    #[inline(always)]
    fn each(
        &mut self,
        rows: &Rows,
        address: &Address,
        mask: Mask,
        does: &Use<'_>,
        mut act: impl FnMut(&Target<'_>, Mask),
    ) -> Result<(), Trap> {
        if mask == 0 {
            return Ok(());
        }
        let at = addresses(rows, address);
        match address.place {
            Where::Global => self.global_access(&at, mask, does, act),
            Where::Generic if are_fine(&at, mask, 1, |_, high| high < SHARED_WINDOW) => {
                self.global_access(&at, mask, does, act)
            }
            Where::Generic => {
                let mut rest = mask;
                for (place, window) in WINDOWS {
                    let inside = lanes(rest).filter(|lane| in_window(at[*lane], window));
                    let inside = inside.fold(0, |all, lane| all | 1 << lane);
                    rest &= !inside;
                    if inside != 0 {
                        let at = at.map(|a| a.wrapping_sub(window));
                        self.own_access(place, &at, inside, does, &mut act)?;
                    }
                }
                match rest {
                    0 => Ok(()),
                    rest => self.global_access(&at, rest, does, act),
                }
            }
            Where::Frame => {
                let at = at.map(|a| a.wrapping_add(self.frame));
                self.own_access(Where::Local, &at, mask, does, act)
            }
            place => self.own_access(place, &at, mask, does, act),
        }
    }

    #[inline(always)]
    fn global_access(
        &mut self,
        addresses: &Row<u64>,
        mask: Mask,
        does: &Use<'_>,
        mut act: impl FnMut(&Target<'_>, Mask),
    ) -> Result<(), Trap> {
        let Use { kind, size, .. } = *does;
        let hits =
            |low, high: u64| self.global.hits(self.instruction, low, high.saturating_add(size));
        let mut mapped = None;
        if !are_fine(addresses, mask, size, hits) {
            mapped = self.map_lanes(addresses, mask, size, kind)?;
            self.check_lanes(mapped.as_ref().unwrap_or(addresses), mask, size, kind)?;
        }
        let addresses = mapped.as_ref().unwrap_or(addresses);
        let target = Target { base: std::ptr::null_mut(), stride: 0, addresses };
        if O::WANTED {
            self.observe(does, mask, &target, O::access);
        }
        act(&target, mask);
        Ok(())
    }

    /// The addresses at which memory of other PEs is mapped; `None` if no lane accesses such.
    #[cold]
    fn map_lanes(
        &mut self,
        addresses: &Row<u64>,
        mask: Mask,
        size: u64,
        kind: Kind,
    ) -> Result<Option<Row<u64>>, Trap> {
        let mut mapped = None;
        for lane in lanes(mask) {
            let Some((pe, address)) = at_peer(addresses[lane]) else { continue };
            let found = self.global.mapped(pe, address, size);
            let why = match found {
                Ok(Some(at)) => {
                    mapped.get_or_insert(*addresses)[lane] = at;
                    continue;
                }
                Ok(None) => None,
                Err(why) => Some(why),
            };
            return Err(Trap { cause: Cause::Peer { why, kind, pe, address, size }, lane });
        }
        Ok(mapped)
    }

    #[cold]
    fn check_lanes(
        &mut self,
        addresses: &Row<u64>,
        mask: Mask,
        size: u64,
        kind: Kind,
    ) -> Result<(), Trap> {
        for lane in lanes(mask) {
            let address = addresses[lane];
            let checked = match address % size.next_power_of_two() {
                0 => self.global.check(self.instruction, address, size),
                // If an access is both, it counts as out of bounds.
                _ => self.global.check(self.instruction, address, size).and(Err(Wrong::Misaligned)),
            };
            checked.map_err(|w| self.wrong(w, kind, Where::Global, address, size, lane))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn own_access(
        &mut self,
        place: Where,
        addresses: &Row<u64>,
        mask: Mask,
        does: &Use<'_>,
        mut act: impl FnMut(&Target<'_>, Mask),
    ) -> Result<(), Trap> {
        let Use { kind, size, .. } = *does;
        let region = match place {
            Where::Shared => self.shared,
            Where::Arguments if kind == Kind::Load => self.arguments,
            Where::Arguments => Region { size: 0, ..self.arguments },
            _ => self.local,
        };
        let is_inside = |_, high: u64| high.checked_add(size).is_some_and(|end| end <= region.size);
        if !are_fine(addresses, mask, size, is_inside) {
            let bad = |lane: &usize| {
                let address = addresses[*lane];
                !address.is_multiple_of(size) || !is_inside(address, address)
            };
            let lane = lanes(mask).find(bad).unwrap_or(0);
            let all_inside = lanes(mask).all(|lane| is_inside(0, addresses[lane]));
            let wrong = if all_inside { Wrong::Misaligned } else { Wrong::Outside };
            return Err(self.wrong(wrong, kind, place, addresses[lane], size, lane));
        }
        let target = Target { base: region.base, stride: region.stride, addresses };
        if O::ORDERED && place == Where::Shared {
            self.observe(does, mask, &target, O::shared);
        }
        act(&target, mask);
        Ok(())
    }

    /// Tells the observer of an access.
    #[inline(always)]
    fn observe(
        &mut self,
        does: &Use<'_>,
        lanes: Mask,
        target: &Target<'_>,
        tell: impl Fn(&mut O, &Access<'_>),
    ) {
        let Use { kind, size, width, stored } = *does;
        let (function, instruction) = (self.function, self.instruction);
        let (block, warp, addresses) = (self.block, self.warp, target.addresses);
        let before = |lane, element: usize| {
            let mut bytes = [0; 16];
            for (byte, n) in bytes.iter_mut().zip(0..width) {
                // SAFETY: the lane may access these bytes.
                *byte = unsafe { u8::load(target.pointer(lane, element as u64 * width + n)) };
            }
            bytes
        };
        let before: &dyn Fn(usize, usize) -> [u8; 16] = &before;
        let before = O::ORDERED.then_some(before);
        let repeats = |pattern: [u8; 4]| {
            let word = u32::from_ne_bytes(pattern);
            let is_alike = |&lane: &usize| {
                let address = addresses[lane];
                if (address | size) % 4 == 0 {
                    // SAFETY: the lane may access these bytes, which are aligned.
                    let at = |n| unsafe { u32::load(target.pointer(lane, 4 * n)) };
                    return (0..size / 4).all(|n| at(n) == word);
                }
                // SAFETY: the lane may access these bytes.
                let at = |n| unsafe { u8::load(target.pointer(lane, n)) };
                (0..size).all(|n| at(n) == pattern[(address.wrapping_add(n) % 4) as usize])
            };
            let all = crate::rows::lanes(lanes);
            all.filter(is_alike).fold(0, |all, lane| all | 1 << lane)
        };
        let repeats: &dyn Fn([u8; 4]) -> u32 = &repeats;
        let repeats = O::ORDERED.then_some(repeats);
        let access = Access {
            function,
            instruction,
            kind,
            size,
            width,
            lanes,
            addresses,
            block,
            warp,
            stored,
            before,
            repeats,
        };
        tell(self.observer, &access);
    }

    #[cold]
    fn wrong(
        &self,
        wrong: Wrong,
        kind: Kind,
        place: Where,
        address: u64,
        size: u64,
        lane: usize,
    ) -> Trap {
        let memory = match place {
            Where::Global | Where::Generic => "global",
            Where::Shared => "shared",
            Where::Local | Where::Frame => "local",
            Where::Arguments => "parameter",
        };
        Trap { cause: Cause::Access { wrong, kind, memory, address, size }, lane }
    }
}

#[inline(always)]
fn gather<T: Cell + Lane>(rows: &Rows, slot: Slot, target: &Target<'_>, offset: u64, mask: Mask) {
    // SAFETY: the caller has checked that these lanes may access these bytes.
    let value = |lane| unsafe { T::load(target.pointer(lane, offset)) };
    match mask {
        ALL => rows.write::<T>(slot, each_lane(value)),
        _ => lanes(mask).for_each(|lane| rows.set(slot, lane, value(lane))),
    }
}

#[inline(always)]
fn scatter<T: Cell + Lane>(rows: &Rows, slot: Slot, target: &Target<'_>, offset: u64, mask: Mask) {
    let row = rows.row::<T>(slot);
    // SAFETY: the caller has checked that these lanes may access these bytes.
    let put = |lane: usize| unsafe { T::store(target.pointer(lane, offset), row[lane]) };
    match mask {
        ALL => (0..LANES).for_each(put),
        _ => lanes(mask).for_each(put),
    }
}

fn read_bits(rows: &Rows, slot: Slot, lane: usize, width: u64) -> u64 {
    match width {
        2 => rows.get::<u16>(slot, lane).into(),
        4 => rows.get::<u32>(slot, lane).into(),
        _ => rows.get(slot, lane),
    }
}

/// The bytes of a lane's value of `width` bytes.
fn bytes_of(rows: &Rows, slot: Slot, lane: usize, width: u64) -> [u8; 16] {
    let value = match width {
        1 => rows.get::<u8>(slot, lane).into(),
        2 => rows.get::<u16>(slot, lane).into(),
        4 => rows.get::<u32>(slot, lane).into(),
        8 => rows.get::<u64>(slot, lane).into(),
        _ => rows.get::<u128>(slot, lane),
    };
    value.to_le_bytes()
}

fn write_bits(rows: &Rows, slot: Slot, lane: usize, width: u64, bits: u64) {
    match width {
        2 => rows.set(slot, lane, bits as u16),
        4 => rows.set(slot, lane, bits as u32),
        _ => rows.set(slot, lane, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_all_addresses() {
        for stride in [0, 4, 8, 1 << 20, u64::MAX] {
            let of = |lane: usize| 0x7ff8u64.wrapping_add(stride.wrapping_mul(lane as u64));
            let row: Row<u64> = std::array::from_fn(of);
            let (low, high, bits) = bounds(&row);
            let exact = extremes(&row, ALL);
            assert!(low <= exact.0 && exact.1 <= high && bits == exact.2, "{stride}");
        }
        assert_eq!(bounds(&[12; LANES]), (12, 12, 12));
    }

    #[test]
    fn fine_is_what_fits_and_is_aligned() {
        // From 0x7ff8 on, the quick bounds reach up to 0xffff.
        let row: Row<u64> = std::array::from_fn(|lane| 0x7ff8 + lane as u64 * 4);
        let fits = |low, high| 0x7ff8 <= low && high <= 0x8074;
        assert!(are_fine(&row, ALL, 4, fits));
        assert!(!are_fine(&row, ALL, 8, fits));
        assert!(!are_fine(&row, ALL, 4, |low, high| fits(low, high) && high < 0x8074));
        assert!(are_fine(&row, ALL >> 1, 4, |low, high| fits(low, high) && high < 0x8074));
    }
}
