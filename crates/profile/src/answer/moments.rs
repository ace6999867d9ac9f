//! Moments of findings: when ranks have found them; of what is concluded after the run, when their
//! calls were made.
//!
//! A call's moment is known if the rank has made one call alone at that line, or if it is the first
//! of those that have sent what nobody has received.

use crate::Profile;
use crate::api::{FindingMoment, MomentOf};
use crate::events::What;
use crate::merge::Rank;
use crate::waits::At;
use commsan_findings::{Code, Finding, Site};
use std::collections::BTreeMap;

impl Profile {
    /// The moments of a finding, by time, one for each rank; `place` knows where ranks are.
    pub(super) fn moments(
        &self,
        finding: &Finding,
        place: impl Fn(u32) -> Option<usize>,
    ) -> Vec<FindingMoment> {
        let what = if finding.code == Code::Deadlock { MomentOf::Stuck } else { MomentOf::Found };
        let moment = |rank: u32, thread: u32, time: u64, what: MomentOf| {
            Some(FindingMoment { place: place(rank)?, thread, time: self.since(time), what })
        };
        if !finding.moments.is_empty() {
            let all = finding.moments.iter();
            return all.filter_map(|of| moment(of.rank, of.thread, of.time, what)).collect();
        }
        let mut first: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for site in &finding.sites {
            let sent = (finding.code == Code::MessageLost).then(|| self.unreceived(site));
            if let Some(made) = sent.flatten().or_else(|| self.only_call(site)) {
                let known = first.entry(site.rank).or_insert(made);
                *known = (*known).min(made);
            }
        }
        let all = first.into_iter();
        let called = |(rank, (time, thread))| moment(rank, thread, time, MomentOf::Called);
        let mut moments: Vec<FindingMoment> = all.filter_map(called).collect();
        moments.sort_by_key(|of| (of.time, of.place));
        moments
    }

    /// Positions in the log, and the call's site, of each shape of the calls that `site` is one of.
    fn calls_at(&self, site: &Site) -> Vec<(usize, usize, u32)> {
        let Some(line) = self.line_at(site) else { return vec![] };
        let model = &self.model;
        let wanted = Rank { job: 0, rank: site.rank };
        let Some(rank) = model.log.ranks.iter().position(|log| log.rank == wanted) else {
            return vec![];
        };
        let is_it = |at: u32| {
            let here = model.line_of_site(at).map(|line| model.lines[line as usize]);
            here == Some(line) && names(&site.label, model.call_of_site(at))
        };
        let shapes = model.log.ranks[rank].shapes.iter().enumerate();
        let calls = shapes.filter_map(|(shape, of)| match of.what {
            What::Call(at) if is_it(at) => Some((rank, shape, at)),
            _ => None,
        });
        calls.collect()
    }

    /// When, and in which thread, a rank has made its only call there; unknown if it has recorded
    /// but some of its calls.
    fn only_call(&self, site: &Site) -> Option<(u64, u32)> {
        let calls = self.calls_at(site).into_iter().map(|(rank, shape, _)| {
            let log = &self.model.log.ranks[rank];
            let is_whole = log.tables.lost.0 == 0;
            is_whole.then_some((self.waits.made[rank][shape], log.shapes[shape].thread))
        });
        let calls: Vec<_> = calls.collect::<Option<_>>()?;
        let made: Vec<_> = calls.into_iter().filter(|(made, _)| made.count > 0).collect();
        match *made {
            [(made, thread)] if made.count == 1 => Some((made.first, thread)),
            _ => None,
        }
    }

    /// When, and in which thread, a rank has sent first there what nobody has received.
    fn unreceived(&self, site: &Site) -> Option<(u64, u32)> {
        let calls = self.calls_at(site).into_iter();
        let sent = calls
            .filter_map(|(rank, _, site)| self.waits.unreceived.get(&At { rank, site }).copied());
        sent.min()
    }
}

/// Whether a label says that the call is made: `MPI_Send sends 3 messages to rank 1`.
fn names(label: &str, call: &str) -> bool {
    let is_between = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    label.split(is_between).any(|word| word == call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_whole_calls() {
        assert!(names("MPI_Send sends a message to rank 1, tag 5", "MPI_Send"));
        assert!(!names("MPI_Sendrecv sends a message to rank 1", "MPI_Send"));
        assert!(!names("8-byte write", "MPI_Send"));
    }
}
