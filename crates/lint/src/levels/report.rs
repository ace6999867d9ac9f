//! Findings of the thread-level analysis.

use super::concurrent::Pair;
use super::instances::{Entered, Event, Instances, Nested};
use super::word::{Letter, Spot, Who, needed, who};
use super::{Asked, Level};
use crate::{Analysis, places};
use commsan_findings::{Code, Finding, Role, Site};
use commsan_ir::{FunctionId, Inst, Op, Place, Value};
use rustc_hash::FxHashSet;

/// Maximum number of steps that a finding shows of a call path.
const MAX_CALL_PATH_STEPS: usize = 16;

/// All that is known.
pub struct Report<'r, 'p> {
    instances: &'r Instances<'p>,
    pairs: &'r [Pair],
    asked: Option<Asked>,
    /// The word of the thread that initialises MPI, if that is another than the first.
    main: Option<&'r [Letter]>,
}

impl<'r, 'p> Report<'r, 'p> {
    pub fn new(
        instances: &'r Instances<'p>,
        pairs: &'r [Pair],
        asked: Option<Asked>,
    ) -> Report<'r, 'p> {
        let initialises = |event: &&Event| {
            matches!(&*instances.mpi_of(event).name, "MPI_Init" | "MPI_Init_thread")
        };
        let main = instances.events.iter().filter(initialises).find_map(|event| {
            let thread = event.word.iter().rposition(|l| matches!(l, Letter::Thread(..)))?;
            Some(&event.word[..=thread])
        });
        Report { instances, pairs, asked, main }
    }

    /// The level that a call needs on its own. Where the main thread is not the first (MPI 4.1
    /// §11.6.1), nothing is said of calls by other threads.
    fn needed(&self, event: &Event) -> Level {
        match self.main {
            None => needed(&event.word),
            Some(main) => event.word.strip_prefix(main).map_or(Level::Single, needed),
        }
    }

    pub fn write(&self, analysis: &mut Analysis) {
        let findings = &mut analysis.findings;
        let excluded = self.excluded();
        let crowds = self.crowds();
        findings.extend(excluded);
        findings.extend(crowds);
        findings.extend(self.pairs.iter().filter_map(|pair| self.pair(pair)));
        findings.extend(self.instances.nested.iter().map(|nested| self.nested(nested)));
        analysis.notes.extend(self.level());
    }

    /// `the program needs MPI_THREAD_SERIALIZED (MPI_Send, halo.c:12), and asks for …`.
    fn level(&self) -> Option<String> {
        let events = self.instances.events.iter();
        let single = events.filter(|event| !self.instances.mpi_of(event).is_free_of_levels());
        let highest =
            single.map(|event| (self.needed(event), event)).max_by_key(|(level, event)| {
                (*level, self.is_sure(event), std::cmp::Reverse(self.at(event.spot)))
            });
        let (mut level, mut because) = highest?;
        if let Some(pair) = self.pairs.first() {
            level = Level::Multiple;
            because = &self.instances.events[pair.events[0]];
        }
        let needs = if self.is_sure(because) { "needs" } else { "may need" };
        let mut text = format!("the program {needs} {level}");
        if level > Level::Single {
            text += &format!(" for `{}` at {}", self.name(because), self.line(because.spot));
        }
        match self.asked {
            Some(asked) if asked.level == level => text += ", and asks for it",
            Some(asked) if asked.at.is_some() => text += &format!(", and asks for {}", asked.level),
            _ => {}
        }
        Some(text)
    }

