//! Source locations of instructions, and the memory-ordering strength of their accesses.

use crate::instruction::{Base, Instruction, Operand};
use crate::module::{Location, Module};
use crate::opcodes::Op;
use crate::summary::Site;
use crate::words::{Combine, Order, Scope};

/// With whose accesses to memory one does not race, if theirs are as strong: it is a *strong
/// operation*, and the two scopes include each other (PTX ISA §8.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// With nobody's, or with those of its own grid at most.
    Weak,
    /// With those of its device.
    Device,
    /// With those of all devices, and of the host.
    System,
}

impl Strength {
    /// All of them.
    pub const ALL: [Strength; 3] = [Strength::Weak, Strength::Device, Strength::System];

    /// The strength that a number encodes ([`Strength::number`]).
    pub fn from_number(number: u32) -> Strength {
        Strength::ALL.get(number as usize).copied().unwrap_or(Strength::System)
    }

    /// The number that encodes it: 0, 1 or 2.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// What paths of headers have in them that come with compilers and toolkits, not with programs.
const OF_OTHERS: [&str; 8] = [
    "/usr/include/",
    "/usr/lib/",
    "/cuda/include/",
    "/bin/../include/",
    "/targets/x86_64-linux/include/",
    "/targets/sbsa-linux/include/",
    "/cccl/",
    "/cuda-1",
];

impl Module {
    /// The instruction at a site.
    pub fn instruction(&self, site: Site) -> Option<&Instruction> {
        let body = self.functions.get(site.function as usize)?.body.as_ref()?;
        body.instructions.get(site.instruction as usize)
    }

    /// The innermost line in the program's own files, or else the innermost at all, that leads to
    /// an instruction: of the sites of the instruction, of the call of its function, and so on, and
    /// of what was inlined around these.
    pub fn own_line(&self, sites: &[Site]) -> Option<(&str, u32)> {
        let mut lines = sites.iter().flat_map(|site| self.lines_of(*site));
        let innermost = lines.next()?;
        let is_own = |(file, _): &(&str, u32)| !OF_OTHERS.iter().any(|part| file.contains(part));
        match is_own(&innermost) {
            true => Some(innermost),
            false => Some(lines.find(is_own).unwrap_or(innermost)),
        }
    }

    /// Whether an atomic may look for what others have written, as those that take locks do: by
    /// comparing, or by an exchange, or an operation that changes nothing, whose result is used.
    pub fn looks(&self, site: Site) -> bool {
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
                // It is there itself, too.
                uses.count() > 1
            }
            _ => false,
        }
    }

    /// The line of an instruction, then those of the calls that were inlined around it.
    fn lines_of(&self, site: Site) -> impl Iterator<Item = (&str, u32)> {
        let body = self.functions.get(site.function as usize).and_then(|f| f.body.as_ref());
        // What the compiler has added, such as the loop of a `memcpy`, is in line 0.
        let first = body.and_then(|body| {
            let before = body.instructions.get(..=site.instruction as usize)?.iter().rev();
            before.filter_map(|i| body.location(i)).find(|location| location.line > 0)
        });
        let outwards = move |location: &&Location| {
            let at = location.inlined?.at;
            body.and_then(|body| body.locations.get(at.index()))
        };
        // A damaged text may lead in circles.
        let chain = std::iter::successors(first, outwards).take(64);
        chain.filter_map(|at| Some((self.files.get(at.file as usize)?.path.as_str(), at.line)))
    }
}

impl Instruction {
    /// How strong its access to memory is.
    pub fn strength(&self) -> Strength {
        let atomic = matches!(self.op, Op::Atom | Op::Red | Op::MultimemRed);
        match (self.modifiers.order, self.modifiers.scope) {
            // These have no scope, and are as if it were the widest.
            (Some(Order::Volatile | Order::Mmio), _) => Strength::System,
            (None | Some(Order::Weak), _) if !atomic => Strength::Weak,
            (_, Some(Scope::Cta | Scope::Cluster)) => Strength::Weak,
            (_, Some(Scope::Sys)) => Strength::System,
            (_, Some(Scope::Gpu) | None) => Strength::Device,
        }
    }
}
