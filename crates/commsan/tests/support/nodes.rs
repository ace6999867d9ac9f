//! Nodes that are namespaces of this machine: each has a name, a network interface and a
//! `/dev/shm` of its own, so that ranks of different nodes share nothing but files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);

/// What makes a shell in new namespaces a node, which stays as long as the shell. UCX finds
/// interfaces by `/sys`.
const NODE: &str = "hostname \"$0\" && mount -t tmpfs tmpfs /dev/shm && mount -t sysfs sysfs /sys \
                    && mount --bind \"$1/hosts\" /etc/hosts && ip link set lo up \
                    && touch \"$1/$0\" && exec sleep 3600";

/// Two nodes, `node0` and `node1`, which end with this, or with the thread that has started them.
pub struct Nodes {
    directory: tempfile::TempDir,
    holders: Vec<Child>,
}

impl Nodes {
    /// Starts them, or says why that is impossible here.
    pub fn start() -> Result<Nodes, String> {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            return Err("namespaces as nodes need root".to_owned());
        }
        let directory = tempfile::Builder::new().prefix("nodes").tempdir();
        let directory = directory.map_err(|error| error.to_string())?;
        let mut nodes = Nodes { directory, holders: Vec::new() };
        let hosts = "127.0.0.1 localhost\n10.77.0.1 node0\n10.77.0.2 node1\n";
        fs::write(nodes.path("hosts"), hosts).map_err(|error| error.to_string())?;
        for name in ["node0", "node1"] {
            nodes.hold(name)?;
        }
        let [first, second] = [0, 1].map(|node| nodes.holders[node].id().to_string());
        let pair = ["link", "add", "veth", "netns", &first, "type", "veth"];
        succeed(Command::new("ip").args(pair).args(["peer", "name", "veth", "netns", &second]))?;
        for (node, address) in [(0, "10.77.0.1/24"), (1, "10.77.0.2/24")] {
            succeed(&mut nodes.command(node, "ip", &["addr", "add", address, "dev", "veth"]))?;
            succeed(&mut nodes.command(node, "ip", &["link", "set", "veth", "up"]))?;
        }
        nodes.await_link()?;
        nodes.write_agent().map_err(|error| error.to_string())?;
        Ok(nodes)
    }

    /// Waits until the kernel says that the nodes are connected, which it does from time to time:
    /// UCX takes no interface before.
    fn await_link(&self) -> Result<(), String> {
        let end = Instant::now() + LIMIT;
        let is_up = |node: usize| {
            let output = self.command(node, "ip", &["link", "show", "dev", "veth"]).output();
            output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("state UP"))
        };
        while !(is_up(0) && is_up(1)) {
            if Instant::now() > end {
                return Err("the nodes' interfaces are not up".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `ssh [OPTION…] HOST COMMAND…`, for launchers.
    pub fn agent(&self) -> PathBuf {
        self.path("ssh")
    }

    /// A command that runs on a node.
    pub fn command(&self, node: usize, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.holders[node].id().to_string(), "-n", "-u", "-i", "-m", "--"]);
        command.arg(program).args(arguments);
        command
    }

    fn hold(&mut self, name: &str) -> Result<(), String> {
        let mut command = Command::new("unshare");
        command.args(["--net", "--uts", "--ipc", "--mount", "--", "sh", "-c", NODE, name]);
        command.arg(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        // SAFETY: prctl is async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let holder = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        self.holders.push(holder);
        let begin = Instant::now();
        while !self.path(name).exists() {
            let ended = self.holders.last_mut().and_then(|holder| holder.try_wait().ok().flatten());
            if ended.is_some() || begin.elapsed() > LIMIT {
                return Err("namespaces or mounts are not permitted here".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn write_agent(&self) -> std::io::Result<()> {
        let [first, second] = [0, 1].map(|node| self.holders[node].id());
        let script = format!(
            "#!/bin/sh\n\
             while [ \"${{1#-}}\" != \"$1\" ]; do shift; done\n\
             case $1 in node0) node={first} ;; *) node={second} ;; esac\n\
             shift\n\
             exec nsenter -t $node -n -u -i -m --wd=\"$PWD\" -- sh -c \"$*\"\n"
        );
        fs::write(self.agent(), script)?;
        fs::set_permissions(self.agent(), fs::Permissions::from_mode(0o755))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for holder in &mut self.holders {
            // It may have ended already.
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| format!("{command:?}: {}", said.trim()))
}
