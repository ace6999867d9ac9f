//! Launches of kernels that nvcc has compiled, from the fatbins that programs carry.

#[path = "../../ptx/tests/toolkit/mod.rs"]
mod toolkit;

use commsan_cuda::{Bytes, KernelAccess, Launched, Modules, Shape, Strength};
use commsan_ptx::fatbin;
use commsan_shadow::Mode;
use proptest::prelude::*;
use std::ffi::c_void;
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Instant;

/// What compilers put around fatbins (`__fatBinC_Wrapper_t`), with the fatbins.
struct Embedded {
    _fatbins: Vec<Vec<u64>>,
    _parts: Vec<u64>,
    wrapper: Box<[u64; 3]>,
}

const WRAPPER: u64 = 0x4662_43B1;

impl Embedded {
    fn new(fatbins: &[&[u8]]) -> Embedded {
        let aligned = |bytes: &&[u8]| -> Vec<u64> {
            let words = bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            });
            words.collect()
        };
        let fatbins: Vec<Vec<u64>> = fatbins.iter().map(aligned).collect();
        let address = |fatbin: &Vec<u64>| fatbin.as_ptr().expose_provenance() as u64;
        let parts: Vec<u64> = fatbins.iter().map(address).chain([0]).collect();
        let wrapper = match fatbins.len() {
            1 => [WRAPPER | 1 << 32, parts[0], 0],
            _ => [WRAPPER | 2 << 32, parts[0], parts.as_ptr().expose_provenance() as u64],
        };
        Embedded { _fatbins: fatbins, _parts: parts, wrapper: Box::new(wrapper) }
    }

    fn address(&self) -> usize {
        self.wrapper.as_ptr().expose_provenance()
    }
}

const MODULE: usize = 1;
const FUNCTION: usize = 0x1000;

/// The mangled name of a kernel in a fatbin.
fn mangled(fatbin: &[u8], name: &str) -> String {
    let images = fatbin::read(fatbin).expect("a fatbin");
    let text = fatbin::ptx_for(&images, 90).expect("PTX");
    let start = format!(".entry _Z{}{name}", name.len());
    let at = text.find(&start).unwrap_or_else(|| panic!("{name}")) + ".entry ".len();
    let end = text[at..].find('(').expect("parameters");
    text[at..at + end].to_owned()
}

fn shape(grid: [u32; 3], block: [u32; 3]) -> Shape {
    Shape { grid, block }
}

/// Where the n-th buffer is.
fn buffer(n: u64) -> u64 {
    0x7F00_0000_0000 + n * 0x1000_0000
}

/// An argument: its bytes.
fn pointer(n: u64) -> Vec<u8> {
    buffer(n).to_le_bytes().into()
}

fn int(n: i32) -> Vec<u8> {
    n.to_le_bytes().into()
}

fn launch(
    modules: &mut Modules,
    function: usize,
    shape: Shape,
    arguments: &[Vec<u8>],
) -> Option<Launched> {
    let pointers: Vec<*const c_void> =
        arguments.iter().map(|bytes| bytes.as_ptr().cast()).collect();
    let mut variable = |host: usize| Some(buffer(10) as usize + 4096 * host);
    // SAFETY: an argument for each parameter, of its size.
    unsafe { modules.launch(function, shape, pointers.as_ptr(), &mut variable) }
}

/// Registers a module of one or more fatbins with some of its kernels.
fn register(embedded: &Embedded, kernels: &[&str]) -> Modules {
    let mut modules = Modules::default();
    // SAFETY: as compilers make it, and it stays.
    unsafe { modules.register(MODULE, embedded.address()) };
    for (kernel, n) in kernels.iter().zip(0..) {
        modules.register_kernel(MODULE, FUNCTION + n, kernel);
    }
    modules
}

