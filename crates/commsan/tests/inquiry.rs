//! Subcommands that only answer: `config`, `doctor`, `explain`.

mod support;

use std::fs;
use support::{Place, installation, outcome};

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_file() {
    let place = Place::new();
    fs::create_dir(place.path("sub")).unwrap();
    let file = "[options]\nexit_code = 3\nmax_findings = 7\nstack_depth = 5\njson = \"x.json\"\n";
    fs::write(place.path("commsan.toml"), file).unwrap();
    let mut command = place.commsan(&["config", "--explain", "--exit-code", "5"]);
    command.current_dir(place.path("sub")).env("COMMSAN_OPTIONS", "exit_code=4:max_findings=8");
    let result = outcome(&mut command);
    let text = result.ends_with(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
    let toml = place.path("commsan.toml").canonicalize().unwrap();
    let toml = toml.display();
    let json = place.path("x.json").canonicalize().unwrap_or(place.path("x.json"));
    for line in [
        "exit_code 5 (command line)".to_owned(),
        "max_findings 8 (COMMSAN_OPTIONS)".to_owned(),
        format!("stack_depth 5 ({toml})"),
        format!("json {} ({toml})", json.display()),
        "quiet false (default)".to_owned(),
    ] {
        assert!(text.contains(&line), "`{line}` is not in {text}");
    }
}

#[test]
fn ranks_read_the_merged_options() {
    let place = Place::new();
    fs::write(place.path("other.toml"), "[options]\nmax_findings = 7\n").unwrap();
    let script = "echo $COMMSAN_OPTIONS $COMMSAN_MPI";
    let arguments = ["run", "--halt-on-error", "--mpi", "mpich", "--", "sh", "-c", script];
    let mut command = place.commsan(&arguments);
    command.env("COMMSAN_OPTIONS", "stack_depth=3:quiet").env("COMMSAN_CONFIG", "other.toml");
    let expected = "stats=false:halt_on_error=true:max_findings=7:stack_depth=3:memory_model=auto:\
                    strict_sends=false:strict_collectives=false:thread_checks=true:collective_checks=true:guards=auto:guard_budget=5:isolate_buffers=0:leaks=auto:profile=false:check=true:sample=1/1:objects_from=1024:events=67108864 mpich\n";
    assert_eq!(outcome(&mut command).out, expected);
}

#[test]
fn mistakes_in_options_start_nothing_and_are_explained() {
    let place = Place::new();
    let run = ["run", "--", "touch", "x"];
    outcome(place.commsan(&run).env("COMMSAN_OPTIONS", "max_finding=3"))
        .ends_with(2)
        .says("did you mean `max_findings`?");
    outcome(place.commsan(&run).env("COMMSAN_CONFIG", "nosuch.toml")).ends_with(2).says("nosuch");
    outcome(&mut place.commsan(&["run", "--mpi", "lam", "--", "touch", "x"]))
        .ends_with(2)
        .says("one of `auto` `openmpi` `mpich`");
    for (text, message) in [
        ("[options]\nexit-cod = 3\n", "did you mean `exit_code`?"),
        ("exit_code = 3\n", "belong into the table"),
        ("[options]\nexit_code =\n", "commsan.toml"),
    ] {
        fs::write(place.path("commsan.toml"), text).unwrap();
        outcome(&mut place.commsan(&run)).ends_with(2).says(message);
    }
    assert!(!place.path("x").exists());
}

#[test]
fn explanations_are_found_by_code() {
    let place = Place::new();
    let list = outcome(&mut place.commsan(&["explain"]));
    assert!(list.ends_with(0).out.contains("CS-BUF-01  write to the buffer"));
    let one = outcome(&mut place.commsan(&["explain", "cs-buf-01"]));
    assert!(one.ends_with(0).out.starts_with("# CS-BUF-01: "), "{}", one.out);
    outcome(&mut place.commsan(&["explain", "CS-BUF-1"])).ends_with(2).says("did you mean");
    outcome(&mut place.commsan(&["explain", "?"])).ends_with(2).says("lists all of them");
}

/// The result of the check `what` in the JSON `text`.
fn check(text: &str, what: &str) -> serde_json::Value {
    let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    all.into_iter().find(|check| check["what"] == what).unwrap_or_default()
}

#[test]
fn the_doctor_knows_machine_and_programs() {
    let place = Place::new();
    let it = installation();
    let doctor =
        |arguments: &[&str]| outcome(&mut place.commsan(&[&["doctor"], arguments].concat()));
    assert!(doctor(&[]).ends_with(0).out.contains("address space"));
    doctor(&["./nosuch"]).ends_with(127);

    let program = it.program("mpich");
    let healthy = doctor(&["--json", program.to_str().unwrap()]);
    healthy.ends_with(0);
    assert_eq!(check(&healthy.out, "runtime for MPICH")["result"], "ok");
    let mpi = check(&healthy.out, "MPI of the program");
    assert!(mpi["found"].as_str().unwrap().starts_with("MPICH: "), "{mpi}");
    assert_eq!(check(&healthy.out, "line information")["result"], "ok");
    assert_eq!(check(&healthy.out, "loads and stores")["result"], "warn");

    // A program with MPI linked in defines the MPI's symbols.
    let own = "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }";
    fs::write(it.path("own.c"), own).unwrap();
    for (compiler, source, options, what) in [
        ("gcc", "own.c", "-static", "program"),
        ("gcc", "own.c", "-g", "MPI of the program"),
        ("mpicc.openmpi", "program.c", "-fsanitize=thread", "loads and stores"),
        ("mpicc.openmpi", "program.c", "-lmpich", "MPI of the program"),
    ] {
        let program = it.path("unfit");
        it.compile(compiler, source, &program, &[options]);
        let unfit = doctor(&["--json", program.to_str().unwrap()]);
        unfit.ends_with(1);
        assert_eq!(check(&unfit.out, what)["result"], "fail", "{options}: {}", unfit.out);
    }

    let mut command = place.commsan(&["doctor"]);
    let bare = outcome(command.env("COMMSAN_LIB", "/nonexistent"));
    assert!(bare.ends_with(1).out.contains("make install"));
}

#[test]
fn wrappers_hand_the_compiler_its_arguments() {
    let place = Place::new();
    let version = outcome(&mut place.commsan(&["cc", "gcc", "--version"]));
    assert!(version.ends_with(0).out.contains("gcc"), "{}", version.out);
}
