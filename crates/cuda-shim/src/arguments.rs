//! Arguments of the library's functions that are pointers: what the program has prepared, and where results go.

/// Where the library writes a result.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// What it has written. Only for calls that have succeeded.
    pub fn get(self) -> T {
        // SAFETY: the library has written a T there.
        unsafe { self.0.read_unaligned() }
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T> Out<T> {
    /// What is so many bytes further.
    pub fn after<U>(self, bytes: usize) -> Out<U> {
        Out(self.0.wrapping_byte_add(bytes).cast())
    }

    /// Writes something else. Only for calls that have succeeded.
    pub fn put(self, value: T) {
        // SAFETY: the library has written a T there, so that there is room for one.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// What the program has prepared.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// What there is. Only for calls that have succeeded: the library has read it.
    pub fn get(self) -> T {
        // SAFETY: the program has promised that there is a T.
        unsafe { self.0.read_unaligned() }
    }

    /// The same for calls that may have been refused: there may be none.
    pub fn if_any(self) -> Option<T> {
        (!self.is_null()).then(|| self.get())
    }

    /// As many of them; none where there is no place for any.
    pub fn all(self, count: usize) -> Vec<T> {
        let count = if self.is_null() { 0 } else { count };
        // SAFETY: the program has promised that there are so many.
        (0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect()
    }

    /// What is so many bytes further.
    pub fn after<U>(self, bytes: usize) -> In<U> {
        In(self.0.wrapping_byte_add(bytes).cast())
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T> From<&T> for In<T> {
    fn from(value: &T) -> In<T> {
        In(value)
    }
}

impl<T> From<*const T> for In<T> {
    fn from(pointer: *const T) -> In<T> {
        In(pointer)
    }
}
