//! From findings to lines of the rank's log.
//!
//! A finding is written when it is seen first, by one `write`, so that it survives whatever the
//! program does next. Repetitions are counted; the count is written at powers of two and at the
//! end. If the log cannot be written, findings go to standard error instead: nothing is lost. What
//! is found before the rank is known is kept in memory until then.

use crate::options::Options;
use crate::stats;
use crate::traffic::job;
use commsan_callsite::{Findings, Placed, Report, Site, Stacks, Use};
use commsan_findings::{Code, Role};
use commsan_process::abi;
use commsan_process::modules::Modules;
use commsan_process::python::{self, Line};
use commsan_rundir::record::{
    End, Ending, Module, RawFinding, RawParts, RawSite, RawUse, Record, Start, VERSION,
};
use commsan_rundir::{MAX_JOBS, World, rank_log, writer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Longest line. A finding has at most three sites of 16 frames of some 20 characters.
const LINE: usize = 16 * 1024;

/// Names of communicators in a line.
const NAMES: usize = 400;
/// Parts in a line, of which each takes 60 characters at most.
const PARTS: usize = 100;
/// Counts in a line, of which each takes 90 characters at most.
const COUNTS: usize = 150;
/// Steps that fit a line.
const STEPS: usize = 100;

/// Writes one rank's log.
pub struct Recorder {
    log: Log,
    options: Options,
    known: HashMap<(Code, usize, usize), Count>,
    /// What [`again`](Findings::again) did not know, last: what is reported next, if of its code.
    #[cfg(debug_assertions)]
    unknown: Option<(Code, usize, usize)>,
    modules: Modules,
    /// Functions of scripts, by file and name.
    scripts: HashMap<(String, String), u32>,
    next: u32,
    dropped: u64,
}

struct Count {
    id: u32,
    observed: u64,
    written: u64,
}

struct Log {
    to: To,
    buffer: Box<[u8; LINE]>,
}

/// Where lines go.
enum To {
    /// It is not known yet which rank this is.
    Memory(Vec<u8>),
    File(File),
    /// The log cannot be written.
    StandardError,
}

impl Recorder {
    /// Of a process of which it is not known yet which rank it is.
    pub fn new(options: Options) -> Recorder {
        Recorder {
            log: Log { to: To::Memory(Vec::new()), buffer: Box::new([0; LINE]) },
            options,
            known: HashMap::with_capacity(options.max_findings.min(10_000)),
            #[cfg(debug_assertions)]
            unknown: None,
            modules: Modules::default(),
            scripts: HashMap::new(),
            next: 0,
            dropped: 0,
        }
    }

    /// Opens the log of this rank, and writes what is known by now. A run may have several jobs:
    /// each has logs of its own.
    pub fn begin(&mut self, directory: &Path, world: &World) {
        if !matches!(self.log.to, To::Memory(_)) {
            return; // known since something went wrong before MPI was there
        }
        let (path, file) = create(directory, world);
        let file = file.inspect_err(|error| {
            eprintln!(
                "commsan: rank {} cannot create {}: {error}; its findings follow here. Choose a \
                 directory that every node can write with --output.",
                world.rank,
                path.display()
            );
        });
        if let Ok(file) = &file {
            reserve(file);
        }
        let former = std::mem::replace(&mut self.log.to, file.map_or(To::StandardError, To::File));
        self.start(world);
        if let To::Memory(lines) = former {
            self.log.write_all(&lines);
        }
    }

    /// Whether something was found before the rank was known, and it still is not.
    pub fn keeps(&self) -> bool {
        matches!(&self.log.to, To::Memory(lines) if !lines.is_empty())
    }

    fn start(&mut self, world: &World) {
        self.log.write(&Record::Start(Start {
            version: VERSION,
            rank: world.rank,
            size: world.size,
            pid: std::process::id(),
            host: host().into(),
            mpi: short_version(&world.library).into(),
            program: program().into(),
            instrumented: abi::abi().hooked.load(Ordering::Relaxed) > 0,
            job: job(world).into(),
            arguments: if world.rank == 0 { arguments() } else { Vec::new() },
            name: if world.rank == 0 { name().into() } else { Cow::default() },
        }));
    }

    /// This rank is not checked.
    pub fn unchecked(&mut self, why: &str) {
        self.log.write(&Record::Unchecked { why: Cow::Borrowed(why) });
    }

    /// Something the user should know about this rank.
    pub fn note(&mut self, text: &str) {
        self.log.write(&Record::Note { text: Cow::Borrowed(text) });
    }

    /// Writes what was counted until now, if anything is.
    pub fn stats(&mut self) {
        for counts in stats::counts().unwrap_or_default().chunks(COUNTS) {
            self.log.write(&Record::Stats { counts: counts.into() });
        }
    }

    /// Final counts and the closing line.
    pub fn end(&mut self, how: Ending) {
        for count in self.known.values_mut().filter(|c| c.observed != c.written) {
            self.log.write(&Record::Again { id: count.id, count: count.observed });
            count.written = count.observed;
        }
        self.stats();
        self.log.write(&Record::End(End { how, dropped: self.dropped }));
    }

    /// The frames of a site as modules and offsets.
    fn frames(&mut self, site: &Site, stacks: &Stacks) -> Vec<(u32, u64)> {
        let (modules, scripts, log) = (&mut self.modules, &mut self.scripts, &mut self.log);
        let frames = stacks.frames(site.stack).iter().take(self.options.stack_depth);
        let located = frames.filter_map(|pc| {
            if let Some(Line { function, file, line }) = python::line(*pc) {
                // Those of code are numbered from below.
                let next = u32::MAX - scripts.len() as u32;
                let id = *scripts.entry((file, function)).or_insert_with_key(|(file, function)| {
                    let function = Some(function.into());
                    log.write(&Record::Module(Module { id: next, path: file.into(), function }));
                    next
                });
                return Some((id, u64::from(line)));
            }
            // A return address may belong to the next line; the byte before is in the call.
            locate(modules, log, pc.wrapping_sub(1))
        });
        located.collect()
    }

    fn finding<'r>(&mut self, report: Report<'r>, stacks: &Stacks) -> RawFinding<'r> {
        let time = Some(commsan_counters::now());
        RawFinding { time, ..report.map_sites(&mut |(role, site)| self.raw(role, &site, stacks)) }
    }

    fn raw(&mut self, role: Role, site: &Site, stacks: &Stacks) -> RawSite<'static> {
        RawSite {
            role,
            call: site.call.map(Cow::Borrowed),
            thread: site.thread,
            frames: Cow::Owned(self.frames(site, stacks)),
            rank: site.remote.map(|(rank, _)| rank),
            reference: site.remote.map(|(_, number)| number),
        }
    }
}

