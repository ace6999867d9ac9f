//! What checks the work of streams, as the calls of a program need it.

use crate::gpu::{Failure, Gpu, Mistake, NodeKind, Ticket};
use crate::nccl::{Act, Making, Origin};
use crate::nvshmem::{self, Uses, Wrong};
use crate::waiting::{HostWait, Meeting};
use crate::work::{Allocation, Copy, Line, Release, Set, StreamName, Work};
use commsan_callsite::{Findings, Place};
use commsan_ptx::Strength;
use commsan_shadow::Mode;
use std::ops::Range;

/// Hands a macro the calls that concern work of streams only, a row each: its arguments, then,
/// behind a semicolon, where the program calls and where findings go.
#[macro_export]
macro_rules! stream_calls {
    ($macro:ident) => {
        $macro! {
            /// A stream was created, or has been met first.
            fn stream_created(handle: usize, device: u32, blocking: bool;);
            /// A stream is about to be destroyed.
            fn stream_destroyed(handle: usize;);
            /// The host has waited for a stream, or knows from the library that it has nothing left
            /// to do.
            fn stream_synchronized(
                stream: StreamName, call: &'static str; place: &dyn Place, out: &mut dyn Findings);
            /// The host knows from the library that a stream's device has failed: it does nothing
            /// any more.
            fn stream_failed(
                stream: StreamName, call: &'static str; place: &dyn Place, out: &mut dyn Findings);
            /// The host has waited for a device.
            fn device_synchronized(
                device: u32, call: &'static str; place: &dyn Place, out: &mut dyn Findings);
            /// Everything of a device is about to go.
            fn device_reset(device: u32; place: &dyn Place, out: &mut dyn Findings);
            /// An event was recorded in a stream; if `external`, a graph that is captured there
            /// records it, when it is launched.
            fn event_recorded(event: usize, stream: StreamName, external: bool; place: &dyn Place);
            /// The host has waited for an event, or knows from the library that it has come.
            fn event_synchronized(
                event: usize, call: &'static str; place: &dyn Place, out: &mut dyn Findings);
            /// A stream waits for an event; if `external`, a graph that is captured there waits for
            /// it, when it is launched.
            fn event_awaited(stream: StreamName, event: usize, external: bool; place: &dyn Place);
            /// An event is about to be destroyed.
            fn event_destroyed(event: usize;);
            /// Memory was allocated or registered.
            fn allocated(allocation: Allocation, call: &'static str; place: &dyn Place);
            /// The call that gives memory back has returned; if it was refused, the memory is there
            /// as before.
            fn free_ended(address: usize, refused: bool; place: &dyn Place);
            /// A copy was refused, perhaps since its memory is gone.
            fn copy_refused(copy: &Copy; place: &dyn Place, out: &mut dyn Findings);
            /// A setting of bytes was refused, perhaps since its memory is gone.
            fn set_refused(set: &Set; place: &dyn Place, out: &mut dyn Findings);
            /// Work with a ticket is not in its stream: the call that should have put it there has
            /// failed.
            fn withdrawn(ticket: Ticket; place: &dyn Place, out: &mut dyn Findings);
            /// A function of the host was put into a stream; it comes after what is there.
            fn host_function(stream: StreamName;) -> Ticket;
            /// A function of the host begins, on this thread.
            fn host_function_begins(ticket: Ticket, thread: u32;);
            /// A function of the host ends, on this thread.
            fn host_function_ends(ticket: Ticket, thread: u32;);
            /// What is put into a stream makes a graph from now on.
            fn capture_begins(stream: StreamName;);
            /// What is put into a stream from now on is added to a graph, behind some of its nodes.
            fn capture_begins_to(stream: StreamName, graph: usize, after: &[usize];);
            /// The program has asked for the graph that a stream's work makes, and for the stream's
            /// last nodes.
            fn capture_named(stream: StreamName, graph: usize, last: &[usize];);
            /// What is captured next from a stream comes after other nodes, or, if they are added,
            /// also after these.
            fn capture_goes_on(stream: StreamName, after: &[usize], added: bool;);
            /// The graph that a stream's work makes is complete; 0 if there is none.
            fn capture_ends(stream: StreamName, graph: usize;);
            /// A ticket for work that is put into a stream or a graph later.
            fn ticket() -> Ticket;
            /// An empty graph was made.
            fn graph_created(graph: usize;);
            /// A node was added to a graph, after others.
            fn graph_node(
                graph: usize, node: usize, after: &[usize], does: NodeKind<'_>; place: &dyn Place
            ) -> Ticket;
            /// A node does something else from now on, where its graph is made ready anew.
            fn node_changed(node: usize, does: NodeKind<'_>; place: &dyn Place) -> Ticket;
            /// A node does something else in what can be launched under a name, from the next
            /// launch on.
            fn exec_node_changed(
                exec: usize, node: usize, does: NodeKind<'_>; place: &dyn Place) -> Ticket;
            /// Edges were added to a graph or taken away.
            fn graph_edges(graph: usize, edges: &[(usize, usize)], added: bool;);
            /// A graph was copied.
            fn graph_cloned(graph: usize, clone: usize;);
            /// A graph is about to go.
            fn graph_destroyed(graph: usize;);
            /// A graph can be launched under a name, or is what is launched under it from now on.
            fn graph_instantiated(exec: usize, graph: usize;);
            /// What could be launched is about to go.
            fn exec_destroyed(exec: usize;);
            /// A communicator of NCCL is about to be made; its rank and size, if the program passes
            /// them.
            fn nccl_making(
                origin: Origin<'_>, known: [Option<u32>; 2], call: &'static str;
                place: &dyn Place, out: &mut dyn Findings
            ) -> Making;
            /// Work in a stream needs other ranks.
            fn meets_in_stream(ticket: Ticket, meeting: Meeting;);
            /// The host is about to wait for work; whether some of it needs other ranks, so that
            /// this rank waits for them.
            fn host_waits(wait: HostWait, call: &'static str; place: &dyn Place) -> bool;
            /// The host is about to call what needs other ranks; which and how is not known if that
            /// is `None`.
            fn host_calls(
                call: &'static str, meeting: Option<Meeting>; place: &dyn Place);
            /// The host does not wait any more.
            fn host_goes_on();
            /// What is wrong with what a call of NVSHMEM passes.
            fn nvshmem_wrong(uses: &[Uses];) -> Vec<Wrong>;
            /// The number of the symmetric allocation that begins at an address; 0 if none does.
            fn nvshmem_block(at: usize;) -> u64;
            /// A nonblocking operation of NVSHMEM begins, now or where a stream comes to it.
            fn nvshmem_begins(
                work: &Work, stream: Option<StreamName>; place: &dyn Place, out: &mut dyn Findings);
            /// A stream waits for what other PEs, or this one, put into memory of this one.
            fn nvshmem_awaits(work: &Work; place: &dyn Place, out: &mut dyn Findings);
            /// The host, or a stream, has waited for all of them so far.
            fn nvshmem_completes(
                stream: Option<StreamName>, call: &'static str;
                place: &dyn Place, out: &mut dyn Findings);
            /// Some device will say what work really accesses of which that is not certain.
            fn observe_accesses();
            /// A kernel has failed.
            fn failed(ticket: Ticket, failure: &Failure; out: &mut dyn Findings);
            /// Threads of a kernel race with each other.
            fn mistaken(ticket: Ticket, mistake: &Mistake; out: &mut dyn Findings);
            /// Work has accessed this.
            fn touched(
                ticket: Ticket, mode: Mode, strength: Strength, bytes: &Range<usize>,
                line: Option<&Line>; out: &mut dyn Findings
            );
            /// Whether it is of interest what some work really accesses.
            fn wants(ticket: Ticket;) -> bool;
            /// Whether some work is suspected that has not been executed.
            fn suspects() -> bool;
        }
    };
}

macro_rules! declare {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($($arg:ident: $ty:ty),+ ; $($context:ident: $context_ty:ty),*)?)
            $(-> $result:ty)?;
    )*) => {
        /// What checks the work of streams: a [`Gpu`] alone, or together with what else uses memory
        /// asynchronously.
        pub trait StreamChecker {
            /// What is known of devices.
            fn gpu(&mut self) -> &mut Gpu;

            /// Work was put into a stream.
            fn enqueue(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) -> Ticket;

            /// A graph was launched.
            fn graph_launched(
                &mut self,
                exec: usize,
                stream: StreamName,
                place: &dyn Place,
                out: &mut dyn Findings,
            );

            /// Memory is about to be given back.
            fn freed(
                &mut self,
                address: usize,
                how: Release,
                call: &'static str,
                device: u32,
                place: &dyn Place,
                out: &mut dyn Findings,
            );

            /// Other processes may open an event by this handle.
            fn event_exported(&mut self, event: usize, handle: &[u8; 64]);

            /// An event was opened by the handle of another process.
            fn event_opened(&mut self, event: usize, handle: &[u8; 64]);

            /// Other processes may open memory by this handle.
            fn memory_exported(&mut self, address: usize, handle: &[u8; 64]);

            /// Memory was opened by the handle of another process.
            fn memory_opened(
                &mut self,
                address: usize,
                handle: &[u8; 64],
                call: &'static str,
                place: &dyn Place,
                out: &mut dyn Findings,
            );

            /// A call of NCCL is about to be made, or has been. Returns what it needs of other
            /// ranks, as far as it is compared with their calls.
            fn nccl(
                &mut self,
                act: Act,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) -> Option<Meeting>;

            /// A call of NVSHMEM is about to be made, or has been. Returns what it needs of other
            /// ranks, as far as it is compared with their calls.
            fn nvshmem(
                &mut self,
                act: nvshmem::Act<'_>,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) -> Option<Meeting>;

            /// A copy was put into a stream.
            fn copy(&mut self, copy: &Copy, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
                let work = self.gpu().work_of_copy(copy);
                if copy.serialises.is_empty() {
                    return self.enqueue(&work, place, out);
                }
                self.gpu().serialise(copy.stream, &copy.serialises);
                let ticket = self.enqueue(&work, place, out);
                self.gpu().serialise(copy.stream, &copy.serialises);
                ticket
            }

            /// Bytes are set in a stream.
            fn set(&mut self, set: &Set, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
                let work = self.gpu().work_of_set(set);
                self.enqueue(&work, place, out)
            }

            $(
                $(#[$doc])*
                fn $name(&mut self, $($($arg: $ty,)+ $($context: $context_ty,)*)?) $(-> $result)? {
                    // By path: of a method with `&self`, this very one would be called.
                    Gpu::$name(self.gpu() $($(, $arg)+ $(, $context)*)?)
                }
            )*
        }
    };
}

stream_calls!(declare);

/// Without others, handles of other processes say nothing.
impl StreamChecker for Gpu {
    fn gpu(&mut self) -> &mut Gpu {
        self
    }

    fn enqueue(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
        Gpu::enqueue(self, work, place, out)
    }

    fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        Gpu::graph_launched(self, exec, stream, place, out);
    }

    fn freed(
        &mut self,
        address: usize,
        how: Release,
        call: &'static str,
        device: u32,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if !self.captures_free(address, how, call, place) {
            Gpu::freed(self, address, how, call, device, place, out);
        }
    }

    fn event_exported(&mut self, event: usize, _: &[u8; 64]) {
        Gpu::event_exported(self, event);
    }

    fn event_opened(&mut self, event: usize, _: &[u8; 64]) {
        Gpu::event_opened(self, event, None);
    }

    fn memory_exported(&mut self, address: usize, _: &[u8; 64]) {
        Gpu::memory_exported(self, address, None);
    }

    fn memory_opened(
        &mut self,
        _: usize,
        _: &[u8; 64],
        _: &'static str,
        _: &dyn Place,
        _: &mut dyn Findings,
    ) {
    }

    fn nccl(&mut self, act: Act, place: &dyn Place, out: &mut dyn Findings) -> Option<Meeting> {
        Gpu::nccl(self, act, None, place, out)
    }

    fn nvshmem(
        &mut self,
        act: nvshmem::Act<'_>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        Gpu::nvshmem(self, act, None, place, out)
    }
}
