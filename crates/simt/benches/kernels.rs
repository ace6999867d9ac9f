//! Thread instructions executed per second, for kernels of the tests: `cargo bench -p
//! commsan-simt`.

#[path = "../tests/device/mod.rs"]
mod device;

use device::{Arguments, Shape, program, ptx, services, shape, start};
use std::time::{Duration, Instant};

/// Runs a kernel for a while, and prints its speed.
fn measure(name: &str, program: &commsan_simt::Program, shape: &Shape, arguments: &Arguments) {
    let (services, _) = services();
    let (mut executed, mut best, mut spent) = (0, f64::INFINITY, Duration::ZERO);
    while spent < Duration::from_secs(2) {
        let mut started = start(program, name, shape, arguments, &services);
        let begin = Instant::now();
        executed = started.finish(&mut ()).unwrap_or_else(|fault| panic!("{fault}"));
        let took = begin.elapsed();
        spent += took;
        best = best.min(took.as_secs_f64());
    }
    println!("{name:10} {executed:>10} instructions {:8.1} M/s", executed as f64 / best / 1e6);
}

fn main() {
    let optimized = program(&ptx("kernels.cu", &["-O3"]));
    let debug = program(&ptx("kernels.cu", &["-G"]));
    const N: usize = 1 << 20;
    let (mut x, mut y) = (vec![1.5f32; N], vec![2.5f32; N]);
    let saxpy = Arguments::new().int(N as i32).float(0.5).array(&mut x).array(&mut y);
    measure("saxpy", &optimized, &shape((N / 256) as u32, 256), &saxpy);
    measure("saxpy", &debug, &shape((N / 256) as u32, 256), &saxpy);

    let (mut a, mut b, mut sum) = (vec![1.5f64; N], vec![2.5f64; N], [0f64]);
    let stencil = Arguments::new().int(1024).array(&mut a).array(&mut b);
    let tiles = Shape { grid: [32, 128, 1], block: [32, 8, 1], ..shape(1, 1) };
    measure("stencil", &optimized, &tiles, &stencil);
    let dot = Arguments::new().int(N as i32).array(&mut a).array(&mut b).array(&mut sum);
    measure("dot", &optimized, &shape(256, 256), &dot);

    let n = 256;
    let product = Arguments::new().int(n).array(&mut x).array(&mut y).array(&mut a);
    let tiles = Shape { grid: [16, 16, 1], block: [16, 16, 1], ..shape(1, 1) };
    measure("matmul", &optimized, &tiles, &product);

    let mut input: Vec<i32> = (0..N as i32).collect();
    let mut output = vec![0i32; N];
    let scan = Arguments::new().array(&mut input).array(&mut output);
    measure("block_scan", &optimized, &shape((N / 512) as u32, 512), &scan);
    let diverge = Arguments::new().int(N as i32).array(&mut input).array(&mut output);
    measure("diverge", &optimized, &shape((N / 256) as u32, 256), &diverge);
}
