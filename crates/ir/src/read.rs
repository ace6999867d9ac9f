//! From LLVM's modules to a [`Program`]: functions and global variables are joined by name as a
//! linker joins them, each module is forgotten once read.

mod code;
mod debug;

use crate::{Body, FORTRAN_PROGRAM, Function, FunctionId, Global, GlobalId, Value};
use crate::{FileId, HANDLE_ADDRESSES, Place, Program, absolute_name, saved};
use commsan_llvm::{self as ir, Opcode, TypeKind, llvm};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::prelude::*;
use rustc_hash::FxHashMap;
use std::ffi::CStr;

/// Maximum number of entries kept of a global variable's initial value.
const MAX_INITIAL_ENTRIES: usize = 4096;

/// Symbols that modules share.
#[derive(Debug, Default)]
pub struct Linker {
    functions: FxHashMap<String, FunctionId>,
    globals: FxHashMap<String, GlobalId>,
    files: FxHashMap<String, FileId>,
}

/// Adds a module, bitcode or text, to the program.
///
/// # Errors
/// What LLVM says of a module it does not read.
pub fn module(
    program: &mut Program,
    linker: &mut Linker,
    bytes: &[u8],
    text: bool,
) -> Result<(), String> {
    let name = if text { c"module.ll" } else { c"module.bc" };
    let context = Context(llvm!(LLVMContextCreate()));
    let (begin, length) = (bytes.as_ptr().cast(), bytes.len());
    let buffer = llvm!(LLVMCreateMemoryBufferWithMemoryRangeCopy(begin, length, name.as_ptr()));
    let mut module = std::ptr::null_mut();
    let mut message = std::ptr::null_mut();
    // The buffer is LLVM's now.
    if llvm!(LLVMParseIRInContext(context.0, buffer, &raw mut module, &raw mut message)) != 0 {
        // SAFETY: LLVM has written a text, to be disposed of.
        let why = unsafe { CStr::from_ptr(message) }.to_string_lossy().trim().to_owned();
        llvm!(LLVMDisposeMessage(message));
        return Err(why);
    }
    let kept = kept(ir::Module(module));
    if kept.is_none() {
        // What is known of variables is then said by calls, which 19's C interface can read.
        llvm!(LLVMSetIsNewDbgInfoFormat(module, 0));
        Reader::new(program, linker, ir::Module(module)).read();
    }
    llvm!(LLVMDisposeModule(module));
    let kept = kept.unwrap_or_default();
    for inner in saved::modules(&kept).map_err(|damage| damage.to_string())? {
        self::module(program, linker, inner.bitcode, false)?;
    }
    Ok(())
}

/// What commsan's plugin has kept in a module that is bitcode still, for optimization when it is
/// linked: the module as it was before checks were added.
fn kept(module: ir::Module) -> Option<Vec<u8>> {
    module.globals().find_map(|global| {
        let section = llvm!(LLVMGetSection(global.0));
        // SAFETY: LLVM returns a C string or null.
        let named = !section.is_null()
            && unsafe { CStr::from_ptr(section) }.to_bytes() == saved::SECTION.as_bytes();
        let content = global.initializer().filter(|_| named)?;
        if llvm!(LLVMIsConstantString(content.0)) == 0 {
            return None;
        }
        let mut length = 0;
        let begin = llvm!(LLVMGetAsString(content.0, &raw mut length));
        // SAFETY: LLVM returns that many bytes, which live as long as the module.
        Some(unsafe { std::slice::from_raw_parts(begin.cast(), length) }.to_vec())
    })
}

/// Owns what belongs to one module.
struct Context(LLVMContextRef);

impl Drop for Context {
    fn drop(&mut self) {
        llvm!(LLVMContextDispose(self.0));
    }
}

