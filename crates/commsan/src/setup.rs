//! `commsan setup`: prepares what would otherwise be prepared when it is first needed.

use crate::exit_code;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use commsan_compiler_wrapper::setup::{self, Outcome};
use std::path::PathBuf;
use std::process::ExitCode;

/// What to prepare.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Compile the plugins that make compilers check accesses inline, or tell why there is none
    Compiler {
        /// Compilers, such as gcc-11 or "mpicc -cc=clang-16"; all that are installed if none is
        /// named
        compilers: Vec<String>,
        /// Install into DIR, commsan's lib directory, instead of the user's cache; then COMPILER
        /// may also be an llvm-config
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

/// Runs the subcommand.
///
/// # Errors
/// When there is no compiler, or one that was named has no plugin.
pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let What::Compiler { compilers, into } = &arguments.what;
    let all = if compilers.is_empty() { setup::compilers() } else { compilers.clone() };
    if all.is_empty() {
        let what = "none of gcc, clang, flang is in PATH";
        return Err(Failure::new(exit_code::NOT_FOUND, what).help("name the compiler"));
    }
    let outcomes: Vec<_> =
        all.iter().map(|compiler| setup::compiler(compiler, into.as_deref())).collect();
    for Outcome { compiler, plugin } in &outcomes {
        match plugin {
            Ok(path) => println!("{compiler}: checks inline, by {}", path.display()),
            Err(lack) => {
                println!("{compiler}: {}", lack.why);
                if !lack.cure.is_empty() {
                    println!("  help: {}", lack.cure);
                }
            }
        }
    }
    let lacking = outcomes.iter().any(|outcome| outcome.plugin.is_err());
    let failed = lacking && !compilers.is_empty();
    Ok(if failed { ExitCode::from(exit_code::SETUP) } else { ExitCode::SUCCESS })
}
