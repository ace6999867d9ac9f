//! Kernels compiled by nvcc, optimised and for debugging, compared with the host.

mod device;

use commsan_simt::{Cause, Program};
use device::{Arguments, Shape, program, ptx, run, services, shape, start};
use std::sync::LazyLock;

static OPTIMIZED: LazyLock<Program> =
    LazyLock::new(|| program(&ptx("kernels.cu", &["-O3", "-lineinfo"])));
static DEBUG: LazyLock<Program> = LazyLock::new(|| program(&ptx("kernels.cu", &["-G"])));

/// Runs a kernel of both builds on the same input, and passes both outputs to `check`.
fn both<T: Clone>(
    kernel: &str,
    shape: &Shape,
    input: T,
    run_on: impl Fn(&mut T) -> Arguments,
    check: impl Fn(&T),
) {
    for program in [&*OPTIMIZED, &*DEBUG] {
        for seed in [0, 7] {
            let mut data = input.clone();
            let arguments = run_on(&mut data);
            let shape = Shape { seed, ..shape.clone() };
            run(program, kernel, &shape, &arguments).unwrap_or_else(|fault| panic!("{fault}"));
            check(&data);
        }
    }
}

fn numbers(n: usize) -> Vec<i32> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as i32).collect()
}

#[test]
fn saxpy() {
    let n = 1000;
    let x: Vec<f32> = numbers(n).iter().map(|v| *v as f32 / 8.0).collect();
    let y: Vec<f32> = (0..n).map(|i| i as f32).collect();
    both(
        "saxpy",
        &shape(8, 128),
        (x.clone(), y.clone()),
        |(x, y)| Arguments::new().int(n as i32).float(2.5).array(x).array(y),
        |(_, out)| {
            let expected = x.iter().zip(&y).map(|(x, y)| 2.5f32.mul_add(*x, *y));
            assert!(out.iter().copied().eq(expected));
        },
    );
}

#[test]
fn dot_product_with_shared_memory() {
    let n = 5000;
    let x: Vec<f64> = numbers(n).iter().map(|v| f64::from(*v)).collect();
    let expected: f64 = x.iter().map(|v| v * v).sum();
    both(
        "dot",
        &shape(4, 256),
        (x.clone(), x.clone(), [0.0f64]),
        |(x, y, out)| Arguments::new().int(n as i32).array(x).array(y).array(out),
        |(_, _, [out])| assert_eq!(*out, expected),
    );
}

#[test]
fn stencil_in_two_dimensions() {
    let n = 50;
    let input: Vec<f64> = numbers(n * n).iter().map(|v| f64::from(*v)).collect();
    let shape = Shape { grid: [3, 6, 1], block: [16, 8, 1], ..shape(1, 1) };
    both(
        "stencil",
        &shape,
        (input.clone(), vec![0.0; n * n]),
        |(a, b)| Arguments::new().int(n as i32).array(a).array(b),
        |(_, out)| {
            for y in 1..n - 1 {
                for x in 1..n - 1 {
                    let i = y * n + x;
                    let sum = input[i - 1] + input[i + 1] + input[i - n] + input[i + n];
                    assert_eq!(out[i], 0.25 * sum);
                }
            }
        },
    );
}

/// The function `diverge` of kernels.cu.
fn diverged(v: i32) -> i32 {
    let mut sum: i32 = 0;
    for k in 0..v & 63 {
        if k % 7 == v % 7 {
            continue;
        }
        if k % 3 == 0 {
            sum = sum.wrapping_add(k);
            if sum > 500 {
                break;
            }
        } else if v & 1 != 0 {
            (0..k % 5).for_each(|j| sum ^= j.wrapping_mul(v));
        } else {
            sum = sum.wrapping_sub(k);
        }
    }
    match v % 6 {
        0 => sum.wrapping_add(1),
        1 => sum.wrapping_mul(3),
        2 => sum.wrapping_sub(v) ^ 0x55,
        3 => sum ^ 0x55,
        4 => -1,
        _ => !sum,
    }
}

#[test]
fn divergence() {
    let input = numbers(1000);
    both(
        "diverge",
        &shape(8, 128),
        (input.clone(), vec![0; 1000]),
        |(a, b)| Arguments::new().int(1000).array(a).array(b),
        |(_, out)| assert!(out.iter().copied().eq(input.iter().map(|v| diverged(*v)))),
    );
}

