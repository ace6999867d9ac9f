//! Layouts of datatypes, from the MPI library itself.
//!
//! `MPI_Type_get_envelope` and `MPI_Type_get_contents` say how any type was made, in whatever
//! language and by whatever code, so that constructors need no interception. Results are kept by
//! handle until the type is freed; in case a handle is freed unseen, size and extent are compared
//! at each use.

use crate::handles::handle;
use crate::sys;
use crate::word::{Word, from_fortran_layer};
use commsan_mpi::Datatype;
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::typemap::{Basics, Constructor, Distribution, deal, grid_coordinates, map};
use commsan_shadow::Pattern;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{LazyLock, Mutex, RwLock};

/// What is remembered of a type.
struct Known {
    size: i64,
    lb: i64,
    description: Description,
}

#[derive(Clone)]
struct Description {
    datatype: Datatype,
    leaf: Option<usize>,
    signature: Signature,
    basics: Basics,
}

static KNOWN: LazyLock<Mutex<HashMap<usize, Known>>> = LazyLock::new(Mutex::default);

/// Predefined types are never freed and nearly always dense: their size is remembered without a
/// lock, in entries that never change once taken.
#[inline]
pub(crate) fn dense(word: usize) -> Option<usize> {
    let home = home(word);
    (home.0.load(Acquire) == word).then(|| home.1.load(Relaxed))
}

/// Bytes of an element, if they are known without asking the library.
pub(crate) fn size_if_known(word: usize) -> Option<usize> {
    let known = || KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    dense(word).or_else(|| known().get(&word).map(|known| known.size.max(0) as usize))
}

/// The layout of the type with this handle.
pub(crate) fn describe(word: usize) -> Datatype {
    if let Some(size) = dense(word) {
        let extent = size as isize;
        return Datatype { pattern: Pattern::dense(0, extent), extent };
    }
    let Description { datatype, leaf, .. } = describe_any(word);
    let dense = datatype.pattern.is_dense()
        && datatype.pattern.span() == (0..datatype.extent)
        && leaf == Some(word);
    let home = home(word);
    if dense && home.0.compare_exchange(0, BUSY, Relaxed, Relaxed).is_ok() {
        home.1.store(datatype.extent as usize, Relaxed);
        home.0.store(word, Release);
    }
    datatype
}

/// The predefined type that all elements have; `None` if there is not just one, or it has no name
/// that is equal in every process.
pub(crate) fn leaf(word: usize) -> Option<usize> {
    match dense(word) {
        Some(_) => Some(word),
        None => describe_any(word).leaf,
    }
}

/// The type signature of one element.
pub(crate) fn signature(word: usize) -> Signature {
    let known = SIGNATURES.read().unwrap_or_else(|e| e.into_inner()).get(&word).copied();
    known.unwrap_or_else(|| describe_any(word).signature)
}

/// The basic types of one element. Asks the library, each time for a type that it remembers as
/// dense.
pub(crate) fn basics(word: usize) -> Basics {
    describe_any(word).basics
}

/// Of predefined types, by handle.
static SIGNATURES: LazyLock<RwLock<HashMap<usize, Signature>>> = LazyLock::new(RwLock::default);

/// The signature and the basic types of a predefined type, by its name in MPI, which programs
/// rarely change.
fn of_predefined(word: usize, size: i64) -> (Signature, Basics) {
    let (name, size) = (name(word).unwrap_or_default(), size.max(0));
    let signature = Signature::predefined(&name, size as u64);
    SIGNATURES.write().unwrap_or_else(|e| e.into_inner()).insert(word, signature);
    (signature, Basics::predefined(&name, size as usize))
}

/// What a datatype is called.
pub(crate) fn name(word: usize) -> Option<String> {
    let mut name = [0u8; sys::MPI_MAX_OBJECT_NAME as usize + 1];
    let mut length = 0;
    // SAFETY: a datatype that the library knows, and room for the longest name.
    unsafe {
        let datatype = handle::<sys::MPI_Datatype>(word);
        sys::PMPI_Type_get_name(datatype, name.as_mut_ptr().cast(), &mut length);
    }
    CStr::from_bytes_until_nul(&name).ok()?.to_str().ok().map(str::to_owned)
}

