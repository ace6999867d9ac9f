//! The PTX generator: writes a kernel for a datatype and a reduction.
//!
//! All kernels iterate over phases, pieces and steps as `work.rs` lays them out, and differ only in
//! what they do with values. In each step, one thread waits until the input of the step has arrived
//! and there is space for its output; then all threads process the piece; then that thread signals
//! the peers. Stores to a peer happen before the counter that announces them (`st.release.sys`),
//! which happens before the load that sees it (`ld.acquire.sys`: PTX ISA, "Memory Consistency
//! Model").

use crate::datatype::{Arithmetic, Reduction, arithmetic};
use crate::region::{SLOTS, field as link};
use crate::work::{PARAMETER_BYTES, field, flag};
use std::fmt::Write as _;

/// Architecture that the code is written for.
pub const ARCHITECTURE: u32 = 90;
/// Version of PTX that the code is written for: parameters of more than 4 KiB need 8.1.
pub const VERSION: (u16, u16) = (8, 3);

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Bytes that a thread loads and stores at once, where alignment allows it.
const VECTOR: usize = 16;

/// What a kernel does with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// It moves them, as bytes.
    Move,
    /// It combines them.
    Reduce(crate::abi::DataType, Reduction),
}

/// The PTX of a module with one kernel.
pub fn module(name: &str, values: Values) -> String {
    let mut code = String::new();
    let (major, minor) = VERSION;
    let mut line = |text: &str| {
        code.push_str(text);
        code.push('\n');
    };
    line(&format!(".version {major}.{minor}\n.target sm_{ARCHITECTURE}\n.address_size 64\n"));
    line(&format!(".visible .entry {name}(.param .align 8 .b8 work[{PARAMETER_BYTES}])\n{{"));
    line(REGISTERS);
    line(&begin());
    if let Values::Reduce(of, reduction) = values {
        line(&scalar(arithmetic(of), reduction));
    }
    line(&phases());
    line(&wait());
    line(&addresses(size_of_value(values)));
    line(&elements(values));
    line(&signal());
    line(NEXT);
    line("}");
    code
}

fn size_of_value(values: Values) -> usize {
    match values {
        Values::Move => 1,
        Values::Reduce(of, _) => of.size(),
    }
}

const REGISTERS: &str = "\
    .reg .b64 %work, %piece, %slot_size, %end, %steps;
    .reg .b32 %thread, %phase, %step, %last_step, %pieces, %next_phase;
    .reg .b64 %thread_l, %offset;
    .reg .b64 %source, %target, %length, %from, %to, %flags;
    .reg .b64 %in, %out, %count, %at, %counter, %seen, %bytes, %stride, %index, %vectors;
    .reg .b32 %ended;
    .reg .pred %again, %first, %ends, %has_source, %has_from, %has_target, %has_to, %both;
    .reg .pred %no_source, %no_from, %enters, %completes;";

fn begin() -> String {
    format!(
        "
    mov.b64 %work, work;
    ld.param.u64 %piece, [%work+{PIECE}];
    ld.param.u64 %slot_size, [%work+{SLOT}];
    ld.param.u64 %end, [%work+{END}];
    ld.param.u64 %steps, [%work+{STEPS}];
    add.s64 %steps, %steps, %work;
    mov.u32 %thread, %tid.x;
    cvt.u64.u32 %thread_l, %thread;
    setp.eq.u32 %first, %thread, 0;
    mov.u32 %phase, %ctaid.x;",
        PIECE = field::PIECE,
        SLOT = field::SLOT,
        END = field::END,
        STEPS = field::STEPS,
    )
}

/// Loads the scalar that values are multiplied with, or divided by, if there is one.
fn scalar(arithmetic: &Arithmetic, reduction: Reduction) -> String {
    if !matches!(reduction, Reduction::PreMulSum | Reduction::SumPostDiv) {
        return String::new();
    }
    let (stored, register) = arithmetic.stored;
    let widen = convert(arithmetic, arithmetic.widen, "%scalar", "%scalar_bits");
    format!(
        "
    .reg .{register} %scalar_bits;
    .reg .{computed} %scalar;
    ld.param.u64 %at, [%work+{SCALAR_ADDRESS}];
    setp.ne.u64 %again, %at, 0;
    @%again ld.global.{stored} %scalar_bits, [%at];
    @!%again ld.param.{stored} %scalar_bits, [%work+{SCALAR}];
    {widen}",
        computed = arithmetic.computed,
        SCALAR_ADDRESS = field::SCALAR_ADDRESS,
        SCALAR = field::SCALAR,
    )
}

