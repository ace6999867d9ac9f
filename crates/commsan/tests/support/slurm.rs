//! A Slurm of one node: the distribution's daemons with a configuration, ports and a socket of
//! their own, in a temporary directory. They need root, but neither systemd nor control groups.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the daemons may take to be ready: a second, where nothing else runs.
const LIMIT: Duration = Duration::from_secs(60);

/// The daemons, which end with this, or with the thread that has started them.
pub struct Slurm {
    pub directory: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts it, or says why that is impossible here.
    pub fn start() -> Result<Slurm, String> {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            return Err("Slurm's daemons need root".to_owned());
        }
        for tool in ["munged", "slurmctld", "slurmd"] {
            if !Path::new("/usr/sbin").join(tool).exists() {
                return Err(format!("{tool} is missing; `make setup NEEDS=test` installs it"));
            }
        }
        let directory = tempfile::Builder::new().prefix("slurm").tempdir();
        let directory = directory.map_err(|error| error.to_string())?;
        let mut slurm = Slurm { directory, daemons: Vec::new() };
        slurm.configure().map_err(|error| error.to_string())?;
        let [socket, key] = ["munge.sock", "munge.key"].map(|name| slurm.path(name));
        slurm.daemon(
            "munged",
            &[
                "--foreground".to_owned(),
                "--force".to_owned(),
                format!("--socket={}", socket.display()),
                format!("--key-file={}", key.display()),
                format!("--pid-file={}", slurm.path("munged.pid").display()),
                format!("--log-file={}", slurm.path("munged.log").display()),
                format!("--seed-file={}", slurm.path("munged.seed").display()),
            ],
        )?;
        wait("munged", &slurm, |_| socket.exists())?;
        slurm.daemon("slurmctld", &["-D".to_owned(), "-c".to_owned()])?;
        slurm.daemon("slurmd", &["-D".to_owned()])?;
        wait("slurmd", &slurm, |slurm| slurm.tool("sinfo", &["-h", "-o", "%T"]).trim() == "idle")?;
        Ok(slurm)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The file that Slurm's commands find this one by.
    pub fn conf(&self) -> PathBuf {
        self.path("slurm.conf")
    }

    /// What a command of Slurm prints.
    pub fn tool(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(name);
        command.args(arguments).env("SLURM_CONF", self.conf()).stdin(Stdio::null());
        let output = command.output();
        output.map_or(String::new(), |out| String::from_utf8_lossy(&out.stdout).into_owned())
    }

    /// Steps that were launched, and those of them whose `slurmstepd` has come to its end by
    /// itself.
    pub fn steps(&self) -> (Vec<String>, Vec<String>) {
        let log = fs::read_to_string(self.path("slurmd.log")).unwrap_or_default();
        let launched = log.lines().filter_map(|line| line.split_once("launch task StepId="));
        let launched = launched.filter_map(|(_, rest)| rest.split_once(' '));
        let done = log.lines().filter(|line| line.ends_with("done with job"));
        let done = done.filter_map(|line| line.split_once("] ["));
        let done = done.filter_map(|(_, rest)| rest.split_once(']'));
        (
            launched.map(|(step, _)| step.to_owned()).collect(),
            done.map(|(s, _)| s.to_owned()).collect(),
        )
    }

    fn configure(&self) -> std::io::Result<()> {
        let own = self.directory.path();
        fs::set_permissions(own, fs::Permissions::from_mode(0o755))?;
        for name in ["state", "spool"] {
            fs::create_dir(own.join(name))?;
        }
        // It protects nothing but this test.
        fs::write(own.join("munge.key"), [0x2a; 128])?;
        fs::set_permissions(own.join("munge.key"), fs::Permissions::from_mode(0o600))?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let host = host.trim().split('.').next().unwrap_or_default();
        let ports = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
        let [controller, daemon] = ports.each_ref().map(TcpListener::local_addr);
        let (controller, daemon, own) = (controller?.port(), daemon?.port(), own.display());
        let conf = format!(
            "ClusterName=test\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={controller}\n\
             SlurmdPort={daemon}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={own}/munge.sock\n\
             CryptoType=crypto/munge\n\
             SlurmUser=root\n\
             SlurmdUser=root\n\
             StateSaveLocation={own}/state\n\
             SlurmdSpoolDir={own}/spool\n\
             SlurmctldPidFile={own}/slurmctld.pid\n\
             SlurmdPidFile={own}/slurmd.pid\n\
             SlurmctldLogFile={own}/slurmctld.log\n\
             SlurmdLogFile={own}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\n\
             SwitchType=switch/none\n\
             SlurmdParameters=config_overrides\n\
             ReturnToService=2\n\
             KillWait=2\n\
             MailProg=/bin/true\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:8\n"
        );
        fs::write(self.conf(), conf)
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) -> Result<(), String> {
        let mut command = Command::new(Path::new("/usr/sbin").join(name));
        command.args(arguments).env("SLURM_CONF", self.conf());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0);
        // SAFETY: prctl is async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        let daemon = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        self.daemons.push(daemon);
        Ok(())
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            // SAFETY: the child has not been waited for.
            unsafe { libc::kill(daemon.id().cast_signed(), libc::SIGTERM) };
            let _ = daemon.wait();
        }
    }
}

fn wait(what: &str, slurm: &Slurm, is_there: impl Fn(&Slurm) -> bool) -> Result<(), String> {
    let begin = Instant::now();
    while !is_there(slurm) {
        if begin.elapsed() > LIMIT {
            let log = fs::read_to_string(slurm.path(&format!("{what}.log"))).unwrap_or_default();
            let last = log.lines().next_back().unwrap_or("it has said nothing").to_owned();
            return Err(format!("{what} is not ready after {LIMIT:?}: {last}"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