    /// Calls by threads that the level excludes.
    fn excluded(&self) -> Vec<Finding> {
        let Some(asked) = self.asked else { return Vec::new() };
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        // Of several contexts, the worst is reported.
        let mut events: Vec<_> = self.instances.events.iter().collect();
        events.sort_by_key(|event| (!self.is_sure(event), std::cmp::Reverse(self.needed(event))));
        for event in events {
            let level = self.needed(event);
            let free = self.instances.mpi_of(event).is_free_of_levels();
            // Under MPI_THREAD_SERIALIZED any thread may call; what is left are calls at once.
            if level <= asked.level || asked.level >= Level::Serialized || free {
                continue;
            }
            if !seen.insert(event.spot) {
                continue;
            }
            let name = self.name(event);
            let by = match who(&event.word) {
                Who::Main => "the first thread of a parallel region",
                Who::One => "a thread that need not be the one that initialised MPI",
                Who::Turns => "all threads, one at a time",
                Who::Many => "all threads of the team",
            };
            let mut sites = vec![self.event_site(event, Role::Access, format!("`{name}` by {by}"))];
            sites.extend(self.construct(&event.word, by));
            sites.extend(self.asked_site(asked));
            let (why, help) = match asked.level {
                Level::Single => (
                    "with MPI_THREAD_SINGLE, which MPI_Init asks for, the process has one thread only",
                    format!("ask for {level} by MPI_Init_thread, and look at what it provides"),
                ),
                _ => (
                    "with MPI_THREAD_FUNNELED only the thread that initialised MPI may call it",
                    match level {
                        Level::Serialized => format!(
                            "let the master thread call `{name}` (`master`), or ask for {level}"
                        ),
                        _ => format!(
                            "let the master thread alone call `{name}` (`master`), or ask for {level}"
                        ),
                    },
                ),
            };
            let message = format!("`{name}` is called by {by}");
            let finding =
                places::finding(Code::ThreadExcluded, message, sites, why.to_owned(), help);
            found.push(Finding { possible: !self.is_sure(event), ..finding });
        }
        found
    }

    /// Whether a call is made in its word for sure.
    fn is_sure(&self, event: &Event) -> bool {
        self.instances.all[event.instance].sure
    }

