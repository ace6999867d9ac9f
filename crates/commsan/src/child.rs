//! Running the command: starting it, forwarding signals, waiting for its end.

use crate::exit_code;
use crate::failure::Failure;
use crate::install::JobEnvironment;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Signals that a user, a batch system or a test harness sends to end or notify a job; they are
/// forwarded, except for SIGQUIT, which asks commsan for a roll call.
const HANDLED: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// Finds the executable file that `command` names, as a shell does.
///
/// # Errors
/// When there is none (127) or it cannot be executed (126), with advice.
pub fn find(command: &OsStr) -> Result<PathBuf, Failure> {
    let shown = command.to_string_lossy();
    let not_executable = |why: &str, help: &str| {
        let what = format!("cannot execute `{shown}`: {why}");
        Failure::new(exit_code::NOT_EXECUTABLE, what).help(help)
    };
    if command.as_bytes().contains(&b'/') {
        let path = Path::new(command);
        return match std::fs::metadata(path) {
            Ok(status) if status.is_dir() => {
                Err(not_executable("it is a directory", "name a program in it"))
            }
            Ok(_) if is_executable(path) => Ok(path.to_owned()),
            Ok(_) => {
                let help = format!("`chmod +x {shown}` makes it executable if it is a program");
                Err(not_executable("permission denied", &help))
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(not_executable("permission denied", "check the directories above it"))
            }
            Err(_) => Err(Failure::new(exit_code::NOT_FOUND, format!("there is no `{shown}`"))
                .help("has it been built, and is this the right directory?")),
        };
    }
    if let Some(path) = search(command) {
        return Ok(path);
    }
    let failure = Failure::new(exit_code::NOT_FOUND, format!("command `{shown}` not found"));
    Err(match &*shown {
        "mpirun" | "mpiexec" | "orterun" | "mpirun.openmpi" | "mpiexec.openmpi" => failure.help(
            "install an MPI: `apt install openmpi-bin libopenmpi-dev` or `apt install mpich`; on \
             clusters: `module load` one",
        ),
        "mpirun.mpich" | "mpiexec.mpich" | "mpiexec.hydra" => {
            failure.help("install MPICH: `apt install mpich libmpich-dev`")
        }
        "srun" | "salloc" => failure.help("srun belongs to Slurm; without it use `mpirun -n N`"),
        _ if Path::new(command).is_file() => failure.help(format!("did you mean `./{shown}`?")),
        _ => failure.help("is it installed, and in PATH?"),
    })
}

/// The executable file called `name` in `PATH`.
pub fn search(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|p| is_executable(p))
}

/// Whether this is an executable file.
pub fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
}

/// Runs `command` to its end. With `bound` it is killed if this process is, as launchers do.
///
/// # Errors
/// When it cannot be started.
pub fn run(
    command: &[OsString],
    environment: &JobEnvironment,
    bound: bool,
) -> Result<ExitStatus, Failure> {
    let mut command = prepare(command, environment);
    let former = current_mask();
    let signals = Forwarding::start();
    let ignores_quit = signals.ignored(libc::SIGQUIT);
    // The child inherits what is blocked while it starts, and ranks inherit it from a launcher.
    // SAFETY: the closure makes async-signal-safe calls only.
    unsafe {
        command.pre_exec(move || {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const former, std::ptr::null_mut());
            if ignores_quit {
                libc::signal(libc::SIGQUIT, libc::SIG_IGN);
            }
            if bound {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            }
            Ok(())
        });
    }
    let mut child = command.spawn().map_err(|error| cannot_start(&command, &error))?;
    signals.to(child.id());
    let status = child.wait();
    drop(signals);
    status.map_err(|error| {
        Failure::new(exit_code::SETUP, format!("waiting for the command failed: {error}"))
    })
}

/// Replaces this process by `command`; returns only if that fails.
pub fn become_command(command: &[OsString], environment: &JobEnvironment) -> Failure {
    let mut command = prepare(command, environment);
    let error = command.exec();
    cannot_start(&command, &error)
}

fn prepare(words: &[OsString], environment: &JobEnvironment) -> Command {
    let (program, arguments) =
        words.split_first().map_or((OsStr::new(""), words), |(p, a)| (p.as_os_str(), a));
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.set.iter().map(|(name, value)| (name, value)));
    for name in &environment.remove {
        command.env_remove(name);
    }
    command
}

fn cannot_start(command: &Command, error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::NotFound => exit_code::NOT_FOUND,
        _ => exit_code::NOT_EXECUTABLE,
    };
    let program = command.get_program().to_string_lossy();
    let failure = Failure::new(code, format!("cannot start `{program}`: {error}"));
    match error.raw_os_error() {
        Some(libc::ENOEXEC) => failure
            .help("it is neither a program for this machine nor a script that begins with `#!`"),
        Some(libc::E2BIG) => failure.help("the command line or the environment is too long"),
        _ => failure,
    }
}

/// The exit code a shell would report.
pub fn shell_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| i32::from(exit_code::SIGNAL) + status.signal().unwrap_or(0))
}

