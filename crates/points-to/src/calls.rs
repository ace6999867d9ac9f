//! Constraints of calls of libraries and of MPI.

use super::code::Code;
use super::library::Library;
use super::rules::Rules;
use crate::Mpi;
use commsan_ir::{FunctionId, Inst, InstId, Value};
use commsan_mpi_calls::{Effect, Role};

/// What the constructors of `std::thread` call, with the object that the thread runs (libstdc++).
pub const START_OF_CXX: &str = "_ZNSt6thread15_M_start_thread";

/// Arguments of a call that starts a thread, before the functions that one of several may be.
pub const CREATED_BY: usize = 4;

impl<R: Rules> Code<'_, R> {
    pub fn library(&mut self, function: FunctionId, id: InstId, inst: &Inst, name: &str) -> bool {
        let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
        // Who starts threads passes arguments on: the function, and where its parameters begin.
        let of_cxx = name.starts_with(START_OF_CXX);
        let thread = match name {
            _ if of_cxx => Some((3, 0, 0)),
            "pthread_create" => Some((2, 0, 3)),
            "thrd_create" => Some((1, 0, 2)),
            "__kmpc_fork_call" | "__kmpc_fork_teams" => Some((2, 2, 3)),
            _ => None,
        };
        if let Some((entry, first, from)) = thread {
            let Value::Function(callee) = arg(entry) else { return false };
            if from == 3 && first == 0 {
                for other in inst.args.iter().skip(CREATED_BY) {
                    let Value::Function(other) = *other else { continue };
                    self.rules.starts(other);
                    let (argument, param) =
                        (self.value(function, arg(from)), self.value(other, Value::Param(0)));
                    self.rules.copy(argument, param);
                }
            }
            self.rules.starts(callee);
            if of_cxx {
                // The object's owner is passed.
                let owner = self.value(function, arg(1));
                let (state, param) =
                    (self.rules.loaded(owner), self.value(callee, Value::Param(0)));
                self.rules.copy(state, param);
                return true;
            }
            for (number, argument) in (first..).zip(inst.args.iter().skip(from)) {
                let argument = self.value(function, *argument);
                let param = self.value(callee, Value::Param(number));
                self.rules.copy(argument, param);
            }
            return true;
        }
        let Some(library) = Library::of(name) else { return false };
        let to = self.value(function, Value::Inst(id));
        match library {
            Library::Allocates => {
                let made = self.made(function, id, None);
                self.rules.copy(made, to);
            }
            Library::Reallocates => {
                let made = self.made(function, id, None);
                self.rules.copy(made, to);
                let old = self.value(function, arg(0));
                self.rules.copy_memory(made, old, None);
            }
            Library::AllocatesInto => {
                let made = self.made(function, id, Some(0));
                let address = self.value(function, arg(0));
                self.rules.store(address, made);
            }
            Library::Copies => {
                let (target, source) = (self.value(function, arg(0)), self.value(function, arg(1)));
                self.rules.copy_memory(target, source, length(arg(2)));
                self.rules.shift(target, to, None);
            }
            Library::ReturnsPlaceIn(number) => {
                let object = self.value(function, arg(number));
                self.rules.shift(object, to, None);
            }
            Library::FindsEnd => {
                let (text, end) = (self.value(function, arg(0)), self.value(function, arg(1)));
                let place = self.rules.shifted(text, None);
                self.rules.store(end, place);
            }
            Library::Sorts => {
                let elements = self.value(function, arg(0));
                let element = self.rules.shifted(elements, None);
                let moved = self.rules.loaded(element);
                self.rules.store(element, moved);
                return self.pass(arg(3), [element, element]);
            }
            Library::Searches => {
                let (key, elements) = (self.value(function, arg(0)), self.value(function, arg(1)));
                let element = self.rules.shifted(elements, None);
                self.rules.copy(element, to);
                return self.pass(arg(4), [key, element]);
            }
            Library::Forgets => {}
            Library::ChangesString => {
                let string = self.value(function, arg(0));
                let (made, text) = (self.made(function, id, None), self.rules.node());
                self.rules.copy(made, text);
                self.rules.shift(string, text, None);
                self.rules.store(string, text);
                self.rules.copy(text, to);
            }
            Library::WalksNodes(links) => self.nodes(function, &inst.args[..1], to, links, false),
            Library::LinksNodes(links) => self.nodes(function, &inst.args, to, links, true),
        }
        true
    }

    /// Somebody calls a function with these arguments; not if it is not known which function that
    /// is.
    fn pass(&mut self, callee: Value, arguments: [R::Set; 2]) -> bool {
        let Value::Function(callee) = callee else { return false };
        self.rules.starts(callee);
        for (number, argument) in (0..).zip(arguments) {
            let param = self.value(callee, Value::Param(number));
            self.rules.copy(argument, param);
        }
        true
    }

    /// Nodes that arguments point to, and all that are linked with these; whether they are then
    /// linked anew. `to` is where any of them may be.
    fn nodes(
        &mut self,
        function: FunctionId,
        from: &[Value],
        to: R::Set,
        links: &[i64],
        anew: bool,
    ) {
        for node in from {
            let node = self.value(function, *node);
            self.rules.copy(node, to);
        }
        for at in links {
            let link = self.rules.shifted(to, Some(*at));
            self.rules.load(link, to);
            if anew {
                self.rules.store(link, to);
            }
        }
    }

    /// MPI keeps no pointers, but makes handles and memory, and moves data that may be pointers.
    pub fn mpi(&mut self, function: FunctionId, id: InstId, inst: &Inst, mpi: &Mpi) {
        let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
        for index in handed_on(mpi) {
            let value = self.value(function, arg(*index));
            let outside = self.rules.outside();
            self.rules.store(outside, value);
        }
        if let Some(index) = handed_back(mpi) {
            let (address, known) = (self.value(function, arg(index)), self.rules.node());
            let outside = self.rules.outside();
            self.rules.load(outside, known);
            self.rules.store(address, known);
        }
        for (number, argument) in inst.args.iter().enumerate() {
            if makes_handle(mpi, number) {
                let made = self.made(function, id, u8::try_from(number).ok());
                let address = self.value(function, *argument);
                self.rules.store(address, made);
            }
        }
    }

    /// Others may do anything with these, and return anything.
    pub fn give_away(&mut self, function: FunctionId, arguments: &[Value], result: R::Set) {
        let outside = self.rules.outside();
        for argument in arguments {
            let argument = self.value(function, *argument);
            self.rules.store(outside, argument);
        }
        self.rules.load(outside, result);
    }
}