/// A touch as a short text: `w!a+0..52:7` is certainly written, from the first byte of buffer a on,
/// in line 7; `r?` perhaps read, `x` accessed atomically, `s` so that the host may wait for it,
/// `{40 of}` not all of these bytes.
fn text(access: &KernelAccess) -> String {
    let mode = match (access.strength, access.mode) {
        (Strength::System, _) => 's',
        (Strength::Device, _) => 'x',
        (Strength::Weak, Mode::Read) => 'r',
        (Strength::Weak, Mode::Write) => 'w',
    };
    let mut text = format!("{mode}{}", if access.certain { '!' } else { '?' });
    let place = |address: usize| {
        let (n, offset) = ((address as u64 - buffer(0)) >> 28, address & 0xFFF_FFFF);
        format!("{}+{offset}", char::from(b'a' + n as u8))
    };
    let _ = match &access.bytes {
        Bytes::Exactly(footprint) => {
            let span = footprint.span();
            let _ = write!(text, "{}..{}", place(span.start), span.end & 0xFFF_FFFF);
            match footprint.bytes() == span.len() {
                true => Ok(()),
                false => write!(text, "{{{} of}}", footprint.bytes()),
            }
        }
        Bytes::Within(pointer) => write!(text, "{}..", place(*pointer)),
        Bytes::Anywhere => write!(text, "*"),
    };
    if let Some(line) = &access.line {
        assert!(line.file.ends_with("usual.cu"), "{line:?}");
        let _ = write!(text, ":{}", line.line);
    }
    text
}

fn texts(launched: &Launched) -> Vec<String> {
    let mut texts: Vec<String> = launched.accesses.iter().map(text).collect();
    texts.sort();
    texts
}

const USUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ptx/tests/sources/usual.cu");
const OPTIONS: [&str; 5] = ["-fatbin", "-arch=sm_90", "-lineinfo", "-O3", "--extended-lambda"];

static FATBIN: LazyLock<Vec<u8>> = LazyLock::new(|| toolkit::nvcc(USUAL, &OPTIONS));

/// Registers the kernels of `usual.cu`, launches one.
fn usual(name: &str, shape: Shape, arguments: &[Vec<u8>]) -> Launched {
    let embedded = Embedded::new(&[&FATBIN]);
    let mut modules = register(&embedded, &[&mangled(&FATBIN, name)]);
    modules.register_variable(MODULE, 5, "total", 4);
    modules.register_variable(MODULE, 6, "shared_total", 4);
    modules.register_variable(MODULE, 7, "weights", 64);
    launch(&mut modules, FUNCTION, shape, arguments).expect(name)
}

/// The line of `usual.cu` that has this text.
fn line_of(text: &str) -> usize {
    let source = std::fs::read_to_string(USUAL).expect("a source");
    1 + source.lines().position(|line| line.contains(text)).expect("the text")
}

