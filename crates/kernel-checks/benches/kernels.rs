//! What following kernels for mistakes costs, against executing them: `cargo bench -p
//! commsan-kernel-checks`. The kernels are PTX, so that no compiler of NVIDIA's is needed.

use commsan_kernel_checks::Detector;
use commsan_ptx::Module;
use commsan_simt::{Grid, Launch, Observer, Program, Progress, Reach, Services, Surface, Texture};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

const N: u32 = 256;

/// Kernels of three arrays of 256 x 256 words each.
const KERNELS: &str = "
.version 8.5\n.target sm_90\n.address_size 64
.visible .entry stencil(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; and.b32 %r5, %r4, 65023; add.u32 %r5, %r5, 256;
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4+4]; ld.global.f32 %f2, [%rd4+-4];
    ld.global.f32 %f3, [%rd4+1024]; ld.global.f32 %f4, [%rd4+-1024];
    add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3;
    mul.wide.u32 %rd5, %r4, 4; add.u64 %rd6, %rd2, %rd5; st.global.f32 [%rd6], %f1;
    ret;
}
.visible .entry reduction(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .pred %p<3>; .shared .align 4 .b8 part[1024];
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, 256, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    mov.u32 %r6, part; mad.lo.u32 %r7, %r1, 4, %r6; st.shared.u32 [%r7], %r5;
    mov.u32 %r8, 128;
L:  bar.sync 0;
    setp.ge.u32 %p1, %r1, %r8; @%p1 bra M;
    mad.lo.u32 %r9, %r8, 4, %r7; ld.shared.u32 %r10, [%r9]; ld.shared.u32 %r11, [%r7];
    add.u32 %r11, %r11, %r10; st.shared.u32 [%r7], %r11;
M:  shr.u32 %r8, %r8, 1; setp.ne.u32 %p2, %r8, 0; @%p2 bra L;
    setp.ne.u32 %p1, %r1, 0; @%p1 ret;
    mul.wide.u32 %rd5, %r2, 4; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r11;
    ret;
}
.visible .entry scan(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b64 %rd<9>; .reg .b32 %r<13>; .reg .pred %p<3>; .shared .align 4 .b8 all[1024];
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, 256, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    mov.u32 %r6, all; mad.lo.u32 %r7, %r1, 4, %r6; st.shared.u32 [%r7], %r5;
    mov.u32 %r8, 1;
L:  bar.sync 0;
    mov.u32 %r10, 0;
    setp.lt.u32 %p1, %r1, %r8; @%p1 bra M;
    sub.u32 %r9, %r1, %r8; mad.lo.u32 %r9, %r9, 4, %r6; ld.shared.u32 %r10, [%r9];
M:  bar.sync 0;
    add.u32 %r5, %r5, %r10; st.shared.u32 [%r7], %r5;
    shl.b32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 256; @%p2 bra L;
    add.u64 %rd6, %rd2, %rd3; st.global.u32 [%rd6], %r5;
    ret;
}
.visible .entry histogram(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b64 %rd<9>; .reg .b32 %r<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, 256, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
    mul.lo.u32 %r6, %r4, 40503; shr.u32 %r6, %r6, 4; and.b32 %r6, %r6, 255;
    mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd2, %rd5; red.global.add.u32 [%rd6], 1;
    ret;
}
.visible .entry matmul(.param .u64 a, .param .u64 b, .param .u64 c) {
    .reg .b64 %rd<12>; .reg .b32 %r<20>; .reg .f32 %f<5>; .reg .pred %p;
    .shared .align 4 .b8 sa[1024]; .shared .align 4 .b8 sb[1024];
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15; shr.u32 %r3, %r1, 4;
    mov.u32 %r4, %ctaid.x; and.b32 %r5, %r4, 15; shr.u32 %r6, %r4, 4;
    mad.lo.u32 %r7, %r6, 16, %r3; mad.lo.u32 %r8, %r5, 16, %r2;
    mov.u32 %r9, sa; mov.u32 %r10, sb; mad.lo.u32 %r11, %r1, 4, %r9; mad.lo.u32 %r12, %r1, 4, %r10;
    mad.lo.u32 %r13, %r3, 64, %r9; mad.lo.u32 %r14, %r2, 4, %r10;
    mov.f32 %f1, 0f00000000; mov.u32 %r15, 0;
L:  mad.lo.u32 %r16, %r7, 256, %r15; add.u32 %r16, %r16, %r2; mul.wide.u32 %rd4, %r16, 4;
    add.u64 %rd4, %rd1, %rd4; ld.global.f32 %f2, [%rd4]; st.shared.f32 [%r11], %f2;
    add.u32 %r16, %r15, %r3; mad.lo.u32 %r16, %r16, 256, %r8; mul.wide.u32 %rd5, %r16, 4;
    add.u64 %rd5, %rd2, %rd5; ld.global.f32 %f3, [%rd5]; st.shared.f32 [%r12], %f3;
    bar.sync 0;
    mov.u32 %r17, 0; mov.u32 %r18, %r13; mov.u32 %r19, %r14;
K:  ld.shared.f32 %f2, [%r18]; ld.shared.f32 %f3, [%r19]; fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u32 %r18, %r18, 4; add.u32 %r19, %r19, 64; add.u32 %r17, %r17, 1;
    setp.lt.u32 %p, %r17, 16; @%p bra K;
    bar.sync 0;
    add.u32 %r15, %r15, 16; setp.lt.u32 %p, %r15, 256; @%p bra L;
    mad.lo.u32 %r16, %r7, 256, %r8; mul.wide.u32 %rd6, %r16, 4; add.u64 %rd6, %rd3, %rd6;
    st.global.f32 [%rd6], %f1;
    ret;
}";

