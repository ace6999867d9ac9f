//! The wrappers without the rest of commsan: `driver cc mpicc -c a.c`, or by the name `commsan-cc`.

use std::path::Path;
use std::process::ExitCode;

use commsan_compiler_wrapper::Language;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let named = |at: usize| {
        let name = Path::new(args.get(at)?).file_name()?;
        Some((Language::from_name(name.to_str()?)?, args[at + 1..].to_vec()))
    };
    match named(0).or_else(|| named(1)) {
        Some((language, args)) => commsan_compiler_wrapper::run(language, args),
        None => {
            eprintln!("usage: driver cc|cxx|fc|nvcc [COMPILER] ARGS...");
            ExitCode::from(2)
        }
    }
}
