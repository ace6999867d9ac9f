//! Random instructions never do what they should not: panic, run for ever, or touch memory that was not
//! given to them.

mod device;

use commsan_ptx::{Module, opcodes};
use commsan_simt::{Access, Observer, Program, Progress};
use device::{Arguments, services, shape, start};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Notes whether an access was outside of what the kernel was given.
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

const TYPES: [&str; 13] =
    ["u8", "s16", "u32", "s32", "b32", "u64", "s64", "b64", "f16", "f32", "f64", "pred", "f16x2"];

/// Mnemonics of the table, with modifiers and operands that may or may not fit.
fn instruction() -> impl Strategy<Value = String> {
    let operand = prop::sample::select(vec![
        "%r1",
        "%r2",
        "%rd1",
        "%rd2",
        "%rd3",
        "%h1",
        "%f1",
        "%p1",
        "%p2",
        "!%p1",
        "7",
        "0",
        "-1",
        "%tid.x",
        "[%rd1]",
        "[%rd1+8]",
        "[%rd2]",
        "[%r1]",
        "[in]",
        "shared",
        "[shared+4]",
        "L1",
        "L2",
        "{%r1,%r2}",
        "_",
        "%clock64",
        "0x1f",
        "32",
    ]);
    let space = prop::sample::select(vec!["", ".global", ".shared", ".local", ".param"]);
    let mode = prop::sample::select(vec![
        "", "", ".lo", ".wide", ".rn", ".rzi", ".sat", ".eq", ".add", ".cas", ".idx", ".any",
        ".v2", ".cc",
    ]);
    let ty = prop::sample::select(TYPES.to_vec());
    let operands = prop::collection::vec(operand, 0..6);
    (
        prop::sample::select(MNEMONICS.to_vec()),
        space,
        mode,
        ty.clone(),
        prop::option::of(ty),
        operands,
        0..4u32,
    )
        .prop_map(|(name, space, mode, ty, second, operands, guard)| {
            let second = second.map_or(String::new(), |t| format!(".{t}"));
            let guard = ["", "", "@%p1 ", "@!%p2 "][guard as usize];
            format!("{guard}{name}{space}{mode}.{ty}{second} {};", operands.join(", "))
        })
}

const MNEMONICS: [&str; 48] = [
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "rem",
    "min",
    "max",
    "abs",
    "neg",
    "sqrt",
    "and",
    "or",
    "not",
    "shl",
    "shr",
    "shf.l.wrap",
    "popc",
    "bfe",
    "bfi",
    "prmt",
    "setp",
    "set",
    "selp",
    "mov",
    "cvt",
    "cvta",
    "cvta.to",
    "isspacep",
    "ld",
    "st",
    "atom",
    "red",
    "bra",
    "call",
    "ret",
    "exit",
    "bar.sync",
    "barrier.sync",
    "bar.warp.sync",
    "shfl.sync",
    "vote.sync",
    "match.any.sync",
    "redux.sync",
    "activemask",
    "mbarrier.init",
    "nanosleep",
];

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
        .visible .entry kernel(.param .u64 in, .param .u32 other) {{
            .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
            .shared .align 8 .b8 shared[64]; .local .align 8 .b8 local[32];
            ld.param.u64 %rd1, [in];
            mov.u32 %r1, %tid.x;
            mad.wide.u32 %rd2, %r1, 8, %rd1;
            setp.lt.u32 %p1, %r1, 13;
            {body}
        }}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn random_instructions_stay_within_their_memory(
        instructions in prop::collection::vec(instruction(), 100..300),
        labels in any::<(usize, usize)>(),
        threads in 1u32..70,
    ) {
        let known = |text: &String| {
            let module = Module::parse(&self::text(std::slice::from_ref(text), (0, 0)));
            let module = module.expect("unknown statements are kept");
            let body = module.functions[0].body.as_ref().expect("it has one");
            body.unknown.is_empty()
        };
        let instructions: Vec<String> = instructions.into_iter().filter(known).take(12).collect();
        prop_assume!(!instructions.is_empty());
        let module = Module::parse(&text(&instructions, labels)).expect("unknown statements are kept");
        let program = Program::new(Arc::new(module));
        let mut memory = vec![0u64; 64];
        let arguments = Arguments::new().array(&mut memory).int(3);
        let (services, _) = services();
        let mut started = start(&program, "kernel", &shape(2, threads), &arguments, &services);
        let mut within = Within(arguments.memory.0.clone(), Vec::new());
        for _ in 0..20 {
            match started.grid.advance(5_000, &started.memory, &mut within) {
                Progress::Running | Progress::Spinning | Progress::Idle(_) => {}
                Progress::Done | Progress::Fault(_) => break,
            }
        }
        prop_assert_eq!(&within.1, &Vec::<u64>::new());
    }
}

#[test]
fn mnemonics_are_those_of_the_table() {
    assert!(MNEMONICS.iter().all(|name| opcodes::find(name).is_some()));
}
