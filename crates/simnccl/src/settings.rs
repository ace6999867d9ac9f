//! Settings from NCCL's environment variables.

use crate::region::SLOTS;

/// Algorithms for all-reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Parts go around a ring.
    Ring,
    /// Everything goes along a chain and back.
    Tree,
}

/// Maximum bytes of an all-reduce that uses the tree, where the number of waits dominates.
pub const MAX_TREE_BYTES: usize = 64 << 10;

/// Size of a queue in bytes, unless `NCCL_BUFFSIZE` sets it.
const DEFAULT_QUEUE_BYTES: u64 = 512 << 10;
/// Granularity of the size of a slot, in bytes.
const SLOT_UNIT: u64 = 256;

/// The settings of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The only algorithm that `NCCL_ALGO` allows, if it leaves one.
    pub algorithm: Option<Algorithm>,
    /// Size of a slot, in bytes.
    pub slot: u64,
    /// Whether pointers are checked, `NCCL_CHECK_POINTERS`.
    pub checks_pointers: bool,
}

impl Settings {
    /// Reads the environment.
    pub fn from_environment() -> Settings {
        let variable = |name| std::env::var(name).ok();
        let size = variable("NCCL_BUFFSIZE").and_then(|size| size.parse().ok());
        Settings {
            algorithm: variable("NCCL_ALGO").and_then(|list| algorithm(&list)),
            slot: slot(size.unwrap_or(DEFAULT_QUEUE_BYTES)),
            checks_pointers: variable("NCCL_CHECK_POINTERS").is_some_and(|value| value == "1"),
        }
    }

    /// The algorithm for an all-reduce of `bytes` bytes.
    pub fn algorithm_for(&self, bytes: usize) -> Algorithm {
        let usual = if bytes <= MAX_TREE_BYTES { Algorithm::Tree } else { Algorithm::Ring };
        self.algorithm.unwrap_or(usual)
    }
}

fn slot(queue: u64) -> u64 {
    (queue / SLOTS / SLOT_UNIT).max(1) * SLOT_UNIT
}

/// Parses `ring,tree`, `^tree`, `allreduce:tree;broadcast:ring`: the only supported algorithm that
/// is left for all-reduce, if there is one.
fn algorithm(list: &str) -> Option<Algorithm> {
    let list = list.to_ascii_lowercase();
    let for_all_reduce = |section: &&str| {
        section.split_once(':').is_none_or(|(function, _)| function.trim() == "allreduce")
    };
    let section = list.split(';').rfind(for_all_reduce)?;
    let names = section.split_once(':').map_or(section, |(_, names)| names).trim();
    let (names, excludes) = names.strip_prefix('^').map_or((names, false), |names| (names, true));
    let has = |name: &str| names.split(',').any(|other| other.trim() == name) != excludes;
    match (has("ring"), has("tree")) {
        (true, false) => Some(Algorithm::Ring),
        (false, true) => Some(Algorithm::Tree),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_algorithms() {
        assert_eq!(algorithm("Ring"), Some(Algorithm::Ring));
        assert_eq!(algorithm("TREE"), Some(Algorithm::Tree));
        assert_eq!(algorithm("^tree,nvls"), Some(Algorithm::Ring));
        assert_eq!(algorithm("ring,tree"), None);
        assert_eq!(algorithm("NVLS"), None);
        assert_eq!(algorithm("ring;allreduce:tree;broadcast:ring"), Some(Algorithm::Tree));
        assert_eq!(algorithm("broadcast:ring"), None);
    }

    #[test]
    fn slots_of_a_queue() {
        assert_eq!(slot(DEFAULT_QUEUE_BYTES), 64 << 10);
        assert_eq!(slot(4 << 20), 512 << 10);
        assert_eq!(slot(1), SLOT_UNIT);
    }
}
