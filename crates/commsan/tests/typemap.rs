//! The bytes of datatypes as commsan sees them are those that the MPI libraries pack.
//!
//! `tests/typemap/random_types.c` makes random datatypes, finds out what each touches, and accesses
//! every byte in and around it while an operation of that type is pending. It prints what must be
//! in the log, which is read here: every access to a byte of the type was noticed, no other was.

#[path = "support/built.rs"]
mod built;

use built::{Mpi, Work};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;

/// Types in each run, one for each call that starts an operation in the program.
const TYPES: usize = 256;

#[test]
fn openmpi() {
    check(Mpi::OpenMpi, [1, 2, 3, 4]);
}

#[test]
fn mpich() {
    check(Mpi::Mpich, [1, 2, 3, 4]);
}

/// What the program says about one of its types.
struct Expected {
    accesses: u64,
    meets: bool,
    /// Address of the first byte, size of the span, bytes touched.
    operation: [u64; 3],
    text: String,
}

/// What the log says about it.
#[derive(Default)]
struct Observed {
    accesses: u64,
    meets: bool,
}

fn check(mpi: Mpi, seeds: [u32; 4]) {
    let work = Work::new("typemap", mpi);
    let program = work.compile("typemap/random_types.c", &[]);
    for seed in seeds {
        let (seed, types) = (seed.to_string(), TYPES.to_string());
        let run = work.run(&["--max-findings", "100000"], 1, &program, &[&seed, &types]);
        assert_eq!(run.code, Some(66), "{}", run.text());
        let (gap, expected) = read_output(&run.out);
        assert_eq!(expected.len(), TYPES, "{}", run.text());
        let log = run.log(0);
        let problems = differences(&expected, gap, &log, program.to_str().unwrap());
        assert!(problems.is_empty(), "{mpi:?}, seed {seed}:\n{problems}");
    }
}

fn read_output(text: &str) -> ((u64, u64), HashMap<u64, Expected>) {
    let (mut gap, mut types) = ((0, 0), HashMap::new());
    for line in text.lines() {
        let number = |word: &str| word.parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        let words: Vec<&str> = line.splitn(8, ' ').collect();
        match words[..] {
            ["gap", from, to] => gap = (number(from), number(to)),
            ["type", tag, accesses, meets, address, size, bytes, text] => {
                let expected = Expected {
                    accesses: number(accesses),
                    meets: meets == "1",
                    operation: [address, size, bytes].map(number),
                    text: text.to_owned(),
                };
                types.insert(number(tag), expected);
            }
            _ => panic!("{line}"),
        }
    }
    (gap, types)
}

/// What the log of the rank has too much or too little.
fn differences(
    expected: &HashMap<u64, Expected>,
    gap: (u64, u64),
    log: &[Value],
    program: &str,
) -> String {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let mut problems = String::new();
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let mut own_module = u64::MAX;
    for record in log {
        match record["t"].as_str() {
            Some("module") if record["path"] == program => own_module = number(&record["id"]),
            Some("again") => {
                counts.insert(number(&record["id"]), number(&record["count"]));
            }
            Some("note") => writeln!(problems, "note: {}", record["text"]).unwrap(),
            _ => {}
        }
    }
    let mut observed: HashMap<u64, Observed> = HashMap::new();
    // Random types overlap, which a receive must not: that is another test's subject
    // (arguments/overlap).
    let is_of_accesses =
        |record: &&Value| record["t"] == "finding" && record["code"] != "CS-ARG-04";
    for finding in log.iter().filter(is_of_accesses) {
        let operation = &finding["operation"];
        let tag = number(&operation["tag"]);
        let Some(of) = expected.get(&tag) else {
            writeln!(problems, "about another operation: {finding}").unwrap();
            continue;
        };
        let frames = finding["sites"][0]["frames"].as_array().unwrap();
        let in_gap = |frame: &Value| {
            number(&frame[0]) == own_module && (gap.0..gap.1).contains(&number(&frame[1]))
        };
        if frames.iter().any(in_gap) {
            writeln!(problems, "{}: not its bytes: {}", of.text, finding["access"]).unwrap();
            continue;
        }
        if of.operation != ["addr", "size", "bytes"].map(|key| number(&operation[key])) {
            writeln!(problems, "{}: not {:?}: {operation}", of.text, of.operation).unwrap();
        }
        let seen = observed.entry(tag).or_default();
        match finding["code"].as_str() {
            Some("CS-BUF-04") => seen.meets = true,
            _ => seen.accesses += counts.get(&number(&finding["id"])).unwrap_or(&1),
        }
    }
    for (tag, of) in expected {
        let seen = observed.remove(tag).unwrap_or_default();
        if seen.accesses != of.accesses {
            let (seen, all) = (seen.accesses, of.accesses);
            writeln!(problems, "{}: {seen} of {all} accesses seen", of.text).unwrap();
        }
        if seen.meets != of.meets {
            writeln!(problems, "{}: overlap {}, not {}", of.text, seen.meets, of.meets).unwrap();
        }
    }
    problems
}
