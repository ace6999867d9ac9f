//! Copies and sets, from the many ways to say them.

use crate::arrays::Array;
use crate::entry::{Call, In, current_device};
use crate::{Event, symbols};
use commsan_cuda::{Copy, Rows, Set, StreamName};
use commsan_cuda_abi::{
    Extent, Memcpy3DParms, Memcpy3DPeerParms, MemcpyAttributes, PitchedPtr, Pos,
};
use std::ffi::c_int;

/// `cudaMemcpySrcAccessOrderDuringApiCall`.
const DURING_CALL: c_int = 2;

/// What is copied: so many slices of rows.
pub(crate) struct Copied {
    pub to: Rows,
    pub from: Rows,
    pub extent: Extent,
}

/// Which stream a copy is in, and whether the host goes on.
#[derive(Clone, Copy)]
pub(crate) enum How {
    /// In the default stream.
    Synchronous,
    /// In a stream.
    In(usize),
}

impl How {
    fn stream(self, call: &Call) -> StreamName {
        match self {
            How::Synchronous => call.stream(0),
            How::In(handle) => call.stream(handle),
        }
    }

    fn asynchronous(self) -> bool {
        matches!(self, How::In(_))
    }
}

impl Copied {
    /// Bytes one after the other.
    pub fn flat(to: usize, from: usize, bytes: usize) -> Copied {
        let extent = Extent { width: bytes, height: 1, depth: 1 };
        Copied { to: flat(to, bytes), from: flat(from, bytes), extent }
    }

    /// Rows, each this far from the one before.
    pub fn rows(to: (usize, usize), from: (usize, usize), width: usize, height: usize) -> Copied {
        let extent = Extent { width, height, depth: 1 };
        let side = |(start, pitch): (usize, usize)| Rows { start, pitch, slice: pitch * height };
        Copied { to: side(to), from: side(from), extent }
    }

    /// What parameters say; `None` where one side is an array that is not known.
    pub fn slices(parameters: &Memcpy3DParms) -> Option<Copied> {
        let array = |handle| match handle {
            0 => Some(None),
            handle => Array::of(handle).map(Some),
        };
        let (to, from) = (array(parameters.dstArray)?, array(parameters.srcArray)?);
        // With an array, the extent is in its texels.
        let element = to.or(from).map_or(1, |array| array.element);
        let extent = Extent { width: parameters.extent.width * element, ..parameters.extent };
        let to = match to {
            Some(array) => array.at(parameters.dstPos),
            None => side(parameters.dstPtr, parameters.dstPos, extent),
        };
        let from = match from {
            Some(array) => array.at(parameters.srcPos),
            None => side(parameters.srcPtr, parameters.srcPos, extent),
        };
        Some(Copied { to, from, extent })
    }

    /// Tells of the copy.
    pub fn tell(self, call: &Call, how: How) {
        self.tell_serialised(call, how, Vec::new());
    }

    /// What a node of a graph does.
    pub fn in_graph(self, call: &Call) -> Copy {
        self.copy(call, How::In(0), Vec::new())
    }

    /// Tells of a copy that is serialised with all work of some devices.
    fn tell_serialised(self, call: &Call, how: How, serialises: Vec<u32>) {
        if !is_empty(self.extent) {
            let copy = self.copy(call, how, serialises);
            call.tell(if call.refused { Event::CopyRefused(&copy) } else { Event::Copied(&copy) });
        }
    }

    fn copy(self, call: &Call, how: How, serialises: Vec<u32>) -> Copy {
        let Copied { to, from, extent: Extent { width, height, depth } } = self;
        let (stream, asynchronous) = (how.stream(call), how.asynchronous());
        let call = call.name;
        Copy { call, stream, asynchronous, to, from, width, height, depth, serialises }
    }
}

/// A copy between devices, which waits for all their work if it is not in a stream.
pub(crate) fn peer(call: &Call, how: How, copied: Copied, devices: [i32; 2]) {
    let mut serialises = Vec::new();
    if !how.asynchronous() {
        serialises.push(current_device());
        serialises.extend(devices.map(|device| device.max(0) as u32));
        serialises.sort_unstable();
        serialises.dedup();
    }
    copied.tell_serialised(call, how, serialises);
}

/// The same by parameters.
pub(crate) fn peer_slices(call: &Call, how: How, parameters: In<Memcpy3DPeerParms>) {
    let Some(parameters) = parameters.if_any() else { return };
    let copied = Copied::slices(&parameters.copy(0));
    if let Some(copied) = copied {
        peer(call, how, copied, [parameters.dstDevice, parameters.srcDevice]);
    }
}

