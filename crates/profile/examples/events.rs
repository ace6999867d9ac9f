//! What figures of events cost: writes a run of so many ranks with so many events each, reads it,
//! and asks for the whole and for parts: `events RUN RANKS EVENTS`.

use commsan_profile::Profile;
use commsan_profile::api::{Error, Events, EventsQuery};
use commsan_rundir::RunDirectory;
use commsan_rundir::events::{
    CHUNK, Collectives, Flow, Messages, Of, Part, Pen, Record, Shape, Tables, What, Writer,
};
use commsan_rundir::traffic::{Calls, Place, Snapshot};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

const EPOCH: u64 = 1_700_000_000_000_000_000;
const CALLS: [&str; 4] = ["MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"];

/// Nanoseconds of a step, in which a rank makes four calls.
const STEP: u64 = 20_000;

fn tables(rank: u32, size: u32, snapshot: &Snapshot) -> Tables {
    let calls = (0..CALLS.len() as u32).map(|call| {
        let (stack, peer, count, time, longest, bins) = Default::default();
        Calls { call, stack, group: Some(0), peer, count, time, longest, bins }
    });
    let shape = |call: u32, flow, begins| Shape { flow, begins, ..Shape::new(What::Call(call), 0) };
    let message =
        |sent, peer| Messages { sent, group: 0, peer: Place::Rank(peer), tag: 0, ordered: true };
    Tables {
        of: Snapshot { calls: calls.collect(), ..snapshot.clone() },
        clock: (0..1000).map(|at| (at << 24, EPOCH + (at << 24))).collect(),
        shapes: vec![
            shape(0, None, true),
            shape(1, None, true),
            shape(2, None, false),
            shape(3, Some(Flow::All), false),
        ],
        messages: vec![message(true, (rank + 1) % size), message(false, (rank + size - 1) % size)],
        collectives: vec![Collectives { group: 0, nth: 0 }],
        ..Tables::default()
    }
}

fn write(run: &RunDirectory, size: u32, events: u64) -> std::io::Result<()> {
    let steps = events / 4;
    for rank in 0..size {
        let snapshot = Snapshot {
            rank,
            size,
            host: "node".to_owned(),
            began: EPOCH,
            until: EPOCH + steps * STEP,
            complete: true,
            bin: 1 << 24,
            epoch: EPOCH,
            strings: CALLS.map(str::to_owned).to_vec(),
            stacks: vec![vec![]],
            groups: vec![(0..size).map(Place::Rank).collect()],
            ..Snapshot::default()
        };
        std::fs::write(run.rank_traffic(rank), snapshot.encode())?;
        let file = BufWriter::new(File::create(run.rank_traffic(rank).with_extension("events"))?);
        let mut writer = Writer::new(file, &tables(rank, size, &snapshot))?;
        let mut bytes = vec![0; CHUNK];
        let (mut at, mut base, mut last) = (0, 0, 0);
        for step in 0..steps {
            let begin = step * STEP + u64::from(rank) * 7 + step * 31 % 900;
            let message = |at, completes| Part {
                of: Of::Messages(at),
                number: step + 1,
                completes,
                bytes: 8,
            };
            let all = Part { of: Of::Collectives(0), ..message(0, false) };
            for (shape, from, length, parts) in [
                (0, 0, 400, vec![message(0, false)]),
                (1, 500, 300, vec![message(1, false)]),
                (2, 1000, 9000, vec![message(0, true), message(1, true)]),
                (3, 11_000, 5000, vec![all]),
            ] {
                let pen = Pen::new(&mut bytes, at, last);
                if !pen.has_room(2) {
                    writer.chunk(base, &bytes[..at])?;
                    (at, base) = (0, last);
                }
                let begin = begin + from;
                let record = Record { shape, begin, end: begin + length, folded: None };
                (at, last) = Pen::new(&mut bytes, at, last).write(&record, &parts);
            }
        }
        writer.chunk(base, &bytes[..at])?;
        writer.finish()?;
    }
    Ok(())
}

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = f();
    println!("{:>7.0} ms  {what}", start.elapsed().as_secs_f64() * 1e3);
    value
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, ranks, events] = &*arguments else { return Err("events RUN RANKS EVENTS".into()) };
    let run = RunDirectory::create_at(Path::new(run))?;
    timed("written", || {
        write(&run, ranks.parse()?, events.parse()?).map_err(Box::<dyn std::error::Error>::from)
    })?;
    let profile = timed("read, both ends compared", || Profile::read(&run, &mut |_| ()))?;
    let lanes = timed("lanes", || profile.lanes());
    println!("{} events of {} lanes", lanes.events, lanes.lanes.len());
    let ask = |what: &str, query: EventsQuery| -> Result<Events, Error> {
        let answer = timed(what, || profile.events(&query))?;
        let marks = answer.rows.iter().map(|row| row.slices.len() + row.coarse.len());
        println!("            {} rows, {} rectangles", answer.rows.len(), marks.sum::<usize>());
        Ok(answer)
    };
    let whole = EventsQuery { width: Some(1200), rows: Some(200), ..EventsQuery::default() };
    ask("the whole run", whole)?;
    for (name, part) in [("a tenth", 10), ("a thousandth", 1000), ("a millionth", 1_000_000)] {
        let from = lanes.until / 2;
        let to = from + (lanes.until / part).max(1000);
        ask(name, EventsQuery { from: Some(from), to: Some(to), ..whole })?;
    }
    timed("critical path", || profile.critical());
    timed("names", || profile.names());
    let few = EventsQuery { lanes: Some((0, (lanes.lanes.len() - 1).min(15))), ..whole };
    ask("sixteen lanes", few)?;
    let until = lanes.until / 2 + 100_000;
    let part =
        EventsQuery { from: Some(lanes.until / 2), to: Some(until), ..EventsQuery::default() };
    let happened = timed("events one by one", || profile.happened(&part))?;
    println!(
        "            {} of {}",
        happened.events.len(),
        happened.events.len() as u64 + happened.more
    );
    Ok(())
}
