//! Single instructions on random operands, compared with the host's own arithmetic.

mod cases;
mod device;

use cases::{Expected, d};
use commsan_simt::Program;
use device::program;
use device::words::{HEAD, apply, kernel};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashMap;

/// The expected results by name.
type ExpectedResults = HashMap<&'static str, Expected>;

/// All cases as kernels of one module.
fn module() -> (Program, ExpectedResults) {
    let cases = cases::all();
    let texts: String = cases.iter().map(|case| kernel(case.name, &case.body)).collect();
    let expected = cases.into_iter().map(|case| (case.name, case.expected)).collect();
    (program(&format!("{HEAD}{texts}")), expected)
}

/// Writes all instructions with random operands and their results to the file that
/// `COMMSAN_INSTRUCTIONS` names, for `gpu-check` to execute them on a device.
#[test]
#[ignore = "makes a part of the kit of `make gpu-kit`"]
fn export() {
    const THREADS: usize = 256;
    let path = std::env::var_os("COMMSAN_INSTRUCTIONS").expect("a file's name");
    let mut runner = TestRunner::deterministic();
    let mut word = || operand().new_tree(&mut runner).expect("no filter").current();
    let mut all = Vec::new();
    for cases::Case { name, body, .. } in cases::all() {
        let ptx = format!("{HEAD}{}", kernel(name, &body));
        let mut input: Vec<_> = (0..THREADS).map(|_| [word(), word(), word()]).collect();
        let given = input.clone();
        let output = apply(&program(&ptx), name, THREADS as u32, &mut input).expect("no fault");
        all.push(serde_json::json!({ "name": name, "ptx": ptx, "input": given, "output": output }));
    }
    std::fs::write(path, serde_json::Value::from(all).to_string())
        .expect("a file that can be written");
}

/// Operands of all magnitudes, and special values of every type.
fn operand() -> impl Strategy<Value = u64> {
    let corner = prop::sample::select(vec![
        0,
        1,
        31,
        32,
        63,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        u64::MAX,
        1 << 63,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001_0000_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7ff0 << 48,
        0xfff0 << 48,
        0x3ff0 << 48,
        0x0080_0000,
        0x007f_ffff,
        0x7c00,
        0x3c00,
    ]);
    prop_oneof![
        any::<u64>(),
        corner,
        any::<u64>().prop_map(|v| v >> 40),
        any::<f32>().prop_map(|v| v.to_bits().into()),
        any::<f64>().prop_map(f64::to_bits)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]
    #[test]
    fn instructions_agree_with_the_host(
        rows in prop::collection::vec([operand(), operand(), operand()], 32),
        threads in 1u32..=32,
    ) {
        thread_local! {
            static MODULE: (Program, ExpectedResults) = module();
        }
        MODULE.with(|(program, expected)| {
            for (name, expected) in expected {
                let mut input: Vec<[u64; 3]> = rows.clone();
                let out = apply(program, name, threads, &mut input).map_err(|f| f.to_string()).unwrap();
                for ([a, b, c], got) in rows.iter().zip(out).take(threads as usize) {
                    let expected = expected(*a, *b, *c);
                    // The payload of a 64-bit NaN is undefined.
                    let both_nan = name.contains("64") && d(expected).is_nan() && d(got).is_nan();
                    prop_assert!(got == expected || both_nan,
                        "{name}({a:#x}, {b:#x}, {c:#x}) = {got:#x}, not {expected:#x}");
                }
            }
            Ok(())
        })?;
    }
}
