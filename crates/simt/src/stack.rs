//! Local memory of a warp's lanes, and the frames of the functions they are in.

use crate::program::FRAME_ALIGNMENT;
use crate::rows::{LANES, Line, Mask, Storage, lanes, storage};

/// Maximum bytes of local memory of a thread, as on devices.
const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// Local memory: as much for each lane.
#[derive(Default)]
pub struct Local {
    memory: Vec<Line>,
    /// Bytes of a lane.
    stride: usize,
    /// Where each lane's stack ends.
    pub tops: [u64; LANES],
}

impl Local {
    /// Where a lane's memory begins, and the distance of two lanes.
    pub fn base(&mut self) -> (*mut u8, usize) {
        (self.memory.as_mut_ptr().cast(), self.stride)
    }

    /// Bytes up to which some lane may access.
    pub fn size(&self) -> u64 {
        if self.stride == 0 {
            return 0; // most kernels have no such memory, and this is asked often
        }
        self.tops.iter().copied().max().unwrap_or(0)
    }

    /// Takes bytes for a frame in the lanes of a set. Where it begins; none if there is not so
    /// much.
    pub fn take(&mut self, mask: Mask, size: u64) -> Option<u64> {
        let base = lanes(mask).map(|lane| self.tops[lane]).max().unwrap_or(0);
        let base = base.next_multiple_of(FRAME_ALIGNMENT);
        let end = base.checked_add(size).filter(|end| *end <= MAX_LOCAL_BYTES)?;
        self.grow(end as usize);
        lanes(mask).for_each(|lane| self.tops[lane] = end);
        Some(base)
    }

    /// Takes bytes in one lane.
    pub fn take_in(&mut self, lane: usize, size: u64, align: u64) -> Option<u64> {
        let base = self.tops[lane].next_multiple_of(align);
        let end = base.checked_add(size).filter(|end| *end <= MAX_LOCAL_BYTES)?;
        self.grow(end as usize);
        self.tops[lane] = end;
        Some(base)
    }

    /// Gives back what the lanes of a set have taken from there on.
    pub fn give(&mut self, mask: Mask, base: u64) {
        lanes(mask).for_each(|lane| self.tops[lane] = base);
    }

    fn grow(&mut self, end: usize) {
        if end <= self.stride {
            return;
        }
        let stride = end.next_power_of_two().max(256);
        let (old, lines) = (self.stride / 64, stride / 64);
        let mut memory = storage((stride * LANES) as u32).into_vec();
        for lane in 0..LANES {
            memory[lane * lines..][..old].copy_from_slice(&self.memory[lane * old..][..old]);
        }
        (self.memory, self.stride) = (memory, stride);
    }

    /// Copies bytes within a lane's memory.
    pub fn copy(&mut self, lane: usize, from: u64, to: u64, size: u64) {
        let bytes = self.lane_mut(lane);
        bytes.copy_within(from as usize..(from + size) as usize, to as usize);
    }

    /// A lane's memory.
    pub fn lane_mut(&mut self, lane: usize) -> &mut [u8] {
        let all = self.memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory holds `stride` bytes for each of the lanes.
        unsafe { std::slice::from_raw_parts_mut(all.add(lane * self.stride), self.stride) }
    }
}

/// Where a function returns to.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The caller's frame.
    pub frame: usize,
    /// The step after the call.
    pub pc: u32,
    /// The step of the call.
    pub call: u32,
}

/// A call in progress, in the lanes that made it together.
pub struct Frame {
    /// The function.
    pub routine: u32,
    /// Its registers.
    pub registers: Storage,
    /// Who called; none for the kernel.
    pub caller: Option<Caller>,
    /// Lanes that have not returned.
    pub lanes: Mask,
    /// Where its variables begin in local memory.
    pub base: u64,
}

/// Frames by number; those of lanes that diverged before calling live side by side.
#[derive(Default)]
pub struct Frames {
    all: Vec<Option<Frame>>,
    /// Registers of frames that are gone, by function.
    spare: Vec<(u32, Storage)>,
}

impl Frames {
    /// Registers for a function.
    pub fn registers(&mut self, routine: u32, bytes: u32) -> Storage {
        match self.spare.iter().position(|(r, _)| *r == routine) {
            Some(at) => self.spare.swap_remove(at).1,
            None => storage(bytes),
        }
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: Frame) -> usize {
        match self.all.iter().position(Option::is_none) {
            Some(at) => {
                self.all[at] = Some(frame);
                at
            }
            None => {
                self.all.push(Some(frame));
                self.all.len() - 1
            }
        }
    }

    /// A frame that lanes are in.
    pub fn get(&self, at: usize) -> &Frame {
        self.all[at].as_ref().expect("a frame stays while lanes are in it or below")
    }

    /// A frame that lanes are in.
    pub fn get_mut(&mut self, at: usize) -> &mut Frame {
        self.all[at].as_mut().expect("a frame stays while lanes are in it or below")
    }

    /// Lanes leave a frame; the last ones remove it.
    pub fn leave(&mut self, at: usize, mask: Mask) {
        let frame = self.get_mut(at);
        frame.lanes &= !mask;
        if frame.lanes == 0
            && let Some(gone) = self.all[at].take()
        {
            self.spare.push((gone.routine, gone.registers));
        }
    }

    /// Steps of the calls that lead to a frame, outermost first, then `pc`.
    pub fn path(&self, mut at: usize, pc: u32) -> Vec<u32> {
        let mut path = vec![pc];
        while let Some(caller) = self.get(at).caller {
            path.push(caller.call);
            at = caller.frame;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_its_contents_when_it_grows() {
        let mut local = Local::default();
        assert_eq!(local.take(3, 100), Some(0));
        local.lane_mut(1)[99] = 7;
        assert_eq!(local.take(2, 10_000), Some(128));
        assert_eq!((local.lane_mut(1)[99], local.lane_mut(0)[99]), (7, 0));
        assert_eq!(local.take(1, MAX_LOCAL_BYTES), None);
        local.give(2, 128);
        assert_eq!(local.tops[..2], [100, 128]);
    }
}
