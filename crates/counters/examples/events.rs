//! What recording events costs: `cargo run --release -p commsan-counters --example events [N]`
//! records N (default 10⁸) calls of ten kinds with a message each, in the default budget, and
//! writes them.

use commsan_callsite::Stacks;
use commsan_counters::{Origin, Partner, Settings, Traffic, ticks, write_events};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let number = std::env::args().nth(1).and_then(|number| number.parse().ok());
    let number: u64 = number.unwrap_or(100_000_000);
    let mut traffic = Traffic::new(Settings::default());
    let calls = ["MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait"].map(|name| {
        let call = traffic.strings.number(name);
        let now = ticks();
        traffic.record_call(call, Stacks::EMPTY, Partner::default(), (now, now))
    });
    let kinds: Vec<_> =
        calls.iter().filter_map(|calls| traffic.event_of(*calls, 0, false, None)).collect();
    let began = Instant::now();
    let mut each = kinds.iter().cycle();
    for nth in 0..number {
        let Some(of) = each.next() else { break };
        let now = ticks();
        let part = traffic.part_of(None, 8 + nth % 64);
        traffic.record_event(*of, (now, now + 500), &[part]);
    }
    let took = began.elapsed();
    println!("{:.1} ns a call", took.as_nanos() as f64 / number as f64);
    println!("{} bytes of memory", traffic.size_of_events());
    let path = std::env::temp_dir().join(format!("commsan-{}.events", std::process::id()));
    let began = Instant::now();
    write_events(&mut traffic, &Origin::default(), true, &path)?;
    println!("{} bytes written in {:?}", std::fs::metadata(&path)?.len(), began.elapsed());
    std::fs::remove_file(&path)
}
