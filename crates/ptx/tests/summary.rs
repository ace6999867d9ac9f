//! Summaries against what kernels do when they are executed.

mod machine;
mod toolkit;

use commsan_ptx::{Effect, Footprint, Launch, Module, Summary};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The kernels of `ranges.cu`: what their parameters are (`p` a pointer, `i` an `int`, `l` a `long`,
/// `s` a `Field`), and whether each of their accesses is known to the byte.
const KERNELS: [(&str, &str, bool); 27] = [
    ("straight", "pi", true),
    ("early_return", "ppi", true),
    ("unsigned_index", "pi", true),
    ("long_index", "pl", true),
    ("unguarded", "p", true),
    ("reversed", "pi", true),
    ("stencil", "ppii", true),
    ("pack_row", "ppi", true),
    ("pack_column", "ppii", true),
    ("grid_stride", "pi", true),
    ("serial", "pi", true),
    ("row_per_thread", "ppii", true),
    ("of_struct", "si", true),
    ("vectors", "ppi", true),
    ("bytes", "pl", true),
    ("gather", "pppi", false),
    ("sometimes", "ppi", false),
    ("either", "ppi", true),
    ("only_even", "pi", false),
    ("halves", "pi", true),
    ("lists", "pi", false),
    ("calls", "ppi", true),
    ("counts", "i", true),
    ("tiles", "ppi", true),
    ("breaks", "ppi", false),
    ("columns", "pii", true),
    ("triangle", "pi", false),
];

static MODULES: LazyLock<[Module; 3]> = LazyLock::new(|| {
    let builds = [&["-arch=sm_90"][..], &["-arch=sm_75", "-Xcicc", "-O1"], &["-arch=sm_90", "-G"]];
    builds.map(|arguments| Module::parse(&toolkit::ptx("ranges.cu", arguments)).expect("PTX"))
});

const BUFFERS: u64 = 0x7F00_0000_0000;
const VARIABLES: u64 = 0x7E00_0000_0000;

/// Where the n-th pointer points to.
fn buffer(n: usize) -> u64 {
    BUFFERS + n as u64 * 0x1000_0000
}

fn arguments(kinds: &str, numbers: &[i64; 4]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for (at, kind) in kinds.chars().enumerate() {
        let field = [numbers[0] as u64 & 0xFFFF_FFFF, buffer(at), numbers[1] as u64 & 0xFFFF_FFFF];
        let value: Vec<u8> = match kind {
            'p' => buffer(at).to_le_bytes().into(),
            'i' => (numbers[at] as i32).to_le_bytes().into(),
            'l' => numbers[at].to_le_bytes().into(),
            _ => field.iter().flat_map(|f| f.to_le_bytes()).collect(),
        };
        bytes.resize(bytes.len().next_multiple_of(value.len().min(8)), 0);
        bytes.extend(value);
    }
    // What `of_struct` has besides.
    bytes.resize(bytes.len() + 8, 0);
    bytes
}

/// A mangled name contains the length of the plain one.
fn kernel(module: &Module, name: &str) -> u32 {
    let mangled = format!("_Z{}{name}", name.len());
    let found = module.functions.iter().position(|f| f.name.starts_with(&mangled));
    found.unwrap_or_else(|| panic!("{name}")) as u32
}

fn contains(footprint: &Footprint, byte: u64) -> bool {
    footprint.start <= byte
        && byte < footprint.end()
        && (footprint.repeats.is_empty() || footprint.runs().any(|run| run.contains(&byte)))
}

/// Compares a launch with its summary; what is wrong is returned.
fn compare(module: &Module, kernel: u32, launch: &Launch<'_>) -> Result<Vec<Effect>, String> {
    let summary = Summary::of(module, kernel);
    let effects = summary.effects(launch);
    let touched = machine::execute(module, kernel, launch);
    for (site, bytes) in &touched {
        let told = effects.iter().filter(|e| summary.accesses()[e.access].site == *site);
        let told: Vec<_> = told.map(|e| e.bytes.as_ref()).collect();
        let is_told = |byte: &u64| told.iter().any(|t| t.is_none_or(|f| contains(f, *byte)));
        if let Some(byte) = bytes.iter().find(|b| !is_told(b)) {
            return Err(format!("{site:?} touches {byte:#x}, told {effects:x?}"));
        }
    }
    let none = BTreeSet::new();
    for effect in effects.iter().filter(|e| e.certain) {
        let touched = touched.get(&summary.accesses()[effect.access].site).unwrap_or(&none);
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
    numbers: &[i64; 4],
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
    for (name, kinds, exact) in KERNELS {
        let effects = run(&MODULES[0], name, kinds, &[13, 9, 11, 7], [3, 2, 1], [8, 4, 1]);
        let effects = effects.unwrap_or_else(|e| panic!("{e}"));
        assert!(!effects.is_empty(), "{name}");
        let certain = effects.iter().filter(|e| e.certain).count();
        if (certain == effects.len()) != exact {
            wrong.push(format!("{name}: {effects:x?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn launches_do_what_their_summaries_say(
        (name, kinds, _) in prop::sample::select(&KERNELS[..]),
        build in 0usize..3,
        numbers in prop::array::uniform4(-3i64..40),
        grid in prop::array::uniform2(1u32..4),
        block in prop::array::uniform2(1u32..9),
    ) {
        let [x, y] = grid;
        let [tx, ty] = block;
        run(&MODULES[build], name, kinds, &numbers, [x, y, 1], [tx, ty, 1])
            .map_err(TestCaseError::fail)?;
    }
}
