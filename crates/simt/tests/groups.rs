//! Cooperative groups and intrinsics with member masks, compiled by nvcc for several architectures,
//! compared with the host.

mod device;

use commsan_simt::Program;
use device::{Arguments, Shape, program, ptx, run, shape};
use std::sync::LazyLock;

/// Tiles of several warps need reserved shared memory from sm_80 on; in debug builds, all tiles
/// read its position.
static PROGRAMS: LazyLock<Vec<(String, Program)>> = LazyLock::new(|| {
    let flags = [["-O3", "-arch=sm_80"], ["-O3", "-arch=sm_90"], ["-G", "-arch=sm_80"]];
    let compiled = flags.map(|flags| (flags.concat(), program(&ptx("groups.cu", &flags))));
    compiled.into()
});

fn each<T: Clone>(
    kernel: &str,
    shape: &Shape,
    input: &T,
    arguments: impl Fn(&mut T) -> Arguments,
    check: impl Fn(&T, &str),
) {
    for (flags, program) in &*PROGRAMS {
        let mut data = input.clone();
        let arguments = arguments(&mut data);
        run(program, kernel, shape, &arguments).unwrap_or_else(|f| panic!("{flags}: {f}"));
        check(&data, flags);
    }
}

fn mask(lanes: impl Iterator<Item = usize>) -> u32 {
    lanes.fold(0, |all, lane| all | 1 << lane)
}

#[test]
fn lanes_with_different_masks() {
    let halves: Vec<u32> = (0..32).map(|t| t / 16).collect();
    let scattered: Vec<u32> = (0..32u32).map(|t| t * t % 7).collect();
    for parts in [halves, scattered, vec![0; 32], (0..32).collect()] {
        each(
            "masks",
            &shape(1, 32),
            &(parts.clone(), vec![[0u32; 9]; 32]),
            |(parts, out)| Arguments::new().array(parts).array(out),
            |(_, out), flags| {
                for (t, out) in out.iter().enumerate() {
                    let with = |f: &dyn Fn(usize) -> bool| {
                        (0..32).filter(|l| parts[*l] == parts[t] && f(*l)).collect::<Vec<usize>>()
                    };
                    let all = with(&|_| true);
                    let masked = |f: &dyn Fn(usize) -> bool| mask(with(f).into_iter());
                    let alike = with(&|l| l / 16 == t / 16) == all;
                    let expected = [
                        all.iter().sum::<usize>() as u32,
                        all[all.len() - 1] as u32,
                        masked(&|l| l % 2 == 1),
                        all.contains(&3).into(),
                        all.iter().all(|l| *l < 16).into(),
                        masked(&|l| l % 4 == t % 4),
                        if alike { masked(&|_| true).wrapping_add(1) } else { 0 },
                        all[0] as u32,
                        masked(&|_| true),
                    ];
                    assert_eq!(*out, expected, "{flags}: lane {t} of {parts:?}");
                }
            },
        );
    }
}

#[test]
fn tiles_of_every_size() {
    let threads = 512;
    let value = |t: usize| (t * 37 % 101) as i32;
    for size in (0..10).map(|n| 1 << n) {
        each(
            &format!("tiles_{size}"),
            &shape(20, threads as u32),
            &vec![[0i32; 6]; threads],
            |out| Arguments::new().array(out),
            |out, flags| {
                for (t, out) in out.iter().enumerate() {
                    let first = t / size * size;
                    let tile: Vec<i32> = (first..first + size).map(value).collect();
                    let votes = [tile.contains(&7), tile.iter().all(|v| *v > 7)].map(i32::from);
                    let expected = [
                        tile.iter().sum(),
                        *tile.iter().max().unwrap(),
                        tile[..=t - first].iter().sum(),
                        votes[0] | votes[1] << 1,
                        tile[0],
                        ((first / size) << 16 | (t - first)) as i32,
                    ];
                    assert_eq!(*out, expected, "{flags}: thread {t}, tiles of {size}");
                }
            },
        );
    }
}

#[test]
fn memory_beside_that_of_tiles() {
    each(
        "tiles_beside",
        &Shape { shared: 4 * 256, ..shape(40, 256) },
        &vec![0i32; 256],
        |out| Arguments::new().array(out),
        |out, flags| {
            let sum = |tile: i32| (tile * 64..tile * 64 + 64).sum::<i32>();
            assert!(out.iter().copied().eq((0..256).map(|t| t + sum(t / 64))), "{flags}");
        },
    );
}

#[test]
fn partitions_of_a_warp() {
    let input: Vec<i32> = (0..32).map(|t| t * t % 23).collect();
    each(
        "partitions",
        &shape(1, 32),
        &(input.clone(), vec![[0i32; 4]; 32]),
        |(a, out)| Arguments::new().array(a).array(out),
        |(_, out), flags| {
            for (t, out) in out.iter().enumerate() {
                let v = input[t];
                let odd = input.iter().filter(|w| *w & 1 == v & 1).sum();
                let same: Vec<usize> = (0..32).filter(|l| input[*l] % 5 == v % 5).collect();
                let before = same.iter().filter(|l| **l < t).count() as i32;
                let third = |v: i32| v % 3 != 0;
                let together = input.iter().filter(|w| third(**w) == third(v)).count() as i32;
                let together = if third(v) { together } else { -together };
                assert_eq!(*out, [odd, same[0] as i32, before, together], "{flags}: lane {t}");
            }
        },
    );
}
