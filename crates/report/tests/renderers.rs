//! Every renderer on the same report, compared with the accepted text.

use commsan_findings::{Code, Finding, Frame, Role, Site};
use commsan_report::terminal::Style;
use commsan_report::{
    Level, Note, Report, Run, Sources, Suppressed, codequality, github, html, json, junit, sarif,
    terminal,
};
use std::collections::HashSet;

const HEAT: &str = "/home/user/heat/src/heat.c";
const SOLVER: &str = "/home/user/heat/src/solver.f90";
const HALO: &str = "/home/user/heat/src/halo.c";

fn frame(function: &str, place: Option<(&str, u32, u32)>) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: place.map(|(file, ..)| file.to_owned()),
        line: place.map(|(_, line, _)| line),
        column: place.map(|(.., column)| column).filter(|&column| column > 0),
        module: "/home/user/heat/build/heat".to_owned(),
        offset: 0x1234,
        inlined: false,
        within: Vec::new(),
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
        job: None,
        moments: vec![],
        code,
        title: code.title().to_owned(),
        message: message.to_owned(),
        count: 1,
        possible: false,
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
        possible: false,
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
        stats: None,
        run: Run {
            hosts: vec![],
            jobs: vec![],
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
                    jobs: vec![],
                    level: Level::Note,
                    text: "`libx.so` has no debug information".to_owned(),
                    ranks: vec![],
                },
                Note {
                    jobs: vec![],
                    level: Level::Warning,
                    text: "was it killed? <100 %>".to_owned(),
                    ranks: vec![2, 3, 4],
                },
            ],
            analysed: None,
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

/// A load in rank 1 against a put in rank 0, two operations of ranks whose places are not all
/// known, and an epoch that another call interrupts.
fn one_sided_report() -> Report {
    let at = |function, line, column| vec![frame(function, Some((HALO, line, column)))];
    let in_rank = |rank, site| Site { rank, ..site };
    let race = Finding {
        count: 12,
        possible: false,
        ranks: vec![1, 2],
        why: "nothing orders the read at halo.c:17 in rank 1 before the operation starts at \
              halo.c:8 in rank 0, or after it is complete at the target; MPI_Barrier completes no \
              RMA operation"
            .to_owned(),
        help: "complete the operation at the target and let the owner know".to_owned(),
        ..finding(
            Code::WindowAccessRace,
            "rank 1's `relax` reads 8 bytes at offset 16 of its window 0, unordered with rank 0's \
             MPI_Put, which writes them",
            vec![
                in_rank(1, site(Role::Access, "8-byte read", at("relax", 17, 16))),
                in_rank(
                    0,
                    site(
                        Role::Operation,
                        "MPI_Put writes 64 bytes of the window",
                        at("push", 8, 5),
                    ),
                ),
            ],
        )
    };
    let put = site(Role::Access, "MPI_Put writes 8 bytes", at("push", 8, 5));
    let unknown = Site { file: None, line: None, column: None, function: None, ..put.clone() };
    let operations = Finding {
        ranks: vec![3],
        why: "nothing orders MPI_Put at halo.c:8 in rank 0 before the operation starts at an unknown \
              place in rank 2, or after it is complete at the target"
            .to_owned(),
        help: "give each operation bytes of its own".to_owned(),
        ..finding(
            Code::TargetRace,
            "rank 0's MPI_Put in `push` writes 8 bytes at offset 16 of rank 3's window 0, \
             unordered with rank 2's MPI_Put, which writes them",
            vec![put, Site { role: Role::Operation, rank: 2, stack: vec![], ..unknown }],
        )
    };
    let epoch = Finding {
        why: "the epoch opened at halo.c:7 lasts until MPI_Win_unlock, and MPI_Win_fence at \
              halo.c:9 comes before that"
            .to_owned(),
        help: "close the epoch by MPI_Win_unlock before MPI_Win_fence".to_owned(),
        ..finding(
            Code::EpochMismatch,
            "MPI_Win_fence in `push` does not fit the epoch that MPI_Win_lock (rank 1) opened on \
             window 0",
            vec![
                site(Role::Access, "MPI_Win_fence does not fit the open epoch", at("push", 9, 5)),
                site(Role::Operation, "MPI_Win_lock (rank 1) opens the epoch", at("push", 7, 5)),
            ],
        )
    };
    let run = Run { notes: vec![], suppressed: vec![], unchecked: 0, ..report().run };
    Report { findings: vec![race, operations, epoch], run, stats: None }
}

