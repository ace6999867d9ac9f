//! A test device: compiles kernels with nvcc and launches them on the test's memory.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod words;

use commsan_ptx::Module;
use commsan_simt::{
    Channel, Fault, Grid, Launch, Observer, Outside, Program, Progress, Reach, Services, Surface,
    Texels, Texture,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

static NVCC: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(nvcc) = std::env::var_os("NVCC") {
        return nvcc.into();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cuda.sh");
    let done = Command::new(&script).output().expect("scripts/cuda.sh runs");
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "these tests need NVIDIA's compiler:\n{complaint}");
    PathBuf::from(String::from_utf8(done.stdout).expect("a path").trim()).join("bin/nvcc")
});

/// The PTX that nvcc makes of a source in `tests/sources`, for sm_90 unless an argument selects
/// another architecture.
pub fn ptx(source: &str, arguments: &[&str]) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources").join(source);
    let mut nvcc = Command::new(&*NVCC);
    nvcc.args(["-ccbin", "g++", "-ptx", "-w"]).args(arguments);
    if !arguments.iter().any(|argument| argument.starts_with("-arch=")) {
        nvcc.arg("-arch=sm_90");
    }
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let output = directory.path().join("kernels.ptx");
    let done = nvcc.arg(source).arg("-o").arg(&output).output().expect("nvcc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read_to_string(output).expect("nvcc has written PTX")
}

/// The program of a PTX text.
pub fn program(text: &str) -> Program {
    Program::new(Arc::new(Module::parse(text).expect("PTX that can be read")))
}

/// Memory that kernels may access.
#[derive(Clone, Default)]
pub struct Memory(pub Vec<Range<u64>>);

impl Reach for Memory {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        self.0.iter().find(|range| range.contains(&address)).cloned()
    }

    /// The address of an allocation is also a texture handle: rows of four texels, some beyond its
    /// end.
    fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        let texels = self.surface(handle)?.texels.clone();
        let outside = [Outside::Nearest, Outside::Mirrored, Outside::Border];
        let (border, linear) = ([1.0; 4], handle & 8 == 0);
        let texture =
            Texture { texels, outside, border, linear, normalised: false, relative: false };
        Some(Arc::new(texture))
    }

    fn surface(&self, handle: u64) -> Option<Arc<Surface>> {
        let range = self.allocation(handle)?;
        let texels = Texels {
            start: range.start,
            extent: [4, ((range.end - range.start) / 16).max(1), 2],
            pitch: 16,
            slice: 32,
            channels: 1,
            width: 4,
            kind: Channel::Float,
        };
        Some(Arc::new(Surface { texels }))
    }
}

/// The arguments of a launch, and the memory that they point to.
#[derive(Clone, Default)]
pub struct Arguments {
    pub bytes: Vec<u8>,
    pub memory: Memory,
}

impl Arguments {
    pub fn new() -> Arguments {
        Arguments::default()
    }

    fn push(mut self, bytes: &[u8]) -> Arguments {
        self.bytes.resize(self.bytes.len().next_multiple_of(bytes.len()), 0);
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub fn int(self, value: i32) -> Arguments {
        self.push(&value.to_le_bytes())
    }

    pub fn float(self, value: f32) -> Arguments {
        self.push(&value.to_le_bytes())
    }

    /// Adds a pointer to memory, which must not move until the grid is done.
    pub fn array<T>(mut self, memory: &mut [T]) -> Arguments {
        let start = memory.as_mut_ptr().expose_provenance() as u64;
        self.memory.0.push(start..start + size_of_val(memory) as u64);
        self.push(&start.to_le_bytes())
    }
}

/// The configuration of a launch.
#[derive(Clone)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub cooperative: bool,
    pub seed: u64,
}

pub fn shape(grid: u32, block: u32) -> Shape {
    let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
    Shape { grid, block, shared: 0, cooperative: false, seed: 0 }
}

/// The output of kernels' `printf`.
pub type Printed = Arc<Mutex<Vec<u8>>>;

pub fn services() -> (Arc<Services>, Printed) {
    let printed = Printed::default();
    let to = printed.clone();
    (Arc::new(Services::new(move |text| to.lock().unwrap().extend_from_slice(text))), printed)
}

/// A module's variables.
pub struct Variables(Vec<(String, Box<[u64]>)>);

impl Variables {
    pub fn new(program: &Program) -> Variables {
        use commsan_ptx::words::Space;
        let variables = program.module().variables.iter();
        let stored = variables.filter(|v| matches!(v.space, Space::Global | Space::Const));
        let memory = |v: &commsan_ptx::Variable| vec![0u64; v.size.div_ceil(8) as usize];
        let all = stored.clone().map(|v| (v.name.clone(), memory(v).into_boxed_slice()));
        let mut variables = Variables(all.collect());
        for variable in stored {
            let mut bytes = vec![0; variable.size as usize];
            program.initialise(variable, &|name: &str| variables.address(name), &mut bytes);
            let to = variables.0.iter_mut().find(|(name, _)| *name == variable.name).unwrap();
            for (word, bytes) in to.1.iter_mut().zip(bytes.chunks(8)) {
                let mut all = [0; 8];
                all[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(all);
            }
        }
        variables
    }

    pub fn address(&self, name: &str) -> Option<u64> {
        let (_, memory) = self.0.iter().find(|(n, _)| n == name)?;
        Some(memory.as_ptr().expose_provenance() as u64)
    }

    fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(_, memory)| {
            let start = memory.as_ptr().expose_provenance() as u64;
            start..start + size_of_val(&**memory) as u64
        })
    }
}

/// A grid that is ready to run, and the memory that it may access.
pub struct Started {
    pub grid: Grid,
    pub memory: Memory,
    _variables: Variables,
}

pub fn start(
    program: &Program,
    kernel: &str,
    shape: &Shape,
    arguments: &Arguments,
    services: &Arc<Services>,
) -> Started {
    let variables = Variables::new(program);
    let launch = Launch {
        kernel: program.kernel(kernel).unwrap_or_else(|| panic!("no kernel {kernel}")),
        arguments: arguments.bytes.clone(),
        grid: shape.grid,
        block: shape.block,
        shared: shape.shared,
        cooperative: shape.cooperative,
        seed: shape.seed,
        services: services.clone(),
        time: 0,
    };
    let grid = Grid::new(launch, &|name: &str| variables.address(name));
    let mut memory = arguments.memory.clone();
    memory.0.extend(variables.ranges());
    Started {
        grid: grid.unwrap_or_else(|e| panic!("{kernel}: {e}")),
        memory,
        _variables: variables,
    }
}

impl Started {
    /// Runs the grid to its end, in portions.
    pub fn finish<O: Observer>(&mut self, observer: &mut O) -> Result<u64, Box<Fault>> {
        for _ in 0..2_000_000 {
            match self.grid.advance(1 << 20, &self.memory, observer) {
                Progress::Done => return Ok(self.grid.executed()),
                Progress::Fault(fault) => return Err(fault),
                Progress::Running | Progress::Spinning | Progress::Idle(_) => {}
            }
        }
        panic!("{:?} does not end", self.grid);
    }
}

/// Runs a kernel to its end.
pub fn run(
    program: &Program,
    kernel: &str,
    shape: &Shape,
    arguments: &Arguments,
) -> Result<String, Box<Fault>> {
    let (services, printed) = services();
    start(program, kernel, shape, arguments, &services).finish(&mut ())?;
    let printed = printed.lock().unwrap().clone();
    Ok(String::from_utf8(printed).expect("kernels print text"))
}
