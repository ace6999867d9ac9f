//! Launches of kernels that nvcc has compiled, from the fatbins that programs carry.

#[path = "../../ptx/tests/toolkit/mod.rs"]
mod toolkit;

use commsan_cuda::{Bytes, Launched, Modules, Shape, Touch};
use commsan_engine::Mode;
use commsan_ptx::fatbin;
use std::ffi::c_void;
use std::fmt::Write;
use std::sync::LazyLock;

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

/// A touch as a short text: `w!a+0..52:7` is certainly written, from the first byte of buffer a on, in
/// line 7; `r?` perhaps read, `x` accessed atomically, `{40 of}` not all of these bytes.
fn text(touch: &Touch) -> String {
    let mode = match (touch.atomic, touch.mode) {
        (true, _) => 'x',
        (_, Mode::Read) => 'r',
        (_, Mode::Write) => 'w',
    };
    let mut text = format!("{mode}{}", if touch.certain { '!' } else { '?' });
    let place = |address: usize| {
        let (n, offset) = ((address as u64 - buffer(0)) >> 28, address & 0xFFF_FFFF);
        format!("{}+{offset}", char::from(b'a' + n as u8))
    };
    let _ = match &touch.bytes {
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
    if let Some(line) = &touch.line {
        assert!(line.file.ends_with("usual.cu"), "{line:?}");
        let _ = write!(text, ":{}", line.line);
    }
    text
}

fn texts(launched: &Launched) -> Vec<String> {
    let mut texts: Vec<String> = launched.touches.iter().map(text).collect();
    texts.sort();
    texts
}

const USUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ptx/tests/sources/usual.cu");
const OPTIONS: [&str; 5] = ["-fatbin", "-arch=sm_90", "-lineinfo", "-O3", "--extended-lambda"];

static FATBIN: LazyLock<Vec<u8>> = LazyLock::new(|| toolkit::nvcc(USUAL, &OPTIONS));

#[test]
fn probe() {
    let grid2 = shape([2, 3, 1], [8, 4, 1]);
    let line = shape([3, 1, 1], [8, 1, 1]);
    let p = pointer;
    let cases: Vec<(&str, Shape, Vec<Vec<u8>>)> = vec![
        ("delayed_by_clock", line, vec![p(0), int(20), 9u64.to_le_bytes().into()]),
        ("sum_of_blocks", line, vec![p(0), p(1), int(20)]),
        ("dot", line, vec![p(0), p(1), p(2), int(20)]),
        ("sparse", line, vec![p(0), p(1), p(2), p(3), p(4), int(20)]),
        ("dense", line, vec![p(0), p(1), p(2), int(20)]),
        ("interior", grid2, vec![p(0), p(1), int(14), int(10)]),
        ("interior_3d", shape([2, 2, 2], [4, 4, 4]), vec![p(0), p(1), int(8), int(7), int(6)]),
        ("columns_up", grid2, vec![p(0), p(1), int(14), int(10), int(6)]),
        ("pack", line, vec![p(0), p(1), int(20), int(7)]),
        ("unpack_faces", line, vec![p(0), p(1), p(2), int(20), int(10)]),
        ("first_thread", line, vec![p(0), int(20)]),
        ("one_element", line, vec![p(0), int(20)]),
        ("whole_loop", line, vec![p(0), int(21)]),
        ("of_view", grid2, vec![[p(0), int(10), int(7)].concat()]),
        ("for_each", line, vec![[p(0), p(1)].concat(), int(20)]),
        ("of_variables", line, vec![int(20)]),
        ("copies", line, vec![p(0), p(1)]),
        ("chosen", line, vec![p(0), p(1), int(20), int(0)]),
        ("both_ways", line, vec![p(0), p(1), int(20)]),
        ("checked", line, vec![p(0), int(20)]),
    ];
    for (name, shape, arguments) in cases {
        let embedded = Embedded::new(&[&FATBIN]);
        let mut modules = register(&embedded, &[&mangled(&FATBIN, name)]);
        modules.register_variable(MODULE, 5, "total", 4);
        modules.register_variable(MODULE, 6, "shared_total", 4);
        let launched = launch(&mut modules, FUNCTION, shape, &arguments).expect(name);
        eprintln!("{name} {} {:?}", launched.kernel, texts(&launched));
    }
}
