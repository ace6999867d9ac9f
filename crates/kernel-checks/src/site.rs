//! What the instructions that access memory promise (PTX ISA chapter 8): weak or strong, the scope,
//! and whether they acquire or release.

use crate::stamp::MAX_SITES;
use commsan_ptx::words::{Mode, Order, Scope as Word};
use commsan_ptx::{Instruction, Module, Op, Site as Place};

/// The threads that an operation takes into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Those of the block. A cluster is one block (`simt`).
    Block,
    /// Those of the device, or of all: within one launch the same.
    Device,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Where it is.
    pub place: Place,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is a strong operation: atomic, volatile, relaxed or stronger.
    pub strong: bool,
    /// Whether it is an atomic read and write.
    pub atomic: bool,
    /// The scope of a strong operation, or of a fence.
    pub scope: Scope,
    /// Whether it acquires.
    pub acquires: bool,
    /// Whether it releases.
    pub releases: bool,
    /// Whether it is a fence.
    pub fence: bool,
    /// Whether it writes later than it is issued.
    pub copies: bool,
    /// Whether it uses a barrier object, which orders by itself.
    pub object: bool,
    /// Bytes of an element.
    pub width: u8,
}

impl Info {
    fn of(place: Place, instruction: &Instruction) -> Info {
        let (op, modifiers) = (instruction.op, &instruction.modifiers);
        let atomic = matches!(op, Op::Atom | Op::Red);
        let fence = matches!(op, Op::Membar | Op::Fence | Op::FenceProxy | Op::FenceMbarrierInit);
        let is_weak = matches!(modifiers.order, None | Some(Order::Weak));
        // Volatile accesses have the scope of the system (PTX ISA §9.7.9.8), atomics without one
        // that of the device (§9.7.13.5). What a fence of another kind reaches is not looked at.
        let scope = match (modifiers.scope, modifiers.mode) {
            (Some(Word::Cta | Word::Cluster), _) => Scope::Block,
            (None, Some(Mode::Cta)) if op == Op::Membar => Scope::Block,
            _ => Scope::Device,
        };
        let order = modifiers.order;
        let fences = fence.then_some(order);
        Info {
            place,
            reads: true,
            writes: atomic,
            strong: atomic || !is_weak && matches!(op, Op::Ld | Op::St),
            atomic,
            scope,
            acquires: matches!(order, Some(Order::Acquire | Order::AcqRel | Order::Sc))
                || fences.is_some_and(|order| order != Some(Order::Release)),
            releases: matches!(order, Some(Order::Release | Order::AcqRel | Order::Sc))
                || fences.is_some_and(|order| order != Some(Order::Acquire)),
            fence,
            copies: matches!(op, Op::CpAsync | Op::CpAsyncBulk),
            object: format!("{op:?}").starts_with("Mbar") || op == Op::CpAsyncArrive,
            width: 0,
        }
    }

    /// Whether two instructions do the same to memory, so that one stamp may stand for both.
    pub fn is_like(&self, other: &Info) -> bool {
        (self.writes, self.strong, self.scope, self.width)
            == (other.writes, other.strong, other.scope, other.width)
    }
}

/// The instructions of a launch that access memory, by number.
#[derive(Debug, Default)]
pub struct Sites {
    all: Vec<Info>,
    /// The numbers, plus one, by function, instruction, and whether it reads memory or writes.
    numbers: Vec<Vec<[u16; 3]>>,
}

/// What an instruction does to the memory at hand: a copy reads one and writes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both.
    Both,
}

impl Sites {
    /// The number of an instruction; `None` if there are too many.
    #[inline]
    pub fn number(&mut self, module: &Module, place: Place, part: Part, width: u64) -> Option<u16> {
        let of_function = self.numbers.get(place.function as usize);
        let known = of_function.and_then(|numbers| numbers.get(place.instruction as usize));
        match known.map(|numbers| numbers[part as usize]) {
            Some(number) if number != 0 => Some(number - 1),
            _ => self.add(module, place, part, width),
        }
    }

    #[cold]
    fn add(&mut self, module: &Module, place: Place, part: Part, width: u64) -> Option<u16> {
        let instruction = module.instruction(place)?;
        let number = self.all.len();
        if number + 1 >= MAX_SITES {
            return None;
        }
        let mut info = Info::of(place, instruction);
        (info.reads, info.writes) = (part != Part::Write, part != Part::Read);
        info.copies &= part == Part::Write;
        info.width = width as u8;
        self.all.push(info);
        let (function, instruction) = (place.function as usize, place.instruction as usize);
        if self.numbers.len() <= function {
            self.numbers.resize_with(function + 1, Vec::new);
        }
        let numbers = &mut self.numbers[function];
        if numbers.len() <= instruction {
            numbers.resize(instruction + 1, [0; 3]);
        }
        numbers[instruction][part as usize] = number as u16 + 1;
        Some(number as u16)
    }

    /// An instruction by its number.
    #[inline(always)]
    pub fn get(&self, number: u16) -> &Info {
        &self.all[number as usize]
    }
}
