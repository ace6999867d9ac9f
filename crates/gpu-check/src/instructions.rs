//! PTX instructions on the device against simulated devices.

use crate::cuda::Driver;
use crate::kit::{Instruction, InstructionResults};

/// Maximum number of differences reported of one instruction.
const MAX_EXAMPLES: usize = 3;

/// Executes all; the results of those that end.
pub fn compare(driver: &Driver, all: &[Instruction]) -> InstructionResults {
    let mut results = InstructionResults::default();
    for one in all {
        match driver.execute(&one.ptx, &one.name, &one.input) {
            Ok(output) => {
                results.executed += 1;
                results.differences.extend(differences(one, &output));
            }
            Err(problem) => {
                results.differences.push(format!("{}: {problem}", one.name));
                // A kernel that failed leaves a context behind that refuses everything.
                let _ = driver.reset();
            }
        }
    }
    results
}

fn differences(one: &Instruction, output: &[u64]) -> Vec<String> {
    let rows = one.input.iter().zip(&one.output).zip(output);
    let different = rows.filter(|((_, expected), got)| {
        let (expected, got) = (f64::from_bits(**expected), f64::from_bits(**got));
        // The payload of a NaN of 64 bits is not defined.
        let both_nan = one.name.contains("64") && expected.is_nan() && got.is_nan();
        expected.to_bits() != got.to_bits() && !both_nan
    });
    let all: Vec<_> = different.collect();
    let line = |((input, expected), got): &((&[u64; 3], &u64), &u64)| {
        let [a, b, c] = input;
        format!(
            "{}({a:#x}, {b:#x}, {c:#x}) is {got:#x} on the device, {expected:#x} simulated",
            one.name
        )
    };
    all.iter().take(MAX_EXAMPLES).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> Instruction {
        let input = vec![[1, 2, 0], [3, 4, 0]];
        Instruction { name: name.into(), ptx: String::new(), input, output: vec![3, 0x7ff8 << 48] }
    }

    #[test]
    fn payloads_of_nans_of_64_bits_do_not_count() {
        let nan = 0x7fff_ffff_ffff_ffff;
        assert!(differences(&one("add_f64"), &[3, nan]).is_empty());
        assert_eq!(differences(&one("add_u32"), &[3, nan]).len(), 1);
        assert_eq!(differences(&one("add_f64"), &[4, nan]).len(), 1);
    }
}
