//! Transfers of collectives between all pairs of processes: both sides must agree, and be what the
//! standard says that each process must get.

use commsan_mpi::collective::signature::Signature;
use commsan_mpi::transfers::{Peers, Transfer, transfers};
use commsan_mpi::{Args, Datatype, Library};
use commsan_mpi_calls::{CALLS, Call};
use commsan_shadow::Pattern;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SIZE: usize = 4;
const DOUBLE: usize = 8;
const IN_PLACE: usize = 1;
const SENDBUF: usize = 0x10_0000;
const RECVBUF: usize = 0x90_0000;

/// An intercommunicator between a group of two, with this process, and one of [`SIZE`].
const INTER: usize = 99;

/// An MPI in which a communicator is the rank of the calling process, except for [`INTER`], and all
/// types are doubles.
struct Mpi;

impl Library for Mpi {
    const IN_PLACE: usize = IN_PLACE;
    const PROC_NULL: i32 = -2;
    const ROOT: i32 = -3;

    fn dense(&self, _: usize) -> Option<usize> {
        Some(DOUBLE)
    }

    fn datatype(&self, _: usize) -> Datatype {
        Datatype { pattern: Pattern::dense(0, DOUBLE as isize), extent: DOUBLE as isize }
    }

    fn rank(&self, comm: usize) -> i32 {
        if comm == INTER { 0 } else { comm as i32 }
    }

    fn size(&self, _: usize) -> usize {
        SIZE
    }

    fn local_size(&self, comm: usize) -> usize {
        if comm == INTER { 2 } else { SIZE }
    }

    fn is_no_op(&self, _: usize) -> bool {
        false
    }

    fn is_inter(&self, comm: usize) -> bool {
        comm == INTER
    }

    /// A ring that is open between the last rank and the first.
    fn neighbours(&self, comm: usize) -> (Vec<i32>, Vec<i32>) {
        let left = if comm == 0 { Self::PROC_NULL } else { comm as i32 - 1 };
        let right = if comm + 1 == SIZE { Self::PROC_NULL } else { comm as i32 + 1 };
        (vec![left, right], vec![left, right])
    }

    fn int_at(&self, array: usize, index: usize, _: bool) -> i64 {
        // SAFETY: the tests pass arrays with an element for each rank.
        i64::from(unsafe { *(array as *const i32).add(index) })
    }

    fn handle_at(&self, _: usize, _: usize, _: bool) -> usize {
        0
    }

    fn signature(&self, _: usize) -> Signature {
        Signature::vague(1)
    }

    fn lasting_signature(&self, _: usize) -> Signature {
        Signature::vague(1)
    }
}

fn call(name: &str) -> &'static Call {
    CALLS.iter().find(|call| call.name == name).unwrap()
}

type Matrix = BTreeMap<(usize, usize), u64>;

/// Adds the transfers of one process in one direction.
fn add(matrix: &mut Matrix, me: usize, transfer: &Transfer) {
    let peers: Vec<usize> = match transfer.peers {
        Peers::One(rank) => vec![rank as usize],
        Peers::Others => (0..SIZE).filter(|rank| *rank != me).collect(),
        Peers::Above => (me + 1..SIZE).collect(),
        Peers::Below => (0..me).collect(),
        Peers::Any | Peers::File => panic!("{transfer:?}"),
    };
    for peer in peers {
        let pair = if transfer.sends { (me, peer) } else { (peer, me) };
        *matrix.entry(pair).or_default() += transfer.bytes;
    }
}

/// Counts of what each rank sends to each.
#[derive(Clone, Debug)]
struct Counts {
    /// Where all counts are equal.
    one: i32,
    /// By rank.
    list: [i32; SIZE],
    /// By sender and receiver.
    table: [[i32; SIZE]; SIZE],
    root: usize,
    in_place: bool,
}

fn counts() -> impl Strategy<Value = Counts> {
    let list = prop::array::uniform4(0i32..5);
    let table = prop::array::uniform4(prop::array::uniform4(0i32..5));
    let all = (0i32..5, list, table, 0..SIZE, any::<bool>());
    all.prop_map(|(one, list, mut table, root, in_place)| {
        // In place, as much must be sent as is received (MPI 4.1 §6.8).
        if in_place {
            let lower = table;
            (0..SIZE).for_each(|from| (0..from).for_each(|to| table[to][from] = lower[from][to]));
        }
        Counts { one, list, table, root, in_place }
    })
}

