//! Where things lie in the memory of an interpreter.

use std::ffi::c_void;

/// In every object: its type.
pub const TYPE: usize = 8;
/// In `PyASCIIObject`: `length`, `state`.
pub const LENGTH: usize = 16;
/// See `LENGTH`.
pub const STATE: usize = 32;

/// Offsets that versions differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In `PyThreadState`: where what holds the current frame is, if that is something else.
    pub holder: Option<usize>,
    /// In what holds it: the current frame.
    pub current: usize,
    /// In `_PyInterpreterFrame`: its code object, who called it, the instruction.
    pub code: usize,
    /// See `code`.
    pub previous: usize,
    /// See `code`.
    pub instruction: usize,
    /// Likewise: to whom it belongs, where frames may be the interpreter's own.
    pub owner: Option<usize>,
    /// In `PyCodeObject`: `co_filename`, `co_qualname`, `co_code_adaptive`.
    pub file: usize,
    /// See `file`.
    pub name: usize,
    /// See `file`.
    pub begin: usize,
    /// Sizes of `PyASCIIObject` and `PyCompactUnicodeObject`, behind which the characters lie.
    pub ascii: usize,
    /// See `ascii`.
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

/// CPython 3.12, likewise.
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

/// `FRAME_OWNED_BY_CSTACK`
const OF_INTERPRETER: u8 = 3;

/// What `_PyRuntime` begins with since 3.13: offsets for debuggers, in words (internal/pycore_runtime.h).
const WORDS: usize = 71;

impl Layout {
    /// That of a version, as `Py_GetVersion` tells it, whose `_PyRuntime` is there.
    pub fn of(version: &[u8], runtime: Option<*mut c_void>) -> Option<Layout> {
        match version {
            [b'3', b'.', b'1', b'1', b'.', ..] => Some(OF_3_11),
            [b'3', b'.', b'1', b'2', b'.', ..] => Some(OF_3_12),
            [b'3', b'.', b'1', b'3', b'.', ..] => {
                // SAFETY: the variable of this name begins with so many words in this version.
                Layout::told(unsafe { &*(runtime? as *const [u64; WORDS]) })
            }
            _ => None,
        }
    }

    /// As the interpreter of 3.13 tells it, if it is one with a lock.
    fn told(words: &[u64; WORDS]) -> Option<Layout> {
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
            // `utf8_length` and `utf8`
            compact: ascii + 16,
        })
    }

    /// Whether a frame is the interpreter's own, between one of C and the function that it calls.
    ///
    /// # Safety
    /// A frame of this layout.
    pub unsafe fn is_of_interpreter(&self, frame: usize) -> bool {
        // SAFETY: by the caller.
        self.owner.is_some_and(|at| unsafe { *((frame + at) as *const u8) } == OF_INTERPRETER)
    }
}
