//! Semantics of MPI calls in bounded execution.

use super::asked::Asked;
use super::comms::NULL_COMM;
use super::store::Datum;
use super::{Job, State};
use commsan_mpi_calls::{Effect, Role};
use commsan_shadow::Mode;

impl<'p> Job<'_, 'p> {
    /// The call that a rank has come to.
    pub fn call(&mut self, rank: usize) {
        let (id, inst) = self.ranks[rank].interpreter.here();
        let function = self.ranks[rank].interpreter.frame().function;
        let Some(mpi) = self.text.calls.at(inst) else { return };
        self.seen.insert((function, id));
        let Some(call) = mpi.call else {
            self.unknown(rank);
            return;
        };
        let asked = Asked { rank, place: (function, id), mpi, call, inst };
        if self.asked(&asked).is_none() {
            self.ranks[rank].state = State::Lost;
        }
    }

    /// A call of which the table knows nothing: it writes to what it is given.
    fn unknown(&mut self, rank: usize) {
        let (_, inst) = self.ranks[rank].interpreter.here();
        let interpreter = &mut self.ranks[rank].interpreter;
        let args: Vec<_> = inst.args.iter().map(|value| interpreter.value(*value)).collect();
        interpreter.forget_reached(&args);
        interpreter.returned(Datum::Int(0));
    }

    /// Makes a call, or waits in it; none if nobody knows what becomes of it.
    fn asked(&mut self, asked: &Asked<'p>) -> Option<()> {
        let call = asked.call;
        self.outside(asked)?;
        self.check_bounds(asked);
        self.check_in_place(asked);
        self.check_operation(asked);
        let rank = asked.rank;
        match call.effect {
            Effect::Begin => {
                self.ranks[rank].initialized = Some(asked.place);
                if asked.has("provided") {
                    let required = asked.datum(self, "required");
                    self.answer(asked, "provided", required);
                }
            }
            Effect::Finalize => self.ranks[rank].finalized = Some(asked.place),
            Effect::Abort => {
                self.unfit = true;
                return None;
            }
            Effect::TypeCommit => {}
            _ if asked.has("type_out") => self.make_type(asked),
            _ if asked.has("op_out") => self.make_operation(asked),
            Effect::Wait
            | Effect::Test
            | Effect::WaitAll
            | Effect::TestAll
            | Effect::WaitAny
            | Effect::TestAny
            | Effect::Some
            | Effect::Free
            | Effect::Cancel
            | Effect::Go
            | Effect::GoAll => {
                return self.request_call(asked);
            }
            Effect::CommFree => {
                let null = self.null_handle(rank, asked.mpi.by_reference, NULL_COMM);
                self.answer(asked, "comm_inout", null);
            }
            _ if call.enters => return self.collective(asked),
            _ if call.bare_name().ends_with("robe") => return self.probe(asked),
            _ if call.at.comm.is_some() && (call.sent.is_some() || call.received.is_some()) => {
                return self.message(asked);
            }
            _ if self.about_comm(asked)? => {}
            // Functions that attributes call.
            Effect::KeyvalMake => return None,
            Effect::Start | Effect::Init | Effect::InitPartitioned | Effect::Session => {
                return None;
            }
            _ if call.bare_name() == "Get_count" => self.count(asked),
            _ if call.waits => return None,
            Effect::MemAlloc => self.allocate(asked),
            _ => self.forget_results(asked),
        }
        self.go_on(asked);
        Some(())
    }

    /// `MPI_Alloc_mem`.
    fn allocate(&mut self, asked: &Asked) {
        let size = asked.number(self, "size");
        let origin = super::store::Origin::Made(asked.place.0, asked.place.1);
        let interpreter = &mut self.ranks[asked.rank].interpreter;
        let object = interpreter.store.make(origin, size, Datum::Unknown);
        self.answer_wide(asked, "base", 8, Datum::Address(object, 0));
    }

    /// `MPI_Get_count`.
    fn count(&mut self, asked: &Asked) {
        let at = match asked.raw(self, "status_in") {
            Datum::Address(object, at) => Datum::Address(object, at + self.constants.status_count),
            _ => Datum::Unknown,
        };
        let bytes = self.ranks[asked.rank].interpreter.load(at, 4);
        let handle = asked.datum(self, "datatype");
        let count = match (bytes, self.datatype(asked.rank, handle)) {
            (Datum::Int(bytes), Some(of)) if of.size > 0 && bytes % of.size == 0 => {
                Datum::Int(bytes / of.size)
            }
            _ => Datum::Unknown,
        };
        self.answer(asked, "count_out", count);
    }

    /// What a call stores is not known.
    fn forget_results(&mut self, asked: &Asked) {
        let written = |at: usize| {
            let rules = &asked.call.accesses;
            rules.iter().any(|rule| rule.buffer == at && rule.mode == Mode::Write)
        };
        let params = asked.call.params.iter().enumerate();
        let names = params.filter(|(at, param)| match param.role {
            Role::Ints | Role::Flag | Role::Status => true,
            Role::Buffer => written(*at),
            Role::Pointer => is_result(&param.name),
            _ => false,
        });
        let names: Vec<_> = names.map(|(_, param)| &*param.name).collect();
        for name in names {
            if let Datum::Address(object, _) = asked.raw(self, name) {
                self.ranks[asked.rank].interpreter.store.forget(object);
            }
        }
    }

    /// Goes on behind a call, which has succeeded.
    pub fn go_on(&mut self, asked: &Asked) {
        let interpreter = &mut self.ranks[asked.rank].interpreter;
        if asked.mpi.by_reference
            && let Some(last) = asked.inst.args.last()
        {
            let in_binding = asked.call.params.iter().filter(|param| param.in_fortran()).count();
            let error = interpreter.value(*last);
            if asked.inst.args.len() == in_binding + 1 {
                let _ = interpreter.put(error, 4, Datum::Int(0));
            }
        }
        interpreter.returned(Datum::Int(0));
    }

    /// Stores a result: a handle, or a number.
    pub fn answer(&mut self, asked: &Asked, name: &str, value: Datum) {
        let is_handle = matches!(value, Datum::Handle(..) | Datum::Address(..));
        let size = if is_handle { self.handle_size(asked) } else { 4 };
        self.answer_wide(asked, name, size, value);
    }

    fn answer_wide(&mut self, asked: &Asked, name: &str, size: i64, value: Datum) {
        if let Datum::Address(object, at) = asked.raw(self, name) {
            self.ranks[asked.rank].interpreter.store.store((object, at), size, value);
        }
    }
}

/// Whether a call stores something through a parameter of this name.
fn is_result(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "base",
        "dims",
        "periods",
        "coords",
        "neighbors",
        "sources",
        "destinations",
        "weights",
        "destweights",
        "ends",
        "edges",
        "position",
    ];
    ["_out", "_inout"].iter().any(|end| name.ends_with(end)) || OTHERS.contains(&name)
}