#[test]
fn locks_within_and_between_warps() {
    for kernel in ["warp_lock", "naive_lock"] {
        both(
            kernel,
            &shape(3, 96),
            ([0i32], [0i32]),
            |(lock, count)| Arguments::new().array(lock).array(count),
            |(lock, count)| assert_eq!((lock[0], count[0]), (0, 288)),
        );
    }
}

#[test]
fn blocks_wait_for_blocks() {
    both(
        "chain",
        &shape(60, 64),
        (vec![0; 60], vec![0; 60]),
        |(flags, out)| Arguments::new().array(flags).array(out),
        |(_, out)| assert!(out.iter().copied().eq(1..=60)),
    );
}

#[test]
fn grids_wait_for_grids() {
    let (services, _) = services();
    for program in [&*OPTIMIZED, &*DEBUG] {
        let (mut a, mut b) = ([0i32], [0i32]);
        let one = Arguments::new().array(&mut a).array(&mut b).int(20);
        let two = Arguments::new().array(&mut b).array(&mut a).int(20);
        let grids = [one, two].map(|args| start(program, "ping", &shape(1, 1), &args, &services));
        let mut grids = grids.map(Some);
        while grids.iter().any(Option::is_some) {
            for slot in &mut grids {
                let Some(started) = slot else { continue };
                let progress = started.grid.advance(1000, &started.memory, &mut ());
                match progress {
                    commsan_simt::Progress::Done => *slot = None,
                    commsan_simt::Progress::Fault(fault) => panic!("{fault}"),
                    _ => {}
                }
            }
        }
        assert_eq!((a[0], b[0]), (20, 20));
    }
}

#[test]
fn cooperative_grids_synchronise() {
    let n = 40 * 64;
    let input = numbers(n);
    let expected = (0..n).map(|i| input[(i + 5) % n] + 5);
    both(
        "grid_sync",
        &Shape { cooperative: true, ..shape(40, 64) },
        input.clone(),
        |data| Arguments::new().array(data),
        |data| assert!(data.iter().copied().eq(expected.clone())),
    );
}

#[test]
fn scans_with_shuffles() {
    let input = numbers(1024);
    both(
        "block_scan",
        &shape(2, 512),
        (input.clone(), vec![0; 1024]),
        |(a, b)| Arguments::new().array(a).array(b),
        |(_, out)| {
            for (block, out) in out.chunks(512).enumerate() {
                let mut sum = 0i32;
                for (v, out) in input[block * 512..].iter().zip(out) {
                    sum = sum.wrapping_add(*v);
                    assert_eq!(*out, sum);
                }
            }
        },
    );
}

#[test]
fn exchanges_within_a_warp() {
    let input: Vec<u32> = numbers(32).iter().map(|v| *v as u32 % 1500).collect();
    let ballot = |range: std::ops::Range<usize>, bit: u32| {
        range.filter(|l| input[*l] & bit != 0).fold(0u32, |all, l| all | 1 << l)
    };
    both(
        "warp_ops",
        &shape(1, 32),
        (input.clone(), vec![0u32; 32 * 12]),
        |(a, b)| Arguments::new().array(a).array(b),
        |(_, out)| {
            for (lane, o) in out.chunks(12).enumerate() {
                let v = input[lane];
                assert_eq!(o[0], input[lane ^ 5]);
                assert_eq!(o[1], input[if lane % 8 + 3 < 8 { lane + 3 } else { lane }]);
                assert_eq!(o[2], input[lane * 7 % 32]);
                assert_eq!(o[3], ballot(0..32, 1));
                let any = u32::from(input.contains(&3));
                assert_eq!(o[4], any | u32::from(input.iter().all(|v| *v < 1000)) << 1);
                let same = (0..32).filter(|l| input[*l] & 3 == v & 3);
                assert_eq!(o[5], same.fold(0, |all, l| all | 1 << l));
                assert_eq!(o[6], input.iter().sum::<u32>());
                assert_eq!(o[7], *input.iter().max().unwrap());
                let group = if lane < 12 { 0..12 } else { 12..32 };
                assert_eq!(o[8], ballot(group, 2));
                let least = *input[12..].iter().min().unwrap();
                assert_eq!(o[9], if lane < 12 { input[lane ^ 1] } else { least });
                let first = if v == 0 { 0 } else { v.trailing_zeros() + 1 };
                assert_eq!(o[10], v.count_ones() | v.leading_zeros() << 8 | first << 16);
                let bytes = (u64::from(lane as u32) << 32 | u64::from(v)).to_le_bytes();
                let permuted = u32::from_le_bytes([bytes[5], bytes[1], bytes[7], bytes[3]]);
                let funnel = ((u64::from(lane as u32) << 32 | u64::from(v)) << 9 >> 32) as u32;
                assert_eq!(o[11], v.reverse_bits() ^ permuted ^ funnel);
            }
        },
    );
}

