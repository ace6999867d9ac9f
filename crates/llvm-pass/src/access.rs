//! Memory accesses of an instruction: address, size, mode.

use crate::ir::{Module, Opcode, Type, TypeKind, Value};

/// Bytes that an instruction reads or writes.
#[derive(Clone)]
pub struct Access {
    /// The instruction.
    pub at: Value,
    pub write: bool,
    /// A pointer, or a vector of pointers for [`Part::Scattered`].
    pub address: Value,
    /// Maximum extent in bytes from the address on.
    pub size: u64,
    pub alignment: u64,
    pub part: Part,
}

/// Which of the bytes are accessed.
#[derive(Clone)]
pub enum Part {
    All,
    /// Enabled elements of this size.
    Lanes(u64, Lanes),
    /// Elements of this size, each at an address of its own, enabled by a vector of bits.
    Scattered(u64, Value),
}

/// Enabled lanes of a vector.
#[derive(Clone, Copy)]
pub enum Lanes {
    /// A mask known at compile time, one bit for each lane.
    Known(u64),
    /// The lanes whose bit is set in a vector of bits.
    Set(Value),
    /// The first n lanes, where n is the number of set bits.
    Packed(Value),
    /// The lanes whose element is negative.
    Negative(Value),
}

/// Constant copies up to this size are expanded in place; larger ones call libc, whose wrappers
/// check them.
pub const MAX_EXPANDED_BYTES: u64 = 128;

/// Adds the accesses of one instruction.
pub fn accesses(module: Module, at: Value, found: &mut Vec<Access>) {
    let mut add = |write, address: Value, ty: Type, alignment, part| {
        let size = module.store_size(ty);
        found.push(Access { at, write, address, size, alignment, part });
    };
    match at.opcode() {
        Some(Opcode::LLVMLoad) => {
            let part = demanded(module, at).unwrap_or(Part::All);
            add(false, at.operand(0), at.ty(), at.alignment(), part);
        }
        Some(Opcode::LLVMStore) => {
            add(true, at.operand(1), at.operand(0).ty(), at.alignment(), Part::All);
        }
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => {
            add(true, at.operand(0), at.operand(1).ty(), at.alignment(), Part::All);
        }
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) => {
            match at.callee_name().strip_prefix("llvm.") {
                Some(name) => intrinsic(module, at, name, found),
                None => by_value(module, at, found),
            }
        }
        _ => (),
    }
}

/// Adds arguments that the call copies from memory to the callee's stack.
fn by_value(module: Module, call: Value, found: &mut Vec<Access>) {
    for argument in 0..call.arguments() {
        if let Some(ty) = call.by_value(argument) {
            let (address, size) = (call.operand(argument), module.array_stride(ty));
            let part = Part::All;
            found.push(Access { at: call, write: false, address, size, alignment: 1, part });
        }
    }
}

