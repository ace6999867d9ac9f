//! Stores of structures that `insertvalue` has put together, field by field.

use super::Reader;
use crate::{Inst, InstId, Op, Value};
use commsan_llvm::{self as ir, Opcode, TypeKind};
use smallvec::SmallVec;

/// Maximum number of fields of such a structure, those within fields included.
const MAX_FIELDS: usize = 24;

/// The indices that lead to a field.
type Path = SmallVec<[u32; 4]>;

/// A field without fields of its own.
struct Field {
    path: Path,
    offset: u64,
    ty: ir::Type,
}

impl Reader<'_, '_> {
    /// The stores that a store of a structure consists of, with the addresses they need, if all is
    /// known of the structure that has been put together.
    pub(super) fn parts(&mut self, store: ir::Value) -> Option<Vec<InstId>> {
        if store.opcode() != Some(Opcode::LLVMStore) || store.is_atomic() || store.is_volatile() {
            return None;
        }
        let (whole, address) = (store.operand(0), store.operand(1));
        let mut inserted: Vec<(Path, ir::Value)> = Vec::new();
        let mut rest = whole;
        while self.is_instruction(rest) && rest.opcode() == Some(Opcode::LLVMInsertValue) {
            inserted.push((rest.indices().collect(), rest.operand(1)));
            rest = rest.operand(0);
        }
        if inserted.is_empty() || self.is_variable(rest) {
            return None;
        }
        let mut fields = Vec::new();
        self.fields(whole.ty(), &mut Path::new(), 0, &mut fields)?;
        // What was put in last counts. What was put into several fields at once is not taken apart.
        let value_of = |field: &Field| {
            let found = inserted.iter().find(|(path, _)| field.path.starts_with(path));
            match found {
                Some((path, value)) if path.len() == field.path.len() => Some(Some(*value)),
                Some(_) => None,
                None => Some(field.path.iter().try_fold(rest, |value, at| value.element(*at))),
            }
        };
        let values = fields.iter().map(value_of).collect::<Option<Vec<_>>>()?;
        let (at, base) = (self.module.place(store), self.value(address));
        let mut stores = Vec::new();
        for (field, value) in fields.iter().zip(values) {
            let mut address = base;
            if field.offset > 0 {
                let offset = Op::Offset(field.offset as i64, Box::default());
                let id = self.add(Inst { op: offset, args: [base].into_iter().collect(), at });
                stores.push(id);
                address = Value::Inst(id);
            }
            let value = value.map_or(Value::Opaque, |value| self.value(value));
            let op = Op::Store(self.size(field.ty));
            stores.push(self.add(Inst { op, args: [value, address].into_iter().collect(), at }));
        }
        Some(stores)
    }

    /// Adds an instruction that the function does not have.
    fn add(&mut self, inst: Inst) -> InstId {
        self.more.push(inst);
        InstId((self.instructions.len() + self.more.len() - 1) as u32)
    }

    fn is_instruction(&self, value: ir::Value) -> bool {
        self.instructions.contains_key(&value)
    }

    fn is_variable(&self, value: ir::Value) -> bool {
        self.is_instruction(value) || self.parameters.contains_key(&value)
    }

    /// Collects the fields of a type; none if there are too many.
    fn fields(
        &self,
        ty: ir::Type,
        path: &mut Path,
        offset: u64,
        found: &mut Vec<Field>,
    ) -> Option<()> {
        let module = self.module.module;
        let is_structure = ty.kind() == TypeKind::LLVMStructTypeKind;
        let count = match ty.kind() {
            TypeKind::LLVMStructTypeKind => u64::from(ty.fields()),
            TypeKind::LLVMArrayTypeKind => ty.length(),
            _ => {
                found.push(Field { path: path.clone(), offset, ty });
                return (found.len() <= MAX_FIELDS).then_some(());
            }
        };
        if count > MAX_FIELDS as u64 {
            return None;
        }
        for number in 0..count {
            let (inner, at) = match is_structure {
                true => (ty.field(number), module.field_offset(ty, number)),
                false => (ty.element(), module.array_stride(ty.element()) * number),
            };
            path.push(number as u32);
            self.fields(inner, path, offset + at, found)?;
            path.pop();
        }
        Some(())
    }
}
