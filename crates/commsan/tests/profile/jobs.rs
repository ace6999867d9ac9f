//! Runs of several jobs: started one after the other, spawned, or connected.

use super::halo;
use crate::built::{Installed, MPIS, Mpi, Run, Work};
use crate::profiled::{number, profile_job, table};
use std::collections::BTreeMap;
use std::fs;

/// Jobs that a script starts one after the other.
#[test]
fn jobs_of_one_run_are_kept_apart() {
    for mpi in MPIS {
        let (work, program) = halo(mpi);
        let (launcher, program) = (work.mpi.tool("mpirun"), program.to_str().unwrap());
        let script = format!("{launcher} -n 2 {program} && {launcher} -n 3 {program} && {program}");
        let run = profile_job(&work, &[], &["sh", "-c", &script]);
        run.ends_with(0).says("6 ranks of 3 jobs");
        let mut halos = BTreeMap::new();
        for row in table(&work, &run, "transfers") {
            if row["call"] == "MPI_Isend" && row["tag"] == "0" {
                let ends = (row["source"].clone(), row["target"].clone());
                let count = (number(&row, "count"), &*row["object"], &*row["target_object"]);
                assert_eq!(count, (20, "u", "edge"), "{mpi:?}: {row:?}");
                halos.insert(ends, number(&row, "bytes"));
            }
        }
        let names = |job: u32, size: u32| {
            (0..size).map(move |rank| match job {
                1 => format!("rank {rank}"),
                _ => format!("rank {rank} of job {job}"),
            })
        };
        let places = table(&work, &run, "places");
        let all = names(1, 2).chain(names(2, 3)).chain(names(3, 1));
        let found = places.iter().map(|row| (row["name"].clone(), &*row["present"]));
        assert!(found.eq(all.map(|name| (name, "1"))), "{mpi:?}: {places:#?}");
        let rings = [(1, 2), (2, 3)].map(|(job, size)| {
            let next = names(job, size).cycle().skip(1);
            names(job, size).zip(next).map(|ends| (ends, 1600)).collect::<Vec<_>>()
        });
        assert!(
            rings.concat().iter().all(|(ends, bytes)| halos.get(ends) == Some(bytes)),
            "{halos:?}"
        );
    }
}

#[test]
fn jobs_that_meet_know_each_other() {
    let work = Work::new("spawn", Mpi::OpenMpi);
    let program = work.path("spawn");
    work.compile_plain(&program, "profile/spawn.c", &["-g", "-fno-omit-frame-pointer"]);
    let launcher = work.mpi.tool("mpirun");
    for how in ["one", "several"] {
        let job = [&*launcher, "--host", "localhost:8", "-n", "2", program.to_str().unwrap(), how];
        two_and_three(&work, &profile_job(&work, &[], &job));
    }
    // Jobs that different launchers have started meet through a server of Open MPI's.
    let [port, server] = ["port", "server"].map(|name| work.path(name));
    for path in [&port, &server] {
        let _ = fs::remove_file(path);
    }
    let [port, server, program] = [&port, &server, &program].map(|path| path.to_str().unwrap());
    let launch = format!("{launcher} --ompi-server file:{server}");
    let script = format!(
        "ompi-server --no-daemonize -r {server} & own=$!
        while [ ! -s {server} ]; do sleep 0.1; done
        {launch} -n 2 {program} accept {port} & accepts=$!
        {launch} -n 3 {program} connect {port}; code=$?
        wait $accepts || code=$?
        kill $own; exit $code"
    );
    two_and_three(&work, &profile_job(&work, &[], &["sh", "-c", &script]));
}

/// What `spawn.c` moves, whichever of its jobs began first.
fn two_and_three(work: &Work, run: &Run) {
    run.ends_with(0).says("5 ranks of 2 jobs").says("note: job 1 is spawn");
    let rows = table(work, run, "transfers");
    let places = table(work, run, "places");
    // Arrays on the stack are one object for each rank, wherever they are used.
    let objects = table(work, run, "objects");
    let on_stack: Vec<_> = objects.iter().map(|row| (&*row["memory"], &*row["name"])).collect();
    assert_eq!(on_stack, [("stack", "stack of main"); 5]);
    let three_are_first = places.iter().any(|row| row["name"] == "rank 2");
    let of = |call: &str| {
        let rows = rows.iter().filter(|row| row["call"] == call);
        let ends = rows.map(|row| {
            let short = |place: &str| {
                let rank = row[place].replace("rank ", "");
                let plain = rank.strip_suffix(" of job 2");
                match (plain, three_are_first) {
                    (Some(rank), false) => format!("{rank}'"),
                    (None, true) => format!("{rank}'"),
                    (Some(rank), true) => rank.to_owned(),
                    (None, false) => rank,
                }
            };
            (format!("{} > {}", short("source"), short("target")), number(row, "bytes"))
        });
        ends.collect::<BTreeMap<_, _>>()
    };
    let expected = |ends: &[&str], bytes| -> BTreeMap<String, u64> {
        ends.iter().map(|ends| ((*ends).to_owned(), bytes)).collect()
    };
    assert_eq!(of("MPI_Send"), expected(&["2' > 1"], 32));
    assert_eq!(of("MPI_Bcast"), expected(&["0 > 0'", "0 > 1'", "0 > 2'"], 16));
    let within =
        ["0 > 1", "1 > 0", "0' > 1'", "0' > 2'", "1' > 0'", "1' > 2'", "2' > 0'", "2' > 1'"];
    assert_eq!(of("MPI_Allreduce"), expected(&within, 8));
    let all = ["0", "1", "0'", "1'", "2'"];
    let pairs = all.iter().flat_map(|from| all.iter().map(move |to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to).map(|(from, to)| format!("{from} > {to}"));
    assert_eq!(of("MPI_Allgather"), pairs.map(|ends| (ends, 4)).collect());
}
