//! The jobs of a run: a script, `make test` or `ctest` may start several, one after the other or at
//! the same time, and one job may spawn another.

use crate::RankLog;
use std::collections::HashMap;

/// Sorts logs by job, in the order in which these first appear; each by rank, as they come. Of two
/// logs of one rank that do not tell their jobs apart, the later one belongs to a later job.
pub fn by_job(logs: Vec<RankLog>) -> Vec<Vec<RankLog>> {
    let mut jobs: Vec<Vec<RankLog>> = Vec::new();
    let mut known: HashMap<(String, usize), usize> = HashMap::new();
    let mut seen: HashMap<(String, u32), usize> = HashMap::new();
    for log in logs {
        let name = log.start.as_ref().map_or_else(String::new, |start| start.job.to_string());
        let earlier = seen.entry((name.clone(), log.rank)).or_default();
        let job = *known.entry((name, *earlier)).or_insert(jobs.len());
        *earlier += 1;
        if job == jobs.len() {
            jobs.push(Vec::new());
        }
        jobs[job].push(log);
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(rank: u32, job: &str) -> RankLog {
        let start = format!(
            "{{\"t\":\"start\",\"version\":1,\"rank\":{rank},\"size\":2,\"pid\":1,\"host\":\"h\",\
             \"mpi\":\"m\",\"program\":\"p\",\"instrumented\":true,\"job\":\"{job}\"}}\n"
        );
        RankLog::read(start.as_bytes(), rank)
    }

    #[test]
    fn ranks_are_sorted_by_job_in_the_order_of_their_beginnings() {
        // As files are listed: all of rank 0 in the order of their jobs, then those of rank 1.
        let logs = [(0, "b"), (0, "a"), (0, ""), (0, ""), (1, "a"), (1, "b"), (1, "")];
        let jobs = by_job(logs.map(|(rank, job)| log(rank, job)).into());
        let name = |log: &RankLog| (log.rank, log.start.as_ref().unwrap().job.to_string());
        let told: Vec<Vec<_>> = jobs.iter().map(|job| job.iter().map(name).collect()).collect();
        let expected = [&[(0, "b"), (1, "b")][..], &[(0, "a"), (1, "a")], &[(0, ""), (1, "")]];
        let expected = expected.into_iter().chain([&[(0, "")][..]]);
        let owned = |job: &[(u32, &str)]| job.iter().map(|(r, n)| (*r, (*n).to_owned())).collect();
        assert_eq!(told, expected.map(owned).collect::<Vec<Vec<_>>>());
    }
}
