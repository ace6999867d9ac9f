//! Phrases about threads of a process, and about pieces of work that any of them may run.

use super::{Facts, known_place};
use crate::merge::Observation;
use commsan_findings::{Code, Role};
use commsan_rundir::record::RawSite;

impl Facts<'_> {
    pub(super) fn thread(&self, site: Option<usize>) -> u32 {
        site.map_or(0, |site| self.observation.finding.sites[site].thread)
    }

    /// Whether one thread happened to do both.
    pub(super) fn is_by_one_thread(&self) -> bool {
        self.thread(self.first) == self.thread(self.operation)
    }

    /// Where the other side is.
    pub(super) fn elsewhere(&self) -> &'static str {
        match self.is_by_one_thread() {
            true => "another task, section or iteration",
            false => "another thread",
        }
    }

    /// That the threads are not what the program says.
    pub(super) fn both(&self) -> String {
        match self.is_by_one_thread() {
            true => format!(
                "; thread {} happened to run both, but they are two tasks, sections or iterations, which \
                 different threads may run at once",
                self.thread(self.first)
            ),
            false => String::new(),
        }
    }

    /// What does not order two threads.
    pub(super) fn threads(&self) -> String {
        if self.is_by_one_thread() {
            return self.pieces();
        }
        let (own, other) = (self.thread(self.first), self.thread(self.operation));
        let (by, here) = (self.by(), self.place(self.first));
        match &self.observation.completed {
            Some((completion, stack)) => {
                let call = completion.call.as_deref().unwrap_or("the completing call");
                let (place, other) = (known_place(stack.first()), completion.thread);
                format!(
                    "{call} at {place} completes the operation in thread {other}, but nothing that \
                     thread {own} does orders {by} at {here} after that"
                )
            }
            None => format!(
                "{by} at {here} in thread {own} happened to come first, but nothing orders it before \
                 thread {other} starts the operation at {}",
                self.place(self.operation)
            ),
        }
    }

    /// The site of a call by which one thread of a rank has synchronised with another rank.
    pub(super) fn by_thread(&self) -> Option<usize> {
        let sites = &self.observation.finding.sites;
        sites.iter().position(|site| site.role == Role::Cause && site.rank.is_some())
    }

    /// How one thread has synchronised with another rank, and not the one of a side.
    pub(super) fn of_thread(&self) -> String {
        let Observation { rank, finding, stacks, .. } = self.observation;
        let Some(index) = self.by_thread() else { return self.unordered() };
        let call = &finding.sites[index];
        let rank_of = |site: &RawSite<'_>| site.rank.unwrap_or(*rank);
        let is_of_rank = |site: &Option<usize>| {
            site.is_some_and(|site| rank_of(&finding.sites[site]) == rank_of(call))
        };
        let side = [self.first, self.operation].into_iter().find(is_of_rank).flatten();
        let what = match side == self.operation {
            true => self.starter().to_owned(),
            false => self.by(),
        };
        let at = |site: Option<usize>| known_place(site.and_then(|site| stacks[site].first()));
        format!(
            "thread {} of rank {} made {what} at {}, but {} at {} was called by thread {}, and nothing \
             orders the two",
            self.thread(side),
            rank_of(call),
            at(side),
            call.call.as_deref().unwrap_or("the synchronising call"),
            at(Some(index)),
            call.thread,
        )
    }

    /// Label of the site of another rank's call that leads to the others, if that is a
    /// synchronisation: what leads to an error of MPI is the message itself.
    pub fn causes(&self, site: &RawSite<'_>) -> Option<String> {
        let is_error =
            matches!(self.observation.finding.code, Code::CallFailed | Code::ErrorIgnored);
        let call = site.call.as_deref().filter(|_| site.rank.is_some() && !is_error)?;
        Some(format!("{call} synchronises with other ranks"))
    }

    /// What does not order two pieces of work that one thread happened to run.
    pub(super) fn pieces(&self) -> String {
        let (by, here, both) = (self.by(), self.place(self.first), self.both());
        match &self.observation.completed {
            Some((completion, stack)) => {
                let call = completion.call.as_deref().unwrap_or("the completing call");
                let place = known_place(stack.first());
                format!(
                    "{call} at {place} completes the operation, but nothing orders {by} at {here} after \
                     that{both}"
                )
            }
            None => format!(
                "{by} at {here} happened to come first, but nothing orders it before the operation \
                 starts at {}{both}",
                self.place(self.operation)
            ),
        }
    }
}
