//! The table of options.
//!
//! Each entry defines the flag of `commsan run`, the key of `COMMSAN_OPTIONS` and of
//! `commsan.toml`, the line of `commsan config --explain` and the row in `docs/usage.md`.

use commsan_mpi_calls::abi::MpiFamily;
use std::path::{Path, PathBuf};

/// Which processes read an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The `commsan` command.
    Launcher,
    /// Every rank; passed on in `COMMSAN_OPTIONS`.
    Rank,
}

/// An entry of the table of options.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Key; the flag has dashes instead of underscores.
    pub name: &'static str,
    /// Placeholder for the value in help texts.
    pub value: &'static str,
    /// Text of the default value; empty if there is none.
    pub default: &'static str,
    /// Which processes read the option.
    pub scope: Scope,
    /// Help text.
    pub help: &'static str,
    /// Whether the flag may be given without a value, meaning `true`.
    pub switch: bool,
    /// Whether each occurrence adds a value.
    pub repeats: bool,
}

impl Spec {
    /// The flag, without leading dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// A description of the valid values, for an error message.
pub type Expected = String;

/// A type of option values.
trait Value {
    const SWITCH: bool = false;
    const REPEATS: bool = false;

    /// Parses the value from `text`; relative paths start at `base`.
    fn set(&mut self, text: &str, base: &Path) -> Result<(), Expected>;

    /// The value as texts that [`set`](Self::set) accepts, one for each occurrence.
    fn texts(&self) -> Vec<String>;

