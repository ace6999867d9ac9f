//! The program's location in an intercepted call: call site, call stack and thread.

use crate::agents;
use commsan_callsite::{DEPTH, Place, StackId, Stacks};
use commsan_process::python;
use commsan_process::stack::{Caller, Search};
use commsan_process::thread::{self, Thread};
use commsan_shadow::Epoch;
use std::ffi::CStr;

/// The location of a call that the program makes into commsan.
#[derive(Clone, Copy)]
pub struct Here<'t> {
    caller: Caller,
    /// The calling thread.
    pub thread: &'t Thread,
}

impl<'t> Here<'t> {
    /// The location of a call by `thread`.
    pub fn new(caller: Caller, thread: &'t Thread) -> Here<'t> {
        Here { caller, thread }
    }

    /// The innermost return address in the program.
    pub fn return_address(&self) -> usize {
        self.caller.pc
    }

    /// The lowest stack address that the caller uses; 0 if unknown.
    pub fn sp(&self) -> usize {
        self.caller.sp
    }

    /// The Python lines that lead here, as numbers, innermost first, and their count, at most
    /// `most`.
    #[cold]
    fn lines(&self, most: usize) -> ([usize; python::MAX_FRAMES], usize) {
        let is_this = thread::with(|thread| std::ptr::eq(thread, self.thread));
        let state = if is_this { python::state() } else { self.thread.python.get() };
        python::lines(state, self.caller.pc, most)
    }
}

impl Place for Here<'_> {
    #[inline]
    fn pc(&self) -> usize {
        match python::is_there() {
            true => match self.lines(1) {
                ([first, ..], 1..) => first,
                _ => self.caller.pc,
            },
            false => self.caller.pc,
        }
    }

    #[inline]
    fn stack(&self, stacks: &mut Stacks) -> StackId {
        let mut frames = [0; DEPTH];
        let depth = self.frames(&mut frames);
        if !python::is_there() {
            return stacks.intern(&frames[..depth]);
        }
        let (lines, count) = self.lines(python::MAX_FRAMES);
        stacks.intern(&[&lines[..count], &frames[..depth]].concat())
    }

    /// Walks the stack once for both results.
    #[inline]
    fn stack_around(&self, address: usize, stacks: &mut Stacks) -> (StackId, Option<usize>) {
        if python::is_there() {
            return (self.stack(stacks), self.frame_of(address));
        }
        let mut frames = [0; DEPTH];
        let (mut depth, mut search) = (0, Search::of(self.thread, address));
        self.caller.walk(self.thread, |pc, frame| {
            frames[depth] = pc;
            depth += 1;
            search.look_at(frame);
            depth < DEPTH
        });
        let frame = match depth < DEPTH || search.is_over() {
            true => search.found(),
            false => self.frame_of(address),
        };
        (stacks.intern(&frames[..depth]), frame)
    }

    fn thread(&self) -> u32 {
        self.thread.number()
    }

    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        let mut depth = 0;
        self.caller.walk(self.thread, |pc, _| {
            frames[depth] = pc;
            depth += 1;
            depth < DEPTH
        });
        depth
    }

    fn thread_of(&self, stamp: Epoch) -> u32 {
        agents::thread_of(stamp)
    }

    fn name_at(&self, address: usize) -> Option<&'static str> {
        if address == 0 {
            return None;
        }
        // SAFETY: hooks pass the addresses of string constants of modules. Only the constant of a
        // module that was unloaded since would be gone, which is rare.
        unsafe { CStr::from_ptr(address as *const std::ffi::c_char) }.to_str().ok()
    }

    #[inline]
    fn frame_of(&self, address: usize) -> Option<usize> {
        self.caller.frame_of(self.thread, address)
    }

    fn frame_index(&self, address: usize) -> Option<usize> {
        let (mut found, mut index) = (None, 0);
        let bounds = self.thread.stack_bounds();
        if address < &raw const bounds as usize || address >= bounds.end {
            return None;
        }
        self.caller.walk(self.thread, |_, frame| {
            if frame > address {
                found = Some(index);
            }
            index += 1;
            found.is_none() && index < DEPTH
        });
        found
    }

    fn is_popped(&self, address: usize) -> bool {
        self.caller.is_popped(self.thread, address)
    }
}
