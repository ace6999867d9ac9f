//! Jobs on two nodes that share no memory, started by the launchers' own agents: see
//! `support/nodes.rs`. Where there can be none, every test says so and passes.

#[path = "support/built.rs"]
mod built;
#[path = "support/nodes.rs"]
mod nodes;
#[path = "support/waiting.rs"]
mod waiting;

use built::{Installed, Mpi, Run, Work, launchers};
use nodes::Nodes;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};
use waiting::Test;

/// The wrong ways of `steps.c`, with what is found, and the right ones.
const WAYS: [(&str, &str, &str); 3] = [
    ("deadlock", "exchange", "CS-DLK-01 deadlock"),
    ("mismatch", "collective", "CS-COL-02 mismatch"),
    ("same_place", "own_place", "CS-RMA-04 window"),
];

const TESTS: [Test<Nodes>; 3] = [
    ("run_around_mpirun", run_around_mpirun),
    ("exec_below_mpirun", exec_below_mpirun),
    ("ranks_of_all_nodes_answer_a_roll_call", ranks_of_all_nodes_answer_a_roll_call),
];

fn main() {
    waiting::run(Nodes::start, &TESTS, |_| Ok(()));
}

/// A launcher on the first node, with a rank on each.
fn launcher(nodes: &Nodes, mpi: Mpi) -> Vec<String> {
    let agent = nodes.agent();
    let options = launchers::across(mpi.key(), "node0:1,node1:1", agent.to_str().unwrap());
    let ranks = ["-n", "2"].map(str::to_owned);
    [mpi.tool("mpirun")].into_iter().chain(options).chain(ranks).collect()
}

/// Whether a job was still running at its limit.
fn hangs(run: &Run) -> bool {
    run.hung || run.code == Some(124)
}

/// Runs `launcher [commsan exec --] program way`, below `commsan run` or not. Again if it hangs:
/// over UCX's TCP, MPICH 4.0 does in `MPI_Finalize`, once in fifty jobs, natively, too.
fn job(nodes: &Nodes, work: &Work, is_outside: bool, program: &str, way: &str) -> Run {
    let once = || {
        let directory = work.fresh("run");
        let commsan = work.commsan(&[] as &[&str]).get_program().to_str().unwrap().to_owned();
        let command = if is_outside { "run" } else { "exec" };
        let own =
            [&commsan, command, "--stuck-after", "1", "--output", directory.to_str().unwrap()];
        let own: Vec<String> =
            own.map(str::to_owned).into_iter().chain(["--".to_owned()]).collect();
        let launcher = launcher(nodes, work.mpi);
        let all = if is_outside { [own, launcher].concat() } else { [launcher, own].concat() };
        let mut words: Vec<&str> = all.iter().map(String::as_str).collect();
        words.extend([program, way]);
        let mut limited = vec!["20"];
        limited.extend(words);
        let on_node = nodes.command(0, "timeout", &limited);
        let arguments: Vec<_> = on_node.get_args().collect();
        let mut command = work.command(on_node.get_program().to_str().unwrap(), &arguments);
        Run { directory, ..work.finish(command.env("UCX_TLS", "tcp,self")) }
    };
    let runs = (0..3).map(|_| once());
    let mut runs = runs.filter(|run| !hangs(run));
    runs.next().unwrap_or_else(once)
}

fn run_around_mpirun(nodes: &Nodes, mpi: Mpi) {
    let work = Work::new("nodes", mpi);
    let program = work.compile("launchers/steps.c", &["-g"]);
    let job = |way| job(nodes, &work, true, program.to_str().unwrap(), way);
    for (wrong, right, code) in WAYS {
        job(wrong).ends_with(66).finds(&[code]);
        let done = job(right);
        done.ends_with(0).finds(&[]).says("no findings in 2 ranks on node0, node1");
        let hosts = [0, 1].map(|rank| done.log(rank)[0]["host"].clone());
        assert_eq!(hosts, ["node0", "node1"]);
    }
}

fn exec_below_mpirun(nodes: &Nodes, mpi: Mpi) {
    let work = Work::new("nodes", mpi);
    let program = work.compile("launchers/steps.c", &["-g"]);
    let job = |way| job(nodes, &work, false, program.to_str().unwrap(), way);
    for (wrong, right, code) in WAYS {
        let failed = job(wrong);
        assert!(!hangs(&failed) && failed.code != Some(0), "{}", failed.text());
        failed.finds(&[code]);
        assert_eq!(failed.err.matches("report in").count(), 1, "{}", failed.text());
        job(right).ends_with(0).finds(&[]);
    }
}

fn ranks_of_all_nodes_answer_a_roll_call(nodes: &Nodes, mpi: Mpi) {
    let work = Work::new("nodes", mpi);
    let program = work.compile("robust/whereabouts.c", &["-g", "-pthread"]);
    let commsan = work.commsan(&[] as &[&str]).get_program().to_str().unwrap().to_owned();
    let on_node = |node: usize, program: &str, arguments: &[&str]| {
        let command = nodes.command(node, program, arguments);
        let arguments: Vec<_> = command.get_args().collect();
        let mut command = work.command(command.get_program().to_str().unwrap(), &arguments);
        command.env("UCX_TLS", "tcp,self");
        command
    };
    let directory = work.fresh("run");
    let directory = directory.to_str().unwrap();
    let launcher = launcher(nodes, mpi);
    let run = [commsan.as_str(), "run", "--output", directory, "--"];
    let job = launcher.iter().map(String::as_str).chain([program.to_str().unwrap(), "sleeps"]);
    // It ends by itself if this test fails.
    let words: Vec<&str> = ["120"].into_iter().chain(run).chain(job).collect();
    let mut running = on_node(0, "timeout", &words).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    // The first rank is on another node than the one that asks.
    let expected = |call: &Value| {
        let is = |rank: u64, key: &str, value: &str| {
            let rows = call["rows"].as_array().map_or(&[][..], Vec::as_slice);
            let of_rank = |row: &&Value| row["ranks"] == serde_json::json!([rank]);
            rows.iter().find(of_rank).is_some_and(|row| row[key] == value)
        };
        is(0, "doing", "sleeps") && is(1, "call", "MPI_Allreduce") && call["answered"] == 2
    };
    loop {
        let status = work.finish(&mut on_node(1, &commsan, &["status", "--json", directory]));
        let answer: Value = serde_json::from_str(&status.out).unwrap_or_default();
        if expected(&answer["jobs"][0]) {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(100), "{}", status.text());
        std::thread::sleep(Duration::from_millis(100));
    }
    // SAFETY: `kill` takes no memory; the child is not reaped.
    unsafe { libc::kill(running.id().cast_signed(), libc::SIGTERM) };
    running.wait().unwrap();
}
