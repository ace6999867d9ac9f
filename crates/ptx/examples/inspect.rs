//! What this crate sees in a PTX file or a fatbin:
//! `cargo run --release -p commsan-ptx --example inspect FILE…`

use commsan_ptx::{Module, Op, fatbin};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let texts = match fatbin::size(&bytes) {
            Ok(_) => fatbin::read(&bytes)?.iter().filter_map(|i| i.ptx().transpose()).collect(),
            Err(_) => Ok(vec![String::from_utf8_lossy(&bytes).into_owned()]),
        };
        for text in texts? {
            show(&path, &text)?;
        }
    }
    Ok(())
}

fn show(path: &str, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let module = Module::parse(text)?;
    let rate = text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!("{path}: {} for {:?}, {rate:.0} MB/s", module.functions.len(), module.target);
    for function in &module.functions {
        let Some(body) = &function.body else { continue };
        println!("  {} ({} instructions)", function.name, body.instructions.len());
        for statement in &body.unknown {
            println!("    unknown: {statement}");
        }
        debug_assert_eq!(
            body.unknown.len(),
            body.instructions.iter().filter(|i| i.op == Op::Unknown).count()
        );
    }
    Ok(())
}