/// An instruction with its operands substituted.
fn apply(template: &str, d: &str, a: &str, b: &str) -> String {
    template.replace("$d", d).replace("$a", a).replace("$b", b)
}

/// A conversion; a plain move if values are computed with as they are stored.
fn convert(arithmetic: &Arithmetic, template: &str, d: &str, a: &str) -> String {
    match template {
        "" => format!("mov.{} {d}, {a};", arithmetic.computed),
        _ => apply(template, d, a, ""),
    }
}

/// The loops over phases, pieces and steps, up to the beginning and length of a step's piece.
fn phases() -> String {
    format!(
        "
PHASE:
    mad.wide.u32 %at, %phase, {PHASE}, %work;
    ld.param.u32 %pieces, [%at+{PIECES}];
    ld.param.u32 %next_phase, [%at+{NEXT}];
    mov.u64 %offset, 0;
PIECE:
    setp.eq.u32 %again, %pieces, 0;
    @%again bra END_PHASE;
    mad.wide.u32 %at, %phase, {PHASE}, %work;
    ld.param.u32 %step, [%at+{FIRST}];
    ld.param.u32 %last_step, [%at+{STEP_COUNT}];
    add.u32 %last_step, %last_step, %step;
STEP:
    mad.wide.u32 %at, %step, {STEP}, %steps;
    ld.param.u64 %source, [%at];
    ld.param.u64 %target, [%at+8];
    ld.param.u64 %length, [%at+16];
    ld.param.u64 %from, [%at+24];
    ld.param.u64 %to, [%at+32];
    ld.param.u64 %flags, [%at+40];
    setp.ge.u64 %again, %offset, %length;
    @%again bra END_STEP;
    sub.u64 %count, %length, %offset;
    min.u64 %count, %count, %piece;
    setp.ne.u64 %has_source, %source, 0;
    setp.ne.u64 %has_target, %target, 0;
    setp.ne.u64 %has_from, %from, 0;
    setp.ne.u64 %has_to, %to, 0;
    not.pred %no_source, %has_source;
    not.pred %no_from, %has_from;
    and.pred %both, %has_source, %has_from;
    and.b64 %at, %flags, {ENTERS};
    setp.ne.u64 %enters, %at, 0;
    and.b64 %at, %flags, {COMPLETES};
    setp.ne.u64 %completes, %at, 0;",
        PHASE = field::PHASE,
        FIRST = field::PHASES,
        STEP_COUNT = field::PHASES + 4,
        PIECES = field::PHASES + 8,
        NEXT = field::PHASES + 12,
        STEP = field::STEP,
        ENTERS = flag::ENTERS,
        COMPLETES = flag::COMPLETES,
    )
}

/// The first thread waits; all threads learn whether the kernel is to end.
fn wait() -> String {
    format!(
        "
    setp.ne.u32 %ends, %thread, %thread;
    @!%first bra READY;
    @%no_from bra THERE;
    ld.global.u64 %counter, [%from+{RECEIVED}];
WAIT_FROM:
    ld.acquire.sys.global.u64 %seen, [%from+{FILLED}];
    setp.gt.u64 %again, %seen, %counter;
    @%again bra THERE;
    ld.volatile.global.u32 %ended, [%end];
    setp.ne.u32 %ends, %ended, 0;
    @!%ends bra WAIT_FROM;
    bra READY;
THERE:
    @!%has_to bra READY;
    ld.global.u64 %counter, [%to+{SENT}];
WAIT_TO:
    ld.acquire.sys.global.u64 %seen, [%to+{EMPTIED}];
    add.u64 %seen, %seen, {SLOTS};
    setp.gt.u64 %again, %seen, %counter;
    @%again bra READY;
    ld.volatile.global.u32 %ended, [%end];
    setp.ne.u32 %ends, %ended, 0;
    @!%ends bra WAIT_TO;
READY:
    bar.red.or.pred %again, 0, %ends;
    @%again bra END;",
        RECEIVED = link::RECEIVED,
        FILLED = link::FILLED,
        SENT = link::SENT,
        EMPTIED = link::EMPTIED,
    )
}

