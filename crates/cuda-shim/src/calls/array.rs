//! CUDA arrays.

use crate::arguments::{In, Out};
use crate::arrays::{Array, freed, made, rows, start};
use crate::call::Call;
use crate::copies::{Copied, How};
use commsan_cuda_abi::{ChannelFormatDesc, Extent};
use std::ffi::{c_int, c_uint};

entries! {
    fn cudaMallocArray(
        array: Out<usize>,
        format: In<ChannelFormatDesc>,
        width: usize,
        height: usize,
        _flags: c_uint,
    ) after(call) {
        made(call, array.get(), format, Extent { width, height, depth: 0 });
    }

    fn cudaMalloc3DArray(
        array: Out<usize>,
        format: In<ChannelFormatDesc>,
        extent: Extent,
        _flags: c_uint,
    ) after(call) {
        made(call, array.get(), format, extent);
    }

    fn cudaFreeArray(array: usize) instead(call, real) {
        // SAFETY: the program's arguments.
        freed(call, array, || unsafe { real(array) })
    }

    fn cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        pitch: usize,
        width: usize,
        height: usize,
        _kind: c_int,
    ) touches(call) {
        put(call, How::Synchronous, rows((to, x, y), (from, pitch), (width, height), false));
    }

    fn cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        pitch: usize,
        width: usize,
        height: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        put(call, How::In(stream), rows((to, x, y), (from, pitch), (width, height), false));
    }

    fn cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds(
        to: usize,
        pitch: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        _kind: c_int,
    ) touches(call) {
        put(call, How::Synchronous, rows((from, x, y), (to, pitch), (width, height), true));
    }

    fn cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz(
        to: usize,
        pitch: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        put(call, How::In(stream), rows((from, x, y), (to, pitch), (width, height), true));
    }

    fn cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds(
        to: usize,
        to_x: usize,
        to_y: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        _kind: c_int,
    ) touches(call) {
        let extent = Extent { width, height, depth: 1 };
        let to = Array::of(to).map(|array| array.rows(to_x, to_y, 0));
        let from = Array::of(from).map(|array| array.rows(x, y, 0));
        put(call, How::Synchronous, to.zip(from).map(|(to, from)| Copied { to, from, extent }));
    }

    fn cudaMemcpyToArray, cudaMemcpyToArray_ptds(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        bytes: usize,
        _kind: c_int,
    ) touches(call) {
        put(call, How::Synchronous, start((to, x, y)).map(|to| Copied::flat(to, from, bytes)));
    }

    fn cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        bytes: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        put(call, How::In(stream), start((to, x, y)).map(|to| Copied::flat(to, from, bytes)));
    }

    fn cudaMemcpyFromArray, cudaMemcpyFromArray_ptds(
        to: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        _kind: c_int,
    ) touches(call) {
        put(call, How::Synchronous, start((from, x, y)).map(|from| Copied::flat(to, from, bytes)));
    }

    fn cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz(
        to: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        put(call, How::In(stream), start((from, x, y)).map(|from| Copied::flat(to, from, bytes)));
    }

    fn cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds(
        to: usize,
        to_x: usize,
        to_y: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        _kind: c_int,
    ) touches(call) {
        let sides = start((to, to_x, to_y)).zip(start((from, x, y)));
        put(call, How::Synchronous, sides.map(|(to, from)| Copied::flat(to, from, bytes)));
    }
}

fn put(call: &Call, how: How, copied: Option<Copied>) {
    if let Some(copied) = copied {
        copied.put(call, how);
    }
}
