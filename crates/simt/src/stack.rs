//! Local memory of a warp's lanes, and the call frames of the functions they execute.

use crate::program::FRAME_ALIGNMENT;
use crate::rows::{LANES, Line, Mask, Storage, lanes, storage};

/// Maximum local memory of a thread, in bytes, as on devices.
const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// Local memory, of one size for every lane.
#[derive(Default)]
pub struct Local {
    memory: Vec<Line>,
    /// Size of a lane's memory, in bytes.
    stride: usize,
    /// End of each lane's stack.
    pub tops: [u64; LANES],
}

impl Local {
    /// The first lane's memory, and the distance between two lanes in bytes.
    pub fn base(&mut self) -> (*mut u8, usize) {
        (self.memory.as_mut_ptr().cast(), self.stride)
    }

    /// End of the memory that any lane may access.
    pub fn size(&self) -> u64 {
        if self.stride == 0 {
            return 0; // most kernels have no such memory, and this is asked often
        }
        self.tops.iter().copied().max().unwrap_or(0)
    }

    /// Allocates a frame in the lanes of a set. Returns its offset; `None` if memory runs out.
    pub fn take(&mut self, mask: Mask, size: u64) -> Option<u64> {
        let base = lanes(mask).map(|lane| self.tops[lane]).max().unwrap_or(0);
        let base = base.next_multiple_of(FRAME_ALIGNMENT);
        let end = base.checked_add(size).filter(|end| *end <= MAX_LOCAL_BYTES)?;
        self.grow(end as usize);
        lanes(mask).for_each(|lane| self.tops[lane] = end);
        Some(base)
    }

    /// Allocates memory in one lane.
    pub fn take_in(&mut self, lane: usize, size: u64, align: u64) -> Option<u64> {
        let base = self.tops[lane].next_multiple_of(align);
        let end = base.checked_add(size).filter(|end| *end <= MAX_LOCAL_BYTES)?;
        self.grow(end as usize);
        self.tops[lane] = end;
        Some(base)
    }

    /// Frees the memory that the lanes of a set have allocated from `base` on.
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

    /// The memory of one lane.
    pub fn lane_mut(&mut self, lane: usize) -> &mut [u8] {
        let all = self.memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory holds `stride` bytes for each lane.
        unsafe { std::slice::from_raw_parts_mut(all.add(lane * self.stride), self.stride) }
    }
}

/// The return point of a function.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The caller's frame.
    pub frame: usize,
    /// The step after the call.
    pub pc: u32,
    /// The step of the call.
    pub call: u32,
}

/// An activation of a function, in the lanes that called it together.
pub struct Frame {
    /// The function, by index.
    pub routine: u32,
    /// Its registers.
    pub registers: Storage,
    /// The return point; `None` for the kernel.
    pub caller: Option<Caller>,
    /// Lanes that have not returned.
    pub lanes: Mask,
    /// Offset of its variables in local memory.
    pub base: u64,
}

/// Frames by number; frames of lanes that diverged before a call coexist.
#[derive(Default)]
pub struct Frames {
    all: Vec<Option<Frame>>,
    /// Registers of finished frames by function, for reuse.
    spare: Vec<(u32, Storage)>,
}

impl Frames {
    /// The registers for a function.
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

    /// A frame that lanes are in, mutably.
    pub fn get_mut(&mut self, at: usize) -> &mut Frame {
        self.all[at].as_mut().expect("a frame stays while lanes are in it or below")
    }

    /// Lanes leave a frame; when the last ones do, it is removed.
    pub fn leave(&mut self, at: usize, mask: Mask) {
        let frame = self.get_mut(at);
        frame.lanes &= !mask;
        if frame.lanes == 0
            && let Some(gone) = self.all[at].take()
        {
            self.spare.push((gone.routine, gone.registers));
        }
    }

    /// The call path of a frame: the steps of its calls, outermost first, then `pc`.
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
