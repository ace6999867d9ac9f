use super::*;
use proptest::prelude::*;
use std::sync::mpsc::channel;

static OWN: OwnMemory = OwnMemory::new();

fn layout(size: usize, align: u32) -> Layout {
    Layout::from_size_align(size, 1 << align).unwrap()
}

/// A block that is filled with its own number.
struct Block {
    start: *mut u8,
    layout: Layout,
    number: u8,
}

impl Block {
    fn new(own: &OwnMemory, size: usize, align: u32, number: u8) -> Block {
        let layout = layout(size, align);
        // SAFETY: not empty, and as large as that.
        let start = unsafe {
            let start = own.alloc_zeroed(layout);
            assert!(std::slice::from_raw_parts(start, size).iter().all(|byte| *byte == 0));
            start
        };
        let block = Block { start, layout, number };
        block.fill();
        block
    }

    fn fill(&self) {
        assert_eq!(self.start as usize % self.layout.align(), 0);
        // SAFETY: its own bytes.
        unsafe { ptr::write_bytes(self.start, self.number, self.layout.size()) };
    }

    fn check(&self, bytes: usize) {
        // SAFETY: its own bytes, filled.
        let all = unsafe { std::slice::from_raw_parts(self.start, bytes) };
        assert!(all.iter().all(|byte| *byte == self.number));
    }

    fn resize(&mut self, own: &OwnMemory, size: usize) {
        let kept = size.min(self.layout.size());
        // SAFETY: a block of this allocator.
        self.start = unsafe { own.realloc(self.start, self.layout, size) };
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        self.check(kept);
        self.fill();
    }

    fn free(self, own: &OwnMemory) {
        self.check(self.layout.size());
        // SAFETY: a block of this allocator.
        unsafe { own.dealloc(self.start, self.layout) };
    }
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1..5000_usize, 2 => 1..LARGE, 1 => LARGE - 9..LARGE + 9, 1 => LARGE..3 << 20]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No block touches another one, whatever is done.
    #[test]
    fn blocks_keep_what_is_in_them(
        deeds in prop::collection::vec((0..4_u8, size(), 0..13_u32, any::<prop::sample::Index>()), 1..80)
    ) {
        let mut blocks: Vec<Block> = Vec::new();
        for (number, (deed, size, align, which)) in (0_u8..).zip(deeds) {
            match deed {
                0 | 1 => blocks.push(Block::new(&OWN, size, align, number | 1)),
                _ if blocks.is_empty() => {}
                2 => {
                    let at = which.index(blocks.len());
                    blocks[at].resize(&OWN, size);
                }
                _ => blocks.swap_remove(which.index(blocks.len())).free(&OWN),
            }
        }
        blocks.into_iter().for_each(|block| block.free(&OWN));
    }
}

#[test]
fn threads_share_it() {
    let work = |seed: usize| {
        move || {
            for round in 0..200 {
                let blocks: Vec<_> =
                    (1..40).map(|n| Block::new(&OWN, n * seed + round, 4, n as u8)).collect();
                blocks.into_iter().for_each(|block| block.free(&OWN));
            }
        }
    };
    let threads: Vec<_> = (1..5).map(|seed| std::thread::spawn(work(seed * 7))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The other thread, which is within the allocator, does not exist in the child.
#[test]
fn a_child_starts_over_if_somebody_was_within() {
    static OTHER: OwnMemory = OwnMemory::new();
    let inherited = Block::new(&OTHER, 100, 4, 7);
    let (entered, has_entered) = channel();
    let (leave, may_leave) = channel::<()>();
    let within = std::thread::spawn(move || {
        OTHER.with(|_| {
            entered.send(()).unwrap();
            may_leave.recv().unwrap();
        });
    });
    has_entered.recv().unwrap();
    // SAFETY: a child that leaves at once; what it allocates is its own.
    let child = unsafe { libc::fork() };
    if child == 0 {
        OTHER.in_child();
        let mut block = Block { ..inherited };
        block.resize(&OTHER, 300_000);
        block.resize(&OTHER, 200);
        block.free(&OTHER);
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 1;
    // SAFETY: waits for the child.
    unsafe { libc::waitpid(child, &mut status, 0) };
    leave.send(()).unwrap();
    within.join().unwrap();
    inherited.free(&OTHER);
    assert_eq!(status, 0);
}

/// What lies before and behind a block that is mapped by itself cannot be accessed.
#[test]
fn mappings_lie_apart() {
    let start = map(LARGE);
    let can_be_read = |address: *mut u8| {
        let mut pipe = [0; 2];
        // SAFETY: the system says whether the byte can be read.
        unsafe {
            assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
            let written = libc::write(pipe[1], address.cast(), 1);
            pipe.iter().for_each(|file| {
                libc::close(*file);
            });
            written == 1
        }
    };
    assert!(can_be_read(start) && can_be_read(start.wrapping_add(LARGE - 1)));
    assert!(!can_be_read(start.wrapping_sub(1)) && !can_be_read(start.wrapping_add(LARGE)));
    // SAFETY: nobody uses it.
    assert!(unsafe { unmap(start, LARGE) });
}
