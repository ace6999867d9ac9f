//! Running a kit's programs: environment, launcher, limit.

use crate::kit::Case;
use commsan_test_cases::limited::{self, Ended};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// Where a kit's parts are, and which devices its programs use.
pub struct Kit {
    /// The kit's directory.
    pub root: PathBuf,
    /// `real` or `sim:N`.
    pub gpu: String,
    /// Longest time of one program.
    pub limit: Duration,
    /// Whether simulated devices keep to themselves what kernels access.
    pub opaque: bool,
}

/// A program to run.
pub struct Job<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [String],
    /// MPI ranks; `None` without MPI.
    pub ranks: Option<u32>,
    /// Whether messages may be in device memory.
    pub device_messages: bool,
    /// Devices that a rank uses, if simulated.
    pub devices: u32,
}

impl<'a> Job<'a> {
    /// An annotated program, whose executable is `program`.
    pub fn of(case: &'a Case, program: &'a Path) -> Job<'a> {
        Job {
            program,
            args: &case.args,
            ranks: case.mpi.then_some(case.ranks),
            device_messages: case.device_messages,
            devices: case.devices,
        }
    }
}

impl Kit {
    fn is_real(&self) -> bool {
        self.gpu == "real"
    }

    /// The command of a job, behind `commsan run` if `checked` gives its run directory and options.
    fn command(&self, job: &Job<'_>, checked: Option<(&Path, &[String])>) -> Command {
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        let gpu = if self.is_real() { "real".to_owned() } else { format!("sim:{}", job.devices) };
        if let Some((directory, options)) = checked {
            words.extend([
                self.root.join("commsan/bin/commsan").into(),
                "run".into(),
                "--output".into(),
            ]);
            words.push(directory.into());
            words.extend(options.iter().map(Into::into));
            words.extend(["--gpu".into(), gpu.clone().into(), "--".into()]);
        }
        if let Some(ranks) = job.ranks {
            words.extend([
                self.root.join("mpi/bin/mpirun").into(),
                "-n".into(),
                ranks.to_string().into(),
            ]);
        }
        words.push(job.program.into());
        words.extend(job.args.iter().map(Into::into));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let mut libraries = vec![self.root.join("mpi/lib"), self.root.join("ucx/lib")];
        if self.is_real() {
            libraries.push(self.root.join("cuda"));
        } else {
            libraries.push(self.root.join("commsan/lib/commsan/simgpu"));
            command.env("COMMSAN_GPU", gpu);
        }
        let mut path = std::env::join_paths(&libraries).unwrap_or_default();
        if let Some(own) = std::env::var_os("LD_LIBRARY_PATH").filter(|own| !own.is_empty()) {
            path.push(":");
            path.push(own);
        }
        command.env("LD_LIBRARY_PATH", path);
        command.env("OPAL_PREFIX", self.root.join("mpi"));
        command.env_remove("COMMSAN_OPTIONS").env("NO_COLOR", "1");
        if self.opaque {
            command.env("COMMSAN_GPU_OPAQUE", "1");
        }
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        command.env("OMPI_MCA_btl", "self,vader,tcp");
        command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        // Only UCX moves device memory, where the MPI itself was built without CUDA.
        if job.device_messages && self.is_real() {
            command.env("OMPI_MCA_pml", "ucx").env("OMPI_MCA_osc", "ucx");
            command.env("OMPI_MCA_pml_ucx_tls", "any").env("OMPI_MCA_pml_ucx_devices", "any");
            // UCX does not see all allocations: it must query each pointer (without that, messages
            // crash on an H100).
            command.env("UCX_MEMTYPE_CACHE", "n").env("UCX_WARN_UNUSED_ENV_VARS", "n");
        } else {
            command.env("OMPI_MCA_pml", "ob1");
        }
        command
    }

    /// Runs a program in `directory`, which is made; under `commsan run` with these options if
    /// there are any.
    ///
    /// # Errors
    ///
    /// The directory cannot be made, or the command cannot be started.
    pub fn run(
        &self,
        job: &Job<'_>,
        checked: Option<&[String]>,
        directory: &Path,
    ) -> Result<Ended, String> {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let report = directory.join("run");
        let _ = std::fs::remove_dir_all(&report);
        let mut command = self.command(job, checked.map(|options| (&*report, options)));
        command.current_dir(directory);
        limited::run(&mut command, &directory.join("output.txt"), self.limit)
    }
}

/// How a program ended, in a word or two.
pub fn ended(ended: &Ended) -> String {
    match ended.status {
        None => "limit".to_owned(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => code.to_string(),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        },
    }
}

/// The last bytes of a text, so many of them, from the beginning of a line.
pub fn tail(text: &str, bytes: usize) -> String {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let text = &text[from..];
    match text.find('\n') {
        Some(end) if from > 0 => text[end + 1..].to_owned(),
        _ => text.to_owned(),
    }
}

/// Applies `work` to all items, `jobs` of them at once; the results in the order of the items.
///
/// # Errors
///
/// The first error of `work`, after all items are done.
pub fn at_once<I: Sync, T: Send>(
    jobs: usize,
    items: &[I],
    work: impl Fn(&I) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let queue = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((place, item)) = { queue.lock().ok().and_then(|mut q| q.next()) } {
                    let result = work(item);
                    if let Ok(mut done) = done.lock() {
                        done.push((place, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().map_err(|_| "a worker has panicked")?;
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
