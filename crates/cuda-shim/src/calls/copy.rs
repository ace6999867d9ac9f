//! Copies and sets.

use crate::arguments::In;
use crate::ask;
use crate::copies::{
    Copied, How, batch, from_symbol, peer, peer_slices, set, set_flat, set_rows, slices, to_symbol,
    with_attributes,
};
use commsan_cuda_abi::{Extent, Memcpy3DParms, Memcpy3DPeerParms, MemcpyAttributes, PitchedPtr};
use std::ffi::c_int;

entries! {
    fn cudaMemcpy, cudaMemcpy_ptds(to: usize, from: usize, bytes: usize, _kind: c_int) touches(call) {
        Copied::flat(to, from, bytes).put(call, How::Synchronous);
    }

    fn cudaMemcpyAsync, cudaMemcpyAsync_ptsz(
        to: usize,
        from: usize,
        bytes: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        Copied::flat(to, from, bytes).put(call, How::In(stream));
    }

    fn cudaMemcpyWithAttributesAsync, cudaMemcpyWithAttributesAsync_ptsz(
        to: usize,
        from: usize,
        bytes: usize,
        attributes: In<MemcpyAttributes>,
        stream: usize,
    ) touches(call) {
        if let Some(attributes) = attributes.if_any() {
            with_attributes(call, stream, (to, from, bytes), attributes);
        }
    }

    fn cudaMemcpy2D, cudaMemcpy2D_ptds(
        to: usize,
        to_pitch: usize,
        from: usize,
        from_pitch: usize,
        width: usize,
        height: usize,
        _kind: c_int,
    ) touches(call) {
        Copied::rows((to, to_pitch), (from, from_pitch), width, height)
            .put(call, How::Synchronous);
    }

    fn cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz(
        to: usize,
        to_pitch: usize,
        from: usize,
        from_pitch: usize,
        width: usize,
        height: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        Copied::rows((to, to_pitch), (from, from_pitch), width, height)
            .put(call, How::In(stream));
    }

    fn cudaMemcpy3D, cudaMemcpy3D_ptds(parameters: In<Memcpy3DParms>) touches(call) {
        slices(call, How::Synchronous, parameters);
    }

    fn cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz(parameters: In<Memcpy3DParms>, stream: usize)
    touches(call) {
        slices(call, How::In(stream), parameters);
    }

    fn cudaMemcpyPeer(
        to: usize,
        to_device: c_int,
        from: usize,
        from_device: c_int,
        bytes: usize,
    ) touches(call) {
        let copied = Copied::flat(to, from, bytes);
        peer(call, How::Synchronous, copied, [to_device, from_device]);
    }

    fn cudaMemcpyPeerAsync(
        to: usize,
        to_device: c_int,
        from: usize,
        from_device: c_int,
        bytes: usize,
        stream: usize,
    ) touches(call) {
        let copied = Copied::flat(to, from, bytes);
        peer(call, How::In(stream), copied, [to_device, from_device]);
    }

    fn cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds(parameters: In<Memcpy3DPeerParms>) touches(call) {
        peer_slices(call, How::Synchronous, parameters);
    }

    fn cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz(
        parameters: In<Memcpy3DPeerParms>,
        stream: usize,
    ) touches(call) {
        peer_slices(call, How::In(stream), parameters);
    }

    fn cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds(
        symbol: usize,
        from: usize,
        bytes: usize,
        offset: usize,
        _kind: c_int,
    ) touches(call) {
        to_symbol(call, How::Synchronous, (symbol, offset), from, bytes);
    }

    fn cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz(
        symbol: usize,
        from: usize,
        bytes: usize,
        offset: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        to_symbol(call, How::In(stream), (symbol, offset), from, bytes);
    }

    fn cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds(
        to: usize,
        symbol: usize,
        bytes: usize,
        offset: usize,
        _kind: c_int,
    ) touches(call) {
        from_symbol(call, How::Synchronous, to, (symbol, offset), bytes);
    }

    fn cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz(
        to: usize,
        symbol: usize,
        bytes: usize,
        offset: usize,
        _kind: c_int,
        stream: usize,
    ) touches(call) {
        from_symbol(call, How::In(stream), to, (symbol, offset), bytes);
    }

    // CUDA 12 has a place for the index of a failure before the stream.
    fn cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz(
        to: In<usize>,
        from: In<usize>,
        sizes: In<usize>,
        count: usize,
        attributes: In<MemcpyAttributes>,
        starts: In<usize>,
        attribute_count: usize,
        stream_or_failure: usize,
        stream: usize,
    ) touches(call) {
        let stream = if ask::is_13() { stream_or_failure } else { stream };
        batch(call, stream, (to, from), (sizes, count), (attributes, starts, attribute_count));
    }

    fn cudaMemset, cudaMemset_ptds(to: usize, _value: c_int, bytes: usize) touches(call) {
        set_flat(call, How::Synchronous, to, bytes);
    }

    fn cudaMemsetAsync, cudaMemsetAsync_ptsz(
        to: usize,
        _value: c_int,
        bytes: usize,
        stream: usize,
    ) touches(call) {
        set_flat(call, How::In(stream), to, bytes);
    }

    fn cudaMemset2D, cudaMemset2D_ptds(
        to: usize,
        pitch: usize,
        _value: c_int,
        width: usize,
        height: usize,
    ) touches(call) {
        set_rows(call, How::Synchronous, (to, pitch), width, height);
    }

    fn cudaMemset2DAsync, cudaMemset2DAsync_ptsz(
        to: usize,
        pitch: usize,
        _value: c_int,
        width: usize,
        height: usize,
        stream: usize,
    ) touches(call) {
        set_rows(call, How::In(stream), (to, pitch), width, height);
    }

    fn cudaMemset3D, cudaMemset3D_ptds(to: PitchedPtr, _value: c_int, extent: Extent) touches(call) {
        set(call, How::Synchronous, to, extent);
    }

    fn cudaMemset3DAsync, cudaMemset3DAsync_ptsz(
        to: PitchedPtr,
        _value: c_int,
        extent: Extent,
        stream: usize,
    ) touches(call) {
        set(call, How::In(stream), to, extent);
    }
}
