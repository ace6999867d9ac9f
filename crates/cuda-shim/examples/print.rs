//! A library to preload: writes what the entry points hand to the semantics to the file that
//! `COMMSAN_TOLD` names, a line each.

use commsan_callsite::{Findings, Place, Placed, Report, Stacks, Use};
use commsan_cuda::nccl::{Act, Making, Origin};
use commsan_cuda::nvshmem::{self, Uses, Wrong};
use commsan_cuda::waiting::{HostWait, Meeting};
use commsan_cuda::{
    Allocation, Copy, Failure, Gpu, Line, Mistake, NodeKind, Release, Set, StreamChecker,
    StreamName, Strength, Ticket, Work, stream_calls,
};
use commsan_cuda_shim::Process;
use commsan_findings::Code;
use commsan_findings::record::Record;
use commsan_process::thread::Thread;
use commsan_shadow::Mode;
use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;

struct Printer(Mutex<Lines>);

/// In place of what checks the work of streams.
struct Lines {
    file: File,
    last: u64,
}

impl Process for Printer {
    fn active(&self) -> bool {
        true
    }

    fn with(&self, _: &Thread, f: &mut dyn FnMut(&mut dyn StreamChecker, &mut dyn Findings)) {
        f(&mut *self.0.lock().expect("no panic before"), &mut Nothing);
    }
}

/// A call with its arguments.
struct Called<'a>(&'a str, &'a [(&'a str, &'a dyn Debug)]);

impl Debug for Called<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        let name: String = self.0.split('_').map(capital).collect();
        if let [("ticket", ticket), ..] = self.1
            && self.1.iter().all(|(name, _)| ["ticket", "thread"].contains(name))
        {
            // Threads of devices have any numbers.
            return f.debug_tuple(&name).field(ticket).finish();
        }
        let mut fields = f.debug_struct(&name);
        let (calls, others): (Vec<_>, Vec<_>) =
            self.1.iter().partition(|(name, _)| *name == "call");
        calls.into_iter().chain(others).for_each(|(name, value)| {
            fields.field(name, value);
        });
        fields.finish()
    }
}

/// What a call gives back.
trait Answer {
    fn new(call: &str, last: u64) -> Self;
}

impl Answer for () {
    fn new(_: &str, _: u64) {}
}

impl Answer for bool {
    fn new(call: &str, _: u64) -> bool {
        call == "wants"
    }
}

impl Answer for Option<Meeting> {
    fn new(_: &str, _: u64) -> Option<Meeting> {
        None
    }
}

impl Answer for Vec<Wrong> {
    fn new(_: &str, _: u64) -> Vec<Wrong> {
        Vec::new()
    }
}

impl Answer for u64 {
    fn new(_: &str, _: u64) -> u64 {
        0
    }
}

impl Answer for Making {
    fn new(_: &str, _: u64) -> Making {
        Making::default()
    }
}

impl Answer for Ticket {
    fn new(_: &str, last: u64) -> Ticket {
        Ticket(last)
    }
}

impl Lines {
    fn called<A: Answer>(&mut self, call: &str, arguments: &[(&str, &dyn Debug)]) -> A {
        match call {
            "wants" | "suspects" | "host_waits" => A::new(call, self.last),
            _ => self.line(call, &Called(call, arguments)),
        }
    }

    fn line<A: Answer>(&mut self, call: &str, line: &dyn Debug) -> A {
        // Calls of other threads may come in between.
        let is_of_others = ["host_function_begins", "host_function_ends", "touched"];
        self.last += u64::from(!is_of_others.contains(&call));
        writeln!(&self.file, "{line:?}").expect("room for a line");
        A::new(call, self.last)
    }
}

macro_rules! print {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($($arg:ident: $ty:ty),+ ; $($context:ident: $context_ty:ty),*)?)
            $(-> $result:ty)?;
    )*) => {
        impl StreamChecker for Lines {
            fn gpu(&mut self) -> &mut Gpu {
                unreachable!("all calls are printed")
            }

            fn enqueue(&mut self, work: &Work, _: &dyn Place, _: &mut dyn Findings) -> Ticket {
                self.line("enqueue", &format_args!("Enqueued({work:?})"))
            }

            fn copy(&mut self, copy: &Copy, _: &dyn Place, _: &mut dyn Findings) -> Ticket {
                self.line("copy", &format_args!("Copied({copy:?})"))
            }

            fn set(&mut self, set: &Set, _: &dyn Place, _: &mut dyn Findings) -> Ticket {
                self.line("set", &format_args!("Set({set:?})"))
            }

            fn nccl(&mut self, act: Act, _: &dyn Place, _: &mut dyn Findings) -> Option<Meeting> {
                self.called("nccl", &[("act", &act)])
            }

            fn nvshmem(
                &mut self,
                act: nvshmem::Act<'_>,
                _: &dyn Place,
                _: &mut dyn Findings,
            ) -> Option<Meeting> {
                self.called("nvshmem", &[("act", &act)])
            }

            fn graph_launched(
                &mut self,
                exec: usize,
                stream: StreamName,
                _: &dyn Place,
                _: &mut dyn Findings,
            ) {
                self.called("graph_launched", &[("exec", &exec), ("stream", &stream)])
            }

            fn freed(
                &mut self,
                address: usize,
                how: Release,
                call: &'static str,
                device: u32,
                _: &dyn Place,
                _: &mut dyn Findings,
            ) {
                let fields: [(&str, &dyn Debug); 4] =
                    [("call", &call), ("address", &address), ("how", &how), ("device", &device)];
                self.called("freed", &fields)
            }

            fn event_exported(&mut self, event: usize, handle: &[u8; 64]) {
                self.called("event_exported", &[("event", &event), ("handle", handle)])
            }

            fn event_opened(&mut self, event: usize, handle: &[u8; 64]) {
                self.called("event_opened", &[("event", &event), ("handle", handle)])
            }

            fn memory_exported(&mut self, address: usize, handle: &[u8; 64]) {
                self.called("memory_exported", &[("address", &address), ("handle", handle)])
            }

            fn memory_opened(
                &mut self,
                address: usize,
                handle: &[u8; 64],
                call: &'static str,
                _: &dyn Place,
                _: &mut dyn Findings,
            ) {
                let fields: [(&str, &dyn Debug); 3] =
                    [("call", &call), ("address", &address), ("handle", handle)];
                self.called("memory_opened", &fields)
            }

            $(
                fn $name(&mut self, $($($arg: $ty,)+ $($context: $context_ty,)*)?) $(-> $result)? {
                    $($(let _ = &$context;)*)?
                    self.called(stringify!($name), &[$($((stringify!($arg), &$arg)),+)?])
                }
            )*
        }
    };
}

stream_calls!(print);

/// Nobody finds anything.
struct Nothing;

impl Findings for Nothing {
    fn again(&mut self, _: Code, _: usize, _: usize) -> bool {
        true
    }

    fn report(&mut self, _: Report<'_>, _: usize, _: &Stacks) -> u32 {
        0
    }

    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}

    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    if let Some(path) = std::env::var_os("COMMSAN_TOLD") {
        let file = File::create(path).expect("a file to write");
        commsan_cuda_shim::connect(Box::leak(Box::new(Printer(Mutex::new(Lines {
            file,
            last: 0,
        })))));
    }
}
