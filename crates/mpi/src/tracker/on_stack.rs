//! Operations with a buffer on some stack, by the frame of the function whose variable it is: a
//! return or a completion looks at one frame, however many operations it has.

use commsan_shadow::OpId;

#[derive(Default)]
pub(super) struct OnStack {
    frames: Vec<Frame>,
    len: usize,
}

/// Kept empty, with its capacity, until a frame needs it.
struct Frame {
    pointer: usize,
    /// No buffer in the frame begins below.
    lowest: usize,
    ids: Vec<OpId>,
}

impl OnStack {
    pub fn len(&self) -> usize {
        self.len
    }

    /// An operation uses a variable at an address; returns its position among the operations of the
    /// frame.
    pub fn enter(&mut self, id: OpId, pointer: usize, address: usize) -> u32 {
        let known = |frame: &Frame| frame.pointer == pointer && !frame.ids.is_empty();
        let at = self.frames.iter().position(known);
        let at = at.or_else(|| self.frames.iter().position(|frame| frame.ids.is_empty()));
        let at = at.unwrap_or_else(|| {
            self.frames.push(Frame { pointer, lowest: address, ids: Vec::new() });
            self.frames.len() - 1
        });
        let frame = &mut self.frames[at];
        if frame.ids.is_empty() {
            (frame.pointer, frame.lowest) = (pointer, address);
        }
        frame.lowest = frame.lowest.min(address);
        frame.ids.push(id);
        self.len += 1;
        (frame.ids.len() - 1) as u32
    }

    /// Removes the operation at a position of a frame; returns the operation that takes its
    /// position.
    pub fn leave(&mut self, pointer: usize, position: u32) -> Option<OpId> {
        let here = |frame: &&mut Frame| frame.pointer == pointer && !frame.ids.is_empty();
        let frame = self.frames.iter_mut().find(here)?;
        frame.ids.swap_remove(position as usize);
        self.len -= 1;
        frame.ids.get(position as usize).copied()
    }

    /// The first operation for which `meant` holds, in the frames that `may` have one by their
    /// pointer and lowest address.
    pub fn find(
        &self,
        may: impl Fn(usize, usize) -> bool,
        mut meant: impl FnMut(OpId) -> bool,
    ) -> Option<OpId> {
        let frames = self.frames.iter().filter(|frame| !frame.ids.is_empty());
        let mut ids = frames
            .filter(|frame| may(frame.pointer, frame.lowest))
            .flat_map(|frame| frame.ids.iter().copied());
        ids.find(|id| meant(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_shadow::Live;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a list of all: operations enter in some frame, and leave in any order.
        #[test]
        fn frames_keep_their_operations(steps in prop::collection::vec((0usize..4, any::<prop::sample::Index>(), any::<bool>()), 0..200)) {
            let mut live = Live::<()>::unmarked();
            let (mut on_stack, mut model) = (OnStack::default(), Vec::<(OpId, usize, u32)>::new());
            for (number, (frame, index, enters)) in steps.into_iter().enumerate() {
                let pointer = 1000 * (frame + 1);
                if enters || model.is_empty() {
                    let id = live.begin(&mut [], ());
                    let position = on_stack.enter(id, pointer, pointer - number);
                    model.push((id, pointer, position));
                } else {
                    let (_, pointer, position) = model.swap_remove(index.index(model.len()));
                    if let Some(moved) = on_stack.leave(pointer, position) {
                        model.iter_mut().filter(|(id, ..)| *id == moved).for_each(|m| m.2 = position);
                    }
                }
                prop_assert_eq!(on_stack.len(), model.len());
                for frame in (1..5).map(|frame| 1000 * frame) {
                    for (id, pointer, _) in &model {
                        let found = on_stack.find(|known, _| known == frame, |other| other == *id);
                        prop_assert_eq!(found.is_some(), *pointer == frame);
                    }
                }
            }
        }
    }
}
