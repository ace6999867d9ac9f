//! Writes a run that no program has made: `synthetic DIR [RANKS [OBJECTS [LINES]]]`.

use commsan_profile::synthetic::{Shape, write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<u32>> = arguments.iter().skip(1).map(|a| a.parse().ok()).collect();
    let (Some(directory), Some(numbers)) = (arguments.first(), numbers) else {
        eprintln!("usage: synthetic DIR [RANKS [OBJECTS [LINES]]]");
        return ExitCode::from(2);
    };
    let number = |position: usize, default| numbers.get(position).copied().unwrap_or(default);
    let shape = Shape {
        ranks: number(0, 4096),
        per_node: 64,
        devices: 4,
        objects: number(1, 1000),
        lines: number(2, 100_000),
        bins: 128,
    };
    match write(Path::new(directory), &shape) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write `{directory}`: {error}");
            ExitCode::FAILURE
        }
    }
}
