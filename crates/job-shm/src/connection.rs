//! Connection to another node's relay: questions and their answers, and notices that nobody waits for.

use crate::wire::{self, Question, Reply};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long a relay may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Notices that may be under way, and bytes of them that wait to be sent.
const MAX_UNDER_WAY: usize = 256;
const MAX_UNSENT: usize = 1 << 16;

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    unsent: Vec<u8>,
    pub(crate) under_way: usize,
    /// There was no room for a notice.
    pub(crate) refused: bool,
    /// It has not answered: what comes yet may be the answer to anything.
    broken: bool,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Connection { stream, unsent: Vec::new(), under_way: 0, refused: false, broken: false })
    }

    /// Sends what is asked, after all notices.
    pub(crate) fn send(&mut self, question: Question, asked: &[u64]) -> io::Result<()> {
        wire::put(&mut self.unsent, question, asked.iter().copied());
        self.flush()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.unsent);
        self.try_to(|stream| stream.write_all(&bytes))?;
        self.unsent = bytes;
        self.unsent.clear();
        Ok(())
    }

    fn try_to<T>(&mut self, act: impl FnOnce(&mut TcpStream) -> io::Result<T>) -> io::Result<T> {
        if self.broken {
            return Err(ErrorKind::NotConnected.into());
        }
        act(&mut self.stream).inspect_err(|_| self.broken = true)
    }

    /// The answer to what was sent.
    pub(crate) fn receive(&mut self) -> io::Result<Vec<u64>> {
        self.collect_replies()?;
        self.read()
    }

    pub(crate) fn ask(&mut self, question: Question, asked: &[u64]) -> io::Result<Vec<u64>> {
        self.send(question, asked)?;
        self.receive()
    }

    /// Says that nothing can be relied upon, if it still hears that.
    pub(crate) fn switch_off(&mut self) {
        let _ = self.ask(Question::SwitchOff, &[]);
    }

    pub(crate) fn post(&mut self, from: usize, to: usize, notice: &[u64]) -> io::Result<()> {
        let head = [from as u64, to as u64];
        wire::put(&mut self.unsent, Question::Post, head.into_iter().chain(notice.iter().copied()));
        self.under_way += 1;
        match self.under_way >= MAX_UNDER_WAY || self.unsent.len() >= MAX_UNSENT {
            true => self.settle(),
            false => Ok(()),
        }
    }

    /// Waits until all notices have arrived.
    fn settle(&mut self) -> io::Result<()> {
        self.flush()?;
        self.collect_replies()
    }

    pub(crate) fn collect_replies(&mut self) -> io::Result<()> {
        for _ in 0..std::mem::take(&mut self.under_way) {
            self.refused |= self.read()? != [1];
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<Vec<u64>> {
        let (kind, words) = self.try_to(|stream| {
            let mut header = [0; 8];
            stream.read_exact(&mut header)?;
            let (kind, count) = wire::header(header).ok_or(ErrorKind::InvalidData)?;
            let mut bytes = vec![0; 8 * count];
            stream.read_exact(&mut bytes)?;
            Ok((kind, wire::words(&bytes).collect()))
        })?;
        match Reply::of(kind) {
            Some(Reply::Fine) => Ok(words),
            Some(Reply::Over) => Err(ErrorKind::ConnectionRefused.into()),
            None => Err(ErrorKind::InvalidData.into()),
        }
    }
}

/// Whether a node has answered that it cannot be relied upon.
pub(crate) fn is_over(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}