/// The name of the signal that ended the command, if one did.
pub fn signal_name(status: ExitStatus) -> Option<String> {
    let signal = status.signal()?;
    // SAFETY: strsignal returns a C string for any number; only this thread calls it.
    let name = unsafe { std::ffi::CStr::from_ptr(libc::strsignal(signal)) };
    Some(format!("signal {signal} ({})", name.to_string_lossy()))
}

static CHILD: AtomicI32 = AtomicI32::new(0);

/// Whether a roll call was asked for.
static ROLL_CALL: AtomicBool = AtomicBool::new(false);

/// Whether somebody has asked for a roll call, by SIGQUIT, since this was called last.
pub fn wants_roll_call() -> bool {
    ROLL_CALL.swap(false, Ordering::Relaxed)
}

/// Forwards signals to the child while it exists.
struct Forwarding {
    former: Vec<(libc::c_int, libc::sigaction)>,
}

impl Forwarding {
    /// Installs the handlers. Signals that arrive before the child is known stay pending.
    fn start() -> Forwarding {
        extern "C" fn forward(
            signal: libc::c_int,
            info: *mut libc::siginfo_t,
            _: *mut libc::c_void,
        ) {
            // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo.
            let from_terminal = unsafe { (*info).si_code } > 0;
            let child = CHILD.load(Ordering::Relaxed);
            if signal == libc::SIGQUIT {
                // That of a terminal's Ctrl-\ also goes to the launcher, which ends by it.
                ROLL_CALL.store(!from_terminal, Ordering::Relaxed);
                return;
            }
            // The terminal signals the whole foreground process group, which includes the child. A
            // second interrupt would make mpirun kill its job at once.
            if child > 0 && !from_terminal {
                // SAFETY: kill is async-signal-safe; the child has not been waited for yet, as
                // `drop` blocks out this handler first.
                unsafe { libc::kill(child, signal) };
            }
        }
        CHILD.store(0, Ordering::Relaxed);
        mask(libc::SIG_BLOCK);
        let handler: extern "C" fn(_, _, _) = forward;
        let mut former = Vec::new();
        for signal in HANDLED {
            // SAFETY: both structures are valid, all-zero is a valid sigaction, and the handler
            // only makes async-signal-safe calls.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(signal, std::ptr::null(), &raw mut old);
                // nohup and similar tools ignore a signal on purpose; commsan and the child must
                // ignore it, too. Shells ignore SIGQUIT for what they run in the background.
                if old.sa_sigaction != libc::SIG_IGN || signal == libc::SIGQUIT {
                    libc::sigaction(signal, &raw const action, std::ptr::null_mut());
                    former.push((signal, old));
                }
            }
        }
        Forwarding { former }
    }

    /// Whether a signal was ignored before.
    fn ignored(&self, signal: libc::c_int) -> bool {
        let mut former = self.former.iter();
        former.any(|(other, old)| *other == signal && old.sa_sigaction == libc::SIG_IGN)
    }

    /// Publishes the child's process number and unblocks signals.
    fn to(&self, child: u32) {
        CHILD.store(child.cast_signed(), Ordering::Relaxed);
        mask(libc::SIG_UNBLOCK);
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        CHILD.store(0, Ordering::Relaxed);
        for (signal, old) in &self.former {
            // SAFETY: sigaction has initialised `old`.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
        mask(libc::SIG_UNBLOCK);
    }
}

/// Runs `start` with the forwarded signals blocked. Threads that it starts inherit the mask, so the
/// kernel delivers the signals to the thread that waits for the child.
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    let former = current_mask();
    mask(libc::SIG_BLOCK);
    let started = start();
    // SAFETY: the set is the former mask of this thread.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const former, std::ptr::null_mut()) };
    started
}

/// Whether standard output and standard error can be written to without blocking.
pub fn may_write() -> bool {
    let output = |fd| libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    let mut both = [output(libc::STDOUT_FILENO), output(libc::STDERR_FILENO)];
    // SAFETY: the array is valid for its length.
    unsafe { libc::poll(both.as_mut_ptr(), both.len() as libc::nfds_t, 0) };
    both.iter().all(|output| output.revents != 0)
}

/// The signal mask of this thread.
fn current_mask() -> libc::sigset_t {
    // SAFETY: only queries the mask, into a structure for which all-zero is valid.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set);
        set
    }
}

/// Blocks or unblocks the forwarded signals.
fn mask(how: libc::c_int) {
    // SAFETY: the set is initialised by sigemptyset before its use.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in HANDLED {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked() -> Vec<i32> {
        let mask = current_mask();
        // SAFETY: the set is initialised.
        HANDLED
            .into_iter()
            .filter(|s| unsafe { libc::sigismember(&raw const mask, *s) } == 1)
            .collect()
    }

    #[test]
    fn signals_are_for_the_thread_that_waits() {
        let of_the_other = without_signals(|| std::thread::spawn(blocked)).join().unwrap();
        assert_eq!(of_the_other, HANDLED);
        assert!(blocked().is_empty());
    }
}
