//! Sites in other ranks: a finding names them by number, the other rank's log has the place.
//!
//! What that log lacks, because the rank was killed or its log is gone, stays a site without
//! frames: it costs the place, never the finding.

use crate::Origin;
use crate::RankLog;
use crate::reader::Job;
use crate::record::RawSite;
use std::collections::HashMap;

/// Fills in the sites of all findings that lie in other ranks. [`RawSite::reference`] remains
/// where the place is not known.
pub fn resolve(logs: &mut [RankLog]) {
    let by_rank: HashMap<u32, usize> =
        logs.iter().enumerate().map(|(index, log)| (log.rank, index)).collect();
    for index in 0..logs.len() {
        let mut findings = std::mem::take(&mut logs[index].findings);
        for observed in &mut findings {
            let sites = observed.finding.sites.to_mut().iter_mut();
            for site in sites.chain(&mut observed.completed) {
                let Some(other) = site.rank.and_then(|rank| by_rank.get(&rank)) else { continue };
                if let Some(place) = place(&logs[*other], observed.job, site) {
                    fill(&mut logs[index], site, place);
                }
            }
        }
        logs[index].findings = findings;
    }
}

/// A site whose modules are named, so that it means the same in every log.
struct Place {
    site: RawSite<'static>,
    modules: Vec<Origin>,
}

fn place(log: &RankLog, job: Job, site: &RawSite<'_>) -> Option<Place> {
    let site = log.sites.get(&(job, site.reference?))?.clone();
    let module = |&(module, _): &(u32, u64)| log.modules.get(module as usize).cloned();
    let modules = site.frames.iter().map(module).collect::<Option<_>>()?;
    Some(Place { site, modules })
}

fn fill(log: &mut RankLog, site: &mut RawSite<'static>, place: Place) {
    let mut frames = place.site.frames.into_owned();
    for ((module, _), origin) in frames.iter_mut().zip(place.modules) {
        *module = log.module(origin);
    }
    site.call = place.site.call.or_else(|| site.call.take());
    site.thread = place.site.thread;
    site.frames = frames.into();
    site.reference = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINDING: &str = r#"{"t":"finding","id":0,"code":"CS-RMA-03","operation":{"call":"MPI_Put","write":true,"addr":1,"size":8,"bytes":8,"window":0},"sites":[{"role":"access","thread":0,"frames":[[0,1]]},{"role":"operation","call":"MPI_Put","thread":0,"frames":[],"rank":1,"reference":5}]}"#;

    fn start(rank: u32, size: u32) -> String {
        format!(
            r#"{{"t":"start","version":1,"rank":{rank},"size":{size},"pid":1,"host":"h","mpi":"MPICH 4.0.2","program":"/app","instrumented":true}}"#
        )
    }

    fn module(id: u32, path: &str) -> String {
        format!(r#"{{"t":"module","id":{id},"path":"{path}"}}"#)
    }

    fn site(offset: u64) -> String {
        format!(
            r#"{{"t":"site","id":5,"site":{{"role":"operation","call":"MPI_Rput","thread":2,"frames":[[9,{offset}],[3,7]]}}}}"#
        )
    }

    fn resolved(logs: &[&[String]]) -> Vec<RankLog> {
        let read = |(rank, lines): (usize, &&[String])| {
            RankLog::read(lines.join("\n").as_bytes(), rank as u32)
        };
        let mut logs: Vec<_> = logs.iter().enumerate().map(read).collect();
        resolve(&mut logs);
        logs
    }

    #[test]
    fn a_site_is_taken_from_the_other_ranks_log() {
        let owner = [start(0, 2), module(0, "/app"), FINDING.into()];
        let origin = [start(1, 2), module(3, "/app"), module(9, "/lib/halo.so"), site(64)];
        let logs = resolved(&[&owner, &origin]);
        let site = &logs[0].findings[0].finding.sites[1];
        assert_eq!((site.call.as_deref(), site.thread), (Some("MPI_Rput"), 2));
        assert_eq!((site.rank, site.reference), (Some(1), None));
        assert_eq!(logs[0].modules, [Origin::from("/app"), Origin::from("/lib/halo.so")]);
        assert_eq!(*site.frames, [(1, 64), (0, 7)]);
    }

    #[test]
    fn what_the_other_log_lacks_costs_the_place_only() {
        let owner = [start(0, 2), module(0, "/app"), FINDING.into()];
        let cut = site(64)[..50].to_owned();
        for origin in [vec![], vec![start(1, 2)], vec![start(1, 2), cut]] {
            let logs = resolved(&[&owner, &origin]);
            let site = &logs[0].findings[0].finding.sites[1];
            assert_eq!(site.call.as_deref(), Some("MPI_Put"));
            assert_eq!((site.rank, site.reference), (Some(1), Some(5)));
        }
        assert_eq!(resolved(&[&owner])[0].findings.len(), 1);
    }

    /// Rank 1 takes part in two jobs, rank 0 in three, of which the first is its own.
    #[test]
    fn places_are_looked_up_in_the_same_job() {
        let both = |first: String, second: String| [start(1, 2), first, start(1, 2), second];
        let origin = both(site(64), site(65));
        let nothing = String::new;
        let owner = [start(0, 1), start(0, 2), nothing(), start(0, 2), FINDING.into()];
        let logs = resolved(&[&owner, &origin]);
        assert_eq!(logs[0].findings[0].finding.sites[1].frames[0].1, 65);
    }
}
