//! The address under which the viewer can be reached.

use std::net::SocketAddr;

/// The address of a running server, and what to do with it on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// With the token: whoever knows it may look at the run.
    pub url: String,
    /// The command, on the user's own machine, after which `url` works there too.
    pub tunnel: String,
}

impl Address {
    /// Of a server at `socket` of `host`.
    pub fn new(socket: SocketAddr, host: &str, token: &str) -> Address {
        let port = socket.port();
        Address {
            url: format!("http://127.0.0.1:{port}/?token={token}"),
            tunnel: format!("ssh -N -L {port}:127.0.0.1:{port} {host}"),
        }
    }
}
