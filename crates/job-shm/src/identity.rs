//! The identity of a parallel job, which each of its processes on all nodes computes without
//! communication: what its [`Launcher`] names it by, or else the number of the batch job.

use crate::launchers::{BATCH_JOBS, Identity, Launcher, Variables, environment};
use crate::process::{Status, ancestors, hash};

/// A short text, fit for a file name, that only the processes of this job share.
pub fn identity() -> Option<String> {
    identity_by(&environment)
}

pub(crate) fn identity_by(variables: Variables<'_>) -> Option<String> {
    identity_of(std::process::id().cast_signed(), variables)
}

/// The job that a process with these variables belongs to.
pub(crate) fn identity_of(process: libc::pid_t, variables: Variables<'_>) -> Option<String> {
    let launcher = Launcher::of(variables)?;
    let named = match launcher.identity {
        Identity::Words(names) => {
            let words: Option<Vec<_>> = names.iter().map(|name| variables(name)).collect();
            words.map(|words| file_name(&words.join(".")))
        }
        Identity::Behind(name, prefix) => {
            variables(name).and_then(|value| value.strip_prefix(prefix).map(file_name))
        }
        Identity::Digest(name) => variables(name).map(|value| short(&value)),
        Identity::NameSpace => variables("PMIX_NAMESPACE").map(|name_space| {
            // Most contain the number of a batch job, or host and process of the launcher. Mere
            // numbers may recur, so that the server's address is added.
            let server = variables("PMIX_SERVER_URI41").or_else(|| variables("PMIX_SERVER_URI4"));
            let is_number = name_space.bytes().all(|byte| byte.is_ascii_digit());
            let server = server.filter(|_| is_number).unwrap_or_default();
            short(&(name_space + &server))
        }),
        Identity::HydraAddress => hydra_address(process).map(|address| short(&address)),
    };
    let of_batch = || BATCH_JOBS.iter().find_map(|name| variables(name));
    named.or_else(|| of_batch().map(|number| file_name(&number)))
}

/// `host:port` and process group of the mpiexec that started the proxy above a process.
fn hydra_address(process: libc::pid_t) -> Option<String> {
    let is_proxy = |(_, status): &(libc::pid_t, Status)| status.name.starts_with("hydra_pmi_prox");
    let (process, _) = ancestors(process).find(is_proxy)?;
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = line.split('\0').collect();
    let value = |option| words.windows(2).find(|w| w[0] == option).map(|w| w[1]);
    Some([value("--control-port")?, value("--pgid").unwrap_or("")].join("/"))
}

/// A process that a launcher has started as a rank, or a descendant of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// What has started it, for people.
    pub launcher: &'static str,
    /// A short text that only the processes of its job share.
    pub job: String,
    /// The rank's number, if the launcher tells.
    pub rank: u32,
    /// How many ranks there are, if the launcher tells.
    pub size: Option<u32>,
    /// How many of them are on this node, if the launcher tells.
    pub here: Option<u32>,
}

impl Membership {
    /// Of a process with these variables in its environment.
    pub fn of(
        process: libc::pid_t,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Membership> {
        let launcher = Launcher::of(variables)?;
        let (rank, size) = launcher.numbers(variables);
        let job = identity_of(process, variables).unwrap_or_default();
        let here = launcher.ranks_here(variables);
        Some(Membership { launcher: launcher.name, job, rank: rank?, size, here })
    }
}

/// Eight hexadecimal digits made from `text`.
pub(crate) fn short(text: &str) -> String {
    let hash = hash(text.as_bytes());
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// `text` without characters that are awkward in file names.
fn file_name(text: &str) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.chars().map(|c| if fit(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_file_names() {
        assert_eq!(file_name("ƒ2/x.0"), "_2_x.0");
        assert_eq!(short("daccdff564b5172d-ea5f72f78f5d9e77").len(), 8);
        assert_ne!(short("host:1/0"), short("host:2/0"));
    }

    #[test]
    fn the_parent_of_a_process_is_known() {
        let above = ancestors(std::process::id().cast_signed()).next().map(|(number, _)| number);
        assert_eq!(above, Some(std::os::unix::process::parent_id().cast_signed()));
    }
}
