//! The wrappers without the rest of commsan: `driver cc mpicc -c a.c`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let name = args.next().unwrap_or_default();
    match commsan_compile::Language::from_name(&name.to_string_lossy()) {
        Some(language) => commsan_compile::run(language, args.collect()),
        None => {
            eprintln!("usage: driver cc|cxx|fc [COMPILER] ARGS...");
            ExitCode::from(2)
        }
    }
}
