//! Prints what this crate reads from a PTX file or a fatbin:
//! `cargo run --release -p commsan-ptx --example inspect FILE…`

use commsan_ptx::{Module, Summary, fatbin};
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
    let rate = |start: Instant| text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    Module::parse_some(text, |_| false)?;
    let skimmed = rate(start);
    let start = Instant::now();
    let module = Module::parse(text)?;
    println!(
        "{path}: {} for {:?}, {:.0} MB/s, {skimmed:.0} MB/s without bodies",
        module.functions.len(),
        module.target,
        rate(start)
    );
    for (function, at) in module.functions.iter().zip(0..) {
        let Some(body) = &function.body else { continue };
        println!("  {} ({} instructions)", function.name, body.instructions.len());
        for statement in &body.unknown {
            println!("    unknown: {statement}");
        }
        if function.entry {
            let start = Instant::now();
            let accesses = Summary::of(&module, at).accesses().len();
            println!("    {accesses} accesses, found in {:.1?}", start.elapsed());
        }
    }
    Ok(())
}
