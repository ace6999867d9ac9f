//! Symmetric memory, without a library.

use super::Symmetric;
use super::call::Elements;
use crate::buffers::Args;
use commsan_callsite::{Site, Stacks};
use commsan_mpi_calls::named;

fn pe(me: i32, pes: i32) -> Symmetric {
    Symmetric { me, pes, ..Symmetric::default() }
}

fn site() -> Site {
    Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: 1, remote: None }
}

/// What is wrong with a call of these arguments.
fn problems(of: &Symmetric, name: &str, words: &[usize]) -> Vec<String> {
    let args = Args::new(named(name).unwrap(), words, false);
    let doubts = of.doubts(&args).into_iter();
    // Nobody is asked, as if the library had no other objects.
    doubts.map(|doubt| format!("{:?}", doubt.wrong)).collect()
}

#[test]
fn elements_end_where_the_last_one_does() {
    let elements = |stride, count| Elements { at: 1000, stride, count, bytes: 8 };
    assert_eq!(elements(1, 4).span(), Some(1000..1032));
    assert_eq!(elements(3, 4).span(), Some(1000..1080));
    assert_eq!(elements(1, 0).span(), None);
    assert_eq!(elements(0, 4).span(), None);
    assert_eq!(elements(isize::MAX, 4).span(), None);
    assert_eq!(elements(3, 4).footprint().unwrap().bytes(), 32);
}

#[test]
fn active_sets_have_members_and_one_key() {
    let of = pe(2, 8);
    for (set, members) in [([0, 0, 8], (0..8).collect::<Vec<u32>>()), ([2, 1, 3], vec![2, 4, 6])] {
        assert_eq!(of.members(Some(set)).1, members);
        assert!(of.wrong_set(set).is_none());
    }
    assert_eq!(of.members(None).0, of.members(Some([0, 0, 8])).0);
    let keys = [[0, 0, 4], [0, 1, 4], [1, 0, 4]].map(|set| of.members(Some(set)).0);
    assert!(keys.iter().all(|key| *key != 0) && keys[0] != keys[1] && keys[1] != keys[2]);
    for (set, name) in [
        ([8, 0, 1], "PE_start"),
        ([0, -1, 2], "logPE_stride"),
        ([0, 0, 0], "PE_size"),
        ([0, 2, 3], "PE_size"),
        ([3, 0, 2], "PE_start"),
        ([1, 1, 3], "PE_start"),
    ] {
        assert_eq!(of.wrong_set(set).map(|(name, _)| name), Some(name), "{set:?}");
    }
}

#[test]
fn what_leaves_a_block_is_found_and_nothing_else() {
    let mut of = pe(0, 2);
    of.heap.made(4096, 96, site());
    let put = |at, count| problems(&of, "shmem_long_put", &[at, 8, count, 1]);
    assert!(put(4096, 12).is_empty() && put(4184, 1).is_empty() && put(4096, 0).is_empty());
    assert!(put(4096, 13)[0].contains("bytes 0 to 103"));
    let strided = |count| problems(&of, "shmem_long_iput", &[4096, 8, 11, 1, count, 1]);
    assert!(strided(2).is_empty() && strided(3).len() == 1);
    assert!(problems(&of, "shmem_long_p", &[4096, 0, 2])[0].contains("PEs are 0 to 1"));
    // A get reads there, and writes anywhere here.
    assert!(problems(&of, "shmem_long_get", &[16, 4096, 12, 1]).is_empty());
    assert_eq!(problems(&of, "shmem_long_get", &[4096, 16, 12, 1]).len(), 1);
}

#[test]
fn blocks_are_freed_once() {
    let mut of = pe(0, 2);
    of.heap.made(4096, 96, site());
    let free = |of: &Symmetric, at| problems(of, "shmem_free", &[at]);
    assert!(free(&of, 4096).is_empty() && free(&of, 0).is_empty());
    assert!(free(&of, 4104)[0].contains("byte 8"));
    of.heap.freed(4096, site());
    assert!(free(&of, 4096)[0].contains("freed before"));
    assert!(problems(&of, "shmem_long_p", &[4100, 0, 1])[0].contains("was freed"));
    of.heap.made(4096, 32, site());
    assert!(free(&of, 4096).is_empty());
    of.has(1 << 20);
    assert!(problems(&of, "shmem_long_p", &[(1 << 20) + 8, 0, 1]).is_empty());
    assert_eq!(problems(&of, "shmem_long_p", &[1 << 21, 0, 1]).len(), 1);
}
