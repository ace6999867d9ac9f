//! The relay of a node: answers what ranks of other nodes ask of its memory, for as long as its
//! process lives.
//!
//! It is a thread of one rank, and does only what that memory's owners can do to each other without
//! waiting: no answer depends on what a rank does. A peer that does not present the token, which is
//! in a file that only the user can read, gets no answer.

use crate::answers::answer;
use crate::job_shm::JobShm;
use crate::memory::Memory;
use crate::nodes::{self, Token};
use crate::wire::{self, Question, Reply};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;

/// Bytes of answers that a peer may leave unread.
const MAX_UNREAD: usize = 64 << 20;

/// The listener of a node, and its memory.
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
    /// Announces a relay by the file through which other nodes find it; it answers once it
    /// [serves](Self::serve). `rank` answers for the node.
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

    /// The port at which the relay listens.
    fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Answers forever; returns only if it cannot.
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
            // SAFETY: the array has as many descriptions as passed.
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

    /// `None` if the connection is to be closed.
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

    /// Answers all complete frames; `None` if one is malformed.
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
