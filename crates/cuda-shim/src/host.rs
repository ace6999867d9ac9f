//! Functions of the program that streams call.
//!
//! The library gets a function of ours instead, which tells before and after it calls the program's. What
//! it needs for that lives until the function has been called, or as long as the process if it may be
//! called again, by a graph.

use crate::Event;
use crate::entry::{Call, SUCCESS, quietly};
use crate::process::process;
use commsan_cuda::Ticket;
use commsan_cuda_abi::HostNodeParams;
use commsan_process::inside;
use commsan_process::stack::Caller;
use commsan_process::thread;
use commsan_threads::Here;
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
    /// Hands `plan` to the library, with the work that it is already told.
    fn put(
        call: &Call,
        stream: usize,
        (function, data): (F, *mut c_void),
        real: impl FnOnce(*mut c_void) -> c_int,
    ) -> c_int {
        let ticket =
            quietly(|| call.tell(Event::HostFunction { stream: call.stream(stream) })).flatten();
        let again = crate::ask::is_capturing(call.explicit(stream));
        let plan = Box::into_raw(Box::new(Planned { function, data, ticket, again }));
        let code = real(plan.cast());
        if code != SUCCESS {
            // SAFETY: the library has refused it.
            drop(unsafe { Box::from_raw(plan) });
            if let Some(ticket) = ticket {
                quietly(|| call.tell(Event::Withdrawn(ticket)));
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
        let tell = |event: fn(Ticket) -> Event<'static>| {
            if let (Some(ticket), Some(process)) = (ticket, process()) {
                let nowhere = Caller { pc: 0, frame: 0, sp: 0 };
                quietly(|| {
                    thread::with(|thread| process.tell(&Here::new(nowhere, thread), &event(ticket)))
                });
            }
        };
        tell(Event::HostFunctionBegins);
        inside::outside(|| body(function, data));
        tell(Event::HostFunctionEnds);
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