fn intrinsic(module: Module, at: Value, name: &str, found: &mut Vec<Access>) {
    let mut add = |write, address, size, alignment, part| {
        found.push(Access { at, write, address, size, alignment, part });
    };
    let vector = |ty: Type| (module.store_size(ty), module.store_size(ty.element()));
    let alignment = |index: u32| at.operand(index).as_integer().unwrap_or(1) as u64;
    let is = |prefix: &str| name.starts_with(prefix);
    if let Some(size) = expanded_copy(at) {
        add(true, at.operand(0), size, 1, Part::All);
        if !is("memset") {
            add(false, at.operand(1), size, 1, Part::All);
        }
    } else if is("masked.load.") {
        let (size, element) = vector(at.ty());
        let part = Part::Lanes(element, Lanes::Set(at.operand(2)));
        add(false, at.operand(0), size, alignment(1), part);
    } else if is("masked.store.") {
        let (size, element) = vector(at.operand(0).ty());
        let part = Part::Lanes(element, Lanes::Set(at.operand(3)));
        add(true, at.operand(1), size, alignment(2), part);
    } else if is("masked.expandload.") {
        let (size, element) = vector(at.ty());
        add(false, at.operand(0), size, 1, Part::Lanes(element, Lanes::Packed(at.operand(1))));
    } else if is("masked.compressstore.") {
        let (size, element) = vector(at.operand(0).ty());
        add(true, at.operand(1), size, 1, Part::Lanes(element, Lanes::Packed(at.operand(2))));
    } else if is("masked.gather.") {
        let (size, element) = vector(at.ty());
        add(false, at.operand(0), size, alignment(1), Part::Scattered(element, at.operand(2)));
    } else if is("masked.scatter.") {
        let (size, element) = vector(at.operand(0).ty());
        add(true, at.operand(1), size, alignment(2), Part::Scattered(element, at.operand(3)));
    } else if is("x86.avx.maskload.") || is("x86.avx2.maskload.") {
        let (size, element) = vector(at.ty());
        add(false, at.operand(0), size, 1, Part::Lanes(element, Lanes::Negative(at.operand(1))));
    } else if is("x86.avx.maskstore.") || is("x86.avx2.maskstore.") {
        let (size, element) = vector(at.operand(2).ty());
        add(true, at.operand(0), size, 1, Part::Lanes(element, Lanes::Negative(at.operand(1))));
    }
}

/// The size of a copy or fill that is expanded in place; others become calls of libc (`copies.rs`).
pub fn expanded_copy(call: Value) -> Option<u64> {
    let name = call.callee_name();
    let copies = ["llvm.memcpy.", "llvm.memset."].iter().any(|prefix| name.starts_with(prefix));
    let size = copies.then(|| call.operand(2).as_integer()).flatten()? as u64;
    let fits = size <= MAX_EXPANDED_BYTES || name.contains(".inline.");
    (fits && size > 0).then_some(size)
}

/// Lanes of a loaded vector that the program uses: the vectorizer loads whole vectors even if it
/// uses only every other element, or those that a mask selects.
fn demanded(module: Module, load: Value) -> Option<Part> {
    let ty = load.ty();
    if ty.kind() != TypeKind::LLVMVectorTypeKind || ty.lanes() > 64 {
        return None;
    }
    let element = module.store_size(ty.element());
    if element * u64::from(ty.lanes()) != module.store_size(ty) {
        return None;
    }
    let lanes = selected(load).or_else(|| shuffled(load, ty.lanes()))?;
    Some(Part::Lanes(element, lanes))
}

/// Lanes that remain of a masked load that became a plain load, since its memory is known to exist.
fn selected(load: Value) -> Option<Lanes> {
    let mut users = load.users();
    let (only, None) = (users.next()?, users.next()) else { return None };
    let mask = only.operand(0);
    let selects = only.opcode() == Some(Opcode::LLVMSelect) && only.operand(1) == load;
    let known = || mask.opcode().is_none() || mask.precedes_in_block(load);
    let is_vector = || mask.ty().kind() == TypeKind::LLVMVectorTypeKind;
    (selects && is_vector() && known()).then_some(Lanes::Set(mask))
}

fn shuffled(load: Value, lanes: u32) -> Option<Lanes> {
    let all = u64::MAX >> (64 - lanes);
    let mut taken = 0;
    for user in load.users() {
        match user.opcode() {
            Some(Opcode::LLVMShuffleVector) => {
                let first = if user.operand(0) == load { 0 } else { lanes };
                for element in user.shuffled().flatten() {
                    // Both operands of the user may be the same vector.
                    let both = user.operand(0) == user.operand(1);
                    let lane = if both { element % lanes } else { element.wrapping_sub(first) };
                    if lane < lanes {
                        taken |= 1 << lane;
                    }
                }
            }
            Some(Opcode::LLVMExtractElement) => match user.operand(1).as_integer() {
                Some(lane) if (0..i64::from(lanes)).contains(&lane) => taken |= 1 << lane,
                _ => return None,
            },
            _ => return None,
        }
    }
    (taken != all).then_some(Lanes::Known(taken))
}
