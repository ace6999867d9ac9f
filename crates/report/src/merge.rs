//! Deduplication: equal observations of all ranks, and repetitions, become one finding.
//!
//! Equal means: the same code, and the same source lines in the same roles; of findings about the
//! memory of a call, the same buffer, too. Where the operation
//! was completed does not distinguish findings, since that may depend on timing alone; neither do
//! the ranks, nor which of two RMA operations came to the target first. The result does not depend
//! on the order of the observations.

use crate::facts::{Facts, device};
use crate::wording::{fill, wording};
use commsan_findings::{Code, Finding, Frame, Moment, Role, Site};
use commsan_rundir::record::{RawFinding, RawSite};
use std::collections::{BTreeMap, BTreeSet};

/// A finding as one rank saw it, symbolised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The rank.
    pub rank: u32,
    /// Position among the rank's observations.
    pub sequence: usize,
    /// How often the rank saw it.
    pub count: u64,
    /// What the rank wrote.
    pub finding: RawFinding<'static>,
    /// Call stacks of the finding's sites.
    pub stacks: Vec<Vec<Frame>>,
    /// The completing call and its stack.
    pub completed: Option<(RawSite<'static>, Vec<Frame>)>,
}

/// Merges observations into findings: worst first, then by code and place.
pub fn merge(observations: impl IntoIterator<Item = Observation>) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    for observation in observations {
        let code = observation.finding.code;
        let place = (std::cmp::Reverse(code.severity()), code, places(&observation));
        groups.entry((place, buffer(&observation))).or_default().add(observation);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Of the buffers of one call, those that are written come first: they do more harm.
    groups.sort_by(|((one, _), group), ((other, _), next)| {
        one.cmp(other).then(next.writes.cmp(&group.writes))
    });
    groups.into_iter().filter_map(|(_, group)| group.into_finding()).collect()
}

#[derive(Default)]
struct Group {
    count: u64,
    ranks: BTreeSet<u32>,
    /// When each rank has seen it first, and in which thread.
    moments: BTreeMap<u32, Moment>,
    /// Whether the operation of any writes.
    writes: bool,
    best: Option<Observation>,
}

impl Group {
    fn add(&mut self, observation: Observation) {
        self.count = self.count.saturating_add(observation.count);
        self.ranks.insert(observation.rank);
        if let Some(moment) = moment(&observation) {
            let first = self.moments.entry(moment.rank).or_insert(moment);
            *first = moment.min(*first);
        }
        self.writes |= observation.finding.operation.write;
        if self.best.as_ref().is_none_or(|best| preference(&observation) < preference(best)) {
            self.best = Some(observation);
        }
    }

    fn into_finding(self) -> Option<Finding> {
        let best = self.best?;
        let code = best.finding.code;
        let facts = Facts::of(&best);
        let row = wording(code, facts.case());
        let mut help = fill(row.help, &facts);
        if facts.is_fortran() {
            help += &fill(row.fortran(&facts), &facts);
        }
        let mut moments: Vec<Moment> = self.moments.into_values().collect();
        moments.sort_unstable();
        Some(Finding {
            job: None,
            moments,
            code,
            title: code.title().to_owned(),
            message: fill(row.message, &facts),
            count: self.count,
            possible: false,
            ranks: self.ranks.into_iter().collect(),
            sites: sites(&best, &facts),
            why: fill(row.why, &facts),
            help,
        })
    }
}

/// When and in which thread the rank has seen it; logs of earlier versions do not say when.
fn moment(observation: &Observation) -> Option<Moment> {
    let Observation { rank, finding, .. } = observation;
    // Sites of other ranks were reached before.
    let own = finding.sites.iter().find(|site| site.rank.is_none_or(|of| of == *rank));
    let thread = own.map_or(0, |site| site.thread);
    Some(Moment { time: finding.time?, rank: *rank, thread })
}

/// Which of a call's buffers a finding about the call's memory means; which lines of a kernel.
fn buffer(observation: &Observation) -> Option<String> {
    let RawFinding { code, argument, .. } = &observation.finding;
    let is_memory = matches!(
        code,
        Code::BufferTooShort
            | Code::BufferOfOtherType
            | Code::BufferOfOtherSign
            | Code::StringTooShort
    );
    if code.is_within_kernel() {
        return Some(device::lines(observation));
    }
    let argument = argument.as_ref().filter(|_| is_memory)?;
    Some(argument.parameter.to_string())
}

