//! Call stacks of Python: the functions that the interpreter is executing on this thread.
//!
//! No Python function that needs the global interpreter lock is called: a library like mpi4py
//! releases it around MPI calls, and waiting for it could make two ranks wait for each other. A
//! thread's own frames do not change during a call, so they are read directly from memory. Their
//! layout differs between versions: CPython 3.11 and 3.12 are known here, 3.13 describes its own;
//! for others there are no Python frames, and nothing is read.

mod layout;

use layout::Layout;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Maximum number of frames looked at, innermost first.
pub const MAX_FRAMES: usize = 8;

/// A place in a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Address of the function's code object.
    code: usize,
    /// Offset of the place in the code, in bytes.
    at: usize,
}

/// Signature of `PyGILState_GetThisThreadState`.
type ThreadState = unsafe extern "C" fn() -> *const c_void;
/// Signature of `PyCode_Addr2Line`.
type LineOf = unsafe extern "C" fn(*const c_void, c_int) -> c_int;

/// The functions and the layout of the interpreter in this process.
struct Python {
    layout: Layout,
    thread_state: ThreadState,
    line_of: LineOf,
    code_type: usize,
    text_type: usize,
}

static PYTHON: OnceLock<Option<Python>> = OnceLock::new();

fn python() -> Option<&'static Python> {
    PYTHON.get_or_init(find).as_ref()
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a lookup by name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

#[cold]
fn find() -> Option<Python> {
    let version = symbol(c"Py_GetVersion")?;
    // SAFETY: the function of this name returns a string constant at any time.
    let version = unsafe {
        let version: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(version);
        CStr::from_ptr(version())
    };
    let layout = Layout::of(version.to_bytes(), symbol(c"_PyRuntime"))?;
    let (thread_state, line_of) =
        (symbol(c"PyGILState_GetThisThreadState")?, symbol(c"PyCode_Addr2Line")?);
    // SAFETY: the functions of these names.
    let (thread_state, line_of) = unsafe {
        (
            std::mem::transmute::<*mut c_void, ThreadState>(thread_state),
            std::mem::transmute::<*mut c_void, LineOf>(line_of),
        )
    };
    let (code_type, text_type) =
        (symbol(c"PyCode_Type")? as usize, symbol(c"PyUnicode_Type")? as usize);
    Some(Python { layout, thread_state, line_of, code_type, text_type })
}

/// A source line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The function.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line number, from 1.
    pub line: u32,
}

/// Source lines met so far, each with the code address that it called. Their numbers share a space
/// with code addresses, which are never this low.
#[derive(Default)]
struct Lines {
    numbers: HashMap<(Frame, [usize; 2], usize), usize>,
    lines: Vec<Line>,
}

/// No code lies below this address.
const UNMAPPED: usize = 1 << 16;

static LINES: LazyLock<Mutex<Lines>> = LazyLock::new(Mutex::default);

/// The source line with a number.
pub fn line(number: usize) -> Option<Line> {
    if number == 0 || number >= UNMAPPED {
        return None;
    }
    LINES.lock().unwrap_or_else(|e| e.into_inner()).lines.get(number - 1).cloned()
}

/// Whether this process has an interpreter whose frame layout is known.
#[inline]
pub fn is_there() -> bool {
    python().is_some()
}

/// The address of this thread's Python state; 0 if it has none.
pub fn state() -> usize {
    // SAFETY: any thread may call it at any time; it returns null where there is no Python.
    python().map_or(0, |python| unsafe { (python.thread_state)() } as usize)
}

/// Whether there is an interpreter of any version.
#[inline]
pub fn is_any() -> bool {
    static IS_ANY: OnceLock<bool> = OnceLock::new();
    *IS_ANY.get_or_init(|| symbol(c"Py_GetVersion").is_some())
}

