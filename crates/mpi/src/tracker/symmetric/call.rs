//! The arguments of calls of OpenSHMEM: which elements they access, here and at other PEs.

use crate::buffers::Args;
use commsan_mpi_calls::shmem::{self, Kind};
use commsan_shadow::{Access, Footprint, Mode, Pattern};
use smallvec::SmallVec;
use std::ops::Range;

/// What a call does to elements: address, distance, number, and their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    pub at: usize,
    pub stride: isize,
    pub count: usize,
    pub bytes: usize,
}

impl Elements {
    pub fn span(self) -> Option<Range<usize>> {
        let last = (self.count.checked_sub(1)? as isize).checked_mul(self.stride)?;
        let distance = last.checked_mul(self.bytes as isize)?;
        let end = self.at.checked_add_signed(distance)?.checked_add(self.bytes)?;
        (self.stride >= 1 && end > self.at).then_some(self.at..end)
    }

    pub fn footprint(self) -> Option<Footprint> {
        let span = self.span()?;
        if self.stride == 1 {
            return Some(Footprint::Dense(span));
        }
        let element = Pattern::dense(0, self.bytes as isize);
        let distance = self.stride.checked_mul(self.bytes as isize)?;
        Some(Footprint::elements(self.at, &element, self.count, distance))
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub args: &'a Args<'a>,
    pub kind: Kind,
    pub of: &'static shmem::Call,
}

impl<'a> Call<'a> {
    pub fn of(args: &'a Args<'a>) -> Option<Call<'a>> {
        let of = args.call.symmetric?;
        Some(Call { args, kind: of.kind, of })
    }

    pub fn word(&self, name: &str) -> Option<usize> {
        self.of.at(name).map(|at| self.args.words[at])
    }

    pub fn int(&self, name: &str) -> Option<i32> {
        self.of.at(name).map(|at| self.args.int(at))
    }

    pub fn bytes(&self) -> usize {
        self.of.element.map_or(8, |element| element.bytes)
    }

    /// Whether `dest` is at the other PE, and not `source`.
    pub fn writes_there(&self) -> bool {
        self.of.at("dest").is_some() && !matches!(self.kind, Kind::Get | Kind::GetNbi)
    }

    /// Elements at an address, with the stride of this parameter.
    pub fn elements(&self, name: &str, stride: &str) -> Option<Elements> {
        Some(Elements {
            at: self.word(name)?,
            stride: self.word(stride).map_or(1, |stride| stride as isize),
            count: self.word("nelems").unwrap_or(1),
            bytes: self.bytes(),
        })
    }

    /// What an operation accesses at the other PE, and the name of the parameter.
    pub fn there(&self) -> Option<(&'static str, Elements)> {
        if !self.kind.is_remote() {
            return None;
        }
        Some(match self.writes_there() {
            true => ("dest", self.elements("dest", "dst")?),
            false => ("source", self.elements("source", "sst")?),
        })
    }

    /// Whether what it accesses at the other PE has no gaps.
    pub fn elements_are_adjacent(&self) -> bool {
        self.there().is_some_and(|(_, there)| there.stride == 1)
    }

    /// What an operation accesses in this process.
    pub fn here(&self) -> Option<Access> {
        let (mode, elements) = match self.kind {
            Kind::Put | Kind::PutNbi => (Mode::Read, self.elements("source", "sst")?),
            Kind::Get | Kind::GetNbi => (Mode::Write, self.elements("dest", "dst")?),
            _ => return None,
        };
        Some(Access { mode, footprint: elements.footprint()? })
    }

    /// The PEs of the active set: first, logarithm of the distance, number.
    pub fn set(&self) -> Option<[i32; 3]> {
        Some([self.int("PE_start")?, self.int("logPE_stride")?, self.int("PE_size")?])
    }

    /// What a collective accesses, by parameter. All of it is symmetric, though the standard
    /// demands that of every argument only where other PEs access it.
    pub fn collective(&self) -> SmallVec<[(&'static str, Mode, Elements); 2]> {
        let mut all = SmallVec::new();
        let size = self.int("PE_size").unwrap_or(1).max(0) as usize;
        let count = match self.int("nreduce") {
            Some(count) => count.max(0) as usize,
            None => self.word("nelems").unwrap_or(0),
        };
        let (sent, received) = match self.kind {
            Kind::Broadcast | Kind::Reduce => (count, count),
            // How much the others have is theirs to say.
            Kind::Collect => (count, 0),
            Kind::Fcollect => (count, count.saturating_mul(size)),
            Kind::Alltoall => (count.saturating_mul(size), count.saturating_mul(size)),
            _ => return all,
        };
        let bytes = self.bytes();
        let mut add = |name, mode, count, stride: &str| {
            let stride = self.word(stride).map_or(1, |stride| stride as isize);
            if let Some(at) = self.word(name).filter(|_| count > 0) {
                all.push((name, mode, Elements { at, stride, count, bytes }));
            }
        };
        add("source", Mode::Read, sent, "sst");
        add("dest", Mode::Write, received, "dst");
        all
    }
}

/// What a call moves to or from another PE.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The other PE.
    pub pe: i32,
    /// Whether this PE sends.
    pub sends: bool,
    /// How many bytes.
    pub bytes: u64,
    /// The memory of this process; empty for what is passed by value.
    pub here: Footprint,
    /// The memory of the other PE, as addresses of this one.
    pub there: Range<usize>,
}

/// What a call moves; `None` if it accesses no other PE's memory.
pub fn moved(args: &Args) -> Option<Moved> {
    let call = Call::of(args)?;
    let ((_, there), pe) = (call.there()?, call.int("pe")?);
    Some(Moved {
        pe,
        sends: !matches!(call.kind, Kind::Get | Kind::GetNbi | Kind::AtomicRead),
        bytes: (there.count * there.bytes) as u64,
        here: call.here().map_or(Footprint::Dense(0..0), |access| access.footprint),
        there: there.span()?,
    })
}