/// The transfers of all processes in a call: by sender, and by receiver.
fn told(name: &str, counts: &Counts) -> (Matrix, Matrix) {
    let (mut sent, mut received) = (Matrix::new(), Matrix::new());
    let call = call(name);
    for me in 0..SIZE {
        let in_place = counts.in_place
            && match name {
                "MPI_Allgather" | "MPI_Allgatherv" | "MPI_Alltoall" | "MPI_Alltoallv"
                | "MPI_Allreduce" | "MPI_Reduce_scatter" | "MPI_Scan" => true,
                "MPI_Gather" | "MPI_Gatherv" | "MPI_Reduce" => me == counts.root,
                _ => false,
            };
        let column: Vec<i32> = counts.table.iter().map(|row| row[me]).collect();
        let displacements: Vec<i32> = (0..SIZE as i32).map(|n| n * 10).collect();
        let is_all = name.starts_with("MPI_Alltoall");
        let sends = if is_all { &counts.table[me] } else { &counts.list };
        let receives: &[i32] = if is_all { &column } else { &counts.list };
        let vector = matches!(name, "MPI_Gatherv" | "MPI_Allgatherv" | "MPI_Scatterv");
        let one = if vector { counts.list[me] } else { counts.one };
        let words: Vec<usize> = call
            .params
            .iter()
            .map(|param| match &*param.name {
                "sendbuf" if in_place => IN_PLACE,
                "sendbuf" | "buffer" => SENDBUF,
                "recvbuf" => RECVBUF,
                "count" | "sendcount" | "recvcount" => one as usize,
                "sendcounts" => sends.as_ptr() as usize,
                "recvcounts" => receives.as_ptr() as usize,
                "displs" | "sdispls" | "rdispls" => displacements.as_ptr() as usize,
                "root" => counts.root,
                "comm" => me,
                _ => 7,
            })
            .collect();
        for transfer in transfers(&Args::new(call, &words, false), &Mpi) {
            assert!(!in_place || transfer.footprint.span().start >= RECVBUF, "{transfer:?}");
            let matrix = if transfer.sends { &mut sent } else { &mut received };
            add(matrix, me, &transfer);
        }
    }
    let exists = |matrix: Matrix| matrix.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    (exists(sent), exists(received))
}

/// What `from` must send to `to`, in elements.
fn expected(name: &str, counts: &Counts, from: usize, to: usize) -> i32 {
    let root = counts.root;
    let Counts { one, list, table, .. } = counts;
    let if_so = |so: bool, count: i32| if so { count } else { 0 };
    match name {
        "MPI_Bcast" | "MPI_Scatter" => if_so(from == root, *one),
        "MPI_Scatterv" => if_so(from == root, list[to]),
        "MPI_Gather" | "MPI_Reduce" => if_so(to == root, *one),
        "MPI_Gatherv" => if_so(to == root, list[from]),
        "MPI_Allgather" | "MPI_Alltoall" | "MPI_Allreduce" | "MPI_Reduce_scatter_block" => *one,
        "MPI_Allgatherv" => list[from],
        "MPI_Alltoallv" => table[from][to],
        "MPI_Reduce_scatter" => list[to],
        "MPI_Scan" | "MPI_Exscan" => if_so(from < to, *one),
        "MPI_Neighbor_allgather" | "MPI_Neighbor_alltoall" => if_so(from.abs_diff(to) == 1, *one),
        _ => panic!("{name}"),
    }
}

const COLLECTIVES: &[&str] = &[
    "MPI_Bcast",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Reduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Allreduce",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Neighbor_allgather",
    "MPI_Neighbor_alltoall",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn both_ends_agree_with_the_standard(counts in counts()) {
        for name in COLLECTIVES {
            let mut expected_matrix = Matrix::new();
            for from in 0..SIZE {
                for to in (0..SIZE).filter(|to| *to != from) {
                    let bytes = expected(name, &counts, from, to) as u64 * DOUBLE as u64;
                    if bytes > 0 {
                        expected_matrix.insert((from, to), bytes);
                    }
                }
            }
            let (sent, received) = told(name, &counts);
            prop_assert_eq!(&sent, &expected_matrix, "{} sends", name);
            prop_assert_eq!(&received, &expected_matrix, "{} receives", name);
        }
    }
}

