//! Rendezvous of a communicator's ranks in shared memory, within one process or across several.
//!
//! A file in `/dev/shm`, named by the communicator's unique identifier, exists until all ranks have
//! arrived. Then they exchange messages in rounds: each rank writes its own, and reads those of
//! all. Two message buffers per rank are enough: a rank that writes for the round after next knows
//! that all others have read that buffer, since they have written for the next round.

use crate::abi::{ID_BYTES, UniqueId};
use crate::error::{Failure, Result};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of ranks of a communicator: a node has as many simulated devices.
pub const MAX_RANKS: usize = 64;

/// Bytes that a rank publishes in one round.
pub const MESSAGE_BYTES: usize = 128;

/// Maximum time for which a waiting rank sleeps at once.
const MAX_SLEEP: Duration = Duration::from_micros(500);
/// Interval at which a waiting rank checks that the others are alive.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(100);

impl UniqueId {
    /// A random identifier, which no other communicator has.
    pub fn new() -> Result<UniqueId> {
        let mut bytes = [0; ID_BYTES];
        let random =
            File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes[..24]));
        random.map_err(|error| Failure::system("/dev/urandom", &error))?;
        Ok(UniqueId(bytes))
    }

    /// The identifier of a communicator derived from this one's; all its ranks compute it from the
    /// same name.
    pub fn child(&self, name: impl Hash) -> UniqueId {
        let mut bytes = [0; ID_BYTES];
        for (salt, part) in bytes[..24].chunks_exact_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (self.0, &name, salt).hash(&mut hasher);
            part.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        UniqueId(bytes)
    }

    fn path(&self) -> PathBuf {
        let mut name = String::from("/dev/shm/commsan-nccl-");
        // The random part; the rest is zero.
        for byte in &self.0[..24] {
            let _ = write!(name, "{byte:02x}");
        }
        PathBuf::from(name)
    }
}

/// The contents of the file.
#[repr(C)]
struct Shared {
    /// Number of ranks, once one has arrived.
    ranks: AtomicU32,
    /// Number of arrived ranks.
    arrived: AtomicU32,
    /// Whether a rank has found a mismatch.
    broken: AtomicU32,
    seats: [Seat; MAX_RANKS],
}

/// The part that one rank writes.
#[repr(C)]
struct Seat {
    /// The rank's process id; 0 until it arrives.
    process: AtomicU32,
    /// Whether the rank no longer needs the others.
    gone: AtomicU32,
    /// Number of rounds that the rank has written.
    rounds: AtomicU64,
    messages: [[AtomicU8; MESSAGE_BYTES]; 2],
}

/// One rank's end of a rendezvous.
#[derive(Debug)]
pub struct Rendezvous {
    shared: *const Shared,
    rank: usize,
    ranks: usize,
}

// SAFETY: the shared memory is accessed by atomics only, and stays mapped as long as `self`.
unsafe impl Send for Rendezvous {}
// SAFETY: as for `Send`; a round is run by one thread at a time, whose caller holds a lock.
unsafe impl Sync for Rendezvous {}

impl Rendezvous {
    /// Arrives, and waits until all ranks have.
    pub fn join(id: &UniqueId, rank: usize, ranks: usize) -> Result<Rendezvous> {
        if ranks > MAX_RANKS {
            return Err(Failure::argument(format!(
                "more than {MAX_RANKS} ranks are not simulated"
            )));
        }
        let path = id.path();
        let shared =
            map(&path).map_err(|error| Failure::system("shared memory of ranks", &error))?;
        let rendezvous = Rendezvous { shared, rank, ranks };
        let outcome = rendezvous.come();
        if outcome.is_err() || rendezvous.shared().arrived.load(Ordering::Acquire) as usize == ranks
        {
            // All ranks have mapped it, or no further rank is to arrive. The first one to get here
            // removes it.
            let _ = std::fs::remove_file(path);
        }
        outcome.map(|()| rendezvous)
    }