/// Reads one module.
struct Reader<'p> {
    program: &'p mut Program,
    linker: &'p mut Linker,
    module: ir::Module,
    number: u32,
    functions: FxHashMap<ir::Value, FunctionId>,
    globals: FxHashMap<ir::Value, GlobalId>,
    files: FxHashMap<LLVMMetadataRef, FileId>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p mut Program, linker: &'p mut Linker, module: ir::Module) -> Reader<'p> {
        program.modules.push(module.source_name().to_owned());
        let number = program.modules.len() as u32 - 1;
        let (functions, globals, files) = Default::default();
        Reader { program, linker, module, number, functions, globals, files }
    }

    fn read(&mut self) {
        let functions: Vec<_> = self.module.functions().collect();
        for function in functions.iter().filter(|f| !f.is_declaration()) {
            self.define(*function);
        }
        let aliases = self.module.aliases().map(|alias| alias.name().to_owned());
        self.program.aliases.extend(aliases);
        let globals: Vec<_> = self.module.globals().collect();
        for global in globals {
            self.define_global(global);
        }
    }

    fn define(&mut self, function: ir::Value) {
        let id = self.function(function);
        // Of functions in headers each module has one; the first stays.
        let (shown, at) = self.subprogram(function);
        self.note_main(id, at);
        if self.program[id].body.is_some() {
            return;
        }
        let body = self.body(function);
        let known = &mut self.program.functions[id.0 as usize];
        known.module = self.number;
        known.at = at;
        known.shown = match shown {
            _ if known.name == FORTRAN_PROGRAM => "main program".to_owned(),
            Some(shown) => shown,
            None => source_name(&known.name).to_owned(),
        };
        known.body = Some(body);
    }

    fn body(&mut self, function: ir::Value) -> Body {
        code::Reader::new(self, function).read()
    }

    /// The program's function for one of this module.
    fn function(&mut self, function: ir::Value) -> FunctionId {
        if let Some(id) = self.functions.get(&function) {
            return *id;
        }
        let name = function.name().to_owned();
        let known = self.linker.functions.get(&name).copied().filter(|_| !function.is_internal());
        let id = known.unwrap_or_else(|| {
            let id = FunctionId(self.program.functions.len() as u32);
            if !function.is_internal() {
                self.linker.functions.insert(name.clone(), id);
            }
            self.program.functions.push(Function {
                shown: source_name(&name).to_owned(),
                name,
                module: self.number,
                at: Place::default(),
                params: function.parameters().count() as u32,
                param_names: FxHashMap::default(),
                body: None,
                address_taken: false,
            });
            id
        });
        self.functions.insert(function, id);
        id
    }

    /// The program's global variable for one of this module.
    fn global(&mut self, global: ir::Value) -> GlobalId {
        if let Some(id) = self.globals.get(&global) {
            return *id;
        }
        let name = global.name().to_owned();
        let known = self.linker.globals.get(&name).copied().filter(|_| !global.is_internal());
        let id = known.unwrap_or_else(|| {
            let id = GlobalId(self.program.globals.len() as u32);
            if !global.is_internal() {
                self.linker.globals.insert(name.clone(), id);
            }
            let size = self.module.size(global.value_type());
            let constant = global.is_constant_global();
            let initial = Vec::new();
            self.program.globals.push(Global { name, size, constant, defined: false, initial });
            id
        });
        self.globals.insert(global, id);
        id
    }

    /// The program's global variable for one at a fixed address.
    fn absolute(&mut self, address: i64) -> GlobalId {
        let name = absolute_name(address);
        if let Some(id) = self.linker.globals.get(&name) {
            return *id;
        }
        let id = GlobalId(self.program.globals.len() as u32);
        self.linker.globals.insert(name.clone(), id);
        let initial = Vec::new();
        self.program.globals.push(Global {
            name,
            size: 0,
            constant: true,
            defined: false,
            initial,
        });
        id
    }

    /// Which source file a program is in. That of Fortran is known by its own function, not by the
    /// `main` around it.
    fn note_main(&mut self, id: FunctionId, at: Place) {
        let name = &*self.program[id].name;
        let module = &*self.program.modules[self.number as usize];
        if name != FORTRAN_PROGRAM && (name != "main" || module == "FIRModule") {
            return;
        }
        let file = at.file.map_or(module, |file| &*self.program[file]).to_owned();
        if !self.program.mains.contains(&file) {
            self.program.mains.push(file);
        }
    }

    fn define_global(&mut self, global: ir::Value) {
        let Some(content) = global.initializer() else { return };
        let id = self.global(global);
        if std::mem::replace(&mut self.program.globals[id.0 as usize].defined, true) {
            return;
        }
        let mut initial = Vec::new();
        self.content(content, 0, &mut initial);
        let known = &mut self.program.globals[id.0 as usize];
        known.size = self.module.size(global.value_type());
        known.initial = initial;
    }

    /// Integers and addresses in a constant, by offset.
    fn content(&mut self, constant: ir::Value, at: u64, found: &mut Vec<(u64, Value)>) {
        if found.len() >= MAX_INITIAL_ENTRIES {
            return;
        }
        let ty = constant.ty();
        let parts = match ty.kind() {
            TypeKind::LLVMStructTypeKind => ty.fields(),
            TypeKind::LLVMArrayTypeKind => ty.length().min(MAX_INITIAL_ENTRIES as u64) as u32,
            _ => {
                let value = self.constant(constant);
                if value != Value::Opaque {
                    found.push((at, value));
                }
                return;
            }
        };
        for index in 0..parts {
            let offset = if ty.kind() == TypeKind::LLVMStructTypeKind {
                self.module.field_offset(ty, u64::from(index))
            } else {
                self.module.size(ty.element()) * u64::from(index)
            };
            if let Some(part) = constant.element(index) {
                self.content(part, at + offset, found);
            }
        }
    }

    /// A constant; functions in it are used for more than calls.
    fn constant(&mut self, constant: ir::Value) -> Value {
        if let Some(number) = constant.as_integer() {
            return Value::Int(number);
        }
        if constant.is_null() {
            return Value::Int(0);
        }
        if constant.is_function() {
            let id = self.function(constant);
            self.program.functions[id.0 as usize].address_taken = true;
            return Value::Function(id);
        }
        if constant.is_global_variable() {
            return Value::Global(self.global(constant), 0);
        }
        if let Some(aliased) = constant.aliased() {
            return self.constant(aliased);
        }
        if constant.ty().kind() == TypeKind::LLVMStructTypeKind {
            return self.structure(constant);
        }
        match constant.opcode() {
            Some(Opcode::LLVMGetElementPtr) => {
                let base = self.constant(constant.operand(0));
                let (offset, scaled) = self.offset(constant);
                match base {
                    Value::Global(id, at) if scaled.is_empty() => {
                        Value::Global(id, at.wrapping_add(offset))
                    }
                    Value::Int(at) if scaled.is_empty() => Value::Int(at.wrapping_add(offset)),
                    _ => Value::Opaque,
                }
            }
            Some(Opcode::LLVMIntToPtr) => match self.constant(constant.operand(0)) {
                Value::Int(address) if HANDLE_ADDRESSES.contains(&address) => {
                    Value::Global(self.absolute(address), 0)
                }
                other => other,
            },
            Some(
                Opcode::LLVMBitCast
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMTrunc
                | Opcode::LLVMAddrSpaceCast,
            ) => self.constant(constant.operand(0)),
            _ => Value::Opaque,
        }
    }

    /// A structure that begins with an address, and has no other, is that address: pointers to
    /// member functions (Itanium C++ ABI §2.3), and descriptors of Fortran's static arrays.
    fn structure(&mut self, constant: ir::Value) -> Value {
        let fields = (0..constant.ty().fields()).map_while(|index| constant.element(index));
        let fields: Vec<_> = fields.map(|field| self.constant(field)).collect();
        let is_address = |value: &Value| matches!(value, Value::Function(_) | Value::Global(..));
        match &*fields {
            [first, others @ ..] if is_address(first) && !others.iter().any(is_address) => *first,
            _ => Value::Opaque,
        }
    }

    /// What an address computation adds to its base: bytes, and indices with their scales.
    fn offset(&mut self, computation: ir::Value) -> (i64, Vec<(ir::Value, i64)>) {
        let mut bytes = 0i64;
        let mut scaled = Vec::new();
        let mut ty = computation.source_element_type();
        for (place, index) in computation.operands().skip(1).enumerate() {
            if place > 0 && ty.kind() == TypeKind::LLVMStructTypeKind {
                let field = index.as_integer().unwrap_or(0) as u64;
                bytes = bytes.wrapping_add(self.module.field_offset(ty, field) as i64);
                ty = ty.field(field);
                continue;
            }
            if place > 0 {
                ty = ty.element();
            }
            let scale = self.module.size(ty) as i64;
            match index.as_integer() {
                Some(index) => bytes = bytes.wrapping_add(index.wrapping_mul(scale)),
                None => scaled.push((index, scale)),
            }
        }
        (bytes, scaled)
    }
}

