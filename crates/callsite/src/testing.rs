//! A place for tests of several crates.

use crate::{DEPTH, Place};
use commsan_shadow::Epoch;

/// A place in the only thread, known by a number, that owns no memory.
#[derive(Clone, Copy, Debug)]
pub struct At(pub usize);

impl Place for At {
    fn pc(&self) -> usize {
        self.0
    }
    fn thread(&self) -> u32 {
        0
    }
    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        frames[0] = self.0;
        1
    }
    fn frame_of(&self, _: usize) -> Option<usize> {
        None
    }
    fn thread_of(&self, _: Epoch) -> u32 {
        0
    }
    fn name_at(&self, _: usize) -> Option<&'static str> {
        None
    }
    fn is_popped(&self, _: usize) -> bool {
        false
    }
}
