//! Memory layout of CPython's objects and frames, by version.

use std::ffi::c_void;

/// Offset of the type in every object.
pub const TYPE: usize = 8;
/// Offset of `length` in `PyASCIIObject`.
pub const LENGTH: usize = 16;
/// Offset of `state` in `PyASCIIObject`.
pub const STATE: usize = 32;

/// Offsets, in bytes, that differ between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In `PyThreadState`: the pointer to the structure that holds the current frame, if there is
    /// one.
    pub holder: Option<usize>,
    /// In that structure, or in `PyThreadState`: the current frame.
    pub current: usize,
    /// In `_PyInterpreterFrame`: the code object.
    pub code: usize,
    /// In `_PyInterpreterFrame`: the caller's frame.
    pub previous: usize,
    /// In `_PyInterpreterFrame`: the instruction pointer.
    pub instruction: usize,
    /// In `_PyInterpreterFrame`: the owner, in versions where the interpreter has frames of its
    /// own.
    pub owner: Option<usize>,
    /// In `PyCodeObject`: `co_filename`.
    pub file: usize,
    /// In `PyCodeObject`: `co_qualname`.
    pub name: usize,
    /// In `PyCodeObject`: `co_code_adaptive`.
    pub begin: usize,
    /// Size of `PyASCIIObject`, behind which the characters of an ASCII string lie.
    pub ascii: usize,
    /// Size of `PyCompactUnicodeObject`, behind which the characters of other strings lie.
    pub compact: usize,
}

/// CPython 3.11 (Include/cpython/pystate.h, code.h, unicodeobject.h, internal/pycore_frame.h).
const OF_3_11: Layout = Layout {
    holder: Some(56),
    current: 8,
    code: 32,
    previous: 48,
    instruction: 56,
    owner: None,
    file: 112,
    name: 128,
    begin: 184,
    ascii: 48,
    compact: 72,
};

/// CPython 3.12 (the headers named above for 3.11).
const OF_3_12: Layout = Layout {
    current: 0,
    code: 0,
    previous: 8,
    owner: Some(70),
    begin: 192,
    ascii: 40,
    compact: 56,
    ..OF_3_11
};

/// `FRAME_OWNED_BY_CSTACK` of 3.12.
const OF_INTERPRETER: u8 = 3;

/// Words at the beginning of `_PyRuntime` since 3.13: offsets for debuggers
/// (internal/pycore_runtime.h).
const WORDS: usize = 71;

impl Layout {
    /// The layout of a version, as `Py_GetVersion` prints it; `runtime` is the address of
    /// `_PyRuntime`.
    pub fn of(version: &[u8], runtime: Option<*mut c_void>) -> Option<Layout> {
        match version {
            [b'3', b'.', b'1', b'1', b'.', ..] => Some(OF_3_11),
            [b'3', b'.', b'1', b'2', b'.', ..] => Some(OF_3_12),
            [b'3', b'.', b'1', b'3', b'.', ..] => {
                // SAFETY: the variable of this name begins with this many words in this version.
                Layout::from_debug_offsets(unsafe { &*(runtime? as *const [u64; WORDS]) })
            }
            _ => None,
        }
    }

    /// The layout that an interpreter of 3.13 describes itself; `None` for free-threaded builds.
    fn from_debug_offsets(words: &[u64; WORDS]) -> Option<Layout> {
        let [cookie, version, free_threaded, ..] = *words;
        let known = cookie.to_ne_bytes() == *b"xdebugpy" && version >> 16 == 0x030d;
        let at = |word: usize| usize::try_from(words[word]).ok().filter(|at| *at < 1 << 16);
        let usual = (at(45)?, at(68)?, at(69)?) == (TYPE, STATE, LENGTH);
        if !known || free_threaded != 0 || !usual {
            return None;
        }
        let ascii = at(70)?;
        Some(Layout {
            holder: None,
            current: at(23)?,
            previous: at(29)?,
            code: at(30)?,
            instruction: at(31)?,
            owner: Some(at(33)?),
            file: at(35)?,
            name: at(37)?,
            begin: at(43)?,
            ascii,
            // `utf8_length` and `utf8` follow.
            compact: ascii + 16,
        })
    }

    /// Whether a frame is the interpreter's own, between a C frame and the function that it calls.
    ///
    /// # Safety
    /// `frame` is a frame of this layout.
    pub unsafe fn is_of_interpreter(&self, frame: usize) -> bool {
        // SAFETY: by this function's contract.
        self.owner.is_some_and(|at| unsafe { *((frame + at) as *const u8) } == OF_INTERPRETER)
    }
}
