//! Source locations of instructions, and the memory-ordering strength of their accesses.

use crate::instruction::{Base, Instruction, Operand};
use crate::module::{Location, Module};
use crate::opcodes::Op;
use crate::summary::Site;
use crate::words::{Combine, Order, Scope};

/// The widest set of accesses that an access does not race with, if theirs are as strong: both are
/// *strong operations* whose scopes include each other (PTX ISA §8.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// None, or those of its own grid at most.
    Weak,
    /// Those of its device.
    Device,
    /// Those of all devices, and of the host.
    System,
}

impl Strength {
    /// All strengths, the weakest first.
    pub const ALL: [Strength; 3] = [Strength::Weak, Strength::Device, Strength::System];

    /// The strength with a number, see [`Strength::number`].
    pub fn from_number(number: u32) -> Strength {
        Strength::ALL.get(number as usize).copied().unwrap_or(Strength::System)
    }

    /// The number of the strength: 0, 1 or 2.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// Parts of paths of headers that belong to compilers, toolkits and NVSHMEM, not to programs.
const OF_OTHERS: [&str; 13] = [
    "/usr/include/",
    "/usr/lib/",
    "/cuda/include/",
    "/bin/../include/",
    "/targets/x86_64-linux/include/",
    "/targets/sbsa-linux/include/",
    "/cccl/",
    "/cuda-1",
    "/nvshmem.h",
    "/device/nvshmem_defines.h",
    "/device/nvshmemx_defines.h",
    "/device/nvshmem_coll_defines.cuh",
    "/non_abi/device/",
];

impl Module {
    /// The instruction at a site.
    pub fn instruction(&self, site: Site) -> Option<&Instruction> {
        let body = self.functions.get(site.function as usize)?.body.as_ref()?;
        body.instructions.get(site.instruction as usize)
    }

    /// The source line to report for an access: the innermost line in the program's own files, or
    /// else the innermost of all. `sites` are the instruction, the call of its function and so on;
    /// the lines of inlined calls are searched as well.
    pub fn own_line(&self, sites: &[Site]) -> Option<(&str, u32)> {
        let mut lines = sites.iter().flat_map(|site| self.lines_of(*site));
        let innermost = lines.next()?;
        let is_own = |(file, _): &(&str, u32)| !OF_OTHERS.iter().any(|part| file.contains(part));
        match is_own(&innermost) {
            true => Some(innermost),
            false => Some(lines.find(is_own).unwrap_or(innermost)),
        }
    }

    /// Whether an atomic may poll for values written by others, as lock acquisition does: a
    /// compare-and-swap, or an exchange or no-op update whose result is used.
    pub fn may_poll(&self, site: Site) -> bool {
        let function = self.functions.get(site.function as usize);
        let Some(body) = function.and_then(|function| function.body.as_ref()) else { return false };
        let Some(atomic) = body.instructions.get(site.instruction as usize) else { return false };
        let [Operand::Reg(result), _, operand, ..] = body.operands_of(atomic) else { return false };
        let changes_nothing = *operand == Operand::Imm(0);
        match (atomic.op, atomic.modifiers.combine) {
            (Op::Atom, Some(Combine::Cas)) => true,
            (Op::Atom, Some(Combine::Add | Combine::Or | Combine::Xor)) if !changes_nothing => {
                false
            }
            (Op::Atom, Some(Combine::Exch | Combine::Add | Combine::Or | Combine::Xor)) => {
                let uses = body.operands.iter().chain(&body.elements).filter(|operand| {
                    matches!(operand, Operand::Reg(used) | Operand::Memory(Base::Reg(used), _) if used == result)
                });
                // The instruction itself counts as one use.
                uses.count() > 1
            }
            _ => false,
        }
    }

    /// The line of an instruction, then those of the calls that were inlined around it.
    fn lines_of(&self, site: Site) -> impl Iterator<Item = (&str, u32)> {
        let body = self.functions.get(site.function as usize).and_then(|f| f.body.as_ref());
        // Compiler-generated code, such as the loop of a `memcpy`, has line 0.
        let first = body.and_then(|body| {
            let before = body.instructions.get(..=site.instruction as usize)?.iter().rev();
            before.filter_map(|i| body.location(i)).find(|location| location.line > 0)
        });
        let outwards = move |location: &&Location| {
            let at = location.inlined?.at;
            body.and_then(|body| body.locations.get(at.index()))
        };
        // A damaged text may contain a cycle.
        let chain = std::iter::successors(first, outwards).take(64);
        chain.filter_map(|at| Some((self.files.get(at.file as usize)?.path.as_str(), at.line)))
    }
}

impl Instruction {
    /// The memory-ordering strength of the instruction's access.
    pub fn strength(&self) -> Strength {
        let atomic = matches!(self.op, Op::Atom | Op::Red | Op::MultimemRed);
        match (self.modifiers.order, self.modifiers.scope) {
            // These have no scope, and count as having the widest.
            (Some(Order::Volatile | Order::Mmio), _) => Strength::System,
            (None | Some(Order::Weak), _) if !atomic => Strength::Weak,
            (_, Some(Scope::Cta | Scope::Cluster)) => Strength::Weak,
            (_, Some(Scope::Sys)) => Strength::System,
            (_, Some(Scope::Gpu) | None) => Strength::Device,
        }
    }
}