    /// The value as `key=value` for ranks, which do not parse quotes.
    fn for_ranks(&self, name: &str) -> Vec<String> {
        self.texts().into_iter().map(|text| format!("{name}={text}")).collect()
    }
}

macro_rules! options {
    ($($name:ident: $type:ty = $default:literal, $value:literal, $scope:ident, $help:literal;)*) => {
        /// The value of every option.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Options {
            $(#[doc = $help] pub $name: $type,)*
        }

        /// The table, in the order of help texts.
        pub const TABLE: &[Spec] = &[$(Spec {
            name: stringify!($name),
            value: $value,
            default: $default,
            scope: Scope::$scope,
            help: $help,
            switch: <$type as Value>::SWITCH,
            repeats: <$type as Value>::REPEATS,
        }),*];

        impl Options {
            /// Sets option `name`, which must be in the table, from text.
            ///
            /// # Errors
            /// When the text is no value of that option.
            pub fn set(&mut self, name: &str, text: &str, base: &Path) -> Result<(), Expected> {
                match name {
                    $(stringify!($name) => self.$name.set(text, base),)*
                    _ => Err(format!("`{name}` is no option")),
                }
            }

            /// The value of option `name` as text.
            pub fn texts(&self, name: &str) -> Vec<String> {
                match name {
                    $(stringify!($name) => self.$name.texts(),)*
                    _ => Vec::new(),
                }
            }

            /// `COMMSAN_OPTIONS` for the ranks: every option they read.
            pub fn for_ranks(&self) -> String {
                let pairs = TABLE.iter().filter(|spec| spec.scope == Scope::Rank);
                let pairs = pairs.flat_map(|spec| match spec.name {
                    $(stringify!($name) => self.$name.for_ranks(spec.name),)*
                    _ => Vec::new(),
                });
                pairs.collect::<Vec<_>>().join(":")
            }
        }

        impl Default for Options {
            fn default() -> Self {
                let mut options = Options { $($name: Default::default()),* };
                for spec in TABLE.iter().filter(|spec| !spec.default.is_empty()) {
                    // A test sets every default and would detect an error.
                    let _ = options.set(spec.name, spec.default, Path::new(""));
                }
                options
            }
        }
    };
}

options! {
    output: Option<PathBuf> = "", "DIR", Launcher,
        "Run directory to create, instead of PROGRAM.commsan";
    exit_code: Bounded<0, 255> = "66", "N", Launcher,
        "Exit code when there are findings; 0 keeps the program's own";
    fail_on: FailOn = "error", "error|warning|never", Launcher,
        "Which findings change the exit code: errors, warnings as well, or none";
    suppressions: Vec<PathBuf> = "", "FILE", Launcher,
        "File of suppressions for known findings; may be given more than once";
    checks: Option<PathBuf> = "", "FILE", Launcher,
        "Limit checks of threads and collectives to the calls that `commsan lint --emit-checks FILE` has flagged";
    libraries: Vec<PathBuf> = "", "DIR", Launcher,
        "Directory of code that is not yours: findings in it are shown at its callers; may be given more than once";
    gen_suppressions: bool = "false", "BOOL", Launcher,
        "Print suppressions that would cover the findings";
    mpi: LateMpi = "auto", "auto|openmpi|mpich|mpiabi|none", Launcher,
        "MPI library of programs that load it late, such as Python, if the launcher does not show it";
    gpu: Gpu = "auto", "auto|real|sim:N", Launcher,
        "Devices of CUDA programs: this machine's, or N simulated ones; auto follows COMMSAN_GPU";
    gpu_seed: Bounded<0, 4_294_967_295> = "0", "S", Launcher,
        "Seed of the execution order of simulated devices; with 0, they delay work as long as CUDA allows";
    kernel_checks: bool = "false", "BOOL", Launcher,
        "Check within kernels on simulated devices: data races between threads, barriers, uninitialised memory";
    json: Option<PathBuf> = "", "FILE", Launcher,
        "Also write the report as JSON to FILE; the run directory always contains it";
    sarif: Option<PathBuf> = "", "FILE", Launcher,
        "Also write the report as SARIF 2.1.0 to FILE";
    junit: Option<PathBuf> = "", "FILE", Launcher,
        "Also write the report as JUnit XML to FILE";
    html: Option<PathBuf> = "", "FILE", Launcher,
        "Also write the report as one HTML page to FILE";
    color: Color = "auto", "auto|always|never", Launcher,
        "Colours in messages and in the report";
    quiet: bool = "false", "BOOL", Launcher,
        "Print nothing but findings and errors";
    stuck_after: Bounded<0, 86_400> = "10", "SECONDS", Launcher,
        "Terminate a job if no rank can proceed and none has moved for this time; 0 disables this";
    status_after: Bounded<0, 86_400> = "60", "SECONDS", Launcher,
        "Show which rank is where if ranks wait and none has moved for this time; 0 disables this";
    stats: bool = "false", "BOOL", Rank,
        "Count what is watched: calls, operations, accesses, kernels, memory; the report has a table of it";
    halt_on_error: bool = "false", "BOOL", Rank,
        "Terminate the job at the first finding";
    max_findings: Bounded<1, 1_000_000> = "1000", "N", Rank,
        "Maximum number of distinct findings that each rank records; others are only counted";
    stack_depth: Bounded<1, 32> = "16", "N", Rank,
        "Call stack frames recorded at each code location, at most 32";
    memory_model: MemoryModel = "auto", "auto|separate|unified", Rank,
        "Memory model of windows: separate is stricter, auto uses each window's attribute";
    strict_sends: bool = "false", "BOOL", Rank,
        "Make standard sends wait for their receives, as MPI allows: finds deadlocks that buffering hides";
    strict_collectives: bool = "false", "BOOL", Rank,
        "Make blocking collectives wait for all ranks, as MPI allows: finds deadlocks that depend on it";
    thread_checks: bool = "true", "BOOL", Rank,
        "Report MPI calls by threads that the thread level forbids, or that are unordered";
    collective_checks: bool = "true", "BOOL", Rank,
        "Compare arguments and order of collectives between ranks";
    guards: Guards = "auto", "auto|sends|windows|BOOL", Rank,
        "Watch buffers of pending operations in code that was not compiled by commsan, by protected pages and checksums; auto: if no part of the program was; sends: stores to sent buffers only, without protection keys; windows: window memory as well";
    guard_budget: Bounded<0, 100> = "5", "PERCENT", Rank,
        "Share of the run time that guards may take; buffers beyond it are not watched, which the report says; 100 for any";
    isolate_buffers: Bounded<0, 1_073_741_824> = "0", "BYTES", Rank,
        "Give each allocated block of at least so many bytes pages of its own, so that guards watch all of it; 0 for none";
    leaks: Leaks = "auto", "auto|all|BOOL", Rank,
        "Report objects that are never freed; auto omits groups; all lists what libraries leak, which else one note counts";
    profile: bool = "false", "BOOL", Rank,
        "Count data movement by source and target; enabled by `commsan profile`";
    check: bool = "true", "BOOL", Rank,
        "Check for errors; disabled by default in `commsan profile`";
    sample: Share = "1/1", "1/N", Rank,
        "Record the accessed bytes of objects for one transfer in N; totals are always exact";
    objects_from: Bounded<0, 4_294_967_295> = "1024", "BYTES", Rank,
        "Of smaller allocations, only the first of each call site become objects of a profile";
    events: Bounded<0, 4_294_967_295> = "67108864", "BYTES", Rank,
        "Memory of each rank for the times of its calls; beyond it phases that repeat are folded; 0 for none";
    only: Vec<Only> = "", "KIND:NAME", Rank,
        "Restrict the profile to object:NAME, kernel:NAME or region:NAME; several with commas, or repeated";
}

/// A number between `MIN` and `MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounded<const MIN: u32, const MAX: u32>(pub u32);

impl<const MIN: u32, const MAX: u32> Value for Bounded<MIN, MAX> {
    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        match text.parse() {
            Ok(number) if (MIN..=MAX).contains(&number) => {
                self.0 = number;
                Ok(())
            }
            _ => Err(format!("a number from {MIN} to {MAX}")),
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.to_string()]
    }
}