/// The numbers of the lines at which the thread with this state calls code at `pc`, innermost
/// first, and their count, at most `most`. The thread is the calling one, or is blocked.
#[cold]
pub fn lines(state: usize, pc: usize, most: usize) -> ([usize; MAX_FRAMES], usize) {
    let (mut numbers, mut count) = ([0; MAX_FRAMES], 0);
    let Some(python) = python() else { return (numbers, 0) };
    let (frames, depth) = python.frames_of(state);
    let mut lines = LINES.lock().unwrap_or_else(|e| e.into_inner());
    for frame in &frames[..depth.min(most)] {
        // Only the innermost line calls code.
        let pc = if count == 0 { pc } else { 0 };
        if let Some(number) = lines.number(python, *frame, pc) {
            numbers[count] = number;
            count += 1;
        }
    }
    (numbers, count)
}

impl Lines {
    fn number(&mut self, python: &Python, frame: Frame, pc: usize) -> Option<usize> {
        let Layout { name, file, .. } = python.layout;
        // Another function may reuse the address of a freed one, but hardly one that shares its
        // names.
        // SAFETY: a code object that the frame keeps.
        let names = unsafe { [word(frame.code + name), word(frame.code + file)] };
        let key = (frame, names, pc);
        if let Some(number) = self.numbers.get(&key) {
            return Some(*number);
        }
        let (function, file, line) = frame.describe()?;
        if self.lines.len() + 1 >= UNMAPPED {
            return None;
        }
        self.lines.push(Line { function, file, line });
        self.numbers.insert(key, self.lines.len());
        Some(self.lines.len())
    }
}

/// The word at an address.
///
/// # Safety
/// A readable, aligned word lies at `address`.
unsafe fn word(address: usize) -> usize {
    // SAFETY: by this function's contract.
    unsafe { *(address as *const usize) }
}

impl Python {
    fn frames_of(&self, state: usize) -> ([Frame; MAX_FRAMES], usize) {
        let (mut frames, mut count) = ([Frame::default(); MAX_FRAMES], 0);
        if state == 0 {
            return (frames, 0);
        }
        let layout = &self.layout;
        // SAFETY: the thread's own state and frames, laid out as the version defines; the walk ends
        // at anything that is not a code object.
        unsafe {
            let holder = match layout.holder {
                Some(at) => word(state + at),
                None => state,
            };
            let mut frame = if holder == 0 { 0 } else { word(holder + layout.current) };
            while frame != 0 && count < MAX_FRAMES {
                let (this, code) = (frame, word(frame + layout.code));
                frame = word(this + layout.previous);
                if layout.is_of_interpreter(this) {
                    continue;
                }
                if code == 0 || word(code + layout::TYPE) != self.code_type {
                    break;
                }
                let at = word(this + layout.instruction).wrapping_sub(code + layout.begin);
                frames[count] = Frame { code, at };
                count += 1;
            }
        }
        (frames, count)
    }

    /// The characters of a string object.
    ///
    /// # Safety
    /// There is an object at `address`.
    unsafe fn text(&self, address: usize) -> Option<String> {
        // SAFETY: by the contract, an object whose type says that it is a string; a compact one has
        // its characters behind it.
        unsafe {
            if address == 0 || word(address + layout::TYPE) != self.text_type {
                return None;
            }
            let (length, state) = (word(address + layout::LENGTH), word(address + layout::STATE));
            let (kind, is_compact, is_ascii) =
                (state >> 2 & 7, state >> 5 & 1 != 0, state >> 6 & 1 != 0);
            let start = address + if is_ascii { self.layout.ascii } else { self.layout.compact };
            let characters = |at: usize| match kind {
                1 => u32::from(*((start + at) as *const u8)),
                2 => u32::from(*((start + 2 * at) as *const u16)),
                _ => *((start + 4 * at) as *const u32),
            };
            is_compact
                .then(|| (0..length).filter_map(|at| char::from_u32(characters(at))).collect())
        }
    }
}

impl Frame {
    /// The function, the file and the line. Valid only while the thread stays in that frame.
    pub fn describe(&self) -> Option<(String, String, u32)> {
        let python = python()?;
        // SAFETY: a code object that the frame keeps; the function only reads it.
        unsafe {
            let line = (python.line_of)(
                self.code as *const c_void,
                c_int::try_from(self.at).unwrap_or(-1),
            );
            let name = python.text(word(self.code + python.layout.name))?;
            let file = python.text(word(self.code + python.layout.file))?;
            Some((name, file, u32::try_from(line).ok()?))
        }
    }
}
