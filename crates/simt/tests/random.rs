//! Fuzzing: random instructions never panic, run forever, or touch memory that was not given to
//! them.

mod device;

use commsan_ptx::Module;
use commsan_ptx::opcodes::{self, Form, Row, Slot as RowSlot, Typing};
use commsan_ptx::words::{
    Caching, Combine, Compare, Flag, Geometry, Mode, Order, Rounding, Scope, Space, Type, Vector,
};
use commsan_simt::{Access, Cause, Observer, Program, Progress};
use device::{Arguments, services, shape, start};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Records accesses outside of the kernel's memory.
struct Within(Vec<Range<u64>>, Vec<u64>);

impl Observer for Within {
    fn access(&mut self, access: &Access<'_>) {
        for (lane, address) in access.addresses.iter().enumerate() {
            let active = access.lanes >> lane & 1 == 1;
            let inside = |r: &Range<u64>| r.start <= *address && address + access.size <= r.end;
            if active && !self.0.iter().any(inside) {
                self.1.push(*address);
            }
        }
    }
}

/// A source of choices; when it is exhausted, the first alternative is chosen.
struct Choices<'a>(&'a [u16]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        (*first).into()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next() % all.len()]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.next() % n == 1
    }
}

/// Types that most instructions accept; [`Type::ALL`] has a few more.
const TYPES: [Type; 16] = {
    use Type::*;
    [U32, S32, B32, F32, U64, S64, B64, F64, U16, S16, B16, F16, F16x2, BF16, Pred, U8]
};

/// A random instruction of a row: it has accepted words and operands of the right size, but the
/// combination need not be valid.
fn write(row: &Row, choices: &mut Choices<'_>) -> String {
    let mut words = vec![choices.of(&row.names).to_owned()];
    let mut types = Vec::new();
    let (mut lanes, mut space, mut wide) = (1, Space::Global, false);
    // Few words are valid for textures and surfaces.
    let image = row.modifiers.contains(&RowSlot::Geometry);
    for slot in &row.modifiers {
        let left_out = !choices.one_in(3);
        let word = match slot {
            RowSlot::Type { optional } if *optional && left_out => continue,
            RowSlot::Type { .. } => {
                let all = if image {
                    &[Type::F32, Type::S32][..]
                } else if choices.one_in(9) {
                    Type::ALL
                } else {
                    &TYPES
                };
                // The second type equals the first one more often than not.
                let again = types.last().copied().filter(|_| choices.one_in(2));
                let ty = again.unwrap_or_else(|| choices.of(all));
                types.push(ty);
                ty.word()
            }
            RowSlot::Mode(modes) => {
                let mode = choices.of(modes);
                wide |= mode == Mode::Wide;
                mode.word()
            }
            RowSlot::Combine => choices.of(Combine::ALL).word(),
            RowSlot::Compare => choices.of(Compare::ALL).word(),
            RowSlot::Fixed(word) => word,
            RowSlot::Flag(Flag::Approximate) => Flag::Approximate.word(),
            _ if left_out && !image => continue,
            RowSlot::Space => {
                space = choices.of(&[Space::Global, Space::Shared, Space::Local, Space::Param]);
                space.word()
            }
            RowSlot::Vector => {
                let all = if image { [Vector::V4; 2] } else { [Vector::V2, Vector::V4] };
                let vector = choices.of(&all);
                lanes = vector.len() as usize;
                vector.word()
            }
            RowSlot::Rounding => choices.of(Rounding::ALL).word(),
            RowSlot::Order => choices.of(Order::ALL).word(),
            RowSlot::Scope => choices.of(Scope::ALL).word(),
            RowSlot::Caching => choices.of(Caching::ALL).word(),
            RowSlot::Geometry => choices.of(Geometry::ALL).word(),
            RowSlot::Hints => Flag::L1EvictLast.word(),
            RowSlot::Flag(flag) => flag.word(),
        };
        words.push(word.to_owned());
    }
    let mut operands: Vec<String> = Vec::new();
    for position in &row.operands {
        if position.optional && !choices.one_in(3) {
            continue;
        }
        let first = types.first().copied().unwrap_or(Type::B32);
        let ty = match position.ty {
            Typing::Nth(n) => types.get(n).copied().unwrap_or(first),
            Typing::Wide if wide => first.widened(),
            Typing::Wide => first,
            Typing::Always(ty) => ty,
        };
        let ty = if wide && position.written { ty.widened() } else { ty };
        match position.form {
            Form::Second => operands.last_mut().expect("the first half").push_str("|%p2"),
            Form::Policy => {}
            Form::Label => operands.push(choices.of(&["L1", "L2"]).to_owned()),
            Form::Table => operands.push("targets".to_owned()),
            Form::Call => operands.push("callee".to_owned()),
            Form::Memory => operands.push(place(space, choices).to_owned()),
            Form::Object => operands.push(choices.of(&["[%rd1", "[%rd2", "[%rd3"]).to_owned()),
            Form::Coordinates => {
                let all: Vec<_> = (0..4).map(|_| value(ty, false, choices)).collect();
                operands.push(format!("{{{}}}]", all.join(",")));
            }
            Form::Value if lanes > 1 && !matches!(position.ty, Typing::Always(_)) => {
                let all: Vec<_> =
                    (0..lanes).map(|_| value(ty, position.written, choices)).collect();
                operands.push(format!("{{{}}}", all.join(",")));
            }
            Form::Value => operands.push(value(ty, position.written, choices).to_owned()),
        }
    }
    let guard = choices.of(&["", "", "@%p1 ", "@!%p2 "]);
    format!("{guard}{} {};", words.join("."), operands.join(", "))
}

