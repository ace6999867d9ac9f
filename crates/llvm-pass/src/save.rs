//! Saves what the compiler made of a source file, before any optimization, in a section of the
//! object file: `commsan lint` reads it back from objects, libraries and programs, and so analyses
//! what was linked.
//!
//! Each module is a standard bitcode wrapper (LLVM's "Bitcode Wrapper Format"), so that other tools
//! can read it, followed by two fields of our own: a tag and a CRC-32 of the bitcode, since a
//! reader of damaged bitcode need not survive it. `commsan-ir` has the reader.

use crate::ir::Module;
use llvm_sys::prelude::LLVMModuleRef;
use std::ffi::{CStr, c_char};

unsafe extern "C" {
    fn commsan_keep_bytes(
        module: LLVMModuleRef,
        section: *const c_char,
        bytes: *const u8,
        length: usize,
    );
}

/// LLVM knows the name, of clang's command lines: the section is not loaded when the program runs.
/// `.llvmbc`, where clang itself puts bitcode, would not do: with LLVM's plugin installed,
/// binutils' `nm` and `ar` take an object that has it for one of link-time optimization, and find
/// no symbols.
const SECTION: &CStr = c".llvmcmd";
const WRAPPER: u32 = 0x0b17_c0de;
const TAG: [u8; 4] = *b"CSIR";
/// Bytes before the bitcode.
const HEADER: u32 = 28;
/// Of the section's parts, see the shim.
const ALIGNMENT: usize = 4;

/// Unless the user has switched it off: `COMMSAN_LINT=off`.
pub fn is_wanted() -> bool {
    std::env::var_os("COMMSAN_LINT").is_none_or(|value| value != "off")
}

/// Adds the module's own bitcode to it.
pub fn save(module: Module) {
    let bitcode = module.bitcode();
    // Larger than what four bytes can say, a module is left out.
    let Ok(length) = u32::try_from(bitcode.len()) else { return };
    let mut saved = Vec::with_capacity(HEADER as usize + bitcode.len() + ALIGNMENT);
    // Version 0, and no kind of processor: the module says it.
    for field in [WRAPPER, 0, HEADER, length, u32::MAX] {
        saved.extend(field.to_le_bytes());
    }
    saved.extend(TAG);
    saved.extend(crc32fast::hash(&bitcode).to_le_bytes());
    saved.extend(&*bitcode);
    saved.resize(saved.len().next_multiple_of(ALIGNMENT), 0);
    // SAFETY: the shim copies the bytes.
    unsafe { commsan_keep_bytes(module.0, SECTION.as_ptr(), saved.as_ptr(), saved.len()) };
}
