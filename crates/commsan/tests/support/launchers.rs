//! Launchers of jobs: on several nodes, and what they do wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Whether commsan had to end a launcher that did not see the end of its ranks, so that its exit
/// code is lost. Open MPI 4.1's hangs after one in a hundred jobs that end in an error, natively,
/// too.
pub fn hung(output: &str) -> bool {
    output.contains("all ranks have ended, but")
}

/// Options of a launcher for ranks on so many nodes. All of them are this machine: the launcher
/// starts on each what it would start by ssh, and ranks of different nodes share no memory and meet
/// through sockets.
pub fn nodes(mpi: &str, nodes: u32, ranks: u32, directory: &Path) -> Result<Vec<String>, String> {
    if nodes < 2 {
        return Ok(Vec::new());
    }
    let agent = directory.join("ssh");
    // Open MPI's daemons keep files in a directory of each node's own.
    let script = "#!/bin/sh\n# ssh [OPTION…] HOST COMMAND…\n\
                  while [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\n\
                  TMPDIR=$(mktemp -d) && export TMPDIR && sh -c \"$*\"\n\
                  status=$?; rm -rf \"$TMPDIR\"; exit $status\n";
    let executable = fs::Permissions::from_mode(0o755);
    fs::write(&agent, script)
        .and_then(|()| fs::set_permissions(&agent, executable))
        .map_err(|error| format!("{}: {error}", agent.display()))?;
    let share = |node| ranks / nodes + u32::from(node < ranks % nodes);
    let hosts: Vec<_> = (0..nodes).map(|node| format!("node{node}:{}", share(node))).collect();
    Ok(across(mpi, &hosts.join(","), &agent.to_string_lossy()))
}

/// Options of a launcher for ranks on hosts, `NAME:RANKS` with commas, on which `agent` starts
/// commands like ssh.
pub fn across(mpi: &str, hosts: &str, agent: &str) -> Vec<String> {
    let options: &[&str] = match mpi {
        "openmpi" => &[
            "--host",
            hosts,
            "--mca",
            "plm_rsh_agent",
            agent,
            "--mca",
            "btl",
            "tcp,self",
            "--mca",
            "osc",
            "pt2pt",
        ],
        _ => &["-hosts", hosts, "-launcher", "ssh", "-launcher-exec", agent],
    };
    options.iter().map(|option| (*option).to_owned()).collect()
}