impl Value for bool {
    const SWITCH: bool = true;

    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        *self = match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => true,
            "0" | "false" | "no" | "off" => false,
            _ => return Err("`true` or `false`".to_owned()),
        };
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        vec![self.to_string()]
    }
}

impl Value for Option<PathBuf> {
    fn set(&mut self, text: &str, base: &Path) -> Result<(), Expected> {
        *self = Some(path(text, base)?);
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        self.iter().map(|path| path.display().to_string()).collect()
    }
}

impl Value for Vec<PathBuf> {
    const REPEATS: bool = true;

    fn set(&mut self, text: &str, base: &Path) -> Result<(), Expected> {
        self.push(path(text, base)?);
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        self.iter().map(|path| path.display().to_string()).collect()
    }
}

/// A sampling rate of one in N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub u32);

impl Default for Share {
    fn default() -> Share {
        Share(1)
    }
}

impl Value for Share {
    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        match text.strip_prefix("1/").and_then(|number| number.parse().ok()) {
            Some(number @ 1..) => {
                self.0 = number;
                Ok(())
            }
            _ => Err("`1/N` with N from 1".to_owned()),
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![format!("1/{}", self.0)]
    }
}

/// A restriction of a profile: kind (`object`, `kernel` or `region`) and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    kind: &'static str,
    name: String,
}

impl Only {
    fn of(text: &str) -> Option<Only> {
        let (kind, name) = text.split_once(':')?;
        let kind = ["object", "kernel", "region"].into_iter().find(|known| *known == kind)?;
        // Colons separate the options of ranks.
        let is_name = !name.is_empty() && !name.contains(':');
        is_name.then(|| Only { kind, name: name.to_owned() })
    }
}

impl Value for Vec<Only> {
    const REPEATS: bool = true;

    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        let more: Option<Vec<Only>> = text.split(',').map(Only::of).collect();
        self.extend(more.ok_or("`object:NAME`, `kernel:NAME` or `region:NAME`")?);
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        self.iter().map(|Only { kind, name }| format!("{kind}:{name}")).collect()
    }

    fn for_ranks(&self, option: &str) -> Vec<String> {
        self.iter().map(|Only { kind, name }| format!("{option}_{kind}={name}")).collect()
    }
}

fn path(text: &str, base: &Path) -> Result<PathBuf, Expected> {
    if text.is_empty() { Err("the name of a file".to_owned()) } else { Ok(base.join(text)) }
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            #[default]
            $($(#[$variant_doc])* $variant),*
        }

        impl Value for $name {
            fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
                *self = match text {
                    $($text => $name::$variant,)*
                    _ => return Err(["one of", $(concat!("`", $text, "`")),*].join(" ")),
                };
                Ok(())
            }

            fn texts(&self) -> Vec<String> {
                vec![match self { $($name::$variant => $text),* }.to_owned()]
            }
        }
    };
}

/// The MPI library of programs that load it late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateMpi {
    /// The library whose launcher started the program.
    #[default]
    Auto,
    /// A library of this family.
    Family(MpiFamily),
    /// No MPI: for programs that load the CUDA runtime late.
    None,
}

impl LateMpi {
    /// The value of the option.
    pub fn text(self) -> &'static str {
        match self {
            LateMpi::Auto => "auto",
            LateMpi::Family(family) => family.key(),
            LateMpi::None => "none",
        }
    }
}