#[test]
fn touches_are_few_and_exact() {
    let line = shape([3, 1, 1], [8, 1, 1]);
    let plane = shape([2, 3, 1], [8, 4, 1]);
    let cube = shape([2, 2, 2], [4, 4, 4]);
    let p = pointer;
    let check = |name: &str, shape, arguments: &[Vec<u8>], expected: &[&str]| {
        assert_eq!(texts(&usual(name, shape, arguments)), expected, "{name}");
    };
    let clock = 9u64.to_le_bytes().to_vec();
    check("delayed_by_clock", line, &[p(0), int(20), clock], &["w!a+0..80:8"]);
    let sums = ["r!a+0..160:58", "w!b+0..24:64"];
    check("sum_of_blocks", line, &[p(0), p(1), int(20)], &sums);
    let dot = ["r!a+0..160:71", "r!b+0..160:71", "x!c+0..8:78"];
    check("dot", line, &[p(0), p(1), p(2), int(20)], &dot);
    let sparse = ["r!a+0..84:87", "r?b+0..:87", "r?c+0..:87", "r?d+0..:87", "w!e+0..160:88"];
    check("sparse", line, &[p(0), p(1), p(2), p(3), p(4), int(20)], &sparse);
    let dense = ["r!a+0..3200:96", "r!b+0..160:96", "w!c+0..160:97"];
    check("dense", line, &[p(0), p(1), p(2), int(20)], &dense);
    // Rows of 14: 12 inner columns of 8 inner rows are written. Left and right neighbours are whole
    // rows, those above and below begin in the halo's rows.
    let inner = ["r!a+112..1008:104", "r!a+8..1112{960 of}:105", "w!b+120..1000{768 of}:104"];
    check("interior", plane, &[p(0), p(1), int(14), int(10)], &inner);
    let inner = ["r!a+72..2616{1440 of}:114", "w!b+520..2168{960 of}:113"];
    check("interior_3d", cube, &[p(0), p(1), int(8), int(7), int(6)], &inner);
    let planes = ["r!a+1120..5600:121", "w!b+1120..5600:121"];
    check("columns_up", plane, &[p(0), p(1), int(14), int(10), int(6)], &planes);
    let packed = ["r!a+0..1072{160 of}:125", "w!b+0..160:125"];
    check("pack", line, &[p(0), p(1), int(20), int(7)], &packed);
    let faces =
        ["r!b+0..80:131", "r!c+0..80:132", "w!a+0..1448{80 of}:131", "w!a+152..1600{80 of}:132"];
    check("unpack_faces", line, &[p(0), p(1), p(2), int(20), int(10)], &faces);
    check("one_element", line, &[p(0), int(20)], &["w!a+80..84:143"]);
    check("whole_loop", line, &[p(0), int(21)], &["w!a+0..84:147"]);
    check("of_view", plane, &[[p(0), int(10), int(7)].concat()], &["w!a+0..560:164"]);
    let captured = [p(0), p(1)].concat();
    check("for_each", line, &[captured, int(20)], &["r!b+0..80:173", "w!a+0..80:173"]);
    let variables = ["w!k+20480..20484:181", "w!k+24576..24580:182"];
    check("of_variables", line, &[int(20)], &variables);
    // Constants that no thread number is a plain index of.
    let constants = ["r!k+28680..28688:190", "r?k+28672..28704:190", "w!a+0..64:190"];
    check("of_constants", line, &[p(0), int(20)], &constants);
    check("copies", line, &[p(0), p(1)], &["r!b+0..64:193", "w!a+0..512:193"]);
    check("chosen", line, &[p(0), p(1), int(20), int(0)], &["w!b+0..80:201"]);
    // On one way or another.
    check("both_ways", line, &[p(0), p(1), int(20)], &["r!a+0..80:207", "w!b+0..80:208"]);
    // Boundary and inner elements.
    let inner = ["r?a+88..560{432 of}:221", "w!b+0..560:219"];
    check("boundary", plane, &[p(0), p(1), int(10), int(7)], &inner);
    // One index for all points: those of a grid with a halo, and inner ones.
    let (halo_line, inner_line) = (line_of("to[(j + 1) * (nx + 2)"), line_of("a[k] = 0"));
    let halo = [format!("r!a+0..560:{halo_line}"), format!("w!b+104..760{{560 of}}:{halo_line}")];
    check("flattened", line, &[p(0), p(1), int(10), int(7)], &halo.each_ref().map(String::as_str));
    let inside = format!("w!a+88..472{{320 of}}:{inner_line}");
    check("flattened_inside", line, &[p(0), int(10), int(7)], &[&inside]);
    // What is read is also written.
    check("checked", line, &[p(0), int(20)], &["w!a+0..80:262"]);
}

#[test]
fn kernels_have_the_names_that_programmers_know() {
    let name = |kernel, arguments: &[Vec<u8>]| {
        usual(kernel, shape([1; 3], [1; 3]), arguments).kernel.to_string()
    };
    assert_eq!(name("scale", &[pointer(0), pointer(0), pointer(0)]), "scale<double>");
    let lambda = [pointer(0), pointer(1)].concat();
    assert_eq!(
        name("for_each", &[lambda, int(1)]),
        "for_each<use(int*, int*, int)::{lambda(int)#1}>"
    );
}

#[test]
fn launches_are_alike_where_nothing_depends_on_their_difference() {
    let embedded = Embedded::new(&[&FATBIN]);
    let mut modules = register(&embedded, &[&mangled(&FATBIN, "scale")]);
    modules.register_handle(0x2000, FUNCTION);
    let launched = |modules: &mut Modules, function, factor: f64, n: u64| {
        let arguments = [pointer(0), factor.to_le_bytes().into(), n.to_le_bytes().into()];
        launch(modules, function, shape([2, 1, 1], [8, 1, 1]), &arguments)
            .expect("a kernel")
            .accesses
    };
    let first = launched(&mut modules, FUNCTION, 1.0, 10);
    assert!(std::sync::Arc::ptr_eq(&first, &launched(&mut modules, 0x2000, 2.0, 10)));
    assert_eq!(text(&launched(&mut modules, FUNCTION, 2.0, 9)[0]), "w!a+0..72:152");
    modules.unregister(MODULE);
    assert!(launch(&mut modules, 0x2000, shape([1; 3], [1; 3]), &[]).is_none());
}

