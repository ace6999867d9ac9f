//! Several jobs in one run, at the same time and one after the other: each has its own findings.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Work};
use std::collections::BTreeMap;
use std::fs;

#[test]
fn each_job_of_a_run_is_reported_by_its_name() {
    for mpi in MPIS {
        let work = Work::new("jobs", mpi);
        let program = work.compile("launchers/steps.c", &["-g"]);
        // Of several sizes and under names of their own, as those of a project's tests.
        let jobs = [
            ("test_halo", "3", "same_place", "CS-RMA-04 window"),
            ("test_wave", "2", "own_place", ""),
            ("test_root", "2", "mismatch", "CS-COL-02 mismatch"),
        ];
        for (name, ..) in jobs {
            fs::copy(&program, work.path(name)).unwrap();
        }
        let launcher = mpi.tool("mpirun");
        let job = |(name, ranks, way, _)| {
            format!("{launcher} -n {ranks} {} {way}", work.path(name).display())
        };
        let [halo, wave, root] = jobs.map(job);
        let script = format!("{halo} & {wave}; wait $!; {root}; {wave}");
        let run = work.run_job(&["--stuck-after", "1"], &["sh", "-c", &script]);
        run.ends_with(66)
            .says("in 9 ranks of 4 jobs")
            .says("error[CS-COL-02]: test_root (job 3): rank");
        run.says("test_root (job 3 of 4), 2 ranks:\nerror[CS-COL-02]");

        let report = run.report();
        let all = report["run"]["jobs"].as_array().unwrap();
        let name = |program: &serde_json::Value| {
            program.as_str().unwrap().rsplit('/').next().unwrap().to_owned()
        };
        let names: Vec<_> = all.iter().map(|job| name(&job["program"])).collect();
        let mut sorted = names.clone();
        // The first two begin at the same time.
        sorted[..2].sort();
        assert_eq!(sorted, ["test_halo", "test_wave", "test_root", "test_wave"], "{}", run.text());
        let mut found: BTreeMap<&str, String> = BTreeMap::new();
        for (finding, told) in report["findings"].as_array().unwrap().iter().zip(run.findings()) {
            let job = finding["job"].as_u64().unwrap() as usize;
            found.insert(&names[job - 1], told);
        }
        let expected = jobs.iter().filter(|job| !job.3.is_empty());
        let expected: BTreeMap<_, _> = expected.map(|job| (job.0, job.3.to_owned())).collect();
        assert_eq!(found, expected, "{}", run.text());
        run.is_silent_about("damaged");
    }
}
