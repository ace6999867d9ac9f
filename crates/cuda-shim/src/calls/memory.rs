//! Memory: allocating it, registering it, giving it back, opening that of other processes.

use crate::arguments::Out;
use crate::memory::{allocated, allocated_in, free, opened};
use commsan_cuda::{MemoryKind, Release};
use commsan_cuda_abi::{Extent, IpcHandle, PitchedPtr};
use std::ffi::c_uint;

entries! {
    fn cudaMalloc(pointer: Out<usize>, size: usize) after(call) {
        allocated(call, MemoryKind::Device, pointer.get(), size);
    }

    fn cudaMallocPitch(pointer: Out<usize>, pitch: Out<usize>, _width: usize, height: usize)
    after(call) {
        allocated(call, MemoryKind::Device, pointer.get(), pitch.get() * height);
    }

    fn cudaMalloc3D(pointer: Out<PitchedPtr>, extent: Extent) after(call) {
        let made = pointer.get();
        let size = made.pitch * extent.height * extent.depth;
        allocated(call, MemoryKind::Device, made.ptr, size);
    }

    fn cudaMallocManaged(pointer: Out<usize>, size: usize, _flags: c_uint) after(call) {
        allocated(call, MemoryKind::Managed, pointer.get(), size);
    }

    fn cudaMallocHost(pointer: Out<usize>, size: usize) after(call) {
        allocated(call, MemoryKind::Pinned, pointer.get(), size);
    }

    fn cudaHostAlloc(pointer: Out<usize>, size: usize, _flags: c_uint) after(call) {
        allocated(call, MemoryKind::Pinned, pointer.get(), size);
    }

    fn cudaHostRegister(pointer: usize, size: usize, _flags: c_uint) after(call) {
        allocated(call, MemoryKind::Pinned, pointer, size);
    }

    fn cudaMallocAsync, cudaMallocAsync_ptsz(pointer: Out<usize>, size: usize, stream: usize)
    after(call) {
        allocated_in(call, stream, pointer.get(), size);
    }

    fn cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz(
        pointer: Out<usize>,
        size: usize,
        _pool: usize,
        stream: usize,
    ) after(call) {
        allocated_in(call, stream, pointer.get(), size);
    }

    fn cudaFree(pointer: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        free(call, pointer, |_| Release::Device, || unsafe { real(pointer) })
    }

    fn cudaFreeHost(pointer: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        free(call, pointer, |_| Release::Host, || unsafe { real(pointer) })
    }

    fn cudaHostUnregister(pointer: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        free(call, pointer, |_| Release::Unregister, || unsafe { real(pointer) })
    }

    fn cudaFreeAsync, cudaFreeAsync_ptsz(pointer: usize, stream: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        free(call, pointer, |call| Release::Async(call.stream(stream)), || unsafe { real(pointer, stream) })
    }

    fn cudaIpcGetMemHandle(handle: Out<IpcHandle>, pointer: usize) after(call) {
        call.with(|streams, _, _| streams.memory_exported(pointer, &handle.get().reserved));
    }

    fn cudaIpcOpenMemHandle(pointer: Out<usize>, handle: IpcHandle, _flags: c_uint) after(call) {
        opened(call, pointer.get(), handle.reserved);
    }

    fn cudaIpcCloseMemHandle(pointer: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        free(call, pointer, |_| Release::Device, || unsafe { real(pointer) })
    }
}