/// The addresses of the piece in buffers and slots.
fn addresses(size: usize) -> String {
    format!(
        "
    mul.lo.u64 %bytes, %offset, {size};
    add.u64 %source, %source, %bytes;
    add.u64 %target, %target, %bytes;
    mov.u64 %in, 0;
    mov.u64 %out, 0;
    @%no_from bra WHERE_TO;
    ld.global.u64 %counter, [%from+{RECEIVED}];
    ld.global.u64 %in, [%from+{QUEUE}];
    and.b64 %counter, %counter, {MASK};
    mad.lo.u64 %in, %counter, %slot_size, %in;
WHERE_TO:
    @!%has_to bra BEGIN;
    ld.global.u64 %counter, [%to+{SENT}];
    ld.global.u64 %out, [%to+{OUT}];
    and.b64 %counter, %counter, {MASK};
    mad.lo.u64 %out, %counter, %slot_size, %out;
BEGIN:",
        RECEIVED = link::RECEIVED,
        QUEUE = link::QUEUE,
        SENT = link::SENT,
        OUT = link::OUT,
        MASK = SLOTS - 1,
    )
}

/// How a group of adjacent values is loaded, processed and stored.
struct Lane {
    /// Number of values.
    width: usize,
    /// Size of a value, in bytes.
    size: usize,
    /// Type of loads and stores, and of the registers for them.
    stored: (&'static str, &'static str),
    /// Code from the loaded registers `a` and `b` to the stored register `c`; `#` is the value's
    /// number.
    between: String,
}

/// Processes the piece: in vectors as far as possible, then value by value.
fn elements(values: Values) -> String {
    let (vector, single) = match values {
        Values::Move => {
            let copy = |(stored, register): (&'static str, &'static str), width, size| {
                let between = "@%has_source mov.$t %c#, %a#; @%no_source mov.$t %c#, %b#;";
                let between = between.replace("$t", register);
                Lane { width, size, stored: (stored, register), between }
            };
            (copy(("b32", "b32"), 4, 4), copy(("u8", "b16"), 1, 1))
        }
        Values::Reduce(of, reduction) => {
            let arithmetic = arithmetic(of);
            let (size, stored) = (arithmetic.size, arithmetic.stored);
            let combine = |width| {
                let between = combine(arithmetic, reduction);
                Lane { width, size, stored, between }
            };
            (combine((VECTOR / size).min(4)), combine(1))
        }
    };
    let bytes = vector.width * vector.size;
    // The number of vectors follows from the bytes of the piece; it is zero if an address is not
    // aligned.
    let mut code = format!(
        "
    mul.lo.u64 %vectors, %count, {size};
    div.u64 %vectors, %vectors, {bytes};
    or.b64 %at, %source, %target;
    and.b64 %at, %at, {mask};
    setp.ne.u64 %again, %at, 0;
    @%again mov.u64 %vectors, 0;
    mov.u64 %index, %thread_l;
    mov.u64 %stride, {stride};",
        stride = THREADS as usize * bytes,
        size = size_of_value(values),
        mask = bytes - 1,
    );
    code.push_str(&pass("VECTORS", "%vectors", &vector));
    let _ = write!(
        code,
        "
    mul.lo.u64 %index, %vectors, {each};
    add.u64 %index, %index, %thread_l;
    mov.u64 %stride, {stride};",
        stride = THREADS as usize * single.size,
        each = bytes / single.size,
    );
    code.push_str(&pass("SINGLES", "%count", &single));
    code
}

