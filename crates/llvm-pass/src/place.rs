//! Address normalization.
//!
//! Represents addresses as sums, so that two of them can be proved distinct or near each other:
//! `a[i - 1]` and `a[i + 1]` have the same terms, `a + 8 i`, at two distances.

use crate::builder::Builder;
use crate::ir::{Module, Opcode, TypeKind, Value};
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// `distance` bytes from the sum of its terms; each term is a value times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The terms, sorted, without duplicate values.
    pub terms: Vec<(Value, i64)>,
    pub distance: i64,
}

/// Maximum depth to which sums are decomposed.
const MAX_SUM_DEPTH: u32 = 6;

impl Place {
    pub fn of(module: Module, address: Value) -> Place {
        let mut place = Place::default();
        place.add_pointer(module, address);
        place.sorted()
    }

    /// Any number or address as a sum. For numbers narrower than 64 bits, only the low bits are
    /// exact.
    pub fn of_any(module: Module, value: Value) -> Place {
        let mut place = Place::default();
        if value.ty().kind() == TypeKind::LLVMPointerTypeKind {
            place.add_pointer(module, value);
        } else {
            place.add(value, 1, MAX_SUM_DEPTH, true);
        }
        place.sorted()
    }

    /// The sum as a 64-bit number; `now` gives the current values of some operands.
    pub fn value(&self, builder: &Builder, now: &HashMap<Value, Value>) -> Value {
        let mut total = builder.constant(self.distance as u64);
        for (value, factor) in &self.terms {
            let value = now.get(value).copied().unwrap_or(*value);
            let number = match value.ty().kind() {
                TypeKind::LLVMPointerTypeKind => builder.address(value),
                _ => builder.sign_extend(value, 64),
            };
            let product =
                if *factor == 1 { number } else { builder.multiply(number, *factor as u64) };
            total = builder.binary(LLVMOpcode::LLVMAdd, total, product);
        }
        total
    }

    fn sorted(mut self) -> Place {
        let place = &mut self;
        place.terms.sort_unstable();
        place.terms.dedup_by(|from, into| {
            let same = from.0 == into.0;
            if same {
                into.1 = into.1.wrapping_add(from.1);
            }
            same
        });
        place.terms.retain(|term| term.1 != 0);
        self
    }

    fn add_pointer(&mut self, module: Module, mut address: Value) {
        loop {
            match address.opcode() {
                Some(Opcode::LLVMGetElementPtr) => (),
                // Between pointers of different types, before LLVM 15.
                Some(Opcode::LLVMBitCast) => {
                    address = address.operand(0);
                    continue;
                }
                _ => break,
            }
            let mut ty = address.source_element_type();
            for (number, index) in address.operands().skip(1).enumerate() {
                if number > 0 {
                    if ty.kind() == TypeKind::LLVMStructTypeKind {
                        let field = index.as_integer().unwrap_or(0) as u64;
                        let offset = module.field_offset(ty, field) as i64;
                        self.distance = self.distance.wrapping_add(offset);
                        ty = ty.field(field);
                        continue;
                    }
                    ty = ty.element();
                }
                self.add(index, module.array_stride(ty) as i64, MAX_SUM_DEPTH, false);
            }
            address = address.operand(0);
        }
        self.terms.push((address, 1));
    }

    /// Adds `value` times `factor`. Addresses are modulo 2^64, so 64-bit sums may be decomposed
    /// even if they overflow; narrower ones may not.
    fn add(&mut self, value: Value, factor: i64, depth: u32, narrow: bool) {
        if let Some(constant) = value.as_integer() {
            self.distance = self.distance.wrapping_add(constant.wrapping_mul(factor));
            return;
        }
        let constant = |index| value.operand(index).as_integer();
        let is_wide = value.ty().kind() == TypeKind::LLVMIntegerTypeKind
            && (narrow || value.ty().bits() == 64);
        match value.opcode() {
            Some(Opcode::LLVMAdd | Opcode::LLVMOr) if is_wide && depth > 0 && value.is_sum() => {
                self.add(value.operand(0), factor, depth - 1, narrow);
                self.add(value.operand(1), factor, depth - 1, narrow);
            }
            Some(Opcode::LLVMSub) if is_wide && depth > 0 => {
                self.add(value.operand(0), factor, depth - 1, narrow);
                self.add(value.operand(1), factor.wrapping_neg(), depth - 1, narrow);
            }
            Some(Opcode::LLVMMul) if is_wide && depth > 0 && constant(1).is_some() => {
                let by = constant(1).unwrap_or(1);
                self.add(value.operand(0), factor.wrapping_mul(by), depth - 1, narrow);
            }
            Some(Opcode::LLVMShl)
                if is_wide && depth > 0 && constant(1).is_some_and(|by| (0..63).contains(&by)) =>
            {
                let by = constant(1).unwrap_or(0);
                self.add(value.operand(0), factor.wrapping_shl(by as u32), depth - 1, narrow);
            }
            Some(Opcode::LLVMTrunc)
                if narrow && depth > 0 && value.operand(0).ty().bits() <= 64 =>
            {
                self.add(value.operand(0), factor, depth - 1, narrow);
            }
            _ => self.terms.push((value, factor)),
        }
    }
}