#[test]
fn relocatable_code_is_linked() {
    let part = |name: &str| {
        let source = format!("{}/../ptx/tests/sources/{name}", env!("CARGO_MANIFEST_DIR"));
        toolkit::nvcc(&source, &["-fatbin", "-rdc=true", "-arch=sm_90"])
    };
    let parts = ["linked_a.cu", "linked_b.cu"].map(part);
    let embedded = Embedded::new(&[&parts[0], &parts[1]]);
    let mut modules = register(&embedded, &["_Z6kernelPii"]);
    modules.register_variable(MODULE, 3, "shift", 4);
    let launched = launch(&mut modules, FUNCTION, shape([1; 3], [8, 1, 1]), &[pointer(0), int(5)]);
    assert_eq!(texts(&launched.expect("a kernel")), ["r!k+12288..12292", "w!a+0..32"]);
    // Without the other one anything may be called.
    let alone = Embedded::new(&[&parts[0]]);
    let mut modules = register(&alone, &["_Z6kernelPii"]);
    let launched = launch(&mut modules, FUNCTION, shape([1; 3], [8, 1, 1]), &[pointer(0), int(5)]);
    assert_eq!(texts(&launched.expect("a kernel")), ["w!a+0..32", "w?*"]);
}

#[test]
fn without_ptx_nothing_is_known() {
    let machine_code = toolkit::nvcc(
        USUAL,
        &["-fatbin", "-gencode", "arch=compute_90,code=sm_90", "--extended-lambda"],
    );
    let embedded = Embedded::new(&[&machine_code]);
    let mut modules = register(&embedded, &["_Z12first_threadPii"]);
    let arguments = [pointer(0), int(0)];
    assert!(launch(&mut modules, FUNCTION, shape([1; 3], [1; 3]), &arguments).is_none());
    // Nor of what was never registered, or is not in the module.
    assert!(launch(&mut modules, 7, shape([1; 3], [1; 3]), &[]).is_none());
    let embedded = Embedded::new(&[&FATBIN]);
    let mut modules = register(&embedded, &["_Z5otherv"]);
    assert!(launch(&mut modules, FUNCTION, shape([1; 3], [1; 3]), &[]).is_none());
}

/// Fatbins as programs have them, and with text that is not compressed.
static SAMPLES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let plain = toolkit::nvcc(USUAL, &[&OPTIONS[..], &["--no-compress"]].concat());
    [FATBIN.clone(), plain]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// All but the size, which nobody but the compiler can know.
    #[test]
    fn damaged_modules_are_no_trouble(
        sample in 0usize..2,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        kernel in prop::sample::select(&["_Z13sum_of_blocksPKdPdi", "_Z7checkedPii"][..]),
    ) {
        let mut bytes = SAMPLES[sample].clone();
        for (at, byte) in damage {
            let at = 16 + at.index(bytes.len() - 16);
            bytes[at] = byte;
        }
        let embedded = Embedded::new(&[&bytes]);
        let mut modules = register(&embedded, &[kernel]);
        // More than either kernel has parameters, unless these are damaged, too.
        let arguments: Vec<Vec<u8>> = (0..64).map(|_| vec![0; 1 << 16]).collect();
        let _ = launch(&mut modules, FUNCTION, shape([3, 1, 1], [8, 1, 1]), &arguments);
    }
}

/// How long launches take: run with `--ignored --nocapture`, in a release build.
#[test]
#[ignore = "it measures"]
fn costs() {
    let embedded = Embedded::new(&[&FATBIN]);
    let names = ["sum_of_blocks", "interior", "columns_up"];
    let mangled = names.map(|name| mangled(&FATBIN, name));
    let mut modules = register(&embedded, &[&mangled[0], &mangled[1], &mangled[2]]);
    let plane = shape([256, 1024, 1], [32, 4, 1]);
    let arguments = |n: usize, size: i32| -> Vec<Vec<u8>> {
        let mut all = vec![pointer(0), pointer(1)];
        all.extend((0..=n).map(|_| int(size)));
        all
    };
    for (name, n) in names.iter().zip(0..) {
        for what in ["first", "other arguments"] {
            let start = Instant::now();
            let size = if what == "first" { 4096 } else { 4095 };
            launch(&mut modules, FUNCTION + n, plane, &arguments(n, size)).expect("a kernel");
            println!("{name}: {what}: {:?}", start.elapsed());
        }
        let arguments = arguments(n, 4096);
        let pointers: Vec<*const c_void> = arguments.iter().map(|a| a.as_ptr().cast()).collect();
        let start = Instant::now();
        for _ in 0..1_000_000 {
            // SAFETY: an argument for each parameter.
            let launched =
                unsafe { modules.launch(FUNCTION + n, plane, pointers.as_ptr(), &mut |_| None) };
            std::hint::black_box(launched);
        }
        println!("{name}: again: {:?}", start.elapsed() / 1_000_000);
    }
}