#[inline]
fn home(word: usize) -> &'static (AtomicUsize, AtomicUsize) {
    &PREDEFINED[(word >> 4 ^ word) % PREDEFINED.len()]
}

/// Dense predefined types: handle and size. An entry once taken stays.
static PREDEFINED: [(AtomicUsize, AtomicUsize); 64] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 64];
/// No handle.
const BUSY: usize = usize::MAX;

fn describe_any(word: usize) -> Description {
    if word == sys::MPI_DATATYPE_NULL() {
        return Description {
            datatype: Datatype { pattern: Pattern::empty(), extent: 0 },
            leaf: None,
            signature: Signature::EMPTY,
            basics: Basics::default(),
        };
    }
    let (size, lb, extent) = shape(word);
    let mut known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    if !from_fortran_layer()
        && let Some(entry) = known.get(&word)
        && (entry.size, entry.lb, entry.description.datatype.extent) == (size, lb, extent)
    {
        return entry.description.clone();
    }
    drop(known);
    let description = read(word, size, extent);
    if from_fortran_layer() {
        // A type for one call, made and freed where commsan does not see it.
        return description;
    }
    known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    known.insert(word, Known { size, lb, description: description.clone() });
    description
}

/// Types that the program has committed.
static COMMITTED: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

/// The one of them that was used last.
static LATEST: AtomicUsize = AtomicUsize::new(0);

/// The program has committed a type.
pub(crate) fn committed(word: usize) {
    COMMITTED.lock().unwrap_or_else(|e| e.into_inner()).insert(word);
}

/// Whether this committed type was used last.
#[inline]
pub(crate) fn is_latest(word: usize) -> bool {
    LATEST.load(Relaxed) == word
}

/// Whether a type may be used to communicate (MPI 4.1 §5.1.9). A duplicate has the state of its
/// original, which may be gone: it counts as committed.
pub(crate) fn is_committed(word: usize) -> bool {
    // SAFETY: a type that is not the null handle.
    let made = unsafe { derived(handle::<sys::MPI_Datatype>(word)) };
    let Some((combiner, _)) = made else {
        // Known from now on, if it is dense.
        describe(word);
        return true;
    };
    let committed = from_fortran_layer()
        || combiner == sys::MPI_COMBINER_DUP as c_int
        || COMMITTED.lock().unwrap_or_else(|e| e.into_inner()).contains(&word);
    if committed {
        LATEST.store(word, Relaxed);
    }
    committed
}

/// Whether the handle keeps its meaning until the program is seen to free it.
pub(crate) fn is_steady(word: usize) -> bool {
    describe(word);
    is_predefined(word) || COMMITTED.lock().unwrap_or_else(|e| e.into_inner()).contains(&word)
}

/// Whether a type is one of MPI's own.
pub(crate) fn is_predefined(word: usize) -> bool {
    // SAFETY: a type that is not the null handle.
    dense(word).is_some() || unsafe { derived(handle::<sys::MPI_Datatype>(word)) }.is_none()
}

/// The type with this handle is gone.
pub(crate) fn forget(word: usize) {
    COMMITTED.lock().unwrap_or_else(|e| e.into_inner()).remove(&word);
    let _ = LATEST.compare_exchange(word, 0, Relaxed, Relaxed);
    KNOWN.lock().unwrap_or_else(|e| e.into_inner()).remove(&word);
}

/// Size, lower bound and extent.
fn shape(word: usize) -> (i64, i64, isize) {
    let (mut size, mut lb, mut extent) = (0, 0, 0);
    let datatype = handle::<sys::MPI_Datatype>(word);
    // SAFETY: a datatype the library has accepted, or one out of another's contents. The large
    // queries are part of MPI 3.
    unsafe {
        sys::PMPI_Type_size_x(datatype, &mut size);
        sys::PMPI_Type_get_extent(datatype, &mut lb, &mut extent);
    }
    // MPI_Aint is i64 with one header and isize with the other: both are as wide as a pointer.
    #[allow(clippy::unnecessary_cast, reason = "depends on the header")]
    (size, lb as i64, extent as isize)
}

/// Constructor arguments in the order of MPI 4.1 §5.1.13, counts and integers in one list.
struct Contents {
    combiner: c_int,
    numbers: Vec<i64>,
    addresses: Vec<i64>,
    types: Vec<sys::MPI_Datatype>,
}