#[test]
fn named_barriers() {
    both(
        "producer",
        &shape(1, 128),
        vec![0i32; 128],
        |out| Arguments::new().int(20).array(out),
        |out| {
            let sum: i32 = (0..20).map(|r| r * r).sum();
            assert!(out[..64].iter().all(|v| *v == 0) && out[64..].iter().all(|v| *v == sum));
        },
    );
}

#[test]
fn barriers_that_count_and_threads_that_exit() {
    both(
        "barrier_counts",
        &shape(2, 128),
        vec![0i32; 128],
        |out| Arguments::new().array(out),
        |out| assert!(out[..96].iter().all(|v| *v == 32 | 1 << 8 | 1 << 9)),
    );
}

#[test]
fn matrix_multiplication() {
    let n = 48;
    let a: Vec<f32> = numbers(n * n).iter().map(|v| (*v % 100) as f32 / 8.0).collect();
    let b: Vec<f32> = a.iter().rev().copied().collect();
    let mut expected = vec![0f32; n * n];
    for (i, out) in expected.iter_mut().enumerate() {
        let (row, col) = (i / n, i % n);
        *out = (0..n).fold(0.0, |sum, k| a[row * n + k].mul_add(b[k * n + col], sum));
    }
    let shape = Shape { grid: [3, 3, 1], block: [16, 16, 1], ..shape(1, 1) };
    both(
        "matmul",
        &shape,
        (a, b, vec![0f32; n * n]),
        |(a, b, c)| Arguments::new().int(n as i32).array(a).array(b).array(c),
        |(_, _, c)| assert_eq!(*c, expected),
    );
}

#[test]
fn recursion_and_indirect_calls() {
    let input: Vec<i32> = (0..64).map(|i| i % 11).collect();
    let fib = |n: i32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    both(
        "recursion",
        &shape(2, 32),
        input.clone(),
        |data| Arguments::new().array(data),
        |data| assert!(data.iter().copied().eq(input.iter().map(|n| fib(*n)))),
    );
    both(
        "indirect",
        &shape(2, 32),
        input.clone(),
        |data| Arguments::new().array(data),
        |data| {
            let expected = input.iter().map(|v| if v & 1 == 1 { v * v } else { 2 * v });
            assert!(data.iter().copied().eq(expected));
        },
    );
}

#[test]
fn structures_by_value() {
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair {
        value: f64,
        index: i32,
        tag: [u8; 4],
    }
    let pair = |i: i32| Pair { value: f64::from(i * 37 % 11), index: i, tag: *b"abc\0" };
    let pairs: Vec<Pair> = (0..42).map(pair).collect();
    let best = *pairs[..10].iter().rev().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
    both(
        "structs",
        &shape(1, 32),
        pairs,
        |pairs| {
            let mut given = Arguments::new();
            given.bytes.extend((-1.0f64).to_le_bytes());
            given.bytes.extend([0xff; 8]);
            given.int(10).array(pairs)
        },
        |pairs| {
            for got in &pairs[10..] {
                assert_eq!(
                    (got.value, got.index, &got.tag[..3]),
                    (best.value, best.index, &b"abc"[..])
                );
            }
        },
    );
}

#[test]
fn printing() {
    for program in [&*OPTIMIZED, &*DEBUG] {
        let text = run(program, "print", &shape(1, 32), &Arguments::new().int(2)).unwrap();
        let expected =
            "thread 0 of block:  0.00 a 10000000000 %\nthread 1 of block:  0.25 b 10000000000 %\n";
        assert_eq!(text, expected);
    }
}