impl Value for LateMpi {
    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        let families = MpiFamily::ALL.map(LateMpi::Family);
        let all = [&[LateMpi::Auto], &families[..], &[LateMpi::None]].concat();
        let chosen = all.iter().find(|choice| choice.text() == text).copied();
        *self = chosen.ok_or_else(|| {
            let texts: Vec<_> = all.iter().map(|choice| format!("`{}`", choice.text())).collect();
            format!("one of {}", texts.join(" "))
        })?;
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        vec![self.text().to_owned()]
    }
}

choice! {
    /// Memory model of windows.
    MemoryModel {
        /// The attribute `MPI_WIN_MODEL` of each window decides.
        Auto = "auto",
        /// The separate memory model.
        Separate = "separate",
        /// The unified memory model.
        Unified = "unified"
    }
}

choice! {
    /// When to use colours.
    Color {
        /// On terminals, unless `NO_COLOR` or `CLICOLOR_FORCE` decides otherwise.
        Auto = "auto",
        /// In all output.
        Always = "always",
        /// In no output.
        Never = "never"
    }
}

choice! {
    /// Which findings change the exit code.
    FailOn {
        /// Errors: legal programs with likely mistakes succeed.
        Error = "error",
        /// All findings.
        Warning = "warning",
        /// None.
        Never = "never"
    }
}

/// Which leaked objects are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaks {
    /// Only objects of limited number, or whose release other ranks wait for.
    #[default]
    Auto,
    /// All leaked objects, or none except files.
    Chosen(bool),
    /// All, with those that libraries have made on their own.
    All,
}

impl Value for Leaks {
    const SWITCH: bool = true;

    fn set(&mut self, text: &str, base: &Path) -> Result<(), Expected> {
        *self = match text {
            "auto" => Leaks::Auto,
            "all" => Leaks::All,
            _ => {
                let mut chosen = false;
                chosen.set(text, base).map_err(|_| "`auto`, `all`, `true` or `false`")?;
                Leaks::Chosen(chosen)
            }
        };
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        match self {
            Leaks::Auto => vec!["auto".to_owned()],
            Leaks::All => vec!["all".to_owned()],
            Leaks::Chosen(chosen) => chosen.texts(),
        }
    }
}

/// Whether buffers are watched in code that commsan has not compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guards {
    /// In programs of which commsan has compiled nothing.
    #[default]
    Auto,
    /// In all programs, pages only of what is sent, by write protection.
    Sends,
    /// In all programs, memory of windows as well.
    Windows,
    /// In all programs, or in none.
    Chosen(bool),
}

impl Value for Guards {
    const SWITCH: bool = true;

    fn set(&mut self, text: &str, base: &Path) -> Result<(), Expected> {
        *self = match text {
            "auto" => Guards::Auto,
            "sends" => Guards::Sends,
            "windows" => Guards::Windows,
            _ => {
                let mut chosen = false;
                chosen
                    .set(text, base)
                    .map_err(|_| "`auto`, `sends`, `windows`, `true` or `false`")?;
                Guards::Chosen(chosen)
            }
        };
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        match self {
            Guards::Auto => vec!["auto".to_owned()],
            Guards::Sends => vec!["sends".to_owned()],
            Guards::Windows => vec!["windows".to_owned()],
            Guards::Chosen(chosen) => chosen.texts(),
        }
    }
}

/// Devices of CUDA programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gpu {
    /// The devices that `COMMSAN_GPU` names.
    #[default]
    Auto,
    /// The devices of the machine.
    Real,
    /// This many simulated devices.
    Simulated(u32),
}

/// Maximum number of simulated devices; nodes have fewer.
const MAX_DEVICES: u32 = 64;

impl Value for Gpu {
    fn set(&mut self, text: &str, _: &Path) -> Result<(), Expected> {
        let devices = match text.split_once(':') {
            Some(("sim", number)) => number.parse().ok().filter(|n| (0..=MAX_DEVICES).contains(n)),
            _ => (text == "sim").then_some(1),
        };
        *self = match (text, devices) {
            ("auto", _) => Gpu::Auto,
            ("real", _) => Gpu::Real,
            (_, Some(number)) => Gpu::Simulated(number),
            _ => {
                let most = MAX_DEVICES;
                return Err(format!("`auto`, `real`, or `sim:N` with up to {most} devices"));
            }
        };
        Ok(())
    }

    fn texts(&self) -> Vec<String> {
        vec![match self {
            Gpu::Auto => "auto".to_owned(),
            Gpu::Real => "real".to_owned(),
            Gpu::Simulated(number) => format!("sim:{number}"),
        }]
    }
}

