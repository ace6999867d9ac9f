//! The observer sees exactly the bytes that the kernel accesses.

mod device;

use commsan_simt::{Access, Kind, Observer};
use device::{Arguments, program, services, shape, start};
use std::collections::BTreeMap;

/// How often each byte was accessed, by kind, and the number of calls.
#[derive(Default)]
struct Bytes(BTreeMap<(u64, u8), u32>, usize);

impl Observer for Bytes {
    fn access(&mut self, access: &Access<'_>) {
        self.1 += 1;
        for (lane, address) in access.addresses.iter().enumerate() {
            if access.lanes >> lane & 1 == 1 {
                for byte in *address..address + access.size {
                    *self.0.entry((byte, access.kind as u8)).or_default() += 1;
                }
            }
        }
    }
}

const KERNEL: &str = "
.version 8.5\n.target sm_90\n.address_size 64
.visible .entry halo(.param .u64 in, .param .u64 out, .param .u64 sum) {
    .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p; .shared .align 4 .b8 own[128];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [sum];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd4, %r1, 8, %rd1;
    ld.v2.u32 {%r2, %r3}, [%rd4];
    mov.u32 %r4, own;
    mad.lo.u32 %r4, %r1, 4, %r4;
    st.shared.u32 [%r4], %r2;
    setp.lt.u32 %p, %r1, 5;
    mad.wide.u32 %rd5, %r1, 4, %rd2;
    @%p st.global.u32 [%rd5], %r3;
    red.global.add.u32 [%rd3], %r3;
    ret;
}";

#[test]
fn accesses_are_told_to_the_byte() {
    let program = program(KERNEL);
    let (mut input, mut output, mut sum) = ([3u32; 64], [0u32; 32], [0u32; 1]);
    let arguments = Arguments::new().array(&mut input).array(&mut output).array(&mut sum);
    let (services, _) = services();
    let mut bytes = Bytes::default();
    start(&program, "halo", &shape(1, 32), &arguments, &services).finish(&mut bytes).unwrap();
    let [input_at, output_at, sum_at] = [0, 1, 2].map(|n: usize| arguments.memory.0[n].start);
    let mut expected = BTreeMap::new();
    expected.extend((input_at..input_at + 256).map(|byte| ((byte, Kind::Load as u8), 1)));
    expected.extend((output_at..output_at + 20).map(|byte| ((byte, Kind::Store as u8), 1)));
    expected.extend((sum_at..sum_at + 4).map(|byte| ((byte, Kind::Atomic as u8), 32)));
    assert_eq!(bytes.0, expected);
    // One call per instruction of the warp; accesses to shared memory are not observed.
    assert_eq!(bytes.1, 3);
    assert_eq!((output[4], output[5], sum[0]), (3, 0, 96));
}
