//! What keeps commsan's environment, or its files, from the ranks: containers in which they are
//! not mounted, and launchers that are told to pass no environment on.

use crate::program::{self, base_name};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What was found, and the one thing to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub found: String,
    pub mend: String,
}

/// A command that runs another one in a container.
struct Container {
    names: &'static [&'static str],
    /// The option that shows a directory of the host at the same path; `DIR` stands for it.
    bind: &'static str,
    /// The option that passes a variable on, where the container does not have them all.
    pass: Option<&'static str>,
}

const CONTAINERS: [Container; 6] = [
    Container { names: &["apptainer", "singularity"], bind: "--bind DIR", pass: None },
    Container {
        names: &["docker", "podman", "nerdctl"],
        bind: "-v DIR:DIR",
        pass: Some("-e NAME"),
    },
    Container {
        names: &["sarus"],
        bind: "--mount=type=bind,source=DIR,destination=DIR",
        pass: None,
    },
    Container { names: &["ch-run"], bind: "-b DIR:DIR", pass: None },
    Container { names: &["shifter"], bind: "--volume=DIR:DIR", pass: None },
    Container { names: &["enroot"], bind: "--mount DIR:DIR", pass: None },
];

/// Variables that ranks need.
const NEEDED: [&str; 4] = ["LD_PRELOAD", "COMMSAN_RUN_DIR", "COMMSAN_OPTIONS", "COMMSAN_LIB"];

/// What a resource manager takes for `--export` of a step or a script when that is not given.
pub const EXPORTS: [&str; 2] = ["SLURM_EXPORT_ENV", "SBATCH_EXPORT"];

/// What keeps ranks of this command from being checked, as far as its words and the environment
/// tell; `library` and `run` are the directories that they need.
pub fn obstacle(command: &[OsString], library: &Path, run: &Path) -> Option<Obstacle> {
    let index = program::position(command).unwrap_or(command.len());
    let contained = command.get(index).and_then(|word| {
        let words = &command[index..];
        let unmounted = container(word, library, run).filter(|_| !mentions(words, library));
        unmounted.or_else(|| cleared(words))
    });
    let variable = |name: &str| std::env::var(name).ok();
    contained.or_else(|| not_exported(&command[..index], &variable))
}

/// What may have kept ranks from being checked whose launcher a script has started.
pub fn suspected() -> Option<Obstacle> {
    let (name, value) = EXPORTS.iter().find_map(|name| Some((name, std::env::var(name).ok()?)))?;
    (!passes(&value)).then(|| partial(name, &value))
}

/// What a command that runs others in a container needs for them to be checked.
pub fn container(command: &OsStr, library: &Path, run: &Path) -> Option<Obstacle> {
    let name = base_name(command);
    let of = |container: &&Container| container.names.contains(&name.as_str());
    let container = CONTAINERS.iter().find(of)?;
    let binds = [library, run].map(|place| container.bind.replace("DIR", &place.to_string_lossy()));
    let passes = container.pass.iter().flat_map(|pass| NEEDED.map(|n| pass.replace("NAME", n)));
    let options: Vec<_> = binds.into_iter().chain(passes).collect();
    Some(Obstacle {
        found: format!(
            "`{name}` starts the program in a container, in which LD_PRELOAD names a file that is not there \
             unless commsan's directory is mounted"
        ),
        mend: format!("add `{}` to {name}'s options", options.join(" ")),
    })
}

/// Whether apptainer is told to give the program none of the environment.
fn cleared(words: &[OsString]) -> Option<Obstacle> {
    let name = base_name(words.first()?);
    ["apptainer", "singularity"].contains(&name.as_str()).then_some(())?;
    let words: Vec<_> = words.iter().skip(2).map(|word| word.to_string_lossy()).collect();
    // Up to the image, or the program behind it: an option may have a value.
    let is_option = |index: usize| words[index].starts_with('-');
    let mut options =
        (0..words.len()).take_while(|&index| is_option(index) || index > 0 && is_option(index - 1));
    let clearing = ["-e", "--cleanenv", "-C", "--containall"];
    let option = &words[options.find(|&index| clearing.contains(&&*words[index]))?];
    Some(Obstacle {
        found: format!(
            "`{name} {option}` starts the program with an environment of its own, in which LD_PRELOAD is not"
        ),
        mend: format!("leave out `{option}`"),
    })
}

