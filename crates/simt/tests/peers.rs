//! Kernels access memory of processing elements (PEs) by windows of addresses.

mod device;

use commsan_simt::{
    Access, Cause, Grid, Kind, Launch, Mapped, NoPeer, Observer, PEERS, Progress, Reach, Surface,
    Texture,
};
use device::{program, services};
use std::ops::Range;
use std::sync::Arc;

/// Two PEs: the kernel's own memory, and the other one's, which is mapped elsewhere.
struct Pes([Range<u64>; 2]);

impl Reach for Pes {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        self.0.iter().find(|range| range.contains(&address)).cloned()
    }

    fn texture(&self, _: u64) -> Option<Arc<Texture>> {
        None
    }

    fn surface(&self, _: u64) -> Option<Arc<Surface>> {
        None
    }

    fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer> {
        let at = self.0.get(usize::try_from(pe).map_err(|_| NoPeer::Pe)?).ok_or(NoPeer::Pe)?;
        let known = self.0[0].clone();
        let is_there = known.contains(&address);
        is_there.then_some(Mapped { known, start: at.start }).ok_or(NoPeer::Memory)
    }
}

/// Each lane passes what its own PE has to the PE that its number modulo two is, at `at`, and adds
/// one to a word behind.
const KERNEL: &str = "
.version 8.5\n.target sm_90\n.address_size 64
.visible .entry pass(.param .u64 own, .param .u64 peers, .param .u64 at) {
    .reg .b64 %rd<8>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [own]; ld.param.u64 %rd2, [peers]; ld.param.u64 %rd3, [at];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd4, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd4];
    and.b32 %r3, %r1, 1;
    cvt.u64.u32 %rd5, %r3;
    shl.b64 %rd5, %rd5, 48;
    add.u64 %rd5, %rd5, %rd2;
    add.u64 %rd5, %rd5, %rd3;
    mad.wide.u32 %rd6, %r1, 4, %rd5;
    st.u32 [%rd6], %r2;
    add.u64 %rd7, %rd2, %rd1;
    red.sys.add.u32 [%rd7+256], 1;
    ret;
}";

#[derive(Default)]
struct Stores(Vec<u64>);

impl Observer for Stores {
    fn access(&mut self, access: &Access<'_>) {
        if access.kind == Kind::Store {
            self.0.extend(access.addresses);
        }
    }
}

/// Runs the kernel; `at` is where it stores, as an offset in the memory, and `first` its first PE.
fn run(own: &mut [u32; 65], other: &mut [u32; 65], at: u64, first: i64) -> (Progress, Vec<u64>) {
    let range = |memory: &mut [u32; 65]| {
        let start = memory.as_mut_ptr().expose_provenance() as u64;
        start..start + size_of_val(memory) as u64
    };
    let pes = Pes([range(own), range(other)]);
    let start = pes.0[0].start;
    let peers = PEERS.wrapping_add((first << 48) as u64);
    let program = program(KERNEL);
    let launch = Launch {
        kernel: program.kernel("pass").expect("the kernel"),
        arguments: [start, peers, start + at].map(u64::to_le_bytes).concat(),
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        cooperative: false,
        seed: 0,
        services: services().0,
        time: 0,
    };
    let mut grid = Grid::new(launch, &|_: &str| None).expect("a grid");
    let mut stores = Stores::default();
    (grid.advance(1 << 20, &pes, &mut stores), stores.0)
}

#[test]
fn lanes_reach_several_pes_at_once() {
    let (mut own, mut other) = ([0; 65], [0; 65]);
    (0..32).for_each(|n| own[n] = 100 + n as u32);
    let (progress, stores) = run(&mut own, &mut other, 128, 0);
    assert_eq!(progress, Progress::Done);
    for n in 0..32 {
        let (here, there) = if n % 2 == 0 { (&own, &other) } else { (&other, &own) };
        assert_eq!((here[32 + n], there[32 + n]), (100 + n as u32, 0), "{n}");
        let at = here.as_ptr().expose_provenance() as u64;
        assert_eq!(stores[n], at + 128 + 4 * n as u64, "observers see where it is mapped");
    }
    assert_eq!((own[64], other[64]), (32, 0));
}

#[test]
fn what_is_not_there_is_told_by_pe_and_address() {
    let told = |at: u64, first: i64| {
        let (mut own, mut other) = ([0; 65], [0; 65]);
        let start = own.as_mut_ptr().expose_provenance() as u64;
        match run(&mut own, &mut other, at, first).0 {
            Progress::Fault(fault) => match fault.cause {
                Cause::Peer { why, pe, address, size: 4, kind: Kind::Store } => {
                    (why, pe, address.wrapping_sub(start), fault.thread[0])
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    // The memory has 260 bytes.
    assert_eq!(told(256, 0), (Some(NoPeer::Memory), 1, 260, 1));
    assert_eq!(told(258, 0), (None, 0, 258, 0));
    assert_eq!(told(0, 1), (Some(NoPeer::Pe), 2, 4, 1));
    assert_eq!(told(0, -1), (Some(NoPeer::Pe), -1, 0, 0));
}
