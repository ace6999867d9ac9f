//! The identity of a parallel job, which each of its processes on all nodes computes without
//! communication.
//!
//! | started by | identity |
//! |---|---|
//! | Open MPI's mpirun | the random key it makes for each job, else the PMIx namespace |
//! | MPICH's mpiexec (hydra) | the launcher's address, on the command line of the proxy above us |
//! | srun, flux, PALS | job and step number |

use crate::process::{Status, ancestors, hash};

/// A short text, fit for a file name, that only the processes of this job share.
pub fn identity() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(key) = set("OMPI_MCA_orte_precondition_transports") {
        return Some(short(&key));
    }
    if let Some(name_space) = set("PMIX_NAMESPACE") {
        // Most namespaces contain the number of Slurm's job, or host and process of the launcher.
        // Mere numbers may recur, so that the server's address is added.
        let server = set("PMIX_SERVER_URI41").or_else(|| set("PMIX_SERVER_URI4"));
        let is_number = name_space.bytes().all(|byte| byte.is_ascii_digit());
        let all = if is_number { name_space + &server.unwrap_or_default() } else { name_space };
        return Some(short(&all));
    }
    // Intel MPI's Hydra.
    if let Some(launch) = set("I_MPI_HYDRA_UUID") {
        return Some(short(&launch));
    }
    if set("HYDI_CONTROL_FD").is_some() || set("MPI_LOCALRANKID").is_some() {
        return Some(short(&hydra_address()?));
    }
    if let (Some(job), Some(step)) = (set("SLURM_JOB_ID"), set("SLURM_STEP_ID")) {
        return Some(file_name(&format!("{job}.{step}")));
    }
    set("FLUX_JOB_ID").or_else(|| set("PALS_APID")).map(|id| file_name(&id))
}

/// `host:port` and process group of the mpiexec that started the proxy above this process.
fn hydra_address() -> Option<String> {
    let is_proxy = |(_, status): &(libc::pid_t, Status)| status.name.starts_with("hydra_pmi_prox");
    let (process, _) = ancestors(std::process::id().cast_signed()).find(is_proxy)?;
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = line.split('\0').collect();
    let value = |option| words.windows(2).find(|w| w[0] == option).map(|w| w[1]);
    Some([value("--control-port")?, value("--pgid").unwrap_or("")].join("/"))
}

/// Eight hexadecimal digits made from `text`.
fn short(text: &str) -> String {
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