    /// Calls by all threads of a team at once.
    fn crowds(&self) -> Vec<Finding> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let crowded = |event: &&Event| who(&event.word) == Who::Many;
        let mut events: Vec<_> = self.instances.events.iter().filter(crowded).collect();
        events.sort_by_key(|event| !self.is_sure(event));
        for event in events {
            let name = self.name(event);
            let (code, why, help) = if self.is_collective(event) && self.is_shared(event) {
                (
                    Code::CollectivesConcurrent,
                    "the collectives of a communicator must be called in one order by all ranks, and \
                     threads at once have none (MPI 4.1 §6.14)",
                    "let one thread call it, by `single` or `master`, or give each thread its own \
                     communicator",
                )
            } else if self.asked.is_some_and(|asked| asked.level == Level::Serialized)
                && !self.instances.mpi_of(event).is_free_of_levels()
            {
                (
                    Code::CallsConcurrent,
                    "with MPI_THREAD_SERIALIZED only one thread at a time may call MPI",
                    "put it into a `critical` section, or ask for MPI_THREAD_MULTIPLE",
                )
            } else {
                continue;
            };
            if !seen.insert(event.spot) {
                continue;
            }
            let label = format!("`{name}` by all threads of the team at once");
            let mut sites = vec![self.event_site(event, Role::Access, label.clone())];
            sites.extend(self.construct(&event.word, "all threads"));
            if code == Code::CallsConcurrent {
                sites.extend(self.asked.and_then(|asked| self.asked_site(asked)));
            }
            let message = format!("{label}: no construct lets one thread in at a time");
            let finding = places::finding(code, message, sites, why.to_owned(), help.to_owned());
            found.push(Finding { possible: !self.is_sure(event), ..finding });
        }
        found
    }

    /// Two calls by different threads at once.
    fn pair(&self, pair: &Pair) -> Option<Finding> {
        let [first, second] = pair.events.map(|event| &self.instances.events[event]);
        let (one, other) = (self.name(first), self.name(second));
        let collective = self.is_collective(first)
            && self.is_collective(second)
            && self.communicator(first).is_some()
            && self.communicator(first) == self.communicator(second);
        let serialized = self.asked.is_some_and(|asked| asked.level == Level::Serialized);
        let code = match (collective, serialized) {
            (true, _) => Code::CollectivesConcurrent,
            (false, true) => Code::CallsConcurrent,
            // Any level that allows both calls allows them at once; other conflicts were reported
            // already.
            (false, false) => return None,
        };
        let here = self.at(first.spot);
        let cause = self.at(pair.cause.spot());
        let construct = pair.cause.name();
        let label = format!("`{one}` by one thread");
        let mut sites = vec![self.event_site(first, Role::Access, label)];
        if first.spot != second.spot {
            let label = format!("`{other}` by another thread, at the same time");
            sites.push(self.event_site(second, Role::Operation, label));
        }
        let ends = match pair.cause {
            Letter::Single(_) => "ends without a barrier",
            Letter::Section(..) => "runs beside the other sections",
            Letter::Task(..) => {
                "runs until a `taskwait` of who made it, the end of its `taskgroup`, or a barrier"
            }
            Letter::Thread(..) => "runs until it is joined",
            _ => "has no barrier at its end",
        };
        let label = format!("this {construct} {ends}");
        sites.push(self.site(pair.cause.spot(), Role::Cause, label));
        if code == Code::CallsConcurrent {
            sites.extend(self.asked.and_then(|asked| self.asked_site(asked)));
        }
        let program = self.instances.program;
        let message = if first.spot == second.spot {
            format!("`{one}` may run at once with itself, where threads come to it again")
        } else {
            let other_line = places::line(program, self.at(second.spot), Some(here));
            format!("`{one}` and `{other}` ({other_line}) may run at once")
        };
        let why = format!(
            "the {construct} that begins at {} {ends}, and nothing else orders the two",
            places::line(program, cause, Some(here))
        );
        let help = match pair.cause {
            Letter::Single(_) => "remove `nowait`, or put a `barrier` between the two",
            Letter::Section(..) => "put both into one section, or use `single` regions",
            Letter::Task(..) => {
                "let who makes the task wait for it (`taskwait`), use a `taskgroup`, or order the \
                 tasks by `depend`"
            }
            Letter::Thread(..) => "join the thread before, or let a lock keep the two apart",
            _ => "put a `barrier` between the two",
        };
        let help = match code {
            Code::CallsConcurrent => format!("{help}; or ask for MPI_THREAD_MULTIPLE"),
            _ => format!("{help}; no thread level allows this on one communicator"),
        };
        let possible = !(self.is_sure(first) && self.is_sure(second));
        Some(Finding { possible, ..places::finding(code, message, sites, why, help) })
    }

    fn nested(&self, nested: &Nested) -> Finding {
        let inner = nested.letter.map_or("barrier", Letter::name);
        let outer = nested.outer.name();
        let sites = vec![
            self.site(nested.inner, Role::Access, format!("{inner} within a {outer}")),
            self.site(nested.outer.spot(), Role::Cause, format!("the {outer}")),
        ];
        let message = format!("a {inner} is entered within a {outer} of the same team");
        let why = "all threads of a team must reach it, but the outer one does not admit all of them \
                   (OpenMP 5.2 §17.1)";
        let help = "move the inner construct out, or start a parallel region of its own for it";
        let finding = places::finding(
            Code::ForbiddenNesting,
            message,
            sites,
            why.to_owned(),
            help.to_owned(),
        );
        Finding { possible: !nested.sure, ..finding }
    }

    fn name(&self, event: &Event) -> &str {
        &self.instances.mpi_of(event).name
    }

    fn inst(&self, spot: Spot) -> Option<&Inst> {
        let function = self.instances.program.functions.get(spot.function.0 as usize)?;
        function.body.as_ref()?.code.get(spot.inst.0 as usize)
    }

    /// Where a construct or call is; the first call in a section stands for the section.
    fn at(&self, spot: Spot) -> Place {
        self.inst(spot).map_or_else(Place::default, |inst| inst.at)
    }

    fn line(&self, spot: Spot) -> String {
        places::line(self.instances.program, self.at(spot), None)
    }

    fn site(&self, spot: Spot, role: Role, label: String) -> Site {
        places::at(self.instances.program, spot.function, self.at(spot), role, label)
    }

    /// The site of an event, with a way that leads there.
    fn event_site(&self, event: &Event, role: Role, label: String) -> Site {
        let mut site = self.site(event.spot, role, label);
        let mut number = event.instance;
        while let Some((caller, call)) = self.instances.all[number].callers.first() {
            let spot = Spot { function: self.instances.all[*caller].function, inst: *call };
            if places::is_around_program(self.instances.program, spot.function) {
                break;
            }
            let frame = places::frame(self.instances.program, spot.function, self.at(spot));
            // What compilers put between a construct and its body is no step.
            let same = site.stack.last().is_some_and(|last| last.function == frame.function);
            let entered = self.instances.entered(*caller, *call, number);
            if !same || entered.is_some_and(|how| how != Entered::Called) {
                site.stack.push(frame);
            }
            if site.stack.len() > MAX_CALL_PATH_STEPS || *caller == number {
                break;
            }
            number = *caller;
        }
        site
    }

    /// The innermost construct that decides who gets to a place.
    fn construct(&self, word: &[Letter], by: &str) -> Option<Site> {
        let letter = word.iter().rev().find(|letter| self.at(letter.spot()).file.is_some())?;
        let label = format!("this {} lets {by} in", letter.name());
        let label = match letter {
            Letter::Single(_) => {
                "this region is entered by whichever thread comes first".to_owned()
            }
            Letter::Section(..) => "each section is run by any thread of the team".to_owned(),
            Letter::Task(..) => "this task is run by any thread of the team".to_owned(),
            Letter::Thread(..) => "this thread is another than the first".to_owned(),
            Letter::Parallel(..) => "this parallel region has several threads".to_owned(),
            Letter::Share(_) => "the iterations are divided among the threads".to_owned(),
            Letter::Numbered(..) => "this test lets one thread in".to_owned(),
            Letter::Guard(_) => "what comes before is waited for here".to_owned(),
            _ => label,
        };
        Some(self.site(letter.spot(), Role::Cause, label))
    }

    fn asked_site(&self, asked: Asked) -> Option<Site> {
        let label = format!("asks for {}", asked.level);
        Some(self.site(asked.at?, Role::Cause, label))
    }

    fn is_collective(&self, event: &Event) -> bool {
        self.instances.mpi_of(event).call.is_some_and(|call| call.collective)
    }

    /// The communicator of a call, as far as it is certain to be the same for all threads: a
    /// constant, or a variable that they share, by where it is.
    fn communicator(&self, event: &Event) -> Option<(Option<FunctionId>, Value)> {
        let mpi = self.instances.mpi_of(event);
        let inst = self.inst(event.spot)?;
        let body = self.instances.body(event.instance);
        let index = mpi.call?.at.comm?;
        if mpi.by_reference {
            let constant = mpi.integer(self.instances.program, body, inst, index)?;
            return Some((None, Value::Int(constant)));
        }
        match *inst.args.get(index)? {
            constant @ (Value::Int(_) | Value::Global(..)) => Some((None, constant)),
            Value::Inst(id) => match &body[id] {
                Inst { op: Op::Load(_), args, .. } => match args[0] {
                    Value::Global(..) => Some((None, args[0])),
                    // What a parallel region's function is given the address of.
                    Value::Param(_) => Some((Some(event.spot.function), args[0])),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether all threads of the team name the same communicator.
    fn is_shared(&self, event: &Event) -> bool {
        self.communicator(event).is_some()
    }
}
