//! The relay of a node: answers what ranks of other nodes ask its memory, for as long as its process lives.
//!
//! It is a thread of one rank, and does only what that memory's owners can do to each other without waiting: no
//! answer depends on what the rank, or any other, does. Who does not show the token, which is in a file that only
//! the user can read, gets no answer.

use crate::answers::answer;
use crate::job_shm::JobShm;
use crate::memory::Memory;
use crate::nodes::{self, Token};
use crate::wire::{self, Question, Reply};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;

/// How much of an answer a rank may leave unread.
const MAX_UNREAD: usize = 64 << 20;

/// What answers for a node.
pub struct Relay {
    listener: TcpListener,
    shm: JobShm,
    token: Token,
}

struct Peer {
    stream: TcpStream,
    arrived: Vec<u8>,
    answers: Vec<u8>,
    has_shown_token: bool,
}

impl Relay {
    /// A relay that is yet to [serve](Self::serve), by the rank that answers for the node, and the file by which others
    /// find it.
    pub(crate) fn announce(place: &Path, memory: Memory, rank: usize) -> io::Result<Relay> {
        let token = nodes::token()?;
        let relay = Relay::new(memory, rank, token)?;
        nodes::leave(place, token, relay.port()?, memory.ranks())?;
        Ok(relay)
    }

    fn new(memory: Memory, rank: usize, token: Token) -> io::Result<Relay> {
        let any = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0));
        let listener = any.or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
        listener.set_nonblocking(true)?;
        Ok(Relay { listener, shm: JobShm::new(memory, rank), token })
    }

    /// The port at which it listens.
    fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Answers, for ever; returns if it cannot.
    pub fn serve(self) {
        let mut peers: Vec<Peer> = Vec::new();
        loop {
            let wait = |file: i32, events| libc::pollfd { fd: file, events, revents: 0 };
            let mut files: Vec<_> = peers
                .iter()
                .map(|peer| {
                    let more = if peer.answers.is_empty() { 0 } else { libc::POLLOUT };
                    wait(peer.stream.as_raw_fd(), libc::POLLIN | more)
                })
                .collect();
            files.push(wait(self.listener.as_raw_fd(), libc::POLLIN));
            // SAFETY: as many descriptions as it is told.
            let ready = unsafe { libc::poll(files.as_mut_ptr(), files.len() as _, -1) };
            if ready < 0 && io::Error::last_os_error().kind() != ErrorKind::Interrupted {
                return self.shm.switch_off_here();
            }
            let mut ready = files.iter().map(|file| ready > 0 && file.revents != 0);
            peers.retain_mut(|peer| {
                !ready.next().unwrap_or(false) || self.attend_to(peer).is_some()
            });
            if ready.next().unwrap_or(false) {
                while let Ok((stream, _)) = self.listener.accept() {
                    if stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok() {
                        let (arrived, answers) = (Vec::new(), Vec::new());
                        peers.push(Peer { stream, arrived, answers, has_shown_token: false });
                    }
                }
            }
        }
    }

    /// `None` if there is no more to do for it.
    fn attend_to(&self, peer: &mut Peer) -> Option<()> {
        let mut bytes = [0; 64 << 10];
        loop {
            match peer.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => peer.arrived.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
            self.answer(peer)?;
        }
        while !peer.answers.is_empty() {
            match peer.stream.write(&peer.answers) {
                Ok(0) => return None,
                Ok(count) => drop(peer.answers.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        (peer.answers.len() <= MAX_UNREAD).then_some(())
    }

    /// Answers all frames that are there.
    fn answer(&self, peer: &mut Peer) -> Option<()> {
        let mut done = 0;
        while let Some((header, rest)) = peer.arrived[done..].split_first_chunk() {
            let (kind, count) = wire::header(*header)?;
            let question = Question::of(kind)?;
            if !peer.has_shown_token && (question, count) != (Question::Hello, 3) {
                return None;
            }
            let Some(bytes) = rest.get(..8 * count) else { break };
            let words: Vec<u64> = wire::words(bytes).collect();
            match peer.has_shown_token {
                true => answer(&self.shm, question, &words, &mut peer.answers)?,
                false => {
                    let [first, second] = self.token;
                    peer.has_shown_token = words == [first, second, self.shm.ranks() as u64];
                    peer.has_shown_token.then_some(())?;
                    wire::put(&mut peer.answers, Reply::Fine, []);
                }
            }
            done += 8 + 8 * count;
        }
        peer.arrived.drain(..done);
        Some(())
    }
}
