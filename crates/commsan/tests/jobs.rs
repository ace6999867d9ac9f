//! Several jobs in one run, at the same time and one after the other: each has its own findings.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Work};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

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

/// Jobs of one program, as the tests of a project often are.
#[test]
fn jobs_are_named_after_tests_and_arguments() {
    for mpi in MPIS {
        let work = Work::new("named", mpi);
        let program = work.compile("launchers/steps.c", &["-g"]);
        let (launcher, program) = (mpi.tool("mpirun"), program.display().to_string());
        let job = format!("{launcher} -n 2 {program}");
        // One test is a script, as far as its own command is concerned.
        let script = work.path("script");
        fs::write(&script, format!("#!/bin/sh\nexec {job} $1\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let path = work.path("build");
        fs::create_dir(&path).unwrap();
        let find = work.command("which", &[&launcher]).output().unwrap().stdout;
        let found = String::from_utf8(find).unwrap();
        let tests = format!(
            "add_test([[no mistake]] {0} -n 2 {program} own_place)\nadd_test(scripted {1} same_place)\n\
             add_test(root {0} -n 2 {program} mismatch)\n\
             set_tests_properties(root PROPERTIES ENVIRONMENT COMMSAN_JOB=named_root)\n",
            found.trim(),
            script.display(),
        );
        fs::write(path.join("CTestTestfile.cmake"), tests).unwrap();
        let test = "PYTEST_CURRENT_TEST='test_halo.py::test_wide (call)'";
        let all = format!("ctest --test-dir build; {test} {job} same_place; {job} own_place x");
        let run = work.run_job(&["--stuck-after", "1"], &["sh", "-c", &all]);
        run.ends_with(66)
            .says("\nscripted (job 2 of 5), 2 ranks:\nerror[CS-RMA-04]")
            .says("\nnamed_root (job 3 of 5), 2 ranks:\nerror[CS-COL-02]")
            .says("\ntest_halo.py::test_wide (job 4 of 5), 2 ranks:\nerror[CS-RMA-04]")
            .says("no findings in no mistake (job 1 of 5), steps own_place x (job 5 of 5)");
        let report = run.report();
        let jobs = report["run"]["jobs"].as_array().unwrap();
        assert_eq!(jobs[0]["name"], "no mistake");
        assert_eq!(jobs[4]["name"], serde_json::Value::Null);
        assert_eq!(jobs[4]["arguments"], serde_json::json!(["own_place", "x"]));
        // Names are kept: the log of tests will be overwritten.
        fs::remove_dir_all(&path).unwrap();
        let directory = run.directory.to_str().unwrap();
        let shown = work.finish(&mut work.commsan(&["report", directory]));
        shown.says("scripted (job 2 of 5), 2 ranks:");
        for format in ["sarif", "junit", "github", "codequality", "html"] {
            let report = ["report", directory, "--format", format];
            let shown = work.finish(&mut work.commsan(&report));
            for job in ["scripted (job 2 of 5)", "test_halo.py::test_wide (job 4 of 5)"] {
                assert!(shown.out.contains(job), "{format}: {job}\n{}", shown.text());
            }
        }
    }
}
