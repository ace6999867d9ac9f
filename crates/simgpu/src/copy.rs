//! Copies and sets of boxes of bytes: rows with a pitch, in slices (`cudaMemcpy3D`).

/// A box in memory: its address and strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address of the first byte.
    pub start: usize,
    /// Distance between rows, in bytes.
    pub pitch: usize,
    /// Distance between slices, in bytes.
    pub slice: usize,
}

/// The size of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Number of slices.
    pub depth: usize,
}

impl Place {
    /// Contiguous bytes at an address.
    pub fn flat(start: usize) -> Place {
        Place { start, pitch: 0, slice: 0 }
    }

    /// Length from the first to past the last byte of a box of this extent; `None` on overflow.
    pub fn span(&self, extent: Extent) -> Option<usize> {
        if extent.is_empty() {
            return Some(0);
        }
        let rows = self.pitch.checked_mul(extent.height - 1)?;
        let slices = self.slice.checked_mul(extent.depth - 1)?;
        let span = extent.width.checked_add(rows)?.checked_add(slices)?;
        self.start.checked_add(span).map(|_| span)
    }
}

impl Extent {
    /// Contiguous bytes.
    pub fn flat(width: usize) -> Extent {
        Extent { width, height: 1, depth: 1 }
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Number of bytes.
    pub fn bytes(self) -> usize {
        self.width * self.height * self.depth
    }

    /// Offset of each row, in order of slices.
    fn rows(self, place: Place) -> impl Iterator<Item = usize> {
        let (height, depth) = if self.is_empty() { (0, 0) } else { (self.height, self.depth) };
        (0..depth).flat_map(move |z| {
            (0..height).map(move |y| place.start + z * place.slice + y * place.pitch)
        })
    }
}

/// A copy of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Destination.
    pub to: Place,
    /// Source.
    pub from: Place,
    /// The size.
    pub extent: Extent,
}

impl Copy {
    /// A copy of contiguous bytes.
    pub fn flat(to: usize, from: usize, bytes: usize) -> Copy {
        Copy { to: Place::flat(to), from: Place::flat(from), extent: Extent::flat(bytes) }
    }

    /// Copies.
    ///
    /// # Safety
    /// Both boxes are readable and writable memory, which is what the program has promised the CUDA
    /// runtime.
    pub unsafe fn run(&self) {
        for (to, from) in self.extent.rows(self.to).zip(self.extent.rows(self.from)) {
            // SAFETY: rows of the boxes; they may overlap.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, self.extent.width) };
        }
    }

    /// Reads the source into a buffer.
    ///
    /// # Safety
    /// The source is readable.
    pub unsafe fn stage(&self) -> Vec<u8> {
        let mut staged = Vec::with_capacity(self.extent.bytes());
        for from in self.extent.rows(self.from) {
            // SAFETY: a row of the source.
            let row = unsafe { std::slice::from_raw_parts(from as *const u8, self.extent.width) };
            staged.extend_from_slice(row);
        }
        staged
    }

    /// Writes a buffer made by [`stage`](Copy::stage) to the destination.
    ///
    /// # Safety
    /// The destination is writable.
    pub unsafe fn finish(&self, staged: &[u8]) {
        let rows = staged.chunks_exact(self.extent.width.max(1));
        for (to, row) in self.extent.rows(self.to).zip(rows) {
            // SAFETY: a row of the destination; the buffer is separate memory.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), to as *mut u8, row.len()) };
        }
    }
}

/// A set of a box to one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Destination.
    pub to: Place,
    /// The size.
    pub extent: Extent,
    /// The value.
    pub value: u32,
    /// Size of the value in bytes: 1, 2 or 4.
    pub element: usize,
}

impl Set {
    /// Sets the box.
    ///
    /// # Safety
    /// The box is writable.
    pub unsafe fn run(&self) {
        let pattern = self.value.to_le_bytes();
        for to in self.extent.rows(self.to) {
            if self.element == 1 {
                // SAFETY: a row of the box.
                unsafe { std::ptr::write_bytes(to as *mut u8, pattern[0], self.extent.width) };
                continue;
            }
            for at in (0..self.extent.width).step_by(self.element) {
                // SAFETY: an element of a row of the box, whose width is a multiple of the element.
                unsafe {
                    let to = (to + at) as *mut u8;
                    std::ptr::copy_nonoverlapping(pattern.as_ptr(), to, self.element);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_box_is_larger_than_the_address_space() {
        let place = Place { start: 1 << 20, pitch: usize::MAX / 2, slice: 0 };
        assert_eq!(place.span(Extent { width: 1, height: 4, depth: 1 }), None);
        assert_eq!(place.span(Extent { width: 0, height: 4, depth: 1 }), Some(0));
    }

    proptest! {
        #[test]
        fn boxes_are_copied_and_set_as_element_by_element(
            (width, height, depth) in (0..9_usize, 0..5_usize, 0..4_usize),
            (more, rows, other, others) in (0..4_usize, 0..3_usize, 0..4_usize, 0..3_usize),
            staged in any::<bool>(),
        ) {
            let extent = Extent { width, height, depth };
            let source: Vec<u8> = (0..1000_u32).map(|at| at as u8).collect();
            let mut result = vec![255_u8; 1000];
            let mut expected = result.clone();
            let (pitch, to_pitch) = (width + more, width + other);
            let (slice, to_slice) = (pitch * (height + rows), to_pitch * (height + others));
            for z in 0..depth {
                for y in 0..height {
                    for x in 0..width {
                        expected[z * to_slice + y * to_pitch + x] = source[z * slice + y * pitch + x];
                    }
                }
            }
            let to = Place { start: result.as_mut_ptr() as usize, pitch: to_pitch, slice: to_slice };
            let from = Place { start: source.as_ptr() as usize, pitch, slice };
            prop_assert!(to.span(extent).is_some_and(|span| span <= 1000));
            let copy = Copy { to, from, extent };
            // SAFETY: both boxes lie in their vectors, as the spans say.
            unsafe { if staged { copy.finish(&copy.stage()) } else { copy.run() } };
            prop_assert_eq!(&result, &expected);
            // SAFETY: as above.
            unsafe { Set { to, extent, value: 255, element: 1 }.run() };
            prop_assert!(result.iter().all(|&byte| byte == 255));
        }
    }
}