fn read(word: usize, size: i64, extent: isize) -> Description {
    // SAFETY: as in `shape`.
    let Some(contents) = (unsafe { contents(handle::<sys::MPI_Datatype>(word)) }) else {
        let datatype = Datatype { pattern: predefined(word, size as isize), extent };
        let named = is_named(word);
        let (signature, basics) = match named {
            true => of_predefined(word, size),
            false => (Signature::vague(size.max(0) as u64), Basics::default()),
        };
        return Description { datatype, leaf: named.then_some(word), signature, basics };
    };
    let parts: Vec<Description> = contents
        .types
        .iter()
        .map(|t| {
            let (size, _, extent) = shape(t.word());
            read(t.word(), size, extent)
        })
        .collect();
    let patterns: Vec<(Pattern, isize)> =
        parts.iter().map(|part| (part.datatype.pattern.clone(), part.datatype.extent)).collect();
    let basics: Vec<(Basics, isize)> =
        parts.iter().map(|part| (part.basics.clone(), part.datatype.extent)).collect();
    let leaves: Vec<Option<usize>> = parts.iter().map(|part| part.leaf).collect();
    let bytes = size.max(0) as u64;
    let signature = match &*parts {
        // Whatever its layout, it is a sequence of these.
        [one] if one.signature.bytes > 0 => one.signature.repeat(bytes / one.signature.bytes),
        _ => members(&contents, &parts).unwrap_or(Signature::vague(bytes)),
    };
    let made = constructor(&contents, patterns.first().map_or(0, |(_, extent)| *extent));
    for mut datatype in contents.types {
        // SAFETY: types out of contents are ours to free unless predefined.
        unsafe {
            if derived(datatype).is_some() {
                sys::PMPI_Type_free(&mut datatype);
            }
        }
    }
    let (pattern, basics) = match made {
        Some(made) if !parts.is_empty() => (map(&made, &patterns), map(&made, &basics)),
        // A combiner of a later standard: no bytes rather than wrong ones.
        _ => (Pattern::empty(), Basics::default()),
    };
    let leaf = leaves.first().copied().flatten();
    let leaf = leaf.filter(|_| leaves.iter().all(|other| *other == leaf));
    Description { datatype: Datatype { pattern, extent }, leaf, signature, basics }
}

/// The signature of a struct: its members in the order in which they were given.
fn members(contents: &Contents, parts: &[Description]) -> Option<Signature> {
    if contents.combiner != sys::MPI_COMBINER_STRUCT {
        return None;
    }
    let count = |index: usize| contents.numbers.get(1 + index).map(|n| (*n).max(0) as u64);
    parts.iter().enumerate().try_fold(Signature::EMPTY, |all, (index, part)| {
        Some(all.then(part.signature.repeat(count(index)?)))
    })
}

/// A predefined type: dense but for `MPI_SHORT_INT`, whose `int` is aligned (MPI 4.1 §6.9.4).
fn predefined(word: usize, size: isize) -> Pattern {
    let (_, lb, extent) = shape(word);
    match (size, extent) {
        (6, 8) => Pattern::parts([(0, Pattern::dense(0, 2)), (4, Pattern::dense(0, 4))]),
        _ => Pattern::dense(lb as isize, lb as isize + size),
    }
}

