//! Stores the unoptimized bitcode of a source file in a section of the object file. `commsan lint`
//! reads it from objects, libraries and programs, and so analyses what was linked.
//!
//! Each module is a standard bitcode wrapper (LLVM's "Bitcode Wrapper Format"), so that other tools
//! can read it. Two fields of commsan's follow: a tag and a CRC-32 of the bitcode, since a reader
//! of damaged bitcode may crash. `commsan-ir` contains the reader.

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

/// LLVM uses this name for clang's command lines, so the section is not loaded when the program
/// runs. `.llvmbc`, the section of clang's own bitcode, is unsuitable: with LLVM's plugin
/// installed, binutils' `nm` and `ar` take an object that has it for one of link-time optimization,
/// and find no symbols.
const SECTION: &CStr = c".llvmcmd";
const WRAPPER: u32 = 0x0b17_c0de;
const TAG: [u8; 4] = *b"CSIR";
/// Size of the header in front of the bitcode.
const HEADER: u32 = 28;
/// Alignment of the section's parts, see the shim.
const ALIGNMENT: usize = 4;

/// Whether bitcode is stored: `COMMSAN_LINT=off` disables it.
pub fn is_wanted() -> bool {
    std::env::var_os("COMMSAN_LINT").is_none_or(|value| value != "off")
}

/// Stores the module's own bitcode in the module.
pub fn save(module: Module) {
    let bitcode = module.bitcode();
    // A module whose size exceeds 32 bits is left out.
    let Ok(length) = u32::try_from(bitcode.len()) else { return };
    let mut saved = Vec::with_capacity(HEADER as usize + bitcode.len() + ALIGNMENT);
    // Version 0 and no processor type, which the module itself contains.
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
