//! Debug information: lines, names of functions and variables.

use super::Reader;
use crate::{FileId, Place};
use commsan_llvm::{self as ir, llvm};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::ffi::{c_char, c_uint};

impl Reader<'_> {
    /// The line of an instruction.
    pub(super) fn place(&mut self, instruction: ir::Value) -> Place {
        let location = llvm!(LLVMInstructionGetDebugLoc(instruction.0));
        if location.is_null() {
            return Place::default();
        }
        let line = llvm!(LLVMDILocationGetLine(location));
        let column = llvm!(LLVMDILocationGetColumn(location));
        let file = self.file(llvm!(LLVMDILocationGetScope(location)));
        // Line 0 is what a compiler has made up.
        Place { file: file.filter(|_| line > 0), line, column }
    }

    /// Name and place of a function.
    pub(super) fn subprogram(&mut self, function: ir::Value) -> (Option<String>, Place) {
        const NAME: usize = 2;
        let subprogram = llvm!(LLVMGetSubprogram(function.0));
        if subprogram.is_null() {
            return (None, Place::default());
        }
        self.program.has_lines = true;
        let line = llvm!(LLVMDISubprogramGetLine(subprogram));
        let name = self.operands(subprogram).get(NAME).and_then(|name| string(*name));
        let name = name.filter(|name| super::source_name(name) == name);
        (name, Place { file: self.file(subprogram), line, column: 0 })
    }

    /// The variable that a call of `llvm.dbg.declare` is about, and its address, which is this
    /// operand.
    pub(super) fn declared(
        &mut self,
        call: ir::Value,
        address: u32,
    ) -> Option<(LLVMValueRef, String)> {
        const NAME: usize = 1;
        let address = call.operand(address);
        let kind = llvm!(LLVMGetMetadataKind(LLVMValueAsMetadata(address.0)));
        if !matches!(kind, LLVMMetadataKind::LLVMLocalAsMetadataMetadataKind) {
            return None;
        }
        let address = operands(address.0).first().copied()?;
        let name = operands(call.operand(1).0).get(NAME).and_then(|name| string(*name))?;
        Some((address, name))
    }

    fn operands(&self, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
        operands(llvm!(LLVMMetadataAsValue(self.module.context(), node)))
    }

    /// The file that a scope lies in.
    fn file(&mut self, scope: LLVMMetadataRef) -> Option<FileId> {
        let file = llvm!(LLVMDIScopeGetFile(scope));
        if file.is_null() {
            return None;
        }
        if let Some(id) = self.files.get(&file) {
            return Some(*id);
        }
        let name = part(file, LLVMDIFileGetFilename);
        let path = match part(file, LLVMDIFileGetDirectory) {
            directory if directory.is_empty() || name.starts_with('/') => name,
            directory => format!("{directory}/{name}"),
        };
        let files = &mut self.program.files;
        let id = *self.linker.files.entry(path).or_insert_with_key(|path| {
            files.push(path.clone());
            FileId(files.len() as u32 - 1)
        });
        self.files.insert(file, id);
        Some(id)
    }
}

type Part = unsafe extern "C" fn(LLVMMetadataRef, *mut c_uint) -> *const c_char;

fn part(file: LLVMMetadataRef, part: Part) -> String {
    let mut length = 0;
    // SAFETY: the metadata is a file's; LLVM returns that many bytes.
    unsafe {
        let begin = part(file, &raw mut length);
        copied(begin, length)
    }
}

fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut operands = vec![std::ptr::null_mut(); llvm!(LLVMGetMDNodeNumOperands(node)) as usize];
    llvm!(LLVMGetMDNodeOperands(node, operands.as_mut_ptr()));
    operands
}

/// The text of a metadata string.
fn string(value: LLVMValueRef) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let mut length = 0;
    let begin = llvm!(LLVMGetMDString(value, &raw mut length));
    // SAFETY: LLVM returns that many bytes.
    (!begin.is_null()).then(|| unsafe { copied(begin, length) })
}

/// # Safety
/// There are that many bytes, or none if the pointer is null.
unsafe fn copied(begin: *const c_char, length: c_uint) -> String {
    if begin.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    let bytes = unsafe { std::slice::from_raw_parts(begin.cast(), length as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}