fn mentions(words: &[OsString], library: &Path) -> bool {
    let library = library.to_string_lossy();
    words.iter().any(|word| word.to_string_lossy().contains(&*library))
}

/// Whether `srun` is told to pass on less than all of the environment.
fn not_exported(
    launcher: &[OsString],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<Obstacle> {
    let of_slurm = |word: &OsString| ["srun", "sbatch"].contains(&base_name(word).as_str());
    launcher.iter().any(of_slurm).then_some(())?;
    let words: Vec<_> = launcher.iter().map(|word| word.to_string_lossy()).collect();
    let given = words.iter().zip(words.iter().skip(1).map(Some).chain([None]));
    let given = given.filter_map(|(word, next)| match word.strip_prefix("--export")? {
        "" => next.map(|next| ("--export".to_owned(), next.to_string())),
        value => Some(("--export".to_owned(), value.strip_prefix('=')?.to_owned())),
    });
    // The last of several counts, and any of them before the environment.
    let inherited = || Some((EXPORTS[0].to_owned(), variable(EXPORTS[0])?));
    let (name, value) = given.last().or_else(inherited)?;
    (!passes(&value)).then(|| partial(&name, &value))
}

/// An export that lacks something.
fn partial(name: &str, value: &str) -> Obstacle {
    Obstacle {
        found: format!(
            "`{name}={value}` lets only some variables through to the ranks, and LD_PRELOAD is not one of them"
        ),
        mend: match name {
            "--export" => "use `--export=ALL`, or add ALL to its list".to_owned(),
            _ => format!("`unset {name}`, or give srun `--export=ALL`"),
        },
    }
}

/// Whether a value of `--export` lets commsan's variables through.
pub fn passes(value: &str) -> bool {
    let mut names = value.split(',').map(|entry| entry.split('=').next().unwrap_or(entry));
    names.any(|name| ["ALL", "LD_PRELOAD"].contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_container_needs_the_directories_mounted() {
        let (library, run) = (Path::new("/opt/c/lib/commsan"), Path::new("/home/u/app.commsan"));
        let mend = |name: &str| container(OsStr::new(name), library, run).map(|seen| seen.mend);
        assert_eq!(
            mend("/usr/bin/apptainer").as_deref(),
            Some(
                "add `--bind /opt/c/lib/commsan --bind /home/u/app.commsan` to apptainer's options"
            )
        );
        let docker = mend("docker").unwrap();
        let mount = "-v /opt/c/lib/commsan:/opt/c/lib/commsan";
        assert!(docker.contains(mount) && docker.contains("-e LD_PRELOAD"), "{docker}");
        assert_eq!(mend("app"), None);
        assert!(mentions(&words("apptainer exec --bind /opt/c/lib/commsan:/x i app"), library));
        assert!(!mentions(&words("apptainer exec i app"), library));
        let found = |command: &str| cleared(&words(command)).map(|obstacle| obstacle.mend);
        assert_eq!(
            found("apptainer exec --cleanenv --bind x i app").as_deref(),
            Some("leave out `--cleanenv`")
        );
        assert_eq!(found("apptainer exec --bind x i app"), None);
        assert_eq!(found("apptainer exec --nv i app -e"), None);
        assert_eq!(found("docker run -e LD_PRELOAD i app"), None);
    }

    #[test]
    fn an_export_that_lacks_something_is_seen() {
        let found = |command: &str, set: Option<&str>| {
            let variable = |name: &str| set.filter(|_| name == EXPORTS[0]).map(str::to_owned);
            not_exported(&words(command), &variable).map(|obstacle| obstacle.found)
        };
        for (command, set, is_seen) in [
            ("srun -n 2", None, false),
            ("srun --export=NONE -n 2", None, true),
            ("srun --export NONE -n 2", None, true),
            ("srun --export=OMP_NUM_THREADS=2,HOME", None, true),
            ("srun --export=ALL,OMP_NUM_THREADS=2", Some("NONE"), false),
            ("srun --export=NONE --export=ALL", None, false),
            ("/usr/bin/srun -n 2", Some("NONE"), true),
            ("mpirun -n 2", Some("NONE"), false),
        ] {
            assert_eq!(found(command, set).is_some(), is_seen, "{command}, {set:?}");
        }
    }
}
