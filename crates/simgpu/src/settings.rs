//! The simulation's settings, from the environment.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// The number of devices, and the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Devices.
    pub devices: usize,
    /// The seed of scheduling choices.
    pub seed: u64,
    /// Whether kernels are followed for what their threads do wrong.
    pub kernel_checks: bool,
}

/// Maximum number of devices, more than a node has.
const MAX_DEVICES: usize = 64;

impl Settings {
    /// Reads `COMMSAN_GPU=sim:N` (one device if unset), `COMMSAN_GPU_SEED` (0 if unset), and
    /// `COMMSAN_KERNEL_CHECKS`, which is 1 or not set.
    pub fn from_environment() -> Settings {
        let variable = |name| std::env::var(name).ok();
        let (gpu, seed) = (variable("COMMSAN_GPU"), variable("COMMSAN_GPU_SEED"));
        let kernel_checks = variable("COMMSAN_KERNEL_CHECKS").as_deref() == Some("1");
        Settings { kernel_checks, ..Settings::read(gpu.as_deref(), seed.as_deref()) }
    }

    fn read(gpu: Option<&str>, seed: Option<&str>) -> Settings {
        let devices = gpu.and_then(|gpu| gpu.strip_prefix("sim:")).map(str::parse::<usize>);
        let seed = seed.map(str::parse);
        if let Some(Err(_)) = devices {
            eprintln!("commsan: COMMSAN_GPU is sim:N with N devices; taking one");
        }
        if let Some(Err(_)) = seed {
            eprintln!("commsan: COMMSAN_GPU_SEED is a number; taking 0");
        }
        Settings {
            devices: devices.and_then(Result::ok).unwrap_or(1).min(MAX_DEVICES),
            seed: seed.and_then(Result::ok).unwrap_or(0),
            kernel_checks: false,
        }
    }
}

/// Scheduling choices that CUDA leaves open, made by a seeded generator.
///
/// Seed 0 is as lazy as the rules allow: nothing runs before it must, the oldest first, and what
/// may happen at once or later happens later. Every other seed runs some work early, and reorders
/// what is ready.
#[derive(Debug)]
pub struct Choices {
    random: Option<SmallRng>,
    /// Of eight operations, how many are followed by running something early.
    eagerness: u32,
}

impl Choices {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Choices {
        let mut random = (seed != 0).then(|| SmallRng::seed_from_u64(seed));
        let eagerness = random.as_mut().map_or(0, |random| random.random_range(0..8));
        Choices { random, eagerness }
    }

    /// Selects one of `count` candidates, of which the first is the oldest.
    pub fn pick(&mut self, count: usize) -> usize {
        self.random.as_mut().map_or(0, |random| random.random_range(0..count))
    }

    /// Whether to run something that could wait.
    pub fn is_eager(&mut self) -> bool {
        let eagerness = self.eagerness;
        self.random.as_mut().is_some_and(|random| random.random_range(0..8) < eagerness)
    }

    /// Whether something that may happen at once does.
    pub fn at_once(&mut self) -> bool {
        self.random.as_mut().is_some_and(Rng::random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_and_what_is_not() {
        let read = |gpu, seed| {
            let settings = Settings::read(gpu, seed);
            (settings.devices, settings.seed)
        };
        assert_eq!(read(None, None), (1, 0));
        assert_eq!(read(Some("sim:4"), Some("7")), (4, 7));
        assert_eq!(read(Some("sim:0"), None), (0, 0));
        assert_eq!(read(Some("real"), Some("x")), (1, 0));
        assert_eq!(read(Some("sim:1000"), None), (MAX_DEVICES, 0));
    }

    #[test]
    fn a_seed_makes_the_same_choices_again() {
        let choices = |seed| {
            let mut choices = Choices::new(seed);
            (0..100).map(|_| (choices.pick(9), choices.is_eager())).collect::<Vec<_>>()
        };
        assert_eq!(choices(3), choices(3));
        assert_ne!(choices(3), choices(4));
        assert!(choices(0).iter().all(|&choice| choice == (0, false)));
    }
}