/// The module that holds an address, and the offset in it.
fn locate(modules: &mut Modules, log: &mut Log, address: usize) -> Option<(u32, u64)> {
    modules.locate(address, |id, path| {
        let path = path.to_string_lossy();
        log.write(&Record::Module(Module { id, path, function: None }));
    })
}

impl Findings for Recorder {
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool {
        let key = (code, offender, operation);
        let Some(count) = self.known.get_mut(&key) else {
            #[cfg(debug_assertions)]
            (self.unknown = Some(key));
            return false;
        };
        count.observed += 1;
        if count.observed.is_power_of_two() {
            count.written = count.observed;
            self.log.write(&Record::Again { id: count.id, count: count.observed });
        }
        true
    }

    fn report(&mut self, report: Report<'_>, operation: usize, stacks: &Stacks) -> u32 {
        let id = self.next;
        if id as usize >= self.options.max_findings {
            self.dropped += 1;
            return id;
        }
        self.next += 1;
        let offender = report.sites.first().map_or(0, |(_, site)| site.pc);
        // Findings about the operation alone have one site, and are looked up without another.
        let offender = if report.sites.len() > 1 { offender } else { 0 };
        let key = (report.code, offender, operation);
        // Else the same finding would be reported anew each time instead of counted.
        #[cfg(debug_assertions)]
        if let Some(unknown) = self.unknown.take().filter(|unknown| unknown.0 == report.code) {
            assert_eq!(unknown, key, "reported by another key than was asked for");
        }
        self.known.insert(key, Count { id, observed: 1, written: 1 });

        let finding = RawFinding { id, ..self.finding(report, stacks) };
        self.log.write(&Record::Finding(finding));
        if self.options.halt_on_error {
            self.end(Ending::Halted);
            eprintln!("commsan: ending the job at the first finding, as halt_on_error asks");
            // SAFETY: ends the process without running anything of a program that may hold
            // locks; the MPI launcher ends the other ranks.
            unsafe { libc::_exit(66) };
        }
        id
    }

    fn uses(&mut self, used: Use<'_>, stacks: &Stacks) {
        let (modules, log) = (&mut self.modules, &mut self.log);
        let Some(variable) = used.variable.locate(|address| locate(modules, log, address)) else {
            return;
        };
        let (datatype, finding) = (used.datatype, self.finding(used.finding, stacks));
        self.log.write(&Record::Use(RawUse { variable, elements: None, datatype, finding }));
    }

    fn emit(&mut self, record: Record<'_, Placed>, stacks: &Stacks) {
        // The job may be about to be ended.
        if matches!(record, Record::Waiting(_)) {
            self.stats();
        }
        each_line(record, &mut |record| {
            let record = record.map_sites(&mut |(role, site)| self.raw(role, &site, stacks));
            self.log.write(&record);
        });
    }
}