/// A copy by parameters.
pub(crate) fn slices(call: &Call, how: How, parameters: In<Memcpy3DParms>) {
    if let Some(copied) = parameters.if_any().as_ref().and_then(Copied::slices) {
        copied.tell(call, how);
    }
}

/// A copy to a variable of a module.
pub(crate) fn to_symbol(
    call: &Call,
    how: How,
    (symbol, offset): (usize, usize),
    from: usize,
    bytes: usize,
) {
    if let Some(start) = symbols::address(call, symbol) {
        Copied::flat(start + offset, from, bytes).tell(call, how);
    }
}

/// A copy from a variable of a module.
pub(crate) fn from_symbol(
    call: &Call,
    how: How,
    to: usize,
    (symbol, offset): (usize, usize),
    bytes: usize,
) {
    if let Some(start) = symbols::address(call, symbol) {
        Copied::flat(to, start + offset, bytes).tell(call, how);
    }
}

/// Many copies in a stream, in no order among themselves.
pub(crate) fn batch(
    call: &Call,
    stream: usize,
    (to, from): (In<usize>, In<usize>),
    (sizes, count): (In<usize>, usize),
    (attributes, starts, attribute_count): (In<MemcpyAttributes>, In<usize>, usize),
) {
    let (attributes, starts) = (attributes.all(attribute_count), starts.all(attribute_count));
    let sides = to.all(count).into_iter().zip(from.all(count));
    if call.refused {
        return; // so the arrays may be shorter
    }
    for (copy, ((to, from), bytes)) in sides.zip(sizes.all(count)).enumerate() {
        let last = starts.partition_point(|start| *start <= copy).checked_sub(1);
        if let Some(attributes) = last.and_then(|last| attributes.get(last)) {
            with_attributes(call, stream, (to, from, bytes), *attributes);
        }
    }
}

/// A copy whose source may be read before the call returns, after which the host may change it.
pub(crate) fn with_attributes(
    call: &Call,
    stream: usize,
    (to, from, bytes): (usize, usize, usize),
    attributes: MemcpyAttributes,
) {
    match attributes.srcAccessOrder {
        DURING_CALL => set_flat(call, How::In(stream), to, bytes),
        _ => Copied::flat(to, from, bytes).tell(call, How::In(stream)),
    }
}

/// Slices of rows that are set.
pub(crate) fn set(call: &Call, how: How, to: PitchedPtr, extent: Extent) {
    if !is_empty(extent) {
        let set = set_of(call, how, to, extent);
        call.tell(if call.refused { Event::SetRefused(&set) } else { Event::Set(&set) });
    }
}

/// Slices of rows that are set, as work.
pub(crate) fn set_of(call: &Call, how: How, to: PitchedPtr, extent: Extent) -> Set {
    let Extent { width, height, depth } = extent;
    let to = Rows { start: to.ptr, pitch: to.pitch, slice: to.pitch * to.ysize };
    let (stream, asynchronous) = (how.stream(call), how.asynchronous());
    Set { call: call.name, stream, asynchronous, to, width, height, depth }
}

fn is_empty(extent: Extent) -> bool {
    extent.width == 0 || extent.height == 0 || extent.depth == 0
}

/// So many bytes that are set.
pub(crate) fn set_flat(call: &Call, how: How, to: usize, bytes: usize) {
    set_rows(call, how, (to, bytes), bytes, 1);
}

/// Rows that are set.
pub(crate) fn set_rows(
    call: &Call,
    how: How,
    (ptr, pitch): (usize, usize),
    width: usize,
    height: usize,
) {
    let to = PitchedPtr { ptr, pitch, xsize: width, ysize: height };
    set(call, how, to, Extent { width, height, depth: 1 });
}

fn flat(start: usize, bytes: usize) -> Rows {
    Rows { start, pitch: bytes, slice: bytes }
}

/// A side of a copy of slices. One without rows of its own has those that are copied.
fn side(pointer: PitchedPtr, position: Pos, extent: Extent) -> Rows {
    let pitch = if pointer.pitch == 0 { extent.width } else { pointer.pitch };
    let slice = pitch * if pointer.ysize == 0 { extent.height } else { pointer.ysize };
    let start = pointer.ptr + position.x + position.y * pitch + position.z * slice;
    Rows { start, pitch, slice }
}