#[test]
fn assertions_end_the_grid() {
    let (services, printed) = services();
    let mut data = [0i32; 32];
    data[9] = 1;
    let arguments = Arguments::new().array(&mut data);
    let mut started = start(&OPTIMIZED, "check", &shape(1, 32), &arguments, &services);
    let fault = started.finish(&mut ()).unwrap_err();
    assert_eq!(fault.thread, [9, 0, 0]);
    assert!(matches!(fault.cause, Cause::Assertion(_)), "{fault}");
    let text = String::from_utf8(printed.lock().unwrap().clone()).unwrap();
    let expected = "thread: [9,0,0] Assertion `data[threadIdx.x] == 0` failed.\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn memory_allocated_by_kernels_outlives_them() {
    for program in [&*OPTIMIZED, &*DEBUG] {
        let (services, _) = services();
        let (mut lists, mut out) = ([0u64; 32], [0i32; 32]);
        let fill = Arguments::new().int(10).array(&mut lists);
        start(program, "heap", &shape(1, 32), &fill, &services).finish(&mut ()).unwrap();
        let read = fill.clone().array(&mut out);
        start(program, "heap_use", &shape(1, 32), &read, &services).finish(&mut ()).unwrap();
        assert!(out.iter().copied().eq((0..32).map(|t| 45 * t)));
        // The memory was freed: another use is out of bounds.
        let fault = start(program, "heap_use", &shape(1, 32), &read, &services).finish(&mut ());
        assert!(matches!(fault.unwrap_err().cause, Cause::Access { .. }));
    }
}

#[test]
fn memory_spaces() {
    let local = |i: i32| i * [2, 3, 5, 7][(i & 3) as usize];
    both(
        "spaces",
        &Shape { shared: 36, ..shape(1, 64) },
        vec![0i32; 66],
        |out| Arguments::new().int(20).array(out),
        |out| {
            let sum: i32 = (0..20).map(|i| local((i * 3) & 7)).sum();
            let expected = (0..64).map(|t| if t & 1 == 1 { -sum } else { sum });
            assert!(out[..64].iter().copied().eq(expected));
            assert_eq!(out[64..], [164, 63]);
        },
    );
}

#[test]
fn atomics() {
    let n = 128u32;
    let start = (vec![0u32; 5], vec![100i32, -5], [0f32], [0f64], [0u64, 0]);
    both(
        "atomics",
        &shape(2, 64),
        start,
        |(u, s, f, d, l)| Arguments::new().array(u).array(s).array(f).array(d).array(l),
        |(u, s, f, d, l)| {
            let down = (0..n).fold(0u32, |v, _| if v == 0 || v > 6 { 6 } else { v - 1 });
            let odd = (0..n).fold(0, |v, t| v ^ t);
            assert_eq!(*u, [n * (n - 1) / 2, n % 11, down, u32::MAX, odd]);
            assert_eq!(*s, [5 - 127, 127]);
            assert_eq!((f[0], d[0], l[0], l[1]), (64.0, 32.0, 128 << 33, 3 * 128));
        },
    );
}

#[test]
fn mathematics() {
    let x: Vec<f64> = numbers(200).iter().map(|v| f64::from(*v) / 321.0 - 90.0).collect();
    let close = |got: f64, expected: f64, digits: f64| {
        assert!((got - expected).abs() <= expected.abs().max(1e-3) * digits, "{got} {expected}");
    };
    both(
        "math",
        &shape(2, 128),
        (x.clone(), vec![0f64; 1200], vec![0f32; 800]),
        |(x, out, single)| Arguments::new().int(200).array(x).array(out).array(single),
        |(_, out, single)| {
            for (i, v) in x.iter().enumerate() {
                let a = v.abs();
                let expected = [
                    v.sin(),
                    (v / 100.0).exp(),
                    (a + 1.0).ln(),
                    a.sqrt(),
                    a.powf(0.3),
                    1.0 / (v + 0.5),
                ];
                let got = &out[i * 6..][..6];
                got.iter().zip(expected).for_each(|(g, e)| close(*g, e, 1e-14));
                let (w, got) = (*v as f32, &single[i * 4..][..4]);
                close(got[0].into(), f64::from(w).sin(), 1e-5);
                close(got[1].into(), (f64::from(w) / 100.0).exp(), 1e-6);
                assert_eq!(got[2], w / 3.7);
                let half = half::f16::from_f32;
                let expected = half::f16::from_f64(half(w).to_f64() * 0.5 + 1.0);
                assert_eq!(half(got[3]), expected);
            }
        },
    );
}