/// So many bytes, if that is known.
pub fn length(value: Value) -> Option<i64> {
    match value {
        Value::Int(length) => Some(length),
        _ => None,
    }
}

/// The arguments that MPI hands to functions of the program, or back to whoever asks for an
/// attribute; functions among them are called.
fn handed_on(mpi: &Mpi) -> &'static [usize] {
    match &*mpi.name {
        "MPI_Grequest_start" => &[0, 1, 2, 3],
        "MPI_Comm_create_keyval"
        | "MPI_Win_create_keyval"
        | "MPI_Type_create_keyval"
        | "MPI_Keyval_create" => &[0, 1, 3],
        "MPI_Comm_set_attr" | "MPI_Win_set_attr" | "MPI_Type_set_attr" | "MPI_Attr_put" => &[2],
        "MPI_Register_datarep" => &[1, 2, 3, 4],
        "MPI_Op_create"
        | "MPI_Comm_create_errhandler"
        | "MPI_Win_create_errhandler"
        | "MPI_File_create_errhandler" => &[0],
        _ => &[],
    }
}

/// The argument through which an attribute comes back.
fn handed_back(mpi: &Mpi) -> Option<usize> {
    match &*mpi.name {
        "MPI_Comm_get_attr" | "MPI_Win_get_attr" | "MPI_Type_get_attr" | "MPI_Attr_get" => Some(2),
        _ => None,
    }
}

/// Whether a call stores a new handle, or the address of new memory, through this argument.
fn makes_handle(mpi: &Mpi, number: usize) -> bool {
    let Some(call) = mpi.call else { return false };
    let makes = call.makes.is_some_and(|(_, index)| index == number);
    makes
        || call.params.get(number).is_some_and(|param| match &*param.name {
            "comm_out" | "win_out" | "baseptr" => true,
            "message" => call.probes(),
            "base" => call.effect == Effect::MemAlloc,
            _ => param.role == Role::Request && stores_request(call.effect),
        })
}

/// Whether a call with this effect writes a new request.
fn stores_request(effect: Effect) -> bool {
    matches!(effect, Effect::Start | Effect::Init | Effect::InitPartitioned | Effect::Rma)
}