/// Passes a record on in as many as each fit a line.
fn each_line(record: Record<'_, Placed>, to: &mut dyn FnMut(Record<'_, Placed>)) {
    match record {
        Record::Balance { names, unbalanced } => {
            for names in names.chunks(NAMES) {
                to(Record::Balance { names: names.into(), unbalanced: Cow::Borrowed(&[]) });
            }
            for unbalanced in unbalanced.chunks(NAMES) {
                to(Record::Balance { names: Cow::Borrowed(&[]), unbalanced: unbalanced.into() });
            }
        }
        Record::Communicator { name, on, members } => {
            for members in members.chunks(NAMES) {
                let on = Cow::Borrowed(&*on);
                to(Record::Communicator { name, on, members: members.into() });
            }
        }
        Record::Steps { steps } => {
            for steps in steps.chunks(STEPS) {
                to(Record::Steps { steps: steps.into() });
            }
        }
        Record::Parts(all) => {
            // A rank that has nothing for anybody says so, too.
            let none = all.parts.is_empty().then_some(&[][..]);
            for parts in all.parts.chunks(PARTS).chain(none) {
                to(Record::Parts(RawParts { parts: parts.into(), ..all.clone() }));
            }
        }
        record => to(record),
    }
}

/// The log of a rank: the first that no other job has.
fn create(directory: &Path, world: &World) -> (PathBuf, io::Result<File>) {
    let mut options = OpenOptions::new();
    options.append(true);
    let mut job = 1;
    loop {
        let path = directory.join(rank_log(world.rank, job));
        let is_shared = job == MAX_JOBS || job == 1 && world.owns_log;
        let file = options.create(is_shared).create_new(!is_shared).open(&path);
        match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => job += 1,
            file => return (path, file),
        }
    }
}

/// Sets disk space aside for the first findings, in case the program fills the disk. Where the
/// file system cannot, findings go to standard error then. What is not needed is not given back:
/// shortening the file could cut off what another job of the same run appends.
fn reserve(file: &File) {
    // SAFETY: a system call on an open file.
    unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, LINE as i64) };
}

impl Log {
    fn write(&mut self, record: &Record) {
        let written = match &mut self.to {
            To::Memory(lines) => {
                return lines
                    .extend(writer::encode(record, &mut self.buffer[..]).unwrap_or_default());
            }
            To::File(file) => writer::append(file, record, &mut self.buffer[..]),
            To::StandardError => return self.tell(record),
        };
        if let Err(error) = written {
            self.fails(&error);
            self.tell(record);
        }
    }

    /// Writes lines that were kept.
    fn write_all(&mut self, lines: &[u8]) {
        if let To::File(file) = &mut self.to
            && let Err(error) = file.write_all(lines)
        {
            self.fails(&error);
        }
        if let To::StandardError = self.to {
            eprint!("{}", String::from_utf8_lossy(lines));
        }
    }

    fn fails(&mut self, error: &dyn std::fmt::Display) {
        eprintln!("commsan: cannot write the log: {error}; records follow here");
        self.to = To::StandardError;
    }

    /// Writes a record to standard error.
    fn tell(&mut self, record: &Record) {
        // Everything but findings can be spared on a terminal.
        if let Record::Finding(_) | Record::Site { .. } | Record::Module(_) | Record::Note { .. } =
            record
            && let Ok(line) = writer::encode(record, &mut self.buffer[..])
        {
            eprint!("commsan: {}", String::from_utf8_lossy(line));
        }
    }
}

/// The name of this machine.
pub fn host() -> String {
    let mut host = [0u8; 256];
    // SAFETY: the buffer is as long as stated; the last byte stays zero.
    unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len() - 1) };
    let length = host.iter().position(|b| *b == 0).unwrap_or(0);
    String::from_utf8_lossy(&host[..length]).into_owned()
}

/// Path of the executable.
pub fn program() -> String {
    std::fs::read_link("/proc/self/exe").unwrap_or_default().to_string_lossy().into_owned()
}

/// The first arguments of the program, as many as tell one job from others.
fn arguments() -> Vec<Cow<'static, str>> {
    const MAX_LENGTH: usize = 256;
    let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let mut length = 0;
    let words = command.split(|byte| *byte == 0).skip(1).filter(|word| !word.is_empty());
    let words = words.take_while(|word| {
        length += word.len() + 1;
        length <= MAX_LENGTH
    });
    words.map(|word| String::from_utf8_lossy(word).into_owned().into()).collect()
}

/// What the environment calls the job: `COMMSAN_JOB`, or else the test of pytest that has started
/// it, not the one that runs within it.
fn name() -> String {
    const MAX_LENGTH: usize = 4096;
    let given = std::env::var_os("COMMSAN_JOB").unwrap_or_default();
    if !given.is_empty() {
        return given.to_string_lossy().chars().take(MAX_LENGTH).collect();
    }
    let initial = std::fs::read("/proc/self/environ").unwrap_or_default();
    let mut entries = initial.split(|byte| *byte == 0);
    let test = entries.find_map(|entry| entry.strip_prefix(b"PYTEST_CURRENT_TEST="));
    // `test_halo.py::test_wide (call)`
    let test = String::from_utf8_lossy(test.unwrap_or_default()).into_owned();
    test.split(" (").next().unwrap_or_default().to_owned()
}

/// `Open MPI 4.1.4` out of `Open MPI v4.1.4, package: …`, likewise for MPICH.
pub fn short_version(text: &str) -> String {
    let first = text.split(['\n', ',']).next().unwrap_or_default();
    first
        .replace("Version:", "")
        .replace(" v", " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