/// What stands for a group: an observation whose operation's end is known says most.
fn preference(observation: &Observation) -> (bool, u32, usize) {
    (observation.completed.is_none(), observation.rank, observation.sequence)
}

/// File and line, or module and offset, and the call: one line of a script may make any.
type Place = (String, Option<u32>, u64, Option<String>);

fn places(observation: &Observation) -> Vec<(Role, Place)> {
    let sites = observation.finding.sites.iter();
    let roles = sites.clone().map(|site| site.role);
    let mut places: Vec<_> =
        sites.zip(&observation.stacks).map(|(site, stack)| place(site, stack)).collect();
    if observation.finding.code.is_symmetric() {
        places.sort();
    }
    roles.zip(places).collect()
}

fn place(site: &RawSite<'_>, stack: &[Frame]) -> Place {
    let call = site.call.as_deref().map(ToOwned::to_owned);
    match stack.first() {
        Some(Frame { file: Some(file), line: Some(line), .. }) => {
            (file.clone(), Some(*line), 0, call)
        }
        Some(frame) => (frame.module.clone(), None, frame.offset, call),
        None => (String::new(), None, 0, call),
    }
}

fn sites(observation: &Observation, facts: &Facts<'_>) -> Vec<Site> {
    let row = wording(observation.finding.code, facts.case());
    let known = observation.finding.sites.iter().zip(&observation.stacks).enumerate();
    let known = known.map(|(index, (raw, stack))| {
        let is_operation = facts.operation_site() == Some(index);
        let label = match raw.role {
            Role::Cause => facts.causes(raw).unwrap_or_else(|| cause(raw.call.as_deref())),
            _ => fill(if is_operation { row.operation } else { row.offence }, facts),
        };
        site(observation.rank, raw, stack, label)
    });
    let completion = observation
        .completed
        .iter()
        .map(|(raw, stack)| site(observation.rank, raw, stack, facts.completes(raw)));
    known.chain(completion).chain(device::inside(observation)).collect()
}

/// What a place that has led to the others does there, by its call.
fn cause(call: Option<&str>) -> String {
    let call = call.unwrap_or("the program");
    if call.contains("_init") {
        format!("{call} makes the persistent request")
    } else if call.contains("recv") {
        format!("{call} posts the receive")
    } else if call.contains("send") || call.starts_with("MPI_Start") {
        format!("{call} sends the message")
    } else {
        format!("{call} makes what is not freed")
    }
}