/// The transfers of a call with these arguments by name; others are 7.
fn of(name: &str, arguments: &[(&str, usize)]) -> Vec<(bool, Peers, u64, Option<i32>)> {
    let call = call(name);
    let named =
        |name: &str| arguments.iter().find(|(n, _)| *n == name).map_or(7, |(_, word)| *word);
    let words: Vec<usize> = call.params.iter().map(|param| named(&param.name)).collect();
    transfers(&Args::new(call, &words, false), &Mpi)
        .into_iter()
        .map(|transfer| (transfer.sends, transfer.peers, transfer.bytes, transfer.tag))
        .collect()
}

#[test]
fn messages() {
    const ANY: usize = -1isize as usize;
    const NULL: usize = -2isize as usize;
    let send = [("dest", 3), ("tag", 9), ("count", 2)];
    assert_eq!(of("MPI_Isend", &send), [(true, Peers::One(3), 16, Some(9))]);
    assert_eq!(of("MPI_Send", &[("dest", NULL), ("count", 2)]), []);
    assert_eq!(
        of("MPI_Isend", &[("dest", 3), ("tag", 9), ("count", 0)]),
        [(true, Peers::One(3), 0, Some(9))]
    );
    let receive = [("source", ANY), ("tag", ANY), ("count", 2)];
    assert_eq!(of("MPI_Irecv", &receive), [(false, Peers::Any, 16, None)]);
    let both = [
        ("dest", 1),
        ("sendtag", 4),
        ("sendcount", 1),
        ("sendbuf", SENDBUF),
        ("source", 2),
        ("recvtag", 5),
        ("recvcount", 3),
        ("recvbuf", RECVBUF),
    ];
    let expected = [(true, Peers::One(1), 8, Some(4)), (false, Peers::One(2), 24, Some(5))];
    assert_eq!(of("MPI_Sendrecv", &both), expected);
    let replace = [("dest", 1), ("sendtag", 4), ("count", 1), ("source", NULL), ("recvtag", 5)];
    for name in ["MPI_Sendrecv_replace", "MPI_Isendrecv_replace"] {
        assert_eq!(of(name, &replace), [(true, Peers::One(1), 8, Some(4))], "{name}");
    }
    assert_eq!(of("MPI_Imrecv", &[("count", 2)]), [(false, Peers::Any, 16, None)]);
}

/// What a group reduces goes to the other one's members, whose counts it does not know.
#[test]
fn reductions_are_shared_out_to_the_other_group() {
    let of = |name, counts: &[i32; 2], count: usize| {
        let arguments = [
            ("comm", INTER),
            ("sendbuf", SENDBUF),
            ("recvbuf", RECVBUF),
            ("recvcounts", counts.as_ptr() as usize),
            ("recvcount", count),
        ];
        of(name, &arguments)
    };
    let received = |bytes| (false, Peers::Others, bytes, None);
    let even = [(true, Peers::Others, 16, None), received(48)];
    assert_eq!(of("MPI_Reduce_scatter", &[6, 2], 0), even);
    let uneven: Vec<_> = of("MPI_Reduce_scatter", &[3, 2], 0);
    let sizes: Vec<u64> =
        uneven.iter().filter(|transfer| transfer.0).map(|transfer| transfer.2).collect();
    assert_eq!(sizes, [8, 8, 8, 16]);
    let block = [(true, Peers::Others, 24, None), received(48)];
    assert_eq!(of("MPI_Ireduce_scatter_block", &[0, 0], 6), block);
}

#[test]
fn windows_and_files() {
    let put = [("origin_count", 2), ("target_rank", 3)];
    assert_eq!(of("MPI_Put", &put), [(true, Peers::One(3), 16, None)]);
    assert_eq!(of("MPI_Rget", &put), [(false, Peers::One(3), 16, None)]);
    let fetch = [("target_rank", 3)];
    let expected = [(true, Peers::One(3), 8, None), (false, Peers::One(3), 8, None)];
    assert_eq!(of("MPI_Fetch_and_op", &fetch), expected);
    assert_eq!(of("MPI_File_write_all", &[("count", 4)]), [(true, Peers::File, 32, None)]);
    assert_eq!(of("MPI_File_iread_at", &[("count", 4)]), [(false, Peers::File, 32, None)]);
    assert_eq!(of("MPI_Pack", &[("incount", 4)]), []);
    assert_eq!(of("MPI_Reduce_local", &[("count", 4)]), []);
}
