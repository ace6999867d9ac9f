//! Every renderer on the same report, compared with the accepted text.

use commsan_model::{Code, Finding, Frame, Role, Site};
use commsan_report::terminal::Style;
use commsan_report::{
    Level, Note, Report, Run, Sources, Suppressed, github, html, json, junit, sarif, terminal,
};

const HEAT: &str = "/home/user/heat/src/heat.c";
const SOLVER: &str = "/home/user/heat/src/solver.f90";

fn frame(function: &str, place: Option<(&str, u32, u32)>) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: place.map(|(file, ..)| file.to_owned()),
        line: place.map(|(_, line, _)| line),
        column: place.map(|(.., column)| column).filter(|&column| column > 0),
        module: "/home/user/heat/build/heat".to_owned(),
        offset: 0x1234,
        inlined: false,
    }
}

fn site(role: Role, label: &str, stack: Vec<Frame>) -> Site {
    Site {
        role,
        label: label.to_owned(),
        file: stack[0].file.clone(),
        line: stack[0].line,
        column: stack[0].column,
        function: stack[0].function.clone(),
        rank: 0,
        thread: 0,
        stack,
    }
}

fn finding(code: Code, message: &str, sites: Vec<Site>) -> Finding {
    Finding {
        code,
        title: code.title().to_owned(),
        message: message.to_owned(),
        count: 1,
        ranks: vec![0],
        sites,
        why: "the operation started at heat.c:12 and is complete only after MPI_Waitall at \
              heat.c:15; the write at heat.c:6 comes before that"
            .to_owned(),
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before writing to the \
               buffer, or write to a second buffer"
            .to_owned(),
    }
}

/// A write in C, a release in Fortran without columns, and a request in a program without lines.
fn report() -> Report {
    let exchange = |line, column| frame("exchange", Some((HEAT, line, column)));
    let main = || frame("main", Some((HEAT, 21, 5)));
    let inlined = Frame { inlined: true, ..frame("pack", Some((HEAT, 6, 17))) };
    let write = Finding {
        count: 4096,
        ranks: vec![0, 1, 2, 3, 6],
        ..finding(
            Code::SendBufferWritten,
            "`pack` writes 8 bytes at offset 16 of the 8192-byte buffer that \
             MPI_Isend (to rank 1, tag 7) is still sending",
            vec![
                site(Role::Access, "8-byte write", vec![inlined, exchange(14, 5), main()]),
                site(
                    Role::Operation,
                    "MPI_Isend starts to read 8192 bytes",
                    vec![exchange(12, 5), main()],
                ),
                site(
                    Role::Completion,
                    "MPI_Waitall completes the operation, too late",
                    vec![exchange(15, 5), main()],
                ),
            ],
        )
    };
    let solve = |line| vec![frame("solve", Some((SOLVER, line, 0)))];
    let release = finding(
        Code::PendingBufferFreed,
        "`free` in `solve` releases the 800-byte buffer that MPI_Isend (to rank 1, tag 3) is \
         still sending",
        vec![
            site(Role::Release, "`free` releases the buffer", solve(7)),
            site(Role::Operation, "MPI_Isend starts to read 800 bytes", solve(7)),
            Site {
                thread: 2,
                ..site(
                    Role::Completion,
                    "MPI_Wait completes the operation, too late",
                    vec![frame("exchange", Some((HEAT, 15, 5)))],
                )
            },
        ],
    );
    let request = finding(
        Code::RequestNeverCompleted,
        "no call completes the request of MPI_Ibarrier",
        vec![site(
            Role::Operation,
            "MPI_Ibarrier starts the operation",
            vec![frame("finish<int>", None), frame("main", Some(("/gone/main.c", 3, 1)))],
        )],
    );
    let missing = finding(
        Code::ReceiveBufferRead,
        "`main` reads <1 byte>",
        vec![
            site(Role::Access, "1-byte read", vec![frame("main", Some(("/gone/main.c", 3, 9)))]),
            site(
                Role::Operation,
                "MPI_Irecv starts to write 1 byte",
                vec![frame("exchange", Some((HEAT, 13, 5)))],
            ),
        ],
    );
    Report {
        findings: vec![write, missing, release, request],
        run: Run {
            command: ["mpirun", "-n", "8", "build/heat"].map(str::to_owned).to_vec(),
            program: Some("/home/user/heat/build/heat".to_owned()),
            mpi: Some("Open MPI 4.1.4".to_owned()),
            ranks: 8,
            unchecked: 1,
            exit: Some(0),
            started: "2026-11-03T09:05:00Z".to_owned(),
            directory: "/home/user/heat/heat.commsan".into(),
            working_directory: "/home/user/heat".into(),
            notes: vec![
                Note {
                    level: Level::Note,
                    text: "`libx.so` has no debug information".to_owned(),
                    ranks: vec![],
                },
                Note {
                    level: Level::Warning,
                    text: "was it killed? <100 %>".to_owned(),
                    ranks: vec![2, 3, 4],
                },
            ],
            suppressed: vec![Suppressed {
                code: "CS-REQ-01".to_owned(),
                reason: "freed by the library at exit".to_owned(),
                file: "commsan.supp".to_owned(),
                line: 3,
                findings: 2,
                count: 9,
            }],
        },
    }
}

fn sources() -> Sources {
    Sources::from_texts([
        (HEAT.to_owned(), include_str!("data/heat.c").to_owned()),
        (SOLVER.to_owned(), include_str!("data/solver.f90").to_owned()),
    ])
}

/// The version changes with every release, the format does not.
fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn terminal_text() {
    insta::assert_snapshot!(terminal::render(&report(), &sources(), Style::default()));
}

#[test]
fn terminal_text_with_colours() {
    let mut report = report();
    report.findings.truncate(1);
    let coloured = terminal::render(&report, &sources(), Style { colour: true, width: 80 });
    insta::assert_snapshot!(coloured.replace('\u{1b}', "ESC"));
}

#[test]
fn terminal_text_without_findings() {
    let run = Run { ranks: 4, directory: "app.commsan".into(), ..Run::default() };
    let text = terminal::render(&Report { findings: vec![], run }, &sources(), Style::default());
    assert_eq!(text, "commsan: no findings in 4 ranks, report in app.commsan\n");
}

#[test]
fn json_reads_back() {
    let text = json::render(&report());
    insta::assert_snapshot!(text);
    assert_eq!(json::parse(&text).unwrap(), report());
    assert!(json::parse("{\"schema\": 99}").unwrap_err().contains("newer commsan"));
    assert!(json::parse("{}").is_err());
}

#[test]
fn junit_xml() {
    insta::assert_snapshot!(junit::render(&report()));
}

#[test]
fn nothing_checked_is_no_success() {
    let text = junit::render(&Report::default());
    assert!(text.contains(r#"tests="1" skipped="0" errors="1" failures="0""#), "{text}");
}

#[test]
fn github_commands() {
    insta::assert_snapshot!(github::render(&report()));
}

#[test]
fn html_document() {
    let page = without_version(&html::render(&report(), &sources()));
    // Style and script are files of their own.
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    insta::assert_snapshot!(format!("{head}{body}"));
}

#[test]
fn html_loads_nothing() {
    let page = html::render(&report(), &sources());
    for loading in ["http:", "https:", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

#[test]
fn sarif_log() {
    let text = without_version(&sarif::render(&report()));
    // The rules' help is the text of `commsan explain`, which has a test of its own.
    let mut log: serde_json::Value = serde_json::from_str(&text).unwrap();
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        rule["help"] = "…".into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap());
}
