//! Stack unwinding by frame pointers.
//!
//! `commsan cc` keeps frame pointers, so following them is exact in instrumented code and costs a
//! few loads. Elsewhere the chain ends early or skips frames. Every step is checked against the
//! bounds of the thread's stack, so a corrupt chain is safe to follow.

use crate::thread::Thread;

/// The point at which the program called into commsan.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The return address in the program.
    pub pc: usize,
    /// The calling function's frame pointer, or any value if it keeps none.
    pub frame: usize,
    /// The lowest stack address that the calling function uses; 0 if unknown.
    pub sp: usize,
}

/// The caller of the function this macro is used in, which must have a frame pointer and must not
/// be inlined.
#[macro_export]
macro_rules! caller {
    () => {{
        let frame = $crate::machine::frame_pointer!();
        // SAFETY: the runtime is compiled with frame pointers, so the register points at the saved
        // frame pointer of the caller with the return address above it.
        unsafe {
            $crate::stack::Caller {
                pc: *((frame + 8) as *const usize),
                frame: *(frame as *const usize),
                sp: frame + 16,
            }
        }
    }};
}

impl Caller {
    /// Calls `f` with return addresses from the innermost outwards, each with the function's frame
    /// pointer, until it returns false.
    #[inline]
    pub fn walk(self, thread: &Thread, mut f: impl FnMut(usize, usize) -> bool) {
        const WORD: usize = size_of::<usize>();
        let bounds = thread.stack_bounds();
        let Caller { mut pc, mut frame, sp } = self;
        // Frames of callers lie at higher addresses; anything else is not a frame pointer.
        let own = &raw const bounds as usize;
        let mut below = match bounds.contains(&own) {
            true => own,
            // Another thread, which is blocked below the frame that called commsan.
            false if bounds.contains(&sp) => sp,
            false => bounds.end,
        };
        while f(pc, frame) && frame > below && frame % WORD == 0 && frame + 2 * WORD <= bounds.end {
            // SAFETY: both words lie within this thread's stack, above the current frame, where
            // all memory is mapped.
            let outer = unsafe { *((frame + WORD) as *const usize) };
            if outer == 0 {
                return;
            }
            pc = outer;
            below = frame;
            // SAFETY: both words lie within this thread's stack, as checked for the load before.
            frame = unsafe { *(frame as *const usize) };
        }
    }

    /// If `address` lies on this thread's stack: the frame pointer of the function whose frame
    /// holds it, or 0 if the chain does not reach it.
    #[inline]
    pub fn frame_of(self, thread: &Thread, address: usize) -> Option<usize> {
        let mut search = Search::of(thread, address);
        if !search.is_over() {
            self.walk(thread, |_, frame| {
                search.look_at(frame);
                !search.is_over()
            });
        }
        search.found()
    }

    /// Whether `address` is on this thread's stack below what the caller uses: in memory of a
    /// function that has returned.
    pub fn is_popped(self, thread: &Thread, address: usize) -> bool {
        let bounds = thread.stack_bounds();
        bounds.contains(&self.sp) && address >= bounds.start && address < self.sp
    }
}

/// The search for the stack frame that holds an address, from the innermost frame outwards.
pub struct Search {
    address: usize,
    is_on_stack: bool,
    /// The highest frame so far.
    last: usize,
    /// The frame that holds the address, or 0.
    holding: usize,
}

impl Search {
    /// A search for an address that may lie on this thread's stack.
    #[inline]
    pub fn of(thread: &Thread, address: usize) -> Search {
        let bounds = thread.stack_bounds();
        let here = &raw const bounds as usize;
        let is_on_stack = (here..bounds.end).contains(&address);
        Search { address, is_on_stack, last: 0, holding: 0 }
    }

    /// Visits the next frame outwards; a frame that is not higher than the last is ignored.
    #[inline]
    pub fn look_at(&mut self, frame: usize) {
        if self.holding != 0 {
            return;
        }
        if frame > self.address && frame > self.last {
            self.holding = frame;
        }
        self.last = self.last.max(frame);
    }

    /// Whether the search is finished.
    #[inline]
    pub fn is_over(&self) -> bool {
        !self.is_on_stack || self.holding != 0
    }

    /// The result, as defined by [`Caller::frame_of`].
    #[inline]
    pub fn found(&self) -> Option<usize> {
        self.is_on_stack.then_some(self.holding)
    }
}
