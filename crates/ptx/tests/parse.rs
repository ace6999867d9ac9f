//! Parses PTX as nvcc and clang write it.

mod toolkit;

use commsan_ptx::{Location, Module, Op, Operand, Program, Strength};
use object::{Object, ObjectSection};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

fn parse(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Statements that the parser does not know.
fn unknown(module: &Module) -> Vec<&String> {
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    bodies.flat_map(|b| &b.unknown).collect()
}

/// Printing and parsing again changes nothing but names that scopes distinguish.
fn check_print(module: &Module) {
    let printed = module.to_string();
    let again = parse(&printed);
    assert_eq!(again.functions.len(), module.functions.len());
    for (one, other) in module.functions.iter().zip(&again.functions) {
        let (Some(one), Some(other)) = (&one.body, &other.body) else { continue };
        assert_eq!(one.instructions, other.instructions);
        for (i, j) in one.instructions.iter().zip(&other.instructions) {
            assert_eq!(one.operands_of(i), other.operands_of(j), "{i:?}");
        }
        assert_eq!(one.elements, other.elements);
        assert_eq!(one.locations, other.locations);
        assert_eq!(one.register_count, other.register_count);
    }
    assert_eq!(again.variables, module.variables);
    assert_eq!((&again.files, &again.names), (&module.files, &module.names));
    assert_eq!(parse(&again.to_string()), again, "{printed}");
}

static INSTRUCTIONS: LazyLock<[String; 2]> = LazyLock::new(|| {
    let build = |arch| toolkit::ptx("instructions.cu", &[arch, "-lineinfo"]);
    [build("-arch=sm_75"), build("-arch=sm_90")]
});

#[test]
fn everything_that_nvcc_writes_is_known() {
    let debug = toolkit::ptx("ranges.cu", &["-arch=sm_90", "-G", "-rdc=true"]);
    for text in INSTRUCTIONS.iter().chain([&debug]) {
        let module = parse(text);
        assert_eq!(unknown(&module), Vec::<&String>::new(), "{:?}", module.target);
        assert!(module.entries().count() > 8);
        check_print(&module);
    }
}

/// The machine code of each kernel and function.
fn machine_code(cubin: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let file = object::File::parse(cubin).expect("a cubin");
    let code = file.sections().filter(|s| s.name().is_ok_and(|n| n.starts_with(".text.")));
    code.map(|s| (s.name().unwrap().to_owned(), s.data().unwrap().to_vec())).collect()
}

#[test]
fn the_assembler_sees_no_difference() {
    // Advice to the assembler is not kept.
    let text = INSTRUCTIONS[0].replace(".pragma \"nounroll\";", "");
    let [before, after] = [text.clone(), parse(&text).to_string()]
        .map(|text| machine_code(&toolkit::ptxas(&text, "-arch=sm_75")));
    assert!(before.len() > 8);
    let differing: Vec<_> =
        before.iter().filter(|(k, v)| after.get(*k) != Some(*v)).map(|(k, _)| k).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

#[test]
fn clang_is_understood() {
    for arguments in [&["-O0", "-g"][..], &["-O2"], &["-O2", "-ffast-math"]] {
        let module =
            parse(&toolkit::clang("clang.cu", &[&["--cuda-gpu-arch=sm_80"], arguments].concat()));
        assert_eq!(unknown(&module), Vec::<&String>::new(), "{arguments:?}");
        assert!(module.entries().count() == 2);
        check_print(&module);
    }
}

#[test]
fn a_kernel_is_read_in_full() {
    let module = parse(&toolkit::ptx("saxpy.cu", &["-arch=sm_90", "-lineinfo"]));
    let mut text = module.to_string();
    for file in &module.files {
        text = text.replace(&file.path, "SAXPY");
    }
    insta::assert_snapshot!(text);
    let kernel = module.entries().next().unwrap();
    let layout: Vec<_> = kernel.parameters.iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(layout, [(0, 4), (4, 4), (8, 8), (16, 8)]);
}

#[test]
fn lines_lead_to_where_code_was_inlined() {
    let module = parse(&toolkit::ptx("inlined.cu", &["-arch=sm_90", "-lineinfo"]));
    let body = module.entries().next().unwrap().body.as_ref().unwrap();
    let store = body.instructions.iter().find(|i| i.op == Op::St).unwrap();
    let mut chain: Vec<&Location> = vec![body.location(store).unwrap()];
    let mut functions = Vec::new();
    while let Some(inlined) = chain[chain.len() - 1].inlined {
        functions.push(module.names[inlined.function.unwrap() as usize].as_str());
        chain.push(&body.locations[inlined.at.index()]);
    }
    let lines: Vec<_> = chain.iter().map(|l| l.line).collect();
    assert_eq!(lines, [2, 3, 4], "{chain:?}");
    assert_eq!(functions.len(), 2);
    assert!(functions[0].contains("inner") && functions[1].contains("outer"), "{functions:?}");
    assert!(module.files[chain[0].file as usize].path.ends_with("inlined.cu"));
}

#[test]
fn relocatable_modules_are_linked() {
    let build = |source| parse(&toolkit::ptx(source, &["-arch=sm_90", "-rdc=true"]));
    let program = Program::link(vec![build("linked_a.cu"), build("linked_b.cu")]).unwrap();
    let kernel = program.entry("_Z6kernelPii").unwrap();
    let module = &program.modules()[kernel.module as usize];
    let (index, helper) = module.function("_Z6helperi").unwrap();
    assert!(helper.body.is_none());
    let found = program.resolve_function(commsan_ptx::Id { module: kernel.module, index });
    assert!(program.function(found).body.is_some() && found.module == 1);
    let (index, _) = module.variable("shift").unwrap();
    let found = program.resolve_variable(commsan_ptx::Id { module: kernel.module, index });
    assert_eq!(program.variable(found).initial.as_ref().unwrap().bytes, [5, 0, 0, 0]);
}

#[test]
fn only_what_is_wanted_is_read() {
    let text = &INSTRUCTIONS[1];
    let all = parse(text);
    let name = &all.entries().next().unwrap().name;
    let some = Module::parse_some(text, |n| n == name).unwrap();
    let read: Vec<_> = some.functions.iter().filter(|f| f.body.is_some()).collect();
    assert_eq!(read.len(), 1);
    let (_, same) = all.function(name).unwrap();
    assert_eq!(read[0].parameters, same.parameters);
    assert_eq!(read[0].body.as_ref().unwrap().operands, same.body.as_ref().unwrap().operands);
}

#[test]
fn what_is_not_known_stays_as_text() {
    let module = parse(
        ".version 9.0\n.target sm_90\n.entry k() { .reg .pred %p<2>; .reg .b32 %r<3>;\n\
         wgmma.fence.sync.aligned;\n@%p1 frob.b32 {%r1, %r2}, [%r1];\nadd.s32 %r1, %r9, 1;\n\
         @!%p1 bra NOWHERE;\nret; }",
    );
    let body = module.functions[0].body.as_ref().unwrap();
    let ops: Vec<_> = body.instructions.iter().map(|i| i.op).collect();
    assert_eq!(ops, [Op::Unknown, Op::Unknown, Op::Unknown, Op::Unknown, Op::Ret]);
    assert_eq!(body.unknown[1], "@%p1 frob.b32 {%r1, %r2}, [%r1]");
    check_print(&module);
}

#[test]
fn scopes_tables_and_calls_are_resolved() {
    let module = parse(
        ".version 9.0\n.target sm_90\n.func (.param .b32 r) f(.param .b64 p, .param .b32 q) { ret; }
         .entry k() { .reg .b32 %r<3>; .reg .b64 %rd<2>; .param .b64 a; .param .b32 b; .param .b32 c;
         { .reg .b32 %r; WAIT: mov.b32 %r, 7; bra WAIT; }
         { .reg .b32 %r; WAIT: mov.b32 %r, %r1; bra.uni WAIT; }
         T: .branchtargets A, B;
         P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
         A: brx.idx %r1, T;
         B: call.uni (c), f, (a, b); call (c), %rd1, (a, b), P; mov.b64 {%r1, %r2}, %rd1; }",
    );
    assert_eq!(unknown(&module), Vec::<&String>::new());
    let body = module.functions[1].body.as_ref().unwrap();
    let targets = body.operands.iter().filter_map(|o| match o {
        Operand::Target(at) => Some(*at),
        _ => None,
    });
    assert_eq!(targets.collect::<Vec<_>>(), [0, 2]);
    check_print(&module);
}

#[test]
fn accesses_are_as_strong_as_their_scopes() {
    use Strength::{Device, System, Weak};
    let accesses = [
        ("st.global.u32 [%rd1], %r1;", Weak),
        ("st.weak.global.u32 [%rd1], %r1;", Weak),
        ("st.volatile.global.u32 [%rd1], %r1;", System),
        ("st.release.sys.global.u32 [%rd1], %r1;", System),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", Device),
        ("st.relaxed.cta.global.u32 [%rd1], %r1;", Weak),
        ("red.relaxed.cluster.global.add.u32 [%rd1], %r1;", Weak),
        ("atom.global.add.u32 %r1, [%rd1], %r1;", Device),
        ("atom.global.sys.add.u32 %r1, [%rd1], %r1;", System),
    ];
    for (access, strength) in accesses {
        let head = ".version 8.3\n.target sm_90\n.address_size 64\n";
        let registers = ".reg .b32 %r<2>; .reg .b64 %rd<2>;";
        let module = parse(&format!("{head}.entry k() {{ {registers} {access} ret; }}"));
        assert_eq!(unknown(&module), Vec::<&String>::new(), "{access}");
        let body = module.functions[0].body.as_ref().expect("a body");
        assert_eq!(body.instructions[0].strength(), strength, "{access}");
    }
}

#[test]
fn initial_values_hold_addresses() {
    let module = parse(
        ".version 9.0\n.target sm_90\n.global .align 4 .u32 t[2] = {1, 2};
         .global .u64 p = generic(t)+4;
         .global .align 1 .b8 m[3] = {1, 0xFF(t), 0xFF00(generic(t)+8)};
         .const .f32 c[2][2] = {{1.5, 0f3F800000}, {2}};",
    );
    let [t, p, m, c] = &module.variables[..] else { panic!() };
    assert_eq!(t.initial.as_ref().unwrap().bytes, [1, 0, 0, 0, 2, 0, 0, 0]);
    let relocation = &p.initial.as_ref().unwrap().relocations[0];
    assert_eq!((relocation.generic, relocation.addend, relocation.width), (true, 4, 8));
    let bytes: Vec<_> =
        m.initial.as_ref().unwrap().relocations.iter().map(|r| (r.at, r.byte)).collect();
    assert_eq!(bytes, [(1, 0), (2, 1)]);
    assert_eq!(c.initial.as_ref().unwrap().bytes[..8], [0, 0, 0xC0, 0x3F, 0, 0, 0x80, 0x3F]);
    check_print(&module);
}

#[test]
fn damaged_declarations_say_where() {
    let error = |text: &str| Module::parse(text).unwrap_err().to_string();
    assert_eq!(error(".version 9.0\n.bogus 3"), "PTX line 2: `.bogus` is not known");
    assert_eq!(error(".version 9.0\n.entry k() {"), "PTX line 2: a function that does not end");
    assert!(error(".global .u32 x[99999999999999999999];").contains("no integer"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_the_parser_panic(text in "[.%@{}()\\[\\];:,+<>=a-z0-9 \n\"/*-]{0,200}") {
        let _ = Module::parse(&text);
        let _ = Module::parse(&format!(".func f(.param .b32 p) {{ .reg .b32 %r<9>; {text} }}"));
    }

    #[test]
    fn nor_does_damaged_ptx(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[.%@{};:,a-z0-9 ]"), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        // A part of a text that begins where declarations do.
        let text = &INSTRUCTIONS[0];
        let mut bytes = text.as_bytes()[..20_000 + cut.index(20_000)].to_vec();
        for (at, with) in changes {
            let at = at.index(bytes.len());
            bytes[at] = with.as_bytes()[0];
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(module) = Module::parse(&text) {
            let _ = module.to_string();
            for at in 0..module.functions.len() as u32 {
                commsan_ptx::Summary::of(&module, at);
            }
        }
        // Completed with what is missing at its end.
        if let Ok(module) = Module::parse(&format!("{text} ; }}")) {
            for at in 0..module.functions.len() as u32 {
                commsan_ptx::Summary::of(&module, at);
            }
        }
    }
}