#[test]
fn integers_of_128_bits() {
    let halves = [0, 1, 5, 7, 1 << 37, u64::MAX >> 1, u64::MAX - 1, u64::MAX];
    let wide = |high: usize, low: usize| u128::from(halves[high]) << 64 | u128::from(halves[low]);
    let numbers: Vec<u128> = (0..64).map(|i| wide(i / 8, i % 8)).collect();
    let pairs = |a: &u128| numbers[1..].iter().map(|b| [*a, *b]).collect::<Vec<_>>();
    let input: Vec<[u128; 2]> = numbers.iter().flat_map(pairs).collect();
    let expected = input.iter().map(|[a, b]| {
        let signed = (*a as i128, *b as i128);
        let quotient = signed.0.wrapping_div(signed.1) as u128;
        let remainder = signed.0.wrapping_rem(signed.1) as u128;
        let [sum, difference] = [a.wrapping_add(*b), a.wrapping_sub(*b)];
        [sum, difference, a.wrapping_mul(*b), a / b, a % b, quotient, remainder, a / 7]
    });
    let expected: Vec<[u128; 8]> = expected.collect();
    both(
        "wide",
        &shape(16, 256),
        (input.clone(), vec![[0u128; 8]; input.len()]),
        |(a, out)| Arguments::new().int(input.len() as i32).array(a).array(out),
        |(_, out)| {
            for ((input, out), expected) in input.iter().zip(out).zip(&expected) {
                assert_eq!(out, expected, "{input:#x?}");
            }
        },
    );
}

#[test]
fn copies_that_a_barrier_waits_for() {
    #[repr(align(16))]
    #[derive(Clone)]
    struct Aligned([i32; 768]);
    let input = Aligned(std::array::from_fn(|i| numbers(768)[i]));
    both(
        "copies",
        &shape(1, 256),
        (Box::new(input.clone()), vec![0i32; 1024]),
        |(a, out)| Arguments::new().int(3).array(&mut a.0).array(out),
        |(_, out)| {
            let reversed = input.0.chunks(256).flat_map(|part| part.iter().rev());
            assert!(out[..768].iter().eq(reversed));
            let shifted = (0..256).map(|t| input.0[t % 255 + 1]);
            assert!(out[768..].iter().copied().eq(shifted));
        },
    );
    // One part more than available.
    let (mut a, mut out) = (Box::new(input), vec![0i32; 1280]);
    let arguments = Arguments::new().int(4).array(&mut a.0).array(&mut out);
    let fault = run(&OPTIMIZED, "copies", &shape(1, 256), &arguments).unwrap_err();
    assert!(fault.to_string().contains("out of bounds global load of 16 bytes"), "{fault}");
    assert!(fault.instruction.1.starts_with("cp.async.bulk"), "{fault}");
}

#[test]
fn sleep_takes_virtual_time() {
    for program in [&*OPTIMIZED, &*DEBUG] {
        let mut flag = [0i32];
        let arguments = Arguments::new().array(&mut flag);
        let (services, _) = services();
        let mut started = start(program, "sleepy", &shape(1, 64), &arguments, &services);
        started.finish(&mut ()).unwrap();
        assert!(started.grid.time() >= 1_000_000);
        assert_eq!(flag[0], 1);
    }
}

#[test]
fn faults_name_thread_and_line() {
    let mut data = vec![0i32; 100];
    let arguments = Arguments::new().int(100).array(&mut data);
    let fault = run(&OPTIMIZED, "out_of_bounds", &shape(4, 32), &arguments).unwrap_err();
    assert_eq!((fault.block, fault.thread), ([3, 0, 0], [4, 0, 0]));
    let line = fault.line.as_ref().expect("built with -lineinfo");
    let source = include_str!("sources/kernels.cu");
    let marked = source.lines().position(|l| l.contains("line marked")).unwrap() + 1;
    assert!(line.file.ends_with("kernels.cu") && line.line == marked as u32, "{fault}");
    assert!(fault.to_string().contains("out of bounds global store of 4 bytes"), "{fault}");
    assert!(data.iter().all(|v| *v <= 1));

    let mut bytes = vec![0u64; 32];
    let arguments = Arguments::new().array(&mut bytes);
    let fault = run(&OPTIMIZED, "misaligned", &shape(1, 32), &arguments).unwrap_err();
    assert_eq!(fault.thread, [5, 0, 0]);
    assert!(fault.to_string().contains("misaligned global store"), "{fault}");

    let fault = run(&OPTIMIZED, "beyond_shared", &shape(1, 1), &Arguments::new().int(1000));
    assert!(fault.unwrap_err().to_string().contains("out of bounds shared store"));

    let fault = run(&OPTIMIZED, "stuck", &shape(1, 64), &Arguments::new()).unwrap_err();
    assert_eq!(fault.cause, Cause::Deadlock);
    assert_eq!(fault.instruction.1, "bar.sync");
}