/// A site of what `observer` has written, with its call stack.
pub(crate) fn site(observer: u32, raw: &RawSite<'_>, stack: &[Frame], label: String) -> Site {
    let place = stack.first();
    Site {
        role: raw.role,
        label,
        file: place.and_then(|frame| frame.file.clone()),
        line: place.and_then(|frame| frame.line),
        column: place.and_then(|frame| frame.column),
        function: place.and_then(|frame| frame.function.clone()),
        rank: raw.rank.unwrap_or(observer),
        thread: raw.thread,
        stack: stack.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{self, Case};
    use proptest::prelude::*;

    fn observations() -> impl Strategy<Value = Vec<Observation>> {
        let one = (0..4_u32, 1..5_u64, 50..53_u32, any::<bool>(), 0..3_u64);
        prop::collection::vec(one, 0..12).prop_map(|all| {
            let all = all.into_iter().enumerate();
            all.map(|(sequence, (rank, count, line, completed, address))| {
                let mut observation = facts::tests::observation();
                (observation.rank, observation.sequence) = (rank, sequence);
                observation.count = count;
                observation.stacks[0][0].line = Some(line);
                observation.finding.access.as_mut().unwrap().addr += address * 8;
                if !completed {
                    observation.completed = None;
                }
                observation
            })
            .collect()
        })
    }

    proptest! {
        #[test]
        fn the_order_of_observations_is_irrelevant(
            (ordered, shuffled) in observations()
                .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
        ) {
            let lines: BTreeSet<_> = ordered.iter().map(|o| o.stacks[0][0].line).collect();
            let total: u64 = ordered.iter().map(|o| o.count).sum();
            let merged = merge(ordered);
            prop_assert_eq!(merged.len(), lines.len());
            prop_assert_eq!(merged.iter().map(|finding| finding.count).sum::<u64>(), total);
            prop_assert_eq!(merged, merge(shuffled));
        }
    }

    proptest! {
        #[test]
        fn any_numbers_are_survived(
            (code, one_sided) in (prop::sample::select(Code::ALL), any::<bool>()),
            [addr, size, start, length, bytes] in any::<[u64; 5]>(),
            (base, peer) in any::<(Option<u64>, Option<i32>)>(),
            rank in any::<Option<u32>>(),
        ) {
            let mut observation = match one_sided {
                true => facts::tests::one_sided(Code::TargetRace, Case::Usual),
                false => facts::tests::observation(),
            };
            observation.finding.code = code;
            let access = observation.finding.access.as_mut().unwrap();
            (access.addr, access.size, access.peer) = (addr, size, peer);
            let operation = &mut observation.finding.operation;
            (operation.addr, operation.size, operation.bytes) = (start, length, bytes);
            (operation.base, operation.peer) = (base, peer);
            observation.finding.sites.to_mut()[1].rank = rank;
            prop_assert_eq!(merge([observation]).len(), 1);
        }
    }

    #[test]
    fn equal_findings_of_several_ranks_are_one() {
        let [seen_by_1, mut seen_by_2] =
            [0; 2].map(|_| facts::tests::one_sided(Code::WindowAccessRace, Case::Usual));
        seen_by_2.rank = 2;
        seen_by_2.finding.sites.to_mut()[1].rank = Some(1);
        let [finding] = &*merge([seen_by_2, seen_by_1]) else { panic!() };
        assert_eq!(finding.ranks, [1, 2]);
        let ranks: Vec<_> = finding.sites.iter().map(|site| site.rank).collect();
        assert_eq!(ranks, [1, 0, 0]);
        assert!(finding.message.starts_with("rank 1's `pack` reads"), "{}", finding.message);
    }

    #[test]
    fn each_rank_has_its_first_moment() {
        let at = |rank, time, thread| {
            let mut observation = facts::tests::observation();
            (observation.rank, observation.finding.time) = (rank, time);
            observation.finding.sites.to_mut()[0].thread = thread;
            observation
        };
        let all = [at(1, Some(30), 0), at(0, Some(50), 2), at(2, None, 0), at(0, Some(40), 3)];
        let [finding] = &*merge(all) else { panic!() };
        let moments: Vec<_> =
            finding.moments.iter().map(|of| (of.time, of.rank, of.thread)).collect();
        assert_eq!(moments, [(30, 1, 0), (40, 0, 3)]);
    }

    #[test]
    fn which_operation_came_first_to_the_target_is_irrelevant() {
        let one = facts::tests::one_sided(Code::TargetRace, Case::Usual);
        let mut other = one.clone();
        other.stacks.swap(0, 1);
        if let [first, second] = &mut other.finding.sites.to_mut()[..] {
            std::mem::swap(&mut first.call, &mut second.call);
        }
        assert_eq!(merge([one.clone(), other.clone()]).len(), 1);
        other.stacks[0][0].line = Some(41);
        assert_eq!(merge([one.clone(), other]).len(), 2);
        let mut other = one.clone();
        other.finding.sites.to_mut()[0].call = Some("MPI_Rput".into());
        assert_eq!(merge([one, other]).len(), 2, "two calls on one line");
    }

    #[test]
    fn what_has_led_there_is_named_and_offends_nobody() {
        let mut observation = facts::tests::observation();
        let made = RawSite {
            role: Role::Cause,
            call: Some("MPI_Send_init".into()),
            ..observation.finding.sites[1].clone()
        };
        observation.finding.sites.to_mut().push(made);
        observation.stacks.push(observation.stacks[1].clone());
        let [finding] = &*merge([observation]) else { panic!() };
        assert_eq!(finding.sites[2].label, "MPI_Send_init makes the persistent request");
        assert!(finding.message.starts_with("`pack` writes 8 bytes"), "{}", finding.message);
    }

    #[test]
    fn a_finding_says_what_happened() {
        let [finding] = &*merge([facts::tests::observation()]) else { panic!() };
        assert_eq!(
            finding.message,
            "`pack` writes 8 bytes at offset 16 of the 8192-byte buffer that \
             MPI_Isend (to rank 1, tag 7) is still sending"
        );
        assert_eq!(
            finding.why,
            "the operation started at heat.c:40 and is complete only after MPI_Waitall at \
             heat.c:57; the write at heat.c:52 comes before that"
        );
        let labels: Vec<_> = finding.sites.iter().map(|site| &*site.label).collect();
        assert_eq!(
            labels,
            [
                "8-byte write",
                "MPI_Isend starts to read 8192 bytes",
                "MPI_Waitall completes the operation, too late"
            ]
        );
    }
}
