//! Scripts as a C program, in which each step has a line of its own.

use crate::script::{
    Area, Assertion, Kind, Layout, Place, Reduction, Script, Spot, Step, Transfer, Type, Window,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A program and which step each of its lines is.
pub struct Program {
    pub text: String,
    /// Script and step.
    pub lines: BTreeMap<u32, (usize, Place)>,
}

impl Program {
    /// Does one script after the other; `header` is the path of `script.h`.
    pub fn new(scripts: &[Script], header: &str) -> Program {
        let mut program = Program { text: String::new(), lines: BTreeMap::new() };
        program.line(&format!("#include \"{header}\""));
        for (number, script) in scripts.iter().enumerate() {
            for (rank, steps) in script.steps.iter().enumerate() {
                program.line("");
                program.line(&format!("static void script_{number}_{rank}(void) {{"));
                for (index, step) in steps.iter().enumerate() {
                    program.line(&format!("  {};", statement(step, script)));
                    let line = program.text.lines().count() as u32;
                    program.lines.insert(line, (number, (rank, index)));
                }
                program.line("}");
            }
        }
        program.line("");
        program.line("int main(int argc, char **argv) {");
        program.line("  begin(&argc, &argv);");
        for (number, script) in scripts.iter().enumerate() {
            program.call(number, script);
        }
        program.line("  return end();");
        program.line("}");
        program
    }

    /// Opens the windows of a script, has each rank do its part, and closes them.
    fn call(&mut self, number: usize, script: &Script) {
        self.line("");
        self.line(&format!("  // {}", script.seed));
        for (window, Window { at, bytes, unit }) in script.windows.iter().enumerate() {
            self.line(&match script.shared {
                true => format!("  open_shared({bytes}, {unit});"),
                false => format!("  open_window({window}, {at}, {bytes}, {unit});"),
            });
        }
        self.line("  MPI_Barrier(MPI_COMM_WORLD);");
        for rank in 0..script.steps.len() {
            self.line(&format!("  if (rank == {rank}) script_{number}_{rank}();"));
        }
        self.line("  MPI_Barrier(MPI_COMM_WORLD);");
        for window in 0..script.windows.len() {
            self.line(&format!("  MPI_Win_free(&win[{window}]);"));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn statement(step: &Step, script: &Script) -> String {
    let group = |ranks: &[usize]| ranks.iter().fold(0, |mask, rank| mask | 1 << rank);
    match step {
        // A third of them through an index, so that their addresses are not known beforehand.
        Step::Load(at, layout) if layout.count % 3 == 2 => {
            format!("GATHER({})", each(*at, *layout))
        }
        Step::Store(at, layout) if layout.count % 3 == 2 => {
            format!("SCATTER({})", each(*at, *layout))
        }
        Step::Load(at, layout) => format!("LOAD({})", each(*at, *layout)),
        Step::Store(at, layout) => format!("STORE({})", each(*at, *layout)),
        Step::Transfer(transfer) => {
            let window = &script.windows[transfer.window];
            one_by_one(transfer, window).unwrap_or_else(|| call(transfer, window))
        }
        Step::Wait(request) => format!("MPI_Wait(&request[{request}], MPI_STATUS_IGNORE)"),
        Step::Fence(w, assertion) => {
            let assertion = match assertion {
                Assertion::None => "0",
                Assertion::NoPrecede => "MPI_MODE_NOPRECEDE",
                Assertion::NoSucceed => "MPI_MODE_NOSUCCEED",
            };
            format!("MPI_Win_fence({assertion}, win[{w}])")
        }
        Step::Post(w, ranks) => format!("MPI_Win_post(group({}), 0, win[{w}])", group(ranks)),
        Step::Start(w, ranks) => format!("MPI_Win_start(group({}), 0, win[{w}])", group(ranks)),
        Step::Complete(w) => format!("MPI_Win_complete(win[{w}])"),
        Step::WaitExposed(w) => format!("MPI_Win_wait(win[{w}])"),
        Step::Lock(w, target, exclusive) => {
            let kind = if *exclusive { "EXCLUSIVE" } else { "SHARED" };
            format!("MPI_Win_lock(MPI_LOCK_{kind}, {target}, 0, win[{w}])")
        }
        Step::Unlock(w, target) => format!("MPI_Win_unlock({target}, win[{w}])"),
        Step::LockAll(w) => format!("MPI_Win_lock_all(0, win[{w}])"),
        Step::UnlockAll(w) => format!("MPI_Win_unlock_all(win[{w}])"),
        Step::Flush(w, target, local) => {
            let local = if *local { "_local" } else { "" };
            match target {
                Some(target) => format!("MPI_Win_flush{local}({target}, win[{w}])"),
                None => format!("MPI_Win_flush{local}_all(win[{w}])"),
            }
        }
        Step::Barrier => "MPI_Barrier(MPI_COMM_WORLD)".to_owned(),
        Step::NonblockingBarrier => "nonblocking_barrier()".to_owned(),
        Step::Broadcast(root) => format!("broadcast({root})"),
        Step::Reduce(root) => format!("reduce({root})"),
        Step::ReduceToAll => "reduce_to_all()".to_owned(),
        Step::Send(to, tag, false) => format!("send_to({to}, {tag})"),
        Step::Send(to, tag, true) => format!("send_synchronously({to}, {tag})"),
        Step::Receive(Some(from), tag) => format!("receive({from}, {tag})"),
        Step::Receive(None, tag) => format!("receive(MPI_ANY_SOURCE, {tag})"),
    }
}

/// Half of the puts and gets of several elements are a loop over these: many operations of one
/// line.
fn one_by_one(t: &Transfer, window: &Window) -> Option<String> {
    let (name, local) = match t.kind {
        Kind::Put => ("Put", t.origin),
        Kind::Get => ("Get", t.result),
        _ => return None,
    };
    let (size, count) = (t.far.element.size(), t.far.count);
    let apart = size * t.far.step();
    let (is_whole, is_other) = (apart.is_multiple_of(window.unit), (t.at / size).is_multiple_of(2));
    if t.request.is_some() || count < 2 || is_other || !is_whole {
        return None;
    }
    let element = mpi_type(Layout { spaced: false, count: 1, ..t.far });
    let near = format!("{} + {} * i", spot(local), size * t.near.step());
    let far = format!("{} + {} * i", (t.at - window.at) / window.unit, apart / window.unit);
    let (target, win) = (t.target, t.window);
    let call =
        format!("MPI_{name}({near}, 1, {element}, {target}, {far}, 1, {element}, win[{win}])");
    Some(format!("for (int i = 0; i < {count} * once; i++) {call}"))
}

fn call(t: &Transfer, window: &Window) -> String {
    let Transfer { kind, target, near, far, .. } = t;
    let (origin, result) = (elements(spot(t.origin), *near), elements(spot(t.result), *near));
    let at = (t.at - window.at) / window.unit;
    let there = format!("{target}, {}", elements(at.to_string(), *far));
    let element = mpi_type(Layout { spaced: false, ..*far });
    let op = kind.reduction().map_or("", |reduction| match reduction {
        Reduction::Sum => "MPI_SUM",
        Reduction::Or => "MPI_BOR",
        Reduction::Replace => "MPI_REPLACE",
        Reduction::Nothing => "MPI_NO_OP",
    });
    let (name, arguments) = match kind {
        Kind::Put => ("put", format!("{origin}, {there}")),
        Kind::Get => ("get", format!("{result}, {there}")),
        Kind::Accumulate(_) => ("accumulate", format!("{origin}, {there}, {op}")),
        Kind::GetAccumulate(_) => ("get_accumulate", format!("{origin}, {result}, {there}, {op}")),
        Kind::FetchAndOp(_) => {
            let (origin, result) = (spot(t.origin), spot(t.result));
            ("fetch_and_op", format!("{origin}, {result}, {element}, {target}, {at}, {op}"))
        }
        Kind::CompareAndSwap => {
            let (origin, result) = (spot(t.origin), spot(t.result));
            let local = format!("{origin}, &compare, {result}");
            ("compare_and_swap", format!("{local}, {element}, {target}, {at}"))
        }
    };
    let mut call = String::new();
    let window = t.window;
    let _ = match t.request {
        Some(request) => {
            write!(call, "MPI_R{name}({arguments}, win[{window}], &request[{request}])")
        }
        None => {
            let (first, rest) = name.split_at(1);
            write!(call, "MPI_{}{rest}({arguments}, win[{window}])", first.to_uppercase())
        }
    };
    call
}

fn spot(spot: Spot) -> String {
    let at = spot.at;
    match (spot.area, spot.of) {
        (Area::Window, Some(rank)) => format!("part[{rank}] + {at}"),
        (Area::Window, None) => format!("window + {at}"),
        (Area::Private, _) => format!("private + {at}"),
    }
}

/// The arguments of loads and stores.
fn each(at: Spot, layout: Layout) -> String {
    let Layout { element, count, .. } = layout;
    format!("{}, {}, {count}, {}", plain(element), spot(at), layout.step())
}

fn plain(t: Type) -> &'static str {
    match t {
        Type::Byte => "unsigned char",
        Type::Int => "int",
    }
}

/// Address, count and type, as calls take them.
fn elements(at: String, layout: Layout) -> String {
    let count = if layout.spaced { 1 } else { layout.count };
    format!("{at}, {count}, {}", mpi_type(layout))
}

fn mpi_type(layout: Layout) -> &'static str {
    match (layout.element, layout.spaced) {
        (Type::Byte, false) => "MPI_BYTE",
        (Type::Int, false) => "MPI_INT",
        (Type::Byte, true) => "spaced_byte",
        (Type::Int, true) => "spaced_int",
    }
}
