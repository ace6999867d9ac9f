//! How the nodes of a job find each other: each leaves a file in the run directory, which all of them see.
//!
//! The name says which job and which node; the file, that only the user can read, where the node's relay listens, and
//! the token that it wants to see.

use crate::connection::Connection;
use crate::wire::Question;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// The secret of a job's node.
pub(crate) type Token = [u64; 2];

/// How long to try an address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// What the files of a job's nodes begin with.
pub(crate) fn prefix(job: &str) -> String {
    format!("node-{job}-")
}

/// The job that the file of a node is of; `None` for other files.
pub(crate) fn job_of(name: &str) -> Option<&str> {
    Some(name.strip_prefix("node-")?.rsplit_once('-')?.0)
}

/// How many ranks the job has that the file of a node is of.
pub(crate) fn ranks(place: &Path) -> Option<usize> {
    fs::read_to_string(place).ok()?.split_whitespace().nth(3)?.parse().ok()
}

/// The name of a node's file.
pub(crate) fn name(job: &str, node: &str) -> String {
    prefix(job) + node
}

/// Leaves the file of this node, whose relay listens at this port and wants to see this token.
pub(crate) fn leave(place: &Path, token: Token, port: u16, ranks: usize) -> io::Result<()> {
    let mut text = format!("{:x} {:x} {port} {ranks}", token[0], token[1]);
    for host in addresses().iter().map(IpAddr::to_string).chain(host_name()) {
        let _ = write!(text, " {host}");
    }
    let draft = place.with_extension("draft");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    writeln!(file, "{text}")?;
    drop(file);
    fs::rename(&draft, place)
}

/// Connects to the nodes of a job that have not been seen yet, and whose relays can be reached.
pub(crate) fn look(
    directory: &Path,
    job: &str,
    ranks: usize,
    seen: &mut Vec<String>,
) -> Vec<Connection> {
    let (prefix, mut found) = (prefix(job), Vec::new());
    // Listing the directory also makes shared file systems look again.
    for file in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let is_new = name.starts_with(&prefix) && !name.contains('.') && !seen.contains(&name);
        if is_new && let Some(node) = connect(&file.path(), ranks) {
            found.push(node);
            seen.push(name);
        }
    }
    found
}

fn connect(place: &Path, ranks: usize) -> Option<Connection> {
    let text = fs::read_to_string(place).ok()?;
    let mut words = text.split_whitespace();
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    let token: Token = [number()?, number()?];
    let port: u16 = words.next()?.parse().ok()?;
    words.next().filter(|count| count.parse() == Ok(ranks))?;
    words.find_map(|host| {
        let addresses = (host, port).to_socket_addrs().ok()?;
        addresses.into_iter().find_map(|address| greet(address, token, ranks))
    })
}

/// Addresses may be those of others, or of this node.
fn greet(address: SocketAddr, token: Token, ranks: usize) -> Option<Connection> {
    let mut node =
        Connection::new(TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).ok()?).ok()?;
    node.ask(Question::Hello, &[token[0], token[1], ranks as u64]).ok()?;
    Some(node)
}

/// A new secret.
pub(crate) fn token() -> io::Result<Token> {
    let mut token = [0; 2];
    // SAFETY: memory of that size.
    let got = unsafe { libc::getrandom(token.as_mut_ptr().cast(), size_of::<Token>(), 0) };
    if got == size_of::<Token>() as isize { Ok(token) } else { Err(io::Error::last_os_error()) }
}

fn host_name() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned())
}

/// The addresses of this node, those that only itself can use last.
fn addresses() -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    let mut first = std::ptr::null_mut();
    // SAFETY: the list is filled, read, and freed.
    unsafe {
        if libc::getifaddrs(&raw mut first) != 0 {
            return found;
        }
        let mut next = first;
        while let Some(one) = next.as_ref() {
            next = one.ifa_next;
            found.extend(address(one.ifa_addr));
        }
        libc::freeifaddrs(first);
    }
    found.sort_by_key(IpAddr::is_loopback);
    found
}

/// # Safety
/// Null, or an address of the family that it says.
unsafe fn address(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: by the caller.
    let found = unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let address = &*address.cast::<libc::sockaddr_in>();
                IpAddr::from(address.sin_addr.s_addr.to_ne_bytes())
            }
            libc::AF_INET6 => {
                IpAddr::from((*address.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr)
            }
            _ => return None,
        }
    };
    // Those of one link mean nothing without it.
    let of_a_link = matches!(found, IpAddr::V6(six) if six.is_unicast_link_local());
    (!of_a_link).then_some(found)
}