struct Memory(Vec<Range<u64>>);

impl Reach for Memory {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        self.0.iter().find(|range| range.contains(&address)).cloned()
    }

    fn texture(&self, _: u64) -> Option<Arc<Texture>> {
        None
    }

    fn surface(&self, _: u64) -> Option<Arc<Surface>> {
        None
    }
}

fn main() {
    let program = Program::new(Arc::new(Module::parse(KERNELS).expect("PTX")));
    let mut arrays = [(); 3].map(|()| vec![0u32; (N * N) as usize]);
    let starts = arrays.each_mut().map(|array| array.as_mut_ptr().expose_provenance() as u64);
    let memory = Memory(starts.map(|start| start..start + u64::from(N * N) * 4).to_vec());
    let arguments: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
    let services = Arc::new(Services::new(|_| ()));
    for name in ["matmul", "stencil", "reduction", "scan", "histogram"] {
        let (grid, block) = ([N, 1, 1], [N, 1, 1]);
        let kernel = program.kernel(name).expect("a kernel");
        let run = |observer: &mut dyn FnMut(&mut Grid) -> Progress| {
            let launch = Launch {
                kernel: Arc::clone(&kernel),
                arguments: arguments.clone(),
                grid,
                block,
                shared: 0,
                cooperative: false,
                seed: 0,
                services: Arc::clone(&services),
                time: 0,
            };
            let mut running = Grid::new(launch, &|_: &str| None).expect("a launch");
            let begin = Instant::now();
            loop {
                match observer(&mut running) {
                    Progress::Done => return begin.elapsed(),
                    Progress::Fault(fault) => panic!("{fault}"),
                    _ => {}
                }
            }
        };
        fn advance<O: Observer>(grid: &mut Grid, memory: &Memory, observer: &mut O) -> Progress {
            grid.advance(1 << 20, memory, observer)
        }
        let (mut plain, mut followed) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            plain = plain.min(run(&mut |grid| advance(grid, &memory, &mut ())));
            let mut detector = Detector::new(Arc::clone(&kernel), grid, block).expect("small");
            followed = followed.min(run(&mut |grid| advance(grid, &memory, &mut detector)));
            let mistakes = detector.take(true);
            assert!(mistakes.is_empty(), "{name}: {mistakes:?}");
        }
        let (plain, followed) = (plain.as_secs_f64() * 1e3, followed.as_secs_f64() * 1e3);
        println!(
            "{name:10} {plain:8.1} ms, followed {followed:8.1} ms: {:4.1} x",
            followed / plain
        );
    }
}
