//! Summaries compared with the accesses of kernels that are executed.

mod machine;
mod toolkit;

use commsan_ptx::{Effect, Footprint, Function, Launch, Module, Origin, Summary};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A kernel: its name, its parameters (`p` a pointer, `i` an `int`, `l` a `long`, `s` a `Field`,
/// `v` a `View`, `f` two pointers that a lambda captured), and the offsets of those pointers of
/// which some bytes are accessed under unknown conditions.
type Kernel = (&'static str, &'static str, &'static [u64]);

/// A source, its compiler options, and its kernels.
struct Source {
    name: &'static str,
    options: &'static [&'static str],
    kernels: &'static [Kernel],
}

const SOURCES: [Source; 2] = [
    Source { name: "ranges.cu", options: &[], kernels: &RANGES },
    Source { name: "usual.cu", options: &["--extended-lambda"], kernels: &USUAL },
];

const RANGES: [Kernel; 27] = [
    ("straight", "pi", &[]),
    ("early_return", "ppi", &[]),
    ("unsigned_index", "pi", &[]),
    ("long_index", "pl", &[]),
    ("unguarded", "p", &[]),
    ("reversed", "pi", &[]),
    ("stencil", "ppii", &[]),
    ("pack_row", "ppi", &[]),
    ("pack_column", "ppii", &[]),
    ("grid_stride", "pi", &[]),
    ("serial", "pi", &[]),
    ("row_per_thread", "ppii", &[]),
    ("of_struct", "si", &[]),
    ("vectors", "ppi", &[]),
    ("bytes", "pl", &[]),
    ("gather", "pppi", &[8]),
    ("sometimes", "ppi", &[8]),
    ("either", "ppi", &[]),
    ("only_even", "pi", &[0]),
    ("halves", "pi", &[]),
    ("lists", "pi", &[0]),
    ("calls", "ppi", &[]),
    ("counts", "i", &[]),
    ("tiles", "ppi", &[]),
    ("breaks", "ppi", &[0, 8]),
    ("columns", "pii", &[]),
    ("triangle", "pi", &[0]),
];

const USUAL: [Kernel; 35] = [
    ("delayed_by_clock", "pil", &[]),
    ("delayed_by_sleep", "pi", &[]),
    ("delayed_by_parameter", "pii", &[]),
    ("delayed_in_function", "pi", &[]),
    ("delayed_in_some", "pii", &[]),
    ("delayed_after", "pil", &[]),
    ("sum_of_blocks", "ppi", &[]),
    ("dot", "pppi", &[]),
    ("sparse", "pppppi", &[8, 16, 24]),
    ("dense", "pppi", &[]),
    ("interior", "ppii", &[]),
    ("interior_3d", "ppiii", &[]),
    ("columns_up", "ppiii", &[]),
    ("pack", "ppii", &[]),
    ("unpack_faces", "pppii", &[]),
    ("first_thread", "pi", &[]),
    ("one_element", "pi", &[]),
    ("whole_loop", "pi", &[]),
    ("scale", "pll", &[]),
    ("of_view", "v", &[]),
    ("for_each", "fi", &[]),
    ("of_variables", "i", &[]),
    ("of_constants", "pi", &[u64::MAX]),
    ("copies", "pp", &[]),
    ("chosen", "ppii", &[]),
    ("both_ways", "ppi", &[]),
    ("boundary", "ppii", &[0]),
    ("signs", "ppi", &[]),
    ("sum_of_warps", "pppi", &[16]),
    ("one_of_two", "ppi", &[8]),
    ("checked", "pi", &[]),
    ("flattened", "ppii", &[]),
    ("flattened_3d", "ppii", &[]),
    ("flattened_inside", "pii", &[]),
    ("flattened_in_part", "pii", &[0]),
];

/// The compiler options of each build.
const BUILDS: [&[&str]; 3] =
    [&["-arch=sm_90"], &["-arch=sm_75", "-Xcicc", "-O1"], &["-arch=sm_90", "-G"]];

/// Modules by source and build.
static MODULES: LazyLock<Vec<[Module; 3]>> = LazyLock::new(|| {
    let build = |source: &Source, options: &[&str]| {
        let text = toolkit::ptx(source.name, &[options, source.options].concat());
        Module::parse(&text).expect("PTX")
    };
    SOURCES.iter().map(|source| BUILDS.map(|options| build(source, options))).collect()
});

const BUFFERS: u64 = 0x7F00_0000_0000;
const VARIABLES: u64 = 0x7E00_0000_0000;

/// The address of the n-th buffer.
fn buffer(n: usize) -> u64 {
    BUFFERS + n as u64 * 0x1000_0000
}

fn arguments(kinds: &str, numbers: &[i64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for (at, kind) in kinds.chars().enumerate() {
        let (x, y) = (numbers[0] as u64 & 0xFFFF_FFFF, numbers[1] as u64 & 0xFFFF_FFFF);
        let all = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let value: Vec<u8> = match kind {
            'p' => all(&[buffer(at)]),
            'i' => (numbers[at] as i32).to_le_bytes().into(),
            'l' => numbers[at].to_le_bytes().into(),
            's' => all(&[x, buffer(at), y]),
            'v' => all(&[buffer(at), y << 32 | x]),
            _ => all(&[buffer(at), buffer(at + 1)]),
        };
        bytes.resize(bytes.len().next_multiple_of(value.len().min(8)), 0);
        bytes.extend(value);
    }
    // The other members of the argument of `of_struct`.
    bytes.resize(bytes.len() + 8, 0);
    bytes
}

/// A mangled name contains the length of the plain one.
fn kernel(module: &Module, name: &str) -> u32 {
    let mangled = format!("_Z{}{name}", name.len());
    let is_it = |f: &Function| f.entry && f.name.starts_with(&mangled);
    module.functions.iter().position(is_it).unwrap_or_else(|| panic!("{name}")) as u32
}

fn contains(footprint: &Footprint, byte: u64) -> bool {
    footprint.start <= byte
        && byte < footprint.end()
        && (footprint.repeats.is_empty() || footprint.runs().any(|run| run.contains(&byte)))
}

/// Compares a launch with its summary; returns an error that describes the difference.
fn compare(module: &Module, kernel: u32, launch: &Launch<'_>) -> Result<Vec<Effect>, String> {
    let summary = Summary::of(module, kernel);
    let effects = summary.effects(launch);
    let touched = machine::execute(module, kernel, launch);
    for (site, bytes) in &touched {
        // A call that is not analysed, such as one of a function by itself, may access any memory.
        let is_it = |e: &&Effect| {
            summary.accesses()[e.access].site == *site || e.origins == [Origin::Unknown]
        };
        let told = effects.iter().filter(is_it);
        let told: Vec<_> = told.map(|e| e.bytes.as_ref()).collect();
        let is_told = |byte: &u64| told.iter().any(|t| t.is_none_or(|f| contains(f, *byte)));
        if let Some(byte) = bytes.iter().find(|b| !is_told(b)) {
            return Err(format!("{site:?} touches {byte:#x}, told {effects:x?}"));
        }
    }
    for effect in effects.iter().filter(|e| e.certain) {
        let access = &summary.accesses()[effect.access];
        let sites = std::iter::once(&access.site).chain(&access.also);
        let touched: BTreeSet<u64> =
            sites.filter_map(|s| touched.get(s)).flatten().copied().collect();
        let bytes = effect.bytes.as_ref().ok_or("certain, but unknown")?;
        if let Some(byte) = bytes.runs().flatten().find(|b| !touched.contains(b)) {
            return Err(format!("{byte:#x} of {effect:x?} is not touched"));
        }
    }
    Ok(effects)
}

fn run(
    module: &Module,
    name: &str,
    kinds: &str,
    numbers: &[i64; 6],
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<Vec<Effect>, String> {
    let arguments = arguments(kinds, numbers);
    let variable = |at: u32| Some(VARIABLES + u64::from(at) * 4096);
    let launch = Launch { grid, block, arguments: &arguments, variable: &variable };
    compare(module, kernel(module, name), &launch)
        .map_err(|e| format!("{name}{numbers:?} on {grid:?} of {block:?}: {e}"))
}

#[test]
fn ordinary_launches_are_known_to_the_byte() {
    let mut wrong = Vec::new();
    for (source, modules) in SOURCES.iter().zip(&*MODULES) {
        for (name, kinds, uncertain) in source.kernels {
            let effects = run(&modules[0], name, kinds, &NUMBERS, [3, 2, 1], [8, 4, 1]);
            let effects = effects.unwrap_or_else(|e| panic!("{e}"));
            assert!(!effects.is_empty(), "{name}");
            let through = |origin: &Origin| match origin {
                Origin::Argument(at) | Origin::ThroughArgument(at) => *at,
                _ => u64::MAX,
            };
            // Bytes that are certain by another effect are known.
            let known: BTreeSet<u64> = (effects.iter().filter(|e| e.certain))
                .flat_map(|e| e.bytes.iter().flat_map(Footprint::runs).flatten())
                .collect();
            let is_known = |e: &&Effect| {
                e.bytes.as_ref().is_some_and(|b| b.runs().flatten().all(|b| known.contains(&b)))
            };
            let found = effects.iter().filter(|e| !e.certain && !is_known(e));
            let found = found.flat_map(|e| &e.origins);
            let found: BTreeSet<u64> = found.map(through).collect();
            if !found.iter().eq(*uncertain) {
                wrong.push(format!("{name}: {effects:x?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn less_optimised_code_is_known_but_for_copies_of_structures() {
    let mut vague = BTreeSet::new();
    for (source, modules) in SOURCES.iter().zip(&*MODULES) {
        let exact = source.kernels.iter().filter(|(_, _, uncertain)| uncertain.is_empty());
        for (name, kinds, _) in exact {
            for module in &modules[1..] {
                let effects = run(module, name, kinds, &NUMBERS, [3, 2, 1], [8, 4, 1]);
                if effects.unwrap_or_else(|e| panic!("{e}")).iter().any(|e| !e.certain) {
                    vague.insert(*name);
                }
            }
        }
    }
    // The text printed in `checked` is read once more; paths compute the same address differently.
    assert_eq!(vague, ["both_ways", "checked", "for_each", "of_struct", "of_view", "signs"].into());
}

/// Numbers passed to kernels whose accesses do not depend on them.
const NUMBERS: [i64; 6] = [13, 9, 11, 7, 5, 12];

fn kernels() -> Vec<(usize, Kernel)> {
    let all = SOURCES.iter().enumerate();
    all.flat_map(|(at, source)| source.kernels.iter().map(move |kernel| (at, *kernel))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn launches_do_what_their_summaries_say(
        (source, (name, kinds, _)) in prop::sample::select(kernels()),
        build in 0usize..3,
        numbers in prop::array::uniform6(-3i64..40),
        grid in prop::array::uniform2(1u32..4),
        block in prop::array::uniform2(1u32..9),
    ) {
        let [x, y] = grid;
        let [tx, ty] = block;
        run(&MODULES[source][build], name, kinds, &numbers, [x, y, 1], [tx, ty, 1])
            .map_err(TestCaseError::fail)?;
    }
}

#[test]
fn where_pointers_come_from() {
    let origins = |name: &str, kinds: &str| -> BTreeSet<Vec<Origin>> {
        let effects = run(&MODULES[0][0], name, kinds, &NUMBERS, [3, 2, 1], [8, 4, 1]).unwrap();
        effects.into_iter().map(|e| e.origins).collect()
    };
    let argument = |at| vec![Origin::Argument(at)];
    assert_eq!(origins("vectors", "ppi"), [argument(0), argument(8)].into());
    assert_eq!(origins("of_struct", "si"), [argument(8)].into());
    assert_eq!(origins("lists", "pi"), [argument(0), vec![Origin::ThroughArgument(0)]].into());
    assert!(matches!(origins("counts", "i").first().unwrap()[..], [Origin::Variable(_)]));
}

/// The effects of a kernel with this body, with one thread and no arguments.
fn effects_of(body: &str) -> Vec<Effect> {
    let head = ".version 9.0\n.target sm_90\n.extern .func other();\n.entry k()";
    let registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>;";
    let module = Module::parse(&format!("{head} {{ {registers} {body} ret; }}")).expect("PTX");
    let launch = Launch { grid: [1; 3], block: [1; 3], arguments: &[], variable: &|_| None };
    Summary::of(&module, 1).effects(&launch)
}

#[test]
fn what_is_not_understood_may_be_anything() {
    let unknown = |body: &str| {
        let effects = effects_of(body);
        effects.len() == 1 && effects[0].origins == [Origin::Unknown] && effects[0].bytes.is_none()
    };
    assert!(unknown("wmma.store.d.sync.aligned.row [%rd1], {%r1};"));
    assert!(unknown("call other, ();"));
    assert!(unknown("call %rd1, ();"));
    assert!(unknown("mul.lo.s64 %rd2, %rd1, %rd1; st.global.u32 [%rd2], 1;"));
    assert!(unknown("mov.b64 %rd1, {%r1, %r2}; st.global.u32 [%rd1], 1;"));
}

#[test]
fn bulk_copies_read_what_they_copy() {
    let bytes = |size: &str| {
        let copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";
        let effects =
            effects_of(&format!("mov.u64 %rd1, 4096; {copy} [%r1], [%rd1], {size}, [%r2];"));
        assert_eq!(effects.len(), 1);
        effects[0].bytes.clone()
    };
    assert_eq!(bytes("64"), Some(Footprint { start: 4096, run: 64, repeats: vec![] }));
    assert_eq!(bytes("%r3"), None);
}

#[test]
fn a_grids_workspace_is_its_own() {
    let effects = effects_of(
        "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; cvt.u64.u32 %rd1, %r1; cvt.u64.u32 %rd2, %r2;
         bfi.b64 %rd3, %rd1, %rd2, 32, 32; add.s64 %rd4, %rd3, 4;
         atom.add.release.gpu.u32 %r3, [%rd4], 1;",
    );
    assert_eq!(effects, []);
}

/// A kernel that computes a value from thread indices and arguments, stores where that points, and
/// may contain a loop.
fn random_kernel() -> impl Strategy<Value = String> {
    let line = (
        prop::sample::select(&OPERATIONS[..]),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        prop::option::of(-9i64..40),
    );
    let lines = prop::collection::vec(line, 0..7);
    let test = (0usize..4, any::<prop::sample::Index>(), -3i64..30);
    // A second condition that is tested only if the first does not decide: its result, and when.
    let second = prop::option::of((test.clone(), any::<bool>(), any::<bool>(), any::<bool>()));
    let guards = prop::collection::vec((test, second), 0..3);
    let round = prop::option::of((any::<prop::sample::Index>(), 1i64..6, 0i64..30));
    (lines, guards, round).prop_map(|(lines, guards, round)| {
        // Numbers of the thread, of the block, and two arguments.
        let mut text = PROLOGUE.to_owned();
        let mut known = 4;
        for (operation, a, b, constant) in lines {
            let b = b.index(known);
            let b = constant.map_or(format!("%r{b}"), |c| c.to_string());
            let line = operation.replace('D', &format!("%r{known}"));
            let line = line.replace('A', &format!("%r{}", a.index(known))).replace('B', &b);
            text += &format!("{line};\n");
            known += 1;
        }
        let set = |to: &str, (compare, a, constant): (usize, prop::sample::Index, i64)| {
            let compare = ["ge.s32", "lt.u32", "ne.s32", "gt.s32"][compare];
            format!("setp.{compare} {to}, %r{}, {constant};\n", a.index(known))
        };
        let not = |negated| if negated { "!" } else { "" };
        for ((first, second), n) in guards.into_iter().zip(0..) {
            text += &set("%p1", first);
            text += &match second {
                None => "@%p1 bra END;\n".to_owned(),
                Some((second, decided, negated, leaves)) => format!(
                    "mov.pred %p0, {};\n@{}%p1 bra J{n};\n{}J{n}: @{}%p0 bra END;\n",
                    u8::from(decided),
                    not(negated),
                    set("%p0", second),
                    not(leaves)
                ),
            };
        }
        let last = known - 1;
        match round {
            Some((start, step, end)) => {
                let start = start.index(known);
                text + &format!(
                    "mov.b32 %r20, %r{start};\nsetp.ge.s32 %p1, %r20, {end};\n@%p1 bra END;\n\
                     max.s32 %r20, %r20, -50;\n\
                     LOOP: {} add.s32 %r20, %r20, {step};\nsetp.lt.s32 %p1, %r20, {end};\n\
                     @%p1 bra LOOP;\nEND: ret; }}",
                    store(20)
                )
            }
            None => text + &format!("{} END: ret; }}", ways(last)),
        }
    })
}

const PROLOGUE: &str = "
.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z1k(.param .u64 a, .param .u32 n, .param .u32 m)
{
.reg .pred %p<3>; .reg .b32 %r<24>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [a]; ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
";

/// The instructions of a random kernel: `D` is written, `A` and `B` are read.
const OPERATIONS: [&str; 25] = [
    "add.s32 D, A, B",
    "add.s32 D, A, B",
    "sub.s32 D, A, B",
    "mul.lo.s32 D, A, B",
    "mad.lo.s32 D, A, B, %r0",
    "mad.lo.s32 D, A, 8, %r1",
    "shl.b32 D, A, 2",
    "shr.s32 D, A, 1",
    "shr.u32 D, A, 3",
    "and.b32 D, A, B",
    "and.b32 D, A, 7",
    "and.b32 D, A, -4",
    "or.b32 D, A, B",
    "xor.b32 D, A, B",
    "not.b32 D, A",
    "min.s32 D, A, B",
    "max.u32 D, A, B",
    "rem.s32 D, A, 5",
    "div.s32 D, A, 3",
    "rem.u32 D, A, 6",
    "div.u32 D, A, 6",
    "div.s32 D, A, 5",
    "mad.lo.s32 D, A, 7, %r0",
    "cvt.s32.s8 D, A",
    "setp.lt.s32 %p2, A, B; selp.b32 D, %r0, A, %p2",
];

/// Stores on one of two paths, sometimes on both to the same place.
fn ways(register: usize) -> String {
    let other = if register.is_multiple_of(3) { 0 } else { register };
    format!(
        "setp.lt.s32 %p2, %r1, %r2;\n@%p2 bra OTHER;\n{}bra.uni END;\nOTHER: {}",
        store(register),
        store(other)
    )
}

fn store(register: usize) -> String {
    format!("{}st.global.u32 [%rd2], 0;\n", address(register))
}

fn address(register: usize) -> String {
    format!("mul.wide.s32 %rd1, %r{register}, 4;\nadd.s64 %rd2, %rd0, %rd1;\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_kernels_do_what_their_summaries_say(
        text in random_kernel(),
        n in -5i32..30,
        m in -5i32..30,
        grid in 1u32..4,
        block in 1u32..9,
    ) {
        launch_random(&text, (n, m), grid, block)?;
    }

    #[test]
    fn random_kernels_that_call_do_what_their_summaries_say(
        text in random_kernel(),
        callee in callee(),
        n in -5i32..30,
        m in -5i32..30,
        grid in 1u32..4,
        block in 1u32..9,
    ) {
        launch_random(&callee.called_by(&text), (n, m), grid, block)?;
    }
}

fn launch_random(
    text: &str,
    (n, m): (i32, i32),
    grid: u32,
    block: u32,
) -> Result<(), TestCaseError> {
    let module = Module::parse(text).expect("PTX");
    let kernel = module.functions.iter().position(|f| f.entry).expect("a kernel") as u32;
    let arguments: Vec<u8> =
        [&buffer(0).to_le_bytes()[..], &n.to_le_bytes(), &m.to_le_bytes()].concat();
    let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
    let launch = Launch { grid, block, arguments: &arguments, variable: &|_| None };
    let compared = compare(&module, kernel, &launch);
    compared.map(|_| ()).map_err(|e| TestCaseError::fail(format!("{text}\n{e}")))
}

/// A function that stores where a kernel would: up to a limit, on one of two paths, which may be
/// the same place, and behind some other instructions.
#[derive(Clone, Debug)]
struct Callee {
    before: usize,
    limit: Option<i64>,
    pivot: i64,
    apart: bool,
    guarded: bool,
    /// Whether it calls itself beyond the limit.
    recurs: bool,
}

fn callee() -> impl Strategy<Value = Callee> {
    let limit = prop::option::of(-3i64..30);
    (0usize..90, limit, -3i64..30, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(before, limit, pivot, apart, guarded, recurs)| Callee {
            before,
            limit,
            pivot,
            apart,
            guarded,
            recurs,
        },
    )
}

impl Callee {
    fn call(register: &str) -> String {
        format!(
            "{{ .param .b64 to; .param .b32 index; st.param.b64 [to], %rd0;
             st.param.b32 [index], {register}; call.uni put, (to, index); }}\n"
        )
    }

    /// The kernel, with a call in place of each of its stores.
    fn called_by(&self, kernel: &str) -> String {
        let calls = |kernel: String, register| {
            kernel.replace(&store(register), &Callee::call(&format!("%r{register}")))
        };
        let kernel = (0..24).fold(kernel.to_owned(), calls);
        let (head, entry) = kernel.split_once(".visible .entry").expect("an entry");
        format!("{head}{}\n.visible .entry{entry}", self.text())
    }

    fn text(&self) -> String {
        let limit = self.limit.map_or(String::new(), |limit| {
            let (over, jump) = (Callee::call("%r3"), "@%p1 bra END;");
            match self.recurs {
                // The returned value is within the limit.
                true => format!(
                    "setp.le.s32 %p1, %r2, {limit}; @%p1 bra WITHIN;
                     mov.b32 %r3, {limit}; {over} bra.uni END; WITHIN:\n"
                ),
                false => format!("setp.gt.s32 %p1, %r2, {limit}; {jump}\n"),
            }
        });
        let other = if self.apart { 3 } else { 2 };
        let ways = match self.guarded {
            true => format!("{}@%p1 {}", address(2), "st.global.u32 [%rd2], 0;\n"),
            false => format!("@%p1 bra OTHER; {} bra.uni END; OTHER: {}", store(2), store(other)),
        };
        format!(
            ".func put(.param .b64 a, .param .b32 i) {{
             .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
             ld.param.u64 %rd0, [a]; ld.param.u32 %r2, [i]; add.s32 %r3, %r2, 40;
             {} {limit} setp.gt.s32 %p1, %r2, {}; {ways} END: ret; }}",
            "xor.b32 %r4, %r4, %r2;\n".repeat(self.before),
            self.pivot
        )
    }
}

/// The use of one index in a kernel: divisors, coefficients of both remainders, the quotient and 1,
/// and which of the three are compared with which limits.
#[derive(Clone, Debug)]
struct Flattened {
    count: i64,
    by: [i64; 2],
    coefficients: [i64; 4],
    guards: Vec<(usize, bool, i64)>,
    at_once: bool,
    strides: bool,
}

fn flattened() -> impl Strategy<Value = Flattened> {
    let guards = prop::collection::vec((0usize..3, any::<bool>(), -1i64..6), 0..3);
    let coefficients = prop::array::uniform4(-8i64..24);
    let by = prop::array::uniform2(1i64..7);
    (1i64..5, 0i64..3, by, coefficients, guards, any::<bool>(), any::<bool>()).prop_map(
        |(rows, more, by, coefficients, guards, at_once, strides)| {
            let count = rows * by[0] * by[1] + more;
            Flattened { count, by, coefficients, guards, at_once, strides }
        },
    )
}

impl Flattened {
    fn text(&self) -> String {
        let Flattened { count, by: [a, b], coefficients: [c, d, e, f], .. } = *self;
        let outer = if self.at_once { ("%r4", a * b) } else { ("%r8", b) };
        let guards = self.guards.iter().map(|(which, below, limit)| {
            let compare = if *below { "lt" } else { "gt" };
            format!("setp.{compare}.s32 %p1, %r{}, {limit};\n@%p1 bra NEXT;\n", 10 + which)
        });
        let guards: String = guards.collect();
        let again = match self.strides {
            true => "add.s32 %r4, %r4, %r7;\nsetp.lt.s32 %p1, %r4, %r13;\n@%p1 bra LOOP;\n",
            false => "",
        };
        format!(
            "{PROLOGUE}
            mov.u32 %r5, %ntid.x; mov.u32 %r6, %nctaid.x; mul.lo.s32 %r7, %r5, %r6;
            mad.lo.s32 %r4, %r1, %r5, %r0; mov.b32 %r13, {count};
            setp.ge.s32 %p1, %r4, %r13; @%p1 bra END;
            LOOP: div.s32 %r8, %r4, {a}; mul.lo.s32 %r9, %r8, {a}; sub.s32 %r10, %r4, %r9;
            rem.s32 %r11, %r8, {b}; div.s32 %r12, {}, {}; {guards}
            mad.lo.s32 %r20, %r10, {c}, {f}; mad.lo.s32 %r20, %r11, {d}, %r20;
            mad.lo.s32 %r20, %r12, {e}, %r20; {}
            NEXT: {again} END: ret; }}",
            outer.0,
            outer.1,
            store(20)
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn flattened_indices_are_what_kernels_make_of_them(
        kernel in flattened(),
        grid in 1u32..4,
        block in 1u32..40,
    ) {
        let text = kernel.text();
        let module = Module::parse(&text).expect("PTX");
        let arguments = [buffer(0).to_le_bytes(), [0; 8]].concat();
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        let launch = Launch { grid, block, arguments: &arguments, variable: &|_| None };
        compare(&module, 0, &launch).map_err(|e| TestCaseError::fail(format!("{text}\n{e}")))?;
    }
}