/// `extent` is that of the first of the types that it was made from.
fn constructor(contents: &Contents, extent: isize) -> Option<Constructor> {
    let n = |i: usize| contents.numbers.get(i).copied().unwrap_or(0);
    let count = |i: usize| n(i).max(0) as usize;
    let list = |from: usize, len: usize| (from..from + len).map(n);
    // Displacements are addresses, or in large types numbers at the end.
    let address = |i: usize, number: usize| match contents.addresses.get(i) {
        Some(address) => *address as isize,
        None => n(number) as isize,
    };
    Some(match contents.combiner {
        sys::MPI_COMBINER_DUP | sys::MPI_COMBINER_RESIZED => Constructor::Same,
        sys::MPI_COMBINER_CONTIGUOUS => Constructor::Contiguous(count(0)),
        sys::MPI_COMBINER_VECTOR => Constructor::Vector {
            count: count(0),
            blocklength: count(1),
            stride: n(2) as isize * extent,
        },
        sys::MPI_COMBINER_HVECTOR => {
            Constructor::Vector { count: count(0), blocklength: count(1), stride: address(0, 2) }
        }
        sys::MPI_COMBINER_INDEXED => {
            let blocks = count(0);
            let place = |i| (count(1 + i), n(1 + blocks + i) as isize * extent, 0);
            Constructor::Blocks((0..blocks).map(place).collect())
        }
        sys::MPI_COMBINER_HINDEXED => {
            let blocks = count(0);
            let place = |i| (count(1 + i), address(i, 1 + blocks + i), 0);
            Constructor::Blocks((0..blocks).map(place).collect())
        }
        sys::MPI_COMBINER_INDEXED_BLOCK => {
            let place = |i| (count(1), n(2 + i) as isize * extent, 0);
            Constructor::Blocks((0..count(0)).map(place).collect())
        }
        sys::MPI_COMBINER_HINDEXED_BLOCK => {
            let place = |i| (count(1), address(i, 2 + i), 0);
            Constructor::Blocks((0..count(0)).map(place).collect())
        }
        sys::MPI_COMBINER_STRUCT => {
            let blocks = count(0);
            let place = |i| (count(1 + i), address(i, 1 + blocks + i), i);
            Constructor::Blocks((0..blocks.min(contents.types.len())).map(place).collect())
        }
        sys::MPI_COMBINER_SUBARRAY => {
            let dims = count(0);
            let order = n(1 + 3 * dims);
            let runs = list(1, dims).zip(list(1 + dims, dims)).zip(list(1 + 2 * dims, dims)).map(
                |((size, part), start)| {
                    let (start, end) = (start.max(0) as usize, (start + part).max(0) as usize);
                    let whole = deal(end, Distribution::None, 0, 1);
                    let cut = whole.into_iter().map(|mut run| {
                        run.start = start;
                        run.length = end - start;
                        run
                    });
                    (size.max(0) as usize, cut.filter(|run| run.length > 0).collect())
                },
            );
            Constructor::Array(fastest_first(runs.collect(), order))
        }
        sys::MPI_COMBINER_DARRAY => {
            let (rank, dims) = (count(1), count(2));
            let part = |which: usize| 3 + which * dims;
            let grid: Vec<usize> = (0..dims).map(|i| count(part(3) + i)).collect();
            let order = n(part(4));
            let coordinates = grid_coordinates(rank, &grid);
            let runs = (0..dims).map(|i| {
                let block = n(part(2) + i);
                let block = (block != i64::from(sys::MPI_DISTRIBUTE_DFLT_DARG))
                    .then_some(block.max(0) as usize);
                let distribution = match n(part(1) + i) as c_int {
                    sys::MPI_DISTRIBUTE_BLOCK => Distribution::Block(block),
                    sys::MPI_DISTRIBUTE_CYCLIC => Distribution::Cyclic(block),
                    _ => Distribution::None,
                };
                let size = count(part(0) + i);
                (size, deal(size, distribution, coordinates[i], grid[i]))
            });
            Constructor::Array(fastest_first(runs.collect(), order))
        }
        _ => return None,
    })
}

fn fastest_first<T>(mut dimensions: Vec<T>, order: i64) -> Vec<T> {
    if order == i64::from(sys::MPI_ORDER_C) {
        dimensions.reverse();
    }
    dimensions
}

/// Whether a predefined type has a name. Those of `MPI_Type_create_f90_real` and the like have
/// none, and Open MPI numbers them as they are made.
fn is_named(word: usize) -> bool {
    // SAFETY: as in `shape`.
    unsafe { envelope(handle::<sys::MPI_Datatype>(word)) }
        .is_some_and(|(combiner, _)| combiner == sys::MPI_COMBINER_NAMED)
}

/// Types that are not made from others. (A struct without members is made, from no types.)
const PREDEFINED_COMBINERS: [c_int; 4] = [
    sys::MPI_COMBINER_NAMED,
    sys::MPI_COMBINER_F90_REAL,
    sys::MPI_COMBINER_F90_COMPLEX,
    sys::MPI_COMBINER_F90_INTEGER,
];

