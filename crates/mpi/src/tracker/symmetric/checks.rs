//! What is wrong with the arguments of a call, before it is made.

use super::Symmetric;
use super::call::{Call, Elements};
use crate::buffers::Args;
use crate::tracker::Wrong;
use commsan_callsite::Site;
use commsan_findings::{Code, Problem};
use commsan_mpi_calls::shmem::Kind;
use commsan_symmetric::{Fault, NoBlock};

/// Something that is wrong with a call, unless the library knows better.
#[derive(Debug)]
pub struct Doubt {
    /// What is wrong.
    pub wrong: Wrong,
    /// It is not if the library says that the other PE has this address.
    pub unless: Option<(usize, i32)>,
}

impl Symmetric {
    /// What is wrong with what a call passes.
    pub fn doubts(&self, args: &Args) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let Some(call) = Call::of(args).filter(|_| self.is_begun()) else { return doubts };
        let of = |code, name, problem: &str| Doubt {
            wrong: Wrong::symmetric(code, name, problem, None),
            unless: None,
        };
        let mut pe = self.me;
        if let Some(other) = call.int("pe").filter(|_| call.kind.is_remote()) {
            if !(0..self.pes).contains(&other) {
                let problem = format!("is {other}, but PEs are 0 to {}", self.pes - 1);
                doubts.push(of(Code::NoSuchPe, "pe", &problem));
                return doubts;
            }
            pe = other;
        }
        if let Some(set) = call.set() {
            if let Some((name, problem)) = self.wrong_set(set) {
                doubts.push(of(Code::NoSuchPe, name, &problem));
                return doubts;
            }
            let root = call.int("PE_root").filter(|root| !(0..set[2]).contains(root));
            if let Some(root) = root {
                let problem = format!("is {root}, but the active set has PEs 0 to {}", set[2] - 1);
                doubts.push(of(Code::NoSuchPe, "PE_root", &problem));
            }
        }
        if let Some((name, elements)) = call.there().filter(|(_, all)| all.count > 0) {
            doubts.extend(self.address(name, &elements, pe));
        }
        for (name, _, elements) in call.collective() {
            doubts.extend(self.address(name, &elements, pe));
        }
        for name in ["pWrk", "pSync", "lock"] {
            if let Some(at) = call.word(name) {
                let one = Elements { at, stride: 1, count: 1, bytes: call.bytes() };
                doubts.extend(self.address(name, &one, pe));
            }
        }
        if matches!(call.kind, Kind::Free | Kind::Realloc) {
            doubts.extend(self.no_block(&call));
        }
        doubts
    }

    /// What is wrong with an address that other PEs access.
    pub(super) fn address(&self, name: &'static str, at: &Elements, pe: i32) -> Option<Doubt> {
        let doubt = |code, problem: &str, site| {
            Some(Doubt { wrong: Wrong::symmetric(code, name, problem, site), unless: None })
        };
        match self.heap.fault(at.at, at.span())? {
            Fault::Null => doubt(Code::NotSymmetric, "is a null pointer", None),
            Fault::Beyond(problem, site) => doubt(Code::BeyondSymmetric, &problem, Some(site)),
            Fault::Freed(site) => {
                doubt(Code::NotSymmetric, "points to memory that was freed", Some(site))
            }
            Fault::Unknown if self.pages.contains(&page(at.at)) => None,
            Fault::Unknown => {
                let problem = "points neither into memory of shmem_malloc nor to a static variable";
                let wrong = Wrong::symmetric(Code::NotSymmetric, name, problem, None);
                Some(Doubt { wrong, unless: Some((at.at, pe)) })
            }
        }
    }

    /// What is wrong with a block that is to be freed.
    pub(super) fn no_block(&self, call: &Call) -> Option<Doubt> {
        let at = call.word("block")?;
        let doubt = |problem: &str, site, unless| {
            let code = Code::SymmetricFreedWrongly;
            Some(Doubt { wrong: Wrong::symmetric(code, "block", problem, site), unless })
        };
        match self.heap.no_block(at)? {
            NoBlock::Inside(problem, site) => doubt(&problem, Some(site), None),
            NoBlock::Freed(site) => doubt("was freed before", Some(site), None),
            NoBlock::Unknown => {
                doubt("was not returned by shmem_malloc", None, Some((at, self.me)))
            }
        }
    }

    /// Why an active set is none, or none that this PE may use.
    pub(super) fn wrong_set(&self, [start, log, size]: [i32; 3]) -> Option<(&'static str, String)> {
        let last = self.pes - 1;
        if !(0..self.pes).contains(&start) {
            return Some(("PE_start", format!("is {start}, but PEs are 0 to {last}")));
        }
        if !(0..31).contains(&log) {
            return Some(("logPE_stride", format!("is {log}, and no logarithm of a stride")));
        }
        let end = i64::from(start) + (i64::from(size) - 1) * (1 << log);
        if size < 1 || end > i64::from(last) {
            let of = format!("of PEs from {start} in steps of {}", 1_i64 << log);
            return Some(("PE_size", format!("is {size} {of}, but PEs are 0 to {last}")));
        }
        let distance = self.me - start;
        let is_member = distance >= 0 && distance % (1 << log) == 0 && distance >> log < size;
        let without = || format!("and the other two describe a set without PE {}", self.me);
        (!is_member).then(|| ("PE_start", without()))
    }

    /// The library says that PEs have an object at this address, which is in no block.
    pub fn has(&mut self, at: usize) {
        self.pages.insert(page(at));
    }
}

/// The page of an address: of static variables, whole pages are symmetric.
fn page(at: usize) -> usize {
    at >> 12
}

impl Wrong {
    /// Something that OpenSHMEM does not allow.
    pub(super) fn symmetric(
        code: Code,
        name: &'static str,
        problem: &str,
        site: Option<Site>,
    ) -> Wrong {
        Wrong::of(Problem::Value, name, problem.to_owned()).of_code(code, site)
    }
}