    fn come(&self) -> Result {
        let (shared, ranks) = (self.shared(), self.ranks as u32);
        let first = shared.ranks.compare_exchange(0, ranks, Ordering::AcqRel, Ordering::Acquire);
        if let Err(others) = first.or_else(|there| if there == ranks { Ok(0) } else { Err(there) })
        {
            return Err(
                self.fail(format!("mismatch in rank count: {ranks} here, {others} elsewhere"))
            );
        }
        let process = &self.seat(self.rank).process;
        let own = std::process::id();
        if process.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire).is_err() {
            let (rank, ranks) = (self.rank, self.ranks);
            return Err(self.fail(format!("rank {rank} of {ranks} ranks has already checked in")));
        }
        shared.arrived.fetch_add(1, Ordering::AcqRel);
        self.wait("it came", || shared.arrived.load(Ordering::Acquire) == ranks)
    }

    /// Marks a mismatch, so that no rank waits for others any more.
    fn fail(&self, message: String) -> Failure {
        self.shared().broken.store(1, Ordering::Release);
        Failure::usage(message)
    }

    fn shared(&self) -> &Shared {
        // SAFETY: mapped as long as `self`; every field is atomic and valid as zero.
        unsafe { &*self.shared }
    }

    fn seat(&self, rank: usize) -> &Seat {
        &self.shared().seats[rank]
    }

    /// The process of a rank that has arrived.
    pub fn process(&self, rank: usize) -> u32 {
        self.seat(rank).process.load(Ordering::Acquire)
    }

    /// All-gathers: publishes a message of this rank and returns those of all ranks.
    pub fn exchange(&self, message: &[u8; MESSAGE_BYTES]) -> Result<Vec<[u8; MESSAGE_BYTES]>> {
        let own = self.seat(self.rank);
        let round = own.rounds.load(Ordering::Relaxed);
        let place = (round % 2) as usize;
        for (to, byte) in own.messages[place].iter().zip(message) {
            to.store(*byte, Ordering::Relaxed);
        }
        own.rounds.store(round + 1, Ordering::Release);
        let published = |rank: usize| self.seat(rank).rounds.load(Ordering::Acquire) > round;
        self.wait("all had told", || (0..self.ranks).all(published))?;
        let read = |rank: usize| {
            let from = &self.seat(rank).messages[place];
            std::array::from_fn(|at| from[at].load(Ordering::Relaxed))
        };
        Ok((0..self.ranks).map(read).collect())
    }

    /// Declares that this rank no longer needs the others.
    pub fn leave(&self) {
        self.seat(self.rank).gone.store(1, Ordering::Release);
    }

    /// Whether every rank has left or exited.
    pub fn have_all_left(&self) -> bool {
        let left = |rank: usize| self.seat(rank).gone.load(Ordering::Acquire) != 0;
        (0..self.ranks).all(|rank| left(rank) || self.is_dead(rank))
    }

    /// Waits until every rank has left or exited.
    pub fn wait_for_all_to_leave(&self) {
        // A rank whose process has exited has left, so that this is no failure.
        while !self.have_all_left() {
            std::thread::sleep(MAX_SLEEP);
        }
    }

    /// Waits for a condition; an error if a rank exits without having left.
    fn wait(&self, what: &str, is_so: impl Fn() -> bool) -> Result {
        let (mut nap, mut looked) = (Duration::from_micros(10), Instant::now());
        while !is_so() {
            if self.shared().broken.load(Ordering::Acquire) != 0 {
                return Err(Failure::remote("the ranks do not fit together"));
            }
            if looked.elapsed() > LIVENESS_INTERVAL {
                looked = Instant::now();
                if let Some(rank) = (0..self.ranks).find(|&rank| self.is_dead(rank)) {
                    return Err(Failure::remote(format!("rank {rank} has ended before {what}")));
                }
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(MAX_SLEEP);
        }
        Ok(())
    }

    fn is_dead(&self, rank: usize) -> bool {
        let process = self.process(rank);
        let left = self.seat(rank).gone.load(Ordering::Acquire) != 0;
        if process == 0 || process == std::process::id() || left {
            return false;
        }
        // SAFETY: signal 0 only checks for existence.
        let asked = unsafe { libc::kill(process as libc::pid_t, 0) };
        asked != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        // SAFETY: mapped by us with this size, and no longer used.
        unsafe { libc::munmap(self.shared.cast_mut().cast(), size_of::<Shared>()) };
    }
}

fn map(path: &PathBuf) -> io::Result<*const Shared> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    // Every rank sets the same size, so that nothing is ever truncated.
    file.set_len(size_of::<Shared>() as u64)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the system chooses.
    let address = unsafe {
        let size = size_of::<Shared>();
        libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(address.cast_const().cast())
}

/// Pads a few words to a whole message.
pub fn message(words: &[u64]) -> [u8; MESSAGE_BYTES] {
    let mut message = [0; MESSAGE_BYTES];
    for (to, word) in message.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    message
}

/// A word of a message.
pub fn word(message: &[u8; MESSAGE_BYTES], number: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|at| message[8 * number + at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(ranks: usize, each: impl Fn(Rendezvous, usize) + Sync) {
        let id = UniqueId::new().expect("random bytes");
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let (id, each) = (&id, &each);
                scope.spawn(move || {
                    each(Rendezvous::join(id, rank, ranks).expect("all come"), rank)
                });
            }
        });
        assert!(!id.path().exists());
    }

    #[test]
    fn all_learn_what_all_tell_round_by_round() {
        meet(5, |rendezvous, rank| {
            for round in 0..50 {
                let published =
                    rendezvous.exchange(&message(&[rank as u64, round])).expect("all tell");
                let words: Vec<_> = published.iter().map(|m| (word(m, 0), word(m, 1))).collect();
                assert_eq!(words, (0..5).map(|rank| (rank, round)).collect::<Vec<_>>());
            }
            rendezvous.leave();
            rendezvous.wait_for_all_to_leave();
        });
    }

    #[test]
    fn ranks_that_do_not_fit_together_learn_it() {
        let id = UniqueId::new().expect("random bytes");
        let codes = std::thread::scope(|scope| {
            let join = |rank, ranks| {
                let id = &id;
                scope.spawn(move || Rendezvous::join(id, rank, ranks).map(drop).map_err(|e| e.code))
            };
            let waits = join(0, 3);
            std::thread::sleep(Duration::from_millis(50));
            [join(1, 2).join().expect("no panic"), waits.join().expect("no panic")]
        });
        use crate::abi::Code;
        assert_eq!(codes, [Err(Code::InvalidUsage), Err(Code::Remote)]);
    }

    #[test]
    fn children_differ() {
        let id = UniqueId::new().expect("random bytes");
        let ids = [id, id.child((0, 0)), id.child((0, 1)), id.child((1, 0))];
        for (at, one) in ids.iter().enumerate() {
            assert!(ids[at + 1..].iter().all(|other| other != one));
        }
        assert_eq!(id.child((3, 4)), id.child((3, 4)));
    }
}
