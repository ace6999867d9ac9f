//! Call stacks by unwind tables (`.eh_frame`), for functions without frame pointers. Slow, so for
//! what is rare.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;

/// One frame of the calling thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The return address in it, or the address of the instruction that a signal interrupted.
    pub pc: usize,
    /// Its canonical frame address: the stack pointer before the function was called.
    pub cfa: usize,
    /// Whether a signal has interrupted it, so that `pc` is no return address.
    pub is_interrupted: bool,
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// Visits the frames of this thread's stack, the innermost first, until `visit` breaks. Signal
/// handlers' frames are among them.
pub fn walk(mut visit: impl FnMut(Frame) -> ControlFlow<()>) {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4; // _URC_NORMAL_STOP
    type Visit<'a> = &'a mut dyn FnMut(Frame) -> ControlFlow<()>;
    extern "C" fn each(context: *mut c_void, visit: *mut c_void) -> c_int {
        let mut before = 0;
        // SAFETY: the unwinder's own context, and the closure below.
        let (pc, cfa, visit) = unsafe {
            let pc = _Unwind_GetIPInfo(context, &raw mut before);
            (pc, _Unwind_GetCFA(context), &mut *visit.cast::<Visit<'_>>())
        };
        match visit(Frame { pc, cfa, is_interrupted: before != 0 }) {
            ControlFlow::Continue(()) => GO_ON,
            ControlFlow::Break(()) => STOP,
        }
    }
    let mut visit: Visit<'_> = &mut visit;
    // SAFETY: `each` is called during this call only, with the closure.
    unsafe { _Unwind_Backtrace(each, (&raw mut visit).cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn inner(frames: &mut Vec<Frame>) {
        walk(|frame| {
            frames.push(frame);
            if frames.len() < 8 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        std::hint::black_box(frames);
    }

    #[test]
    fn frames_come_from_the_innermost_on() {
        let mut frames = Vec::new();
        inner(&mut frames);
        assert_eq!(frames.len(), 8);
        assert!(frames.windows(2).all(|pair| pair[0].cfa <= pair[1].cfa), "{frames:x?}");
        assert!(frames.iter().all(|frame| frame.pc != 0 && !frame.is_interrupted));
    }
}