/// The combiner of a derived type and the numbers of its arguments; `None` for predefined types.
///
/// # Safety
/// `datatype` is valid.
unsafe fn derived(datatype: sys::MPI_Datatype) -> Option<(c_int, [usize; 4])> {
    // SAFETY: by the caller.
    unsafe { envelope(datatype) }.filter(|(combiner, _)| !PREDEFINED_COMBINERS.contains(combiner))
}

/// The combiner of a type and the numbers of its arguments.
///
/// # Safety
/// `datatype` is valid.
unsafe fn envelope(datatype: sys::MPI_Datatype) -> Option<(c_int, [usize; 4])> {
    let mut combiner = 0;
    if !sys::at::PMPI_Type_get_envelope_c.exists() {
        let (mut ints, mut addresses, mut types) = (0, 0, 0);
        // SAFETY: by the caller.
        let code = unsafe {
            let lengths = (&raw mut ints, &raw mut addresses, &raw mut types);
            sys::PMPI_Type_get_envelope(datatype, lengths.0, lengths.1, lengths.2, &mut combiner)
        };
        let lengths = [ints as usize, addresses as usize, 0, types as usize];
        return (code == 0).then_some((combiner, lengths));
    }
    let (mut ints, mut addresses, mut counts, mut types) = (0, 0, 0, 0);
    // SAFETY: by the caller. For types made with large counts only this call works.
    let code = unsafe {
        sys::PMPI_Type_get_envelope_c(
            datatype,
            &mut ints,
            &mut addresses,
            &mut counts,
            &mut types,
            &mut combiner,
        )
    };
    let lengths = [ints as usize, addresses as usize, counts as usize, types as usize];
    (code == 0).then_some((combiner, lengths))
}

/// How a derived type was made; `None` for predefined types.
///
/// # Safety
/// `datatype` is valid.
unsafe fn contents(datatype: sys::MPI_Datatype) -> Option<Contents> {
    // SAFETY: by the caller; the arrays are as long as the envelope says.
    unsafe {
        let (combiner, [n_ints, n_addresses, n_counts, n_types]) = derived(datatype)?;
        let mut ints = vec![0 as c_int; n_ints];
        let mut addresses = vec![0 as sys::MPI_Aint; n_addresses];
        let mut types = vec![std::mem::zeroed::<sys::MPI_Datatype>(); n_types];
        let mut counts = vec![0 as sys::MPI_Count; n_counts];
        let code = match sys::at::PMPI_Type_get_contents_c.exists() {
            true => sys::PMPI_Type_get_contents_c(
                datatype,
                n_ints as sys::MPI_Count,
                n_addresses as sys::MPI_Count,
                n_counts as sys::MPI_Count,
                n_types as sys::MPI_Count,
                ints.as_mut_ptr(),
                addresses.as_mut_ptr(),
                counts.as_mut_ptr(),
                types.as_mut_ptr(),
            ),
            false => sys::PMPI_Type_get_contents(
                datatype,
                n_ints as c_int,
                n_addresses as c_int,
                n_types as c_int,
                ints.as_mut_ptr(),
                addresses.as_mut_ptr(),
                types.as_mut_ptr(),
            ),
        };
        if code != 0 {
            return None;
        }
        let ints = ints.into_iter().map(i64::from);
        let numbers = match n_counts {
            0 => ints.collect(),
            _ => merge_large(combiner, ints.collect(), std::mem::take(&mut counts)),
        };
        #[allow(clippy::unnecessary_cast, reason = "depends on the header")]
        let addresses = addresses.into_iter().map(|a| a as i64).collect();
        Some(Contents { combiner, numbers, addresses, types })
    }
}

/// Arguments of a large-count constructor, in the order of the small one.
fn merge_large(combiner: c_int, ints: Vec<i64>, counts: Vec<i64>) -> Vec<i64> {
    match combiner {
        sys::MPI_COMBINER_SUBARRAY => {
            // ndims, order | sizes, subsizes, starts
            let [dims, order] = [ints[0], ints[1]];
            std::iter::once(dims).chain(counts).chain([order]).collect()
        }
        sys::MPI_COMBINER_DARRAY => {
            // size, rank, ndims, distribs, dargs, psizes, order | gsizes
            ints[..3].iter().copied().chain(counts).chain(ints[3..].iter().copied()).collect()
        }
        _ => ints.into_iter().chain(counts).collect(),
    }
}
