//! The wrappers without the rest of commsan: `driver cc mpicc -c a.c`, or by the name `commsan-cc`;
//! and `driver setup DIRECTORY COMPILER`, which installs a compiler's plugin.

use std::path::Path;
use std::process::ExitCode;

use commsan_compiler_wrapper::{Language, setup};

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let named = |at: usize| {
        let name = Path::new(args.get(at)?).file_name()?;
        Some((Language::from_name(name.to_str()?)?, args[at + 1..].to_vec()))
    };
    match named(0).or_else(|| named(1)) {
        Some((language, args)) => commsan_compiler_wrapper::run(language, args),
        None if args.get(1).is_some_and(|word| word == "setup") => {
            let compiler = args.get(3).map(|word| word.to_string_lossy()).unwrap_or_default();
            match setup::compiler(&compiler, args.get(2).map(Path::new)).plugin {
                Ok(_) => ExitCode::SUCCESS,
                Err(lack) => {
                    eprintln!("{lack}");
                    ExitCode::FAILURE
                }
            }
        }
        None => {
            eprintln!("usage: driver cc|cxx|fc|nvcc [COMPILER] ARGS...");
            ExitCode::from(2)
        }
    }
}