/// An address in a state space that the thread may access, or one nearby.
fn place(space: Space, choices: &mut Choices<'_>) -> &'static str {
    match space {
        Space::Shared => choices.of(&["[shared]", "[shared+4]", "[%r1]", "[shared+8]"]),
        Space::Local => choices.of(&["[local]", "[local+16]", "[%r1]"]),
        Space::Param => choices.of(&["[in]", "[other]", "[%r1]"]),
        _ => choices.of(&["[%rd1]", "[%rd1+8]", "[%rd2]", "[%rd2]", "[%rd3]"]),
    }
}

fn value(ty: Type, written: bool, choices: &mut Choices<'_>) -> &'static str {
    // Few sinks; few writes to the registers that hold addresses.
    let constant = !written && choices.one_in(4);
    match ty {
        Type::Pred if constant => "!%p1",
        Type::Pred => choices.of(&["%p1", "%p2"]),
        Type::F32 if constant => choices.of(&["0f3f800000", "0fff800000"]),
        Type::F64 if constant => choices.of(&["0d3ff0000000000000", "0d7ff8000000000000"]),
        _ if constant => choices.of(&["0", "1", "7", "-1", "0x1f", "16", "%tid.x", "%laneid"]),
        _ if written && choices.one_in(20) => "_",
        _ => match ty.size() {
            1 | 2 => choices.of(&["%h1", "%h2"]),
            4 => choices.of(&["%r1", "%r2", "%f1", "%f2"]),
            8 if written => choices.of(&["%rd3", "%rd3", "%rd3", "%d1", "%rd2"]),
            8 => choices.of(&["%rd1", "%rd2", "%rd3", "%d1"]),
            _ => "%q1",
        },
    }
}

/// The module with a kernel of these instructions.
fn text(instructions: &[String], labels: (usize, usize)) -> String {
    let mut body = String::new();
    for (at, instruction) in instructions.iter().enumerate() {
        for (label, place) in [("L1", labels.0), ("L2", labels.1)] {
            if place % instructions.len() == at {
                body.push_str(&format!("{label}:\n"));
            }
        }
        body.push_str(instruction);
        body.push('\n');
    }
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n
        .func callee() {{ ret; }}
        .visible .entry kernel(.param .u64 in, .param .u32 other) {{
            .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
            .reg .f64 %d<2>; .reg .b128 %q<2>;
            .shared .align 8 .b8 shared[64]; .local .align 8 .b8 local[32];
            ld.param.u64 %rd1, [in];
            mov.u32 %r1, %tid.x;
            mad.wide.u32 %rd2, %r1, 8, %rd1;
            setp.lt.u32 %p1, %r1, 13;
            targets: .branchtargets L1, L2;
            {body}
        }}"
    )
}

/// How the kernel of these instructions ends, if it ends soon, and its accesses outside of its
/// memory.
fn outcome(text: &str, threads: u32) -> (Option<Cause>, Vec<u64>) {
    let module = Module::parse(text).expect("unknown statements are kept");
    let program = Program::new(Arc::new(module));
    let mut memory = vec![0x3ff0_0000_3f80_0000u64; 640];
    let arguments = Arguments::new().array(&mut memory).int(3);
    let (services, _) = services();
    let mut started = start(&program, "kernel", &shape(2, threads), &arguments, &services);
    let mut within = Within(arguments.memory.0.clone(), Vec::new());
    for _ in 0..20 {
        match started.grid.advance(5_000, &started.memory, &mut within) {
            Progress::Running | Progress::Spinning | Progress::Idle(_) => {}
            Progress::Done => break,
            Progress::Fault(fault) => return (Some(fault.cause.clone()), within.1),
        }
    }
    (None, within.1)
}

fn instructions() -> impl Strategy<Value = Vec<String>> {
    let row = 0..opcodes::rows().len();
    let choices = prop::collection::vec(any::<u16>(), 48);
    let one = (row, choices).prop_map(|(row, choices)| {
        write(opcodes::rows().nth(row).expect("a row"), &mut Choices(&choices))
    });
    // An instruction that faults at once would hide those after it: the simulator does not have it,
    // or there is no such memory. At most one of them is kept.
    prop::collection::vec(one, 40).prop_map(|mut all| {
        let mut may_end = true;
        all.retain(|instruction| {
            let (end, _) = outcome(&text(std::slice::from_ref(instruction), (0, 0)), 1);
            match end {
                None => true,
                Some(Cause::Unsupported(_)) => false,
                Some(_) => std::mem::replace(&mut may_end, false),
            }
        });
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]
    #[test]
    fn random_instructions_stay_within_their_memory(
        instructions in instructions(),
        labels in any::<(usize, usize)>(),
        threads in 1u32..70,
    ) {
        let (_, elsewhere) = outcome(&text(&instructions, labels), threads);
        prop_assert_eq!(&elsewhere, &Vec::<u64>::new());
    }
}

#[test]
fn all_rows_are_tried() {
    let mut runner = TestRunner::deterministic();
    let mut tried: HashSet<&str> = HashSet::new();
    for _ in 0..300 {
        for text in instructions().new_tree(&mut runner).expect("no filter").current() {
            let name = text.split_whitespace().find(|word| !word.starts_with('@'));
            let (row, _) =
                opcodes::find(name.expect("a mnemonic").trim_end_matches(';')).expect("a row");
            tried.insert(row.names[0]);
        }
    }
    let never: Vec<_> =
        opcodes::rows().map(|r| r.names[0]).filter(|n| !tried.contains(n)).collect();
    // Multi-device memory is not simulated.
    assert_eq!(never, ["multimem.ld_reduce", "multimem.st", "multimem.red"]);
}
