//! A location in code that nobody has compiled for it: its callers are found by unwind tables.

use crate::agents;
use commsan_callsite::{DEPTH, Place, StackId, Stacks};
use commsan_process::thread::Thread;
use commsan_process::{python, unwind};
use commsan_shadow::Epoch;
use std::ops::ControlFlow;

/// Where a signal has interrupted the program, or where it has called a function of commsan's that
/// stands in front of the C library's.
pub struct Interrupted<'t> {
    thread: &'t Thread,
    frames: [usize; DEPTH],
    depth: usize,
    /// Lines of Python, as numbers, innermost first.
    lines: [usize; python::MAX_FRAMES],
    line_count: usize,
}

impl<'t> Interrupted<'t> {
    /// The callers of the interrupted instruction at `pc`; that alone where its function has no
    /// unwind table. Only for the calling thread, which is in a signal handler.
    pub fn at(thread: &'t Thread, pc: usize) -> Interrupted<'t> {
        Interrupted::find(thread, pc, pc + 1)
    }

    /// The caller that returns to `pc`, and its callers. Only for the calling thread.
    pub fn returning_to(thread: &'t Thread, pc: usize) -> Interrupted<'t> {
        Interrupted::find(thread, pc, pc)
    }

    fn find(thread: &'t Thread, pc: usize, otherwise: usize) -> Interrupted<'t> {
        let (lines, line_count) = ([0; python::MAX_FRAMES], 0);
        let mut found = Interrupted { thread, frames: [0; DEPTH], depth: 0, lines, line_count };
        let mut is_reached = false;
        unwind::walk(|frame| {
            is_reached |= frame.pc == pc;
            if is_reached {
                found.push(frame.pc + usize::from(frame.is_interrupted));
            }
            if found.depth < DEPTH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if found.depth == 0 {
            found.push(otherwise);
        }
        found
    }

    /// Adds the lines of Python that the thread has come by, if there is an interpreter.
    pub fn with_python(mut self) -> Interrupted<'t> {
        if python::is_there() {
            (self.lines, self.line_count) =
                python::lines(python::state(), self.frames[0], python::MAX_FRAMES);
        }
        self
    }

    /// Number of frames.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Return addresses, innermost first; of the interrupted function that behind the instruction.
    pub fn return_addresses(&self) -> &[usize] {
        &self.frames[..self.depth]
    }

    /// Leaves the innermost frame out; there are several.
    pub fn drop_innermost(&mut self) {
        self.frames.copy_within(1..self.depth, 0);
        self.depth -= 1;
    }

    /// Adds what counts as a return address: that behind the instruction.
    fn push(&mut self, pc: usize) {
        self.frames[self.depth] = pc;
        self.depth += 1;
    }
}

impl Place for Interrupted<'_> {
    fn pc(&self) -> usize {
        if self.line_count > 0 { self.lines[0] } else { self.frames[0] }
    }

    fn stack(&self, stacks: &mut Stacks) -> StackId {
        match self.line_count {
            0 => stacks.intern(self.return_addresses()),
            count => stacks.intern(&[&self.lines[..count], self.return_addresses()].concat()),
        }
    }

    fn thread(&self) -> u32 {
        self.thread.number()
    }

    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        *frames = self.frames;
        self.depth
    }

    fn frame_of(&self, _: usize) -> Option<usize> {
        None
    }

    fn thread_of(&self, stamp: Epoch) -> u32 {
        agents::thread_of(stamp)
    }

    fn name_at(&self, _: usize) -> Option<&'static str> {
        None
    }

    fn is_popped(&self, _: usize) -> bool {
        false
    }
}