/// The name in the source, as far as the linker name shows it.
fn source_name(name: &str) -> &str {
    const OUTLINED: [&str; 2] = [".omp_outlined", "..omp_par"];
    let outlined = OUTLINED.iter().filter_map(|suffix| name.find(suffix)).min();
    &name[..outlined.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_handles_are_variables_and_numbers_are_not() {
        let text = c"
            @kept = global { i64, ptr } { i64 258, ptr inttoptr (i64 258 to ptr) }
            define i32 @main() {
              %1 = call i32 @given(ptr inttoptr (i64 257 to ptr), i64 257, i32 257)
              %2 = call i32 @given(ptr inttoptr (i64 1 to ptr), i64 0, i32 -1)
              ret i32 0
            }
            declare i32 @given(ptr, i64, i32)";
        let (mut program, mut linker) = (Program::default(), Linker::default());
        module(&mut program, &mut linker, text.to_bytes_with_nul(), true).expect("is well formed");
        let address = |value| match value {
            Value::Global(id, 0) => crate::absolute_address(&program[id].name),
            _ => None,
        };
        let main = program.function("main").expect("is defined");
        let code = &program[main].body.as_ref().expect("is defined").code;
        let world = code[0].args[0];
        assert_eq!(address(world), Some(257));
        assert_eq!(code[0].args[1..], [Value::Int(257), Value::Int(257)]);
        assert_eq!(code[1].args[..], [1, 0, -1].map(Value::Int));
        let kept = program.globals.iter().find(|global| global.name == "kept").expect("is there");
        assert_eq!(kept.initial[0], (0, Value::Int(258)));
        assert_eq!(address(kept.initial[1].1), Some(258));
        assert!(!program.globals.iter().any(|global| global.name == "0x101" && global.defined));
    }
}
