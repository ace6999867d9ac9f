//! Errors: a code for the program, and a message for its user.

use crate::abi::Code;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::LazyLock;

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code returned to the program.
    pub code: Code,
    /// The message that `ncclGetLastError` returns.
    pub message: String,
}

/// The result of a call.
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    /// An invalid argument.
    pub fn argument(message: impl Into<String>) -> Failure {
        Failure { code: Code::InvalidArgument, message: message.into() }
    }

    /// A call that is invalid now, or does not match those of other ranks.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { code: Code::InvalidUsage, message: message.into() }
    }

    /// A failed system call.
    pub fn system(what: &str, error: &std::io::Error) -> Failure {
        Failure { code: Code::System, message: format!("{what}: {error}") }
    }

    /// Another rank has exited or failed.
    pub fn remote(message: impl Into<String>) -> Failure {
        Failure { code: Code::Remote, message: message.into() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Stores the message that `ncclGetLastError` returns to this thread, and prints it if `NCCL_DEBUG`
/// says so.
pub fn note(failure: &Failure) {
    static PRINTS: LazyLock<bool> = LazyLock::new(|| {
        let level = std::env::var("NCCL_DEBUG").unwrap_or_default().to_uppercase();
        ["WARN", "INFO", "TRACE"].contains(&level.as_str())
    });
    if *PRINTS {
        eprintln!("commsan: simulated NCCL: {}", failure.message);
    }
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// The last message of this thread, valid until the next one.
pub fn last() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// The text that `ncclGetErrorString` returns.
pub fn describe(code: c_int) -> &'static CStr {
    match Code::of(code) {
        Some(Code::Success) => c"no error",
        Some(Code::UnhandledCuda) => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        Some(Code::System) => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
        Some(Code::Internal) => c"internal error - please report this issue to the NCCL developers",
        Some(Code::InvalidArgument) => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
        Some(Code::InvalidUsage) => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
        Some(Code::Remote) => c"remote process exited or there was a network error",
        Some(Code::InProgress) => c"NCCL operation in progress",
        Some(Code::Timeout) => c"NCCL operation timed out",
        None => c"unknown result code",
    }
}
