//! Work on memory of functions that return.

use super::*;
use commsan_callsite::DEPTH;

/// A place in a function that owns the memory from [`PAGEABLE`] on.
struct Within {
    pc: usize,
    frame: usize,
}

impl Place for Within {
    fn pc(&self) -> usize {
        self.pc
    }
    fn thread(&self) -> u32 {
        0
    }
    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        frames[0] = self.pc;
        1
    }
    fn frame_of(&self, address: usize) -> Option<usize> {
        (address >= PAGEABLE).then_some(self.frame)
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

/// A copy of a variable, by the function with this frame.
fn copy(gpu: &mut Gpu, pc: usize, frame: usize, out: &mut Found) {
    let accesses = [kernel_access(Mode::Read, PAGEABLE..PAGEABLE + 16)];
    let copy = Work { call: "cudaMemcpyAsync", kernel: None, ..work(created(1), &accesses) };
    gpu.enqueue(&copy, &Within { pc, frame }, out);
}

#[test]
fn a_function_returns_before_its_variable_was_copied() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    copy(&mut gpu, 70, 9, &mut out);
    assert_eq!(gpu.on_stack(), 1);
    gpu.leave(8, &At(71), &mut out);
    assert_eq!(out.0, [], "it is another one's");
    gpu.leave(9, &At(72), &mut out);
    assert_eq!(out.0, [(Code::WorkMemoryReleased, 72, 70)]);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(73), &mut out);
    assert_eq!((gpu.on_stack(), &out.2[..]), (0, &[(0, 73)][..]));
}

#[test]
fn who_has_waited_may_return() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    copy(&mut gpu, 70, 9, &mut out);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(71), &mut out);
    assert_eq!(gpu.on_stack(), 0);
    gpu.leave(9, &At(72), &mut out);
    assert_eq!(out.0, []);
}

#[test]
fn kernels_have_no_variables_of_functions() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let kernel = work(created(1), &[kernel_access(Mode::Read, PAGEABLE..PAGEABLE + 16)]);
    gpu.enqueue(&kernel, &Within { pc: 70, frame: 9 }, &mut out);
    assert_eq!(gpu.on_stack(), 0);
}
