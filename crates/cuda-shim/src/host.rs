//! Functions of the program that streams call.
//!
//! The library gets a function of ours instead, which says when the program's begins and when it ends. What
//! it needs for that lives until the function has been called, or as long as the process if it may be
//! called again, by a graph.

use crate::call::Call;
use crate::process::{quietly, with_streams};
use crate::real::SUCCESS;
use commsan_cuda::{StreamChecker, Ticket};
use commsan_cuda_abi::HostNodeParams;
use commsan_process::inside;
use std::ffi::{c_int, c_void};

/// `cudaHostFn_t`.
pub(crate) type Function = unsafe extern "C" fn(*mut c_void);
/// `cudaStreamCallback_t`.
pub(crate) type Callback = unsafe extern "C" fn(usize, c_int, *mut c_void);

/// What the program wants called, and what it is to commsan.
struct Planned<F> {
    function: F,
    data: *mut c_void,
    ticket: Option<Ticket>,
    again: bool,
}

impl<F: Copy> Planned<F> {
    /// Hands the library a plan for a function, which has its ticket by then.
    fn put(
        call: &Call,
        stream: usize,
        (function, data): (F, *mut c_void),
        real: impl FnOnce(*mut c_void) -> c_int,
    ) -> c_int {
        let ticket = quietly(|| {
            let stream = call.stream(stream);
            call.with(|streams, _, _| streams.host_function(stream))
        });
        let ticket = ticket.flatten();
        let again = crate::ask::is_capturing(call.explicit(stream));
        let plan = Box::into_raw(Box::new(Planned { function, data, ticket, again }));
        let code = real(plan.cast());
        if code != SUCCESS {
            // SAFETY: the library has refused it.
            drop(unsafe { Box::from_raw(plan) });
            if let Some(ticket) = ticket {
                quietly(|| call.with(|streams, place, out| streams.withdrawn(ticket, place, out)));
            }
        }
        code
    }

    /// Calls the program's function, which is not part of the library that this thread may be in.
    ///
    /// # Safety
    /// `plan` is one that was put, and the library calls.
    unsafe fn run(plan: *mut c_void, body: impl FnOnce(F, *mut c_void)) {
        let plan = plan.cast::<Planned<F>>();
        // SAFETY: made by `put`, and dropped by its last call only, below.
        let &Planned { function, data, ticket, again } = unsafe { &*plan };
        let says = |what: fn(&mut dyn StreamChecker, Ticket, u32)| {
            if let Some(ticket) = ticket {
                quietly(|| {
                    with_streams(&mut |streams, thread, _| what(streams, ticket, thread.number()));
                });
            }
        };
        says(|streams, ticket, thread| streams.host_function_begins(ticket, thread));
        inside::outside(|| body(function, data));
        says(|streams, ticket, thread| streams.host_function_ends(ticket, thread));
        if !again {
            // SAFETY: nobody calls it any more.
            drop(unsafe { Box::from_raw(plan) });
        }
    }
}

unsafe extern "C" fn run_function(plan: *mut c_void) {
    // SAFETY: the library passes what it was given; the program has promised such a function.
    unsafe {
        Planned::<Function>::run(plan, |function, data| function(data));
    }
}

unsafe extern "C" fn run_callback(stream: usize, status: c_int, plan: *mut c_void) {
    // SAFETY: the library passes what it was given; the program has promised such a function.
    unsafe {
        Planned::<Callback>::run(plan, |function, data| function(stream, status, data));
    }
}

/// The program puts a function into a stream.
pub(crate) fn launch(
    call: Option<&Call>,
    stream: usize,
    function: Option<Function>,
    data: *mut c_void,
    real: impl FnOnce(Option<Function>, *mut c_void) -> c_int,
) -> c_int {
    match (call, function) {
        (Some(call), Some(wanted)) => Planned::put(call, stream, (wanted, data), |plan| {
            real(Some(run_function as Function), plan)
        }),
        _ => real(function, data),
    }
}

/// The program puts a callback into a stream.
pub(crate) fn callback(
    call: Option<&Call>,
    stream: usize,
    function: Option<Callback>,
    data: *mut c_void,
    real: impl FnOnce(Option<Callback>, *mut c_void) -> c_int,
) -> c_int {
    match (call, function) {
        (Some(call), Some(wanted)) => Planned::put(call, stream, (wanted, data), |plan| {
            real(Some(run_callback as Callback), plan)
        }),
        _ => real(function, data),
    }
}

/// The parameters of a node that calls a function of the program: they call ours. The node is there as
/// long as its graphs, which may be for ever; so is what is needed for it.
pub(crate) struct Planting {
    /// For the library.
    pub parameters: HostNodeParams,
    plan: *mut Planned<Function>,
}

impl Planting {
    /// For a node as the program wants it; `None` if it names no function.
    pub fn new(wanted: HostNodeParams) -> Option<Planting> {
        if wanted.func == 0 {
            return None;
        }
        // SAFETY: the program has promised that it is a function of this type.
        let function = unsafe { std::mem::transmute::<usize, Function>(wanted.func) };
        let data = wanted.userData as *mut c_void;
        let plan = Box::into_raw(Box::new(Planned { function, data, ticket: None, again: true }));
        let func = run_function as Function as usize;
        Some(Planting { parameters: HostNodeParams { func, userData: plan as usize }, plan })
    }

    /// The library has made the node, and its calls are known by this. It is not launched yet.
    pub fn made(self, ticket: Option<Ticket>) {
        // SAFETY: made above; the library calls it when the graph is launched, which is later.
        unsafe { (*self.plan).ticket = ticket };
    }

    /// The library has refused it.
    pub fn refused(self) {
        // SAFETY: made above, and nobody else has it.
        drop(unsafe { Box::from_raw(self.plan) });
    }
}

/// The program asks what a node calls: what it has said itself.
pub(crate) fn as_wanted(parameters: HostNodeParams) -> HostNodeParams {
    if parameters.func != run_function as Function as usize {
        return parameters;
    }
    // SAFETY: only plans go with that function.
    let plan = unsafe { &*(parameters.userData as *const Planned<Function>) };
    HostNodeParams { func: plan.function as usize, userData: plan.data as usize }
}