fn sources() -> Sources {
    Sources::from_texts([
        (HALO.to_owned(), include_str!("data/halo.c").to_owned()),
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
    let coloured =
        terminal::render(&report, &sources(), Style { colour: true, width: 80, wraps: false });
    insta::assert_snapshot!(coloured.replace('\u{1b}', "ESC"));
}

#[test]
fn text_is_wrapped_where_the_terminal_ends() {
    const WIDTH: usize = 72;
    let render = |wraps| {
        let style = Style { colour: false, width: WIDTH, wraps };
        terminal::render(&report(), &sources(), style)
    };
    let (wrapped, whole) = (render(true), render(false));
    assert!(wrapped.split_whitespace().eq(whole.split_whitespace()), "{wrapped}");
    // Sources and places are lines of their own; a word is never broken.
    let is_text =
        |line: &&str| !line.contains('|') && !line.contains("-->") && !line.contains(":::");
    let is_long = |line: &&str| line.chars().count() > WIDTH && line.split_whitespace().count() > 3;
    let long = |text: &str| text.lines().filter(is_text).filter(is_long).count();
    assert!(long(&whole) > 0);
    let left: Vec<&str> = wrapped.lines().filter(is_text).filter(is_long).collect();
    assert!(left.iter().all(|line| line.starts_with(['e', 'w', 'c'])), "{left:#?}");
}

#[test]
fn files_beside_the_working_directory_have_short_names() {
    let run = Run { working_directory: "/home/me/app/build".into(), ..Run::default() };
    for (file, named) in [
        ("/home/me/app/build/main.c", "main.c"),
        ("/home/me/app/src/halo.c", "../src/halo.c"),
        ("/home/me/lib/halo.c", "../../lib/halo.c"),
        ("/usr/include/mpi.h", "/usr/include/mpi.h"),
        ("halo.c", "halo.c"),
        ("/home/you/a.c", "/home/you/a.c"),
    ] {
        assert_eq!(run.named(file), named);
    }
    assert_eq!(Run::default().named("/home/me/a.c"), "/home/me/a.c");
}

#[test]
fn terminal_text_without_findings() {
    let run = Run { ranks: 4, directory: "app.commsan".into(), ..Run::default() };
    let text = terminal::render(&Report { run, ..Report::default() }, &sources(), Style::default());
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

/// Of the codes without a finding only a few, and no totals: a new code changes no snapshot.
fn junit_text(report: &Report) -> String {
    let text = junit::render(report);
    let passed = |line: &&str| line.trim_start().starts_with("<testcase") && line.ends_with("/>");
    let cases = text.matches("<testcase ").count();
    let without = Code::ALL.len() - report.codes().len();
    assert_eq!(cases, without + report.findings.len());
    let kept = text.lines().filter(|line| !passed(line) || line.contains("CS-BUF-0"));
    let all = format!("tests=\"{cases}\"");
    kept.collect::<Vec<_>>().join("\n").replace(&all, "tests=\"ALL\"")
}

#[test]
fn junit_xml() {
    insta::assert_snapshot!(junit_text(&report()));
}

#[test]
fn nothing_checked_is_no_success() {
    let text = junit::render(&Report::default());
    assert!(text.contains(r#"tests="1" skipped="0" errors="1" failures="0""#), "{text}");
}

#[test]
fn code_quality() {
    let text = codequality::render(&report());
    insta::assert_snapshot!(text);
    let violations: serde_json::Value = serde_json::from_str(&text).unwrap();
    let all = violations.as_array().unwrap();
    let mut fingerprints: Vec<_> = all.iter().map(|one| one["fingerprint"].as_str()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), report().findings.len());
    assert!(all.iter().all(|one| one["location"]["lines"]["begin"].is_u64()));
    assert_eq!(codequality::render(&Report::default()), "[]\n");
}

#[test]
fn github_commands() {
    insta::assert_snapshot!(github::render(&report()));
}

/// The page without style and script, which are files of their own.
fn html_text(report: &Report) -> String {
    let page = without_version(&html::render(report, &sources()));
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    format!("{head}{body}")
}

#[test]
fn html_document() {
    insta::assert_snapshot!(html_text(&report()));
}

#[test]
fn html_loads_nothing() {
    let page = html::render(&report(), &sources());
    for loading in ["http:", "https:", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

/// Checks that elements nest, attributes are quoted and identifiers unique, and that every `&` is
/// one of the references the renderer writes. Returns the text with the references resolved.
fn text_of_html(page: &str) -> String {
    const VOID: [&str; 2] = ["meta", "input"];
    let (mut text, mut open, mut ids) = (String::new(), Vec::new(), HashSet::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some((before, tagged)) = rest.split_once('<') {
        text += before;
        let (tag, after) = tagged.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        let name = tag.split(' ').next().unwrap();
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "<{tag}>");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        assert!(!tag.contains(['<', '\'']) || name == "meta", "<{tag}>");
        if let Some((_, id)) = tag.split_once(" id=\"") {
            assert!(ids.insert(id.split('"').next()), "<{tag}>");
        }
        match name {
            "style" | "script" => rest = rest.split_once(&format!("</{name}>")).unwrap().1,
            _ if VOID.contains(&name) => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    text += rest;
    for reference in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(known.iter().any(|name| reference.starts_with(name)), "&{reference}");
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    plain.replace("&#39;", "'").replace("&amp;", "&")
}

#[test]
fn html_is_well_formed() {
    for report in [Report::default(), report(), one_sided_report()] {
        text_of_html(&html::render(&report, &sources()));
    }
}

#[test]
fn html_shows_names_as_they_are() {
    const FILE: &str = "/home/user/<odd> & 'quoted' \"dir\"/a&lt;b.cpp";
    const FUNCTION: &str = "</code><script>alert(1)</script> T<U&&>::f<'x'>(\"\")";
    let place = frame(FUNCTION, Some((FILE, 1, 1)));
    let elsewhere = frame("g<int>", None);
    let sites = vec![
        site(Role::Access, "</div><b title='", vec![place.clone(), elsewhere.clone()]),
        site(Role::Operation, "R&D <i>", vec![elsewhere]),
    ];
    let mut odd = finding(Code::SendBufferWritten, "`T<U>` & <b>", sites);
    odd.why = "</article>".to_owned();
    odd.help = "a < b && c > d".to_owned();
    let run = Run {
        command: vec!["mpirun".to_owned(), "</dd><img src=x onerror=\"f()\">".to_owned()],
        program: Some("/bin/a<title>&".to_owned()),
        notes: vec![Note {
            level: Level::Note,
            text: "</ul>&".to_owned(),
            ranks: vec![],
            jobs: vec![],
        }],
        suppressed: vec![Suppressed {
            code: "<CS>".to_owned(),
            reason: "</li>&".to_owned(),
            file: "<file>".to_owned(),
            ..report().run.suppressed[0].clone()
        }],
        ..report().run
    };
    let code = "if (a<b && c>d) puts(\"</div></pre>&amp;\");";
    let sources = Sources::from_texts([(FILE.to_owned(), code.to_owned())]);
    let text =
        text_of_html(&html::render(&Report { findings: vec![odd], run, stats: None }, &sources));
    for shown in [
        "<odd> & 'quoted' \"dir\"/a&lt;b.cpp",
        FUNCTION,
        "</div><b title='",
        "R&D <i>",
        "T<U> & <b>.",
        "</article>.",
        "A < b && c > d.",
        "</dd><img src=x onerror=\"f()\">",
        "commsan: a<title>&",
        "</ul>&",
        "<CS>, 2 findings by <file>:3: </li>&",
        code,
    ] {
        assert!(text.contains(shown), "{shown} in {text}");
    }
}

/// The log without the rules' help: the text of `commsan explain`, which has a test of its own.
fn sarif_text(report: &Report) -> String {
    let text = without_version(&sarif::render(report));
    let mut log: serde_json::Value = serde_json::from_str(&text).unwrap();
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        rule["help"] = "…".into();
    }
    serde_json::to_string_pretty(&log).unwrap()
}

#[test]
fn sarif_log() {
    insta::assert_snapshot!(sarif_text(&report()));
}

/// What the schema of SARIF 2.1.0 has against a log, formats such as `uri` included.
fn against_schema(log: &serde_json::Value) -> Vec<String> {
    const SCHEMA: &str = include_str!("data/sarif-schema-2.1.0.json");
    // The pattern of a language has a bracket too many, which validators refuse.
    let schema = SCHEMA.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors = validator.iter_errors(log);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn sarif_keeps_to_its_schema() {
    let unstarted = Run { exit: None, command: vec![], started: String::new(), ..report().run };
    let odd = Run { working_directory: "/elsewhere & \"more\"".into(), ..report().run };
    for report in [
        Report::default(),
        report(),
        one_sided_report(),
        Report { run: unstarted, ..report() },
        Report { run: odd, ..report() },
    ] {
        let log = serde_json::from_str(&sarif::render(&report)).unwrap();
        assert_eq!(against_schema(&log), Vec::<String>::new());
    }
}

/// The test above would be worth nothing if the validator let everything pass.
#[test]
fn the_sarif_schema_refuses_what_is_wrong() {
    let log: serde_json::Value = serde_json::from_str(&sarif::render(&report())).unwrap();
    let result = "/runs/0/results/0";
    for (at, value) in [
        ("/version", "2.0.0".into()),
        (&format!("{result}/level"), "fatal".into()),
        (&format!("{result}/message"), serde_json::json!({"txt": "a misspelt member"})),
        (&format!("{result}/locations/0/physicalLocation/region/startLine"), 0.into()),
        (&format!("{result}/locations/0/physicalLocation/artifactLocation/uri"), "a b".into()),
        ("/runs/0/tool/driver/name", serde_json::Value::Null),
        ("/runs/0/columnKind", "bytes".into()),
        ("/runs/0/invocations/0/startTimeUtc", "yesterday".into()),
    ] {
        let mut wrong = log.clone();
        *wrong.pointer_mut(at).unwrap_or_else(|| panic!("nothing at {at}")) = value;
        assert!(!against_schema(&wrong).is_empty(), "{at} is not looked at");
    }
}

#[test]
fn sites_in_several_ranks() {
    let report = one_sided_report();
    let text = terminal::render(&report, &sources(), Style::default());
    insta::assert_snapshot!("several_ranks_terminal", text);
    let text = json::render(&report);
    assert_eq!(json::parse(&text).unwrap(), report);
    insta::assert_snapshot!("several_ranks_json", text);
    insta::assert_snapshot!("several_ranks_sarif", sarif_text(&report));
    insta::assert_snapshot!("several_ranks_junit", junit_text(&report));
    insta::assert_snapshot!("several_ranks_github", github::render(&report));
    insta::assert_snapshot!("several_ranks_html", html_text(&report));
}