/// Combines a value of this rank with a received one.
fn combine(arithmetic: &Arithmetic, reduction: Reduction) -> String {
    let widen = |d: &str, a: &str| convert(arithmetic, arithmetic.widen, d, a);
    let computed = arithmetic.computed;
    let mut code =
        format!("{{ .reg .{computed} x, y, z; {} {} ", widen("x", "%a#"), widen("y", "%b#"));
    if reduction == Reduction::PreMulSum {
        let _ = write!(code, "@%enters {} ", apply(arithmetic.combine[1], "x", "x", "%scalar"));
    }
    let both = apply(reduction.combine(arithmetic), "z", "x", "y");
    let _ = write!(code, "{both} @%no_from mov.{computed} z, x; @%no_source mov.{computed} z, y; ");
    if let (Reduction::SumPostDiv, Some(divide)) = (reduction, arithmetic.divide) {
        let _ = write!(
            code,
            "@!%completes bra WHOLE#; {} WHOLE#: ",
            apply(divide, "z", "z", "%scalar")
        );
    }
    code + &convert(arithmetic, arithmetic.narrow, "%c#", "z") + " }"
}

/// A loop of the block's threads up to a limit, from `%index` on, by `%stride` bytes.
fn pass(label: &str, limit: &str, lane: &Lane) -> String {
    let Lane { width, size, stored: (stored, register), between } = lane;
    let list = |name: &str| {
        let all: Vec<_> = (0..*width).map(|number| format!("{name}{number}")).collect();
        if *width == 1 { all.join("") } else { format!("{{{}}}", all.join(", ")) }
    };
    let vector = if *width == 1 { String::new() } else { format!(".v{width}") };
    let each: String = (0..*width)
        .map(|number| format!("\n    {}", between.replace('#', &number.to_string())))
        .collect();
    let each = each.replace("WHOLE", &format!("WHOLE_{label}"));
    let bytes = width * size;
    let (a, b, c) = (list("%a"), list("%b"), list("%c"));
    // Registers are local to each loop.
    format!(
        "
    {{
    .reg .{register} %a<{width}>, %b<{width}>, %c<{width}>;
    .reg .b64 %from_source, %from_in, %to_target, %to_out;
    mul.lo.u64 %at, %index, {bytes};
    add.u64 %from_source, %source, %at;
    add.u64 %from_in, %in, %at;
    add.u64 %to_target, %target, %at;
    add.u64 %to_out, %out, %at;
{label}:
    setp.ge.u64 %again, %index, {limit};
    @%again bra END_{label};
    @%has_source ld.global{vector}.{stored} {a}, [%from_source];
    @%has_from ld.global{vector}.{stored} {b}, [%from_in];{each}
    @%has_target st.global{vector}.{stored} [%to_target], {c};
    @%has_to st.global{vector}.{stored} [%to_out], {c};
    add.u64 %index, %index, {THREADS};
    add.u64 %from_source, %from_source, %stride;
    add.u64 %from_in, %from_in, %stride;
    add.u64 %to_target, %to_target, %stride;
    add.u64 %to_out, %to_out, %stride;
    bra {label};
END_{label}:
    }}"
    )
}

/// After all threads have processed the piece, the first one signals the peers.
fn signal() -> String {
    format!(
        "
    bar.sync 0;
    @!%first bra END_STEP;
    @%no_from bra TELL_TO;
    ld.global.u64 %counter, [%from+{RECEIVED}];
    add.u64 %counter, %counter, 1;
    st.global.u64 [%from+{RECEIVED}], %counter;
    ld.global.u64 %at, [%from+{PEER}];
    st.release.sys.global.u64 [%at+{EMPTIED}], %counter;
TELL_TO:
    @!%has_to bra END_STEP;
    ld.global.u64 %counter, [%to+{SENT}];
    add.u64 %counter, %counter, 1;
    st.global.u64 [%to+{SENT}], %counter;
    ld.global.u64 %at, [%to+{PEER}];
    st.release.sys.global.u64 [%at+{FILLED}], %counter;",
        RECEIVED = link::RECEIVED,
        PEER = link::PEER,
        EMPTIED = link::EMPTIED,
        SENT = link::SENT,
        FILLED = link::FILLED,
    )
}

const NEXT: &str = "
END_STEP:
    add.u32 %step, %step, 1;
    setp.lt.u32 %again, %step, %last_step;
    @%again bra STEP;
    add.u64 %offset, %offset, %piece;
    sub.u32 %pieces, %pieces, 1;
    bra PIECE;
END_PHASE:
    mov.u32 %phase, %next_phase;
    setp.ne.u32 %again, %phase, 0;
    @%again bra PHASE;
END:
    ret;";
