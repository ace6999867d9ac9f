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
        let bounds = thread.stack_bounds();
        let here = &raw const bounds as usize;
        if address < here || address >= bounds.end {
            return None;
        }
        let (mut holding, mut last) = (0, 0);
        self.walk(thread, |_, frame| {
            // What does not lie further up is no frame pointer.
            if frame > address && frame > last {
                holding = frame;
            }
            last = last.max(frame);
            holding == 0
        });
        Some(holding)
    }

    /// Whether `address` is on this thread's stack below what the caller uses: in memory of a
    /// function that has returned.
    pub fn is_popped(self, thread: &Thread, address: usize) -> bool {
        let bounds = thread.stack_bounds();
        bounds.contains(&self.sp) && address >= bounds.start && address < self.sp
    }
}
