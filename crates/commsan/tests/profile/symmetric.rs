//! Transfers of OpenSHMEM: which PE moves how much to or from which, and which allocation.

use super::totals;
use crate::built::{Mpi, Work};
use crate::profiled::{profile, table};
use std::path::Path;
use std::process::Command;

#[test]
fn puts_gets_and_atomics_have_ends_and_objects() {
    let work = Work::new("symmetric", Mpi::OpenMpi);
    let program = work.path("symmetric");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let source = tests.join("profile/symmetric.c");
    let mut compiler = Command::new("oshcc");
    let compiled = compiler.args(["-g", "-O1"]).arg(source).arg("-o").arg(&program).status();
    assert!(compiled.unwrap().success());
    let run = profile(&work, &[], 3, &program, &[]);
    run.ends_with(0);
    let found = totals(&table(&work, &run, "transfers"));
    let moved = |from: usize, to: usize| {
        let key = (format!("rank {from}"), format!("rank {to}"), "rma".to_owned());
        found.get(&key).copied().unwrap_or_default()
    };
    for me in 0..3 {
        let next = (me + 1) % 3;
        let counts = |to: usize| u64::from(to == 0);
        // Ten puts and perhaps an atomic there, and a get from there.
        assert_eq!(
            moved(me, next),
            (10 + counts(next), 1280 + 8 * counts(next)),
            "{me}: {found:?}"
        );
        let back = counts(me) * u64::from(next == 1);
        assert_eq!(moved(next, me), (1 + back, 64 + 8 * back), "{me}: {found:?}");
    }
    let objects = table(&work, &run, "objects");
    let symmetric: Vec<_> = objects.iter().filter(|row| row["memory"] == "window").collect();
    assert!(
        !symmetric.is_empty() && symmetric.iter().any(|row| row["bytes"] != "0"),
        "{objects:?}"
    );
}