impl Gpu {
    /// The devices to use if `COMMSAN_GPU` has the value `variable`.
    pub fn in_environment(self, variable: Option<&str>) -> Gpu {
        let mut said = Gpu::Real;
        match (self, variable) {
            (Gpu::Auto, Some(text)) if said.set(text, Path::new("")).is_ok() => said,
            (Gpu::Auto, _) => Gpu::Real,
            (chosen, _) => chosen,
        }
    }
}

/// The table as Markdown, for the documentation.
#[cfg(test)]
fn markdown() -> String {
    let mut text = String::from("| option | value | default | meaning |\n|---|---|---|---|\n");
    for spec in TABLE {
        let value = spec.value.replace('|', "\\|");
        let default = match spec.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let scope = if spec.scope == Scope::Rank { " (ranks)" } else { "" };
        let row = format!("| `{}` | {value} | {default} | {}{scope} |\n", spec.name, spec.help);
        text.push_str(&row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_and_read_back() {
        let defaults = Options::default();
        for spec in TABLE.iter().filter(|spec| !spec.default.is_empty()) {
            let mut options = Options::default();
            assert_eq!(options.set(spec.name, spec.default, Path::new("")), Ok(()), "{spec:?}");
            assert_eq!(defaults.texts(spec.name), [spec.default], "{spec:?}");
        }
    }

    #[test]
    fn wrong_values_are_refused_with_what_is_expected() {
        let mut options = Options::default();
        for (name, text, expected) in [
            ("stack_depth", "33", "a number from 1 to 32"),
            ("exit_code", "-1", "a number from 0 to 255"),
            ("mpi", "lam", "one of `auto` `openmpi` `mpich` `mpiabi` `none`"),
            ("gpu", "sim:65", "`auto`, `real`, or `sim:N` with up to 64 devices"),
            ("quiet", "maybe", "`true` or `false`"),
            ("json", "", "the name of a file"),
            ("sample", "1/0", "`1/N` with N from 1"),
            ("only", "object:u,file:x", "`object:NAME`, `kernel:NAME` or `region:NAME`"),
        ] {
            assert_eq!(options.set(name, text, Path::new("")), Err(expected.to_owned()));
        }
        assert_eq!(options, Options::default());
    }

    #[test]
    fn devices_are_simulated_if_the_option_or_else_the_environment_says_so() {
        let mut options = Options::default();
        for (text, variable, expected) in [
            ("auto", None, Gpu::Real),
            ("auto", Some("sim:4"), Gpu::Simulated(4)),
            ("auto", Some("nonsense"), Gpu::Real),
            ("real", Some("sim:4"), Gpu::Real),
            ("sim", Some("sim:4"), Gpu::Simulated(1)),
            ("sim:2", None, Gpu::Simulated(2)),
        ] {
            options.set("gpu", text, Path::new("")).unwrap();
            assert_eq!(options.gpu.in_environment(variable), expected, "{text}, {variable:?}");
        }
    }

    #[test]
    fn ranks_get_their_options_only() {
        let expected = "stats=false:halt_on_error=false:max_findings=1000:stack_depth=16:memory_model=auto:\
                        strict_sends=false:strict_collectives=false:thread_checks=true:collective_checks=true:guards=auto:guard_budget=5:isolate_buffers=0:leaks=auto:profile=false:check=true:sample=1/1:objects_from=1024:events=67108864";
        let mut options = Options::default();
        assert_eq!(options.for_ranks(), expected);
        options.set("only", "object:u,region:solve", Path::new("")).unwrap();
        options.set("only", "kernel:step", Path::new("")).unwrap();
        let only = ":only_object=u:only_region=solve:only_kernel=step";
        assert_eq!(options.for_ranks(), format!("{expected}{only}"));
    }

    #[test]
    fn the_documentation_has_this_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/usage.md");
        let text = std::fs::read_to_string(file).unwrap();
        let (begin, end) = ("<!-- options: generated -->\n", "<!-- end of options -->");
        let start = text.find(begin).expect("docs/usage.md marks its table") + begin.len();
        let stop = start + text[start..].find(end).expect("docs/usage.md ends its table");
        if std::env::var_os("BLESS").is_some() {
            let blessed = format!("{}{}{}", &text[..start], markdown(), &text[stop..]);
            std::fs::write(file, blessed).unwrap();
        } else {
            assert_eq!(text[start..stop], markdown(), "bless it with `make bless`");
        }
    }
}
