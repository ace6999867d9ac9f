//! Call stacks by frame pointers.
//!
//! `commsan cc` keeps frame pointers, so following them is exact in instrumented code and costs a
//! few loads. Elsewhere the chain ends early or skips frames; every step is checked against the
//! bounds of the thread's stack, so following garbage is safe.

use crate::thread::Thread;

/// Where the program called into commsan.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Return address in the program.
    pub pc: usize,
    /// The calling function's frame pointer, or anything if it keeps none.
    pub frame: usize,
    /// The lowest stack address that the calling function uses; 0 if unknown.
    pub sp: usize,
}

/// The caller of the function this macro is used in, which must have a frame pointer and must not
/// be inlined.
#[macro_export]
macro_rules! caller {
    () => {{
        let frame: usize;
        // SAFETY: reads a register. The runtime is compiled with frame pointers, so the register
        // points at the saved frame pointer of the caller with the return address above it.
        unsafe {
            ::core::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
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
        // Frames of callers lie further up; anything else is not a frame pointer.
        let own = &raw const bounds as usize;
        let mut below = match bounds.contains(&own) {
            true => own,
            // The thread is another one, which waits in what it has called.
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
            // SAFETY: as above.
            frame = unsafe { *(frame as *const usize) };
        }
    }

    /// If `address` lies on this thread's stack: the frame pointer of the function whose frame
    /// holds it, or 0 where the chain does not tell.
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

/// The search for the frame that an address lies in, from the innermost frame outwards.
pub struct Search {
    address: usize,
    is_on_stack: bool,
    /// The highest frame so far.
    last: usize,
    /// The one that was searched for, or 0.
    holding: usize,
}

impl Search {
    /// One for an address that may lie on this thread's stack.
    #[inline]
    pub fn of(thread: &Thread, address: usize) -> Search {
        let bounds = thread.stack_bounds();
        let here = &raw const bounds as usize;
        let is_on_stack = (here..bounds.end).contains(&address);
        Search { address, is_on_stack, last: 0, holding: 0 }
    }

    /// The next frame outwards, if it is one: what does not lie further up is not.
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

    /// Whether it need not go on.
    #[inline]
    pub fn is_over(&self) -> bool {
        !self.is_on_stack || self.holding != 0
    }

    /// As of [`Caller::frame_of`].
    #[inline]
    pub fn found(&self) -> Option<usize> {
        self.is_on_stack.then_some(self.holding)
    }
}
