//! Call stacks by frame pointers.
//!
//! `commsan cc` keeps frame pointers, so following them is exact in instrumented code and costs a
//! few loads. Elsewhere the chain ends early or skips frames; every step is checked against the
//! bounds of the thread's stack, so following garbage is safe.

use crate::thread;

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
    /// Return addresses from the innermost outwards, with each function's frame pointer.
    pub fn frames(self) -> impl Iterator<Item = (usize, usize)> {
        let bounds = thread::stack_bounds();
        let here = &raw const bounds as usize;
        let mut next = Some((self.pc, self.frame));
        std::iter::from_fn(move || {
            let (pc, frame) = next.take()?;
            let valid = frame > here
                && frame % size_of::<usize>() == 0
                && frame >= bounds.start
                && frame + 2 * size_of::<usize>() <= bounds.end;
            if valid {
                // SAFETY: both words lie within this thread's stack, above the current frame,
                // where all memory is mapped.
                let (outer, pc) = unsafe {
                    (*(frame as *const usize), *((frame + size_of::<usize>()) as *const usize))
                };
                // Frames of callers lie further up; anything else is not a frame pointer.
                next = (pc != 0).then_some((pc, if outer > frame { outer } else { 0 }));
            }
            Some((pc, frame))
        })
    }

    /// If `address` lies on this thread's stack: the frame pointer of the function whose frame
    /// holds it, or 0 where the chain does not tell.
    pub fn frame_of(self, address: usize) -> Option<usize> {
        let bounds = thread::stack_bounds();
        let here = &raw const bounds as usize;
        if address < here || address >= bounds.end {
            return None;
        }
        let holding = self.frames().map(|(_, frame)| frame).find(|frame| *frame > address);
        Some(holding.unwrap_or(0))
    }

    /// Whether `address` is on this thread's stack below what the caller uses: in memory of a
    /// function that has returned.
    pub fn is_popped(self, address: usize) -> bool {
        let bounds = thread::stack_bounds();
        bounds.contains(&self.sp) && address >= bounds.start && address < self.sp
    }
}
