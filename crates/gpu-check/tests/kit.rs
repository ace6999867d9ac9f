//! A small kit, packed from a repository of three CUDA programs and run on simulated devices.
//!
//! Needs what `make test` builds before: `target/dist` and the toolkit in `target/cuda`. Another
//! build is tested with `COMMSAN_DIST=/path/to/dist`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A race that is found from the kernel's code, its corrected twin, and a race that only the
/// accesses of an execution show.
const CASES: [&str; 3] =
    ["fail/cuda/serial_streams", "pass/cuda/serial_streams", "fail/cuda/indices_sparse"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A directory laid out as the repository, with a few programs of each kind that a kit has.
fn small_repository(at: &Path) {
    let whole = repository();
    let dist = std::env::var_os("COMMSAN_DIST").map_or(whole.join("target/dist"), PathBuf::from);
    assert!(dist.join("bin/commsan").is_file(), "{} is missing; run `make build`", dist.display());
    let programs = CASES.map(|case| format!("tests/cases/{case}.cu"));
    let others = ["bench/programs/launches.cu", "examples/jacobi_cuda/jacobi.cu"];
    for file in programs.iter().map(String::as_str).chain(others) {
        fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
        fs::copy(whole.join(file), at.join(file)).unwrap();
    }
    // Headers beside them.
    for directory in ["bench/programs", "examples/jacobi_cuda"] {
        for entry in fs::read_dir(whole.join(directory)).unwrap() {
            let header = entry.unwrap().path();
            if header.extension().is_some_and(|extension| extension == "h") {
                fs::copy(&header, at.join(directory).join(header.file_name().unwrap())).unwrap();
            }
        }
    }
    fs::create_dir(at.join("target")).unwrap();
    symlink(dist, at.join("target/dist")).unwrap();
}

#[track_caller]
fn gpu_check(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_commsan-gpu-check"))
        .args(arguments)
        .env_remove("COMMSAN_GPU_OPAQUE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {text}");
    output
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The entries of a list by their names.
fn by_name(list: &Value) -> BTreeMap<&str, &Value> {
    list.as_array().unwrap().iter().map(|one| (one["name"].as_str().unwrap(), one)).collect()
}

/// Code, role and line of what a case of the manifest expects.
fn sites(case: &Value, which: &str) -> Vec<(String, String, u64)> {
    let text = |seen: &Value, key: &str| seen[key].as_str().unwrap().to_owned();
    let all = case[which].as_array().unwrap().iter();
    all.map(|seen| (text(seen, "code"), text(seen, "role"), seen["line"].as_u64().unwrap()))
        .collect()
}

/// Code, role and line of the marks in a program.
fn marks(case: &str) -> Vec<(String, String, u64)> {
    let text = fs::read_to_string(repository().join(format!("tests/cases/{case}.cu"))).unwrap();
    let mark = |(line, text): (u64, &str)| {
        let mut words = text.split_once("//~ ")?.1.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned(), line))
    };
    let mut marks: Vec<_> = (1..).zip(text.lines()).filter_map(mark).collect();
    marks.sort();
    marks
}

#[test]
fn a_small_kit_is_packed_and_run() {
    let directory = tempfile::tempdir().unwrap();
    let (small, kit) = (directory.path().join("repository"), directory.path().join("kit"));
    small_repository(&small);
    fs::create_dir(&kit).unwrap();
    symlink(small.join("target/dist"), kit.join("commsan")).unwrap();
    let toolkit = repository().join("target/cuda");
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    gpu_check(&["pack", "--repository", &path(&small), "--toolkit", &path(&toolkit), &path(&kit)]);

    let manifest = json(&kit.join("manifest.json"));
    let cases = by_name(&manifest["cases"]);
    assert_eq!(cases.keys().copied().collect::<Vec<_>>(), {
        let mut names = CASES.to_vec();
        names.sort_unstable();
        names
    });
    let [race, fixed, observed] = CASES.map(|name| cases[name]);
    assert!(!marks(CASES[0]).is_empty());
    assert_eq!(sites(race, "simulated"), marks(CASES[0]));
    assert_eq!(sites(race, "expected"), marks(CASES[0]), "found without the device's report");
    assert!(sites(fixed, "simulated").is_empty() && sites(fixed, "expected").is_empty());
    assert_eq!(sites(observed, "simulated"), marks(CASES[2]));
    assert!(sites(observed, "expected").is_empty(), "an opaque device reports no accesses");

    // Only the cases: timed programs need the kit's MPI.
    let results = directory.path().join("results.json");
    let ran = gpu_check(&[
        "run",
        "--gpu",
        "sim:1",
        "--only",
        "/cuda/",
        "--work",
        &path(&directory.path().join("work")),
        "--output",
        &path(&results),
        &path(&kit),
    ]);
    let results = json(&results);
    assert_eq!(results["gpu"], "sim:1");
    let ended = by_name(&results["cases"]);
    assert_eq!(ended.len(), CASES.len());
    for (name, result) in &ended {
        assert_eq!(result["verdict"], "same", "{name}: {result:#}");
        assert_eq!(result["native"], "0", "{name}: {result:#}");
        let exit = if sites(cases[name], "expected").is_empty() { "0" } else { "66" };
        assert_eq!(result["checked"], exit, "{name}: {result:#}");
    }
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));

    // What is expected and not found makes it fail.
    let mut changed = manifest.clone();
    let list = changed["cases"].as_array_mut().unwrap();
    let case = list.iter_mut().find(|case| case["name"] == CASES[1]).unwrap();
    case["expected"] = race["expected"].clone();
    fs::write(kit.join("manifest.json"), changed.to_string()).unwrap();
    let results = directory.path().join("changed.json");
    let ran = gpu_check(&[
        "run",
        "--gpu",
        "sim:1",
        "--only",
        CASES[1],
        "--work",
        &path(&directory.path().join("work")),
        "--output",
        &path(&results),
        &path(&kit),
    ]);
    let results = json(&results);
    let result = by_name(&results["cases"])[CASES[1]];
    assert_eq!((&result["verdict"], ran.status.code()), (&"fewer".into(), Some(1)), "{result:#}");
    assert_eq!(result["missing"].as_array().unwrap().len(), marks(CASES[0]).len());
}
