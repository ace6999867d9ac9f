//! Call paths through Python: what the interpreter does goes before the code that does it.

use crate::Traffic;
use commsan_place::{Place, StackId};
use commsan_sense::python::{self, Frame};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Keeps numbers of lines apart from addresses, so that no two paths are taken for one.
const LINE: usize = 1 << 63;

/// Paths that are remembered; a program has as many as it has places that communicate.
const MOST: usize = 1 << 16;

/// Call paths that begin with lines, not addresses.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// Those that were looked up, by the code's own and the interpreter's frames.
    known: FxHashMap<(StackId, u64), StackId>,
    /// How many lines each begins with. What is told by an address says nothing: where compilers use the frame
    /// pointer for something else, any word can be taken for one.
    lines: FxHashMap<StackId, usize>,
}

impl Paths {
    /// The numbers of the lines that a call path begins with, and the rest of it.
    pub fn split<'f>(&self, path: StackId, frames: &'f [usize]) -> (Vec<usize>, &'f [usize]) {
        let (lines, rest) = frames.split_at(self.lines.get(&path).copied().unwrap_or(0));
        (lines.iter().map(|frame| frame & !LINE).collect(), rest)
    }
}

impl Traffic {
    /// How control came here, through Python too.
    #[inline]
    pub fn path(&mut self, here: &impl Place) -> StackId {
        let code = here.stack(&mut self.stacks);
        let (frames, count) = python::frames();
        if count == 0 { code } else { self.path_in_python(code, &frames[..count]) }
    }

    #[cold]
    fn path_in_python(&mut self, code: StackId, frames: &[Frame]) -> StackId {
        let mut hasher = FxHasher::default();
        frames.hash(&mut hasher);
        let key = (code, hasher.finish());
        if let Some(path) = self.paths.known.get(&key) {
            return *path;
        }
        let described = frames.iter().filter_map(Frame::describe);
        let mut path: Vec<usize> = Vec::new();
        for (function, file, at) in described {
            path.push(LINE | self.line(&function, &file, at) as usize);
        }
        let lines = path.len();
        path.extend(self.stacks.frames(code));
        let path = self.stacks.intern(&path);
        self.paths.lines.insert(path, lines);
        if self.paths.known.len() < MOST {
            self.paths.known.insert(key, path);
        }
        path
    }
}
