//! Maps a record over its sites: from those of a rank's call stacks to those of its log.

use super::{
    RawFinding, RawMessages, RawNeed, RawParts, RawProgress, RawRace, RawThread, RawUse,
    RawWaiting, Record,
};

impl<'a, S: Clone> Record<'a, S> {
    /// The record with what `to` makes of each of its sites.
    pub fn map_sites<T: Clone>(self, to: &mut impl FnMut(S) -> T) -> Record<'a, T> {
        match self {
            Record::Start(start) => Record::Start(start),
            Record::Module(module) => Record::Module(module),
            Record::Finding(finding) => Record::Finding(finding.map_sites(to)),
            Record::Again { id, count } => Record::Again { id, count },
            Record::Completed { id, site } => Record::Completed { id, site: to(site) },
            Record::Site { id, site } => Record::Site { id, site: to(site) },
            Record::Use(RawUse { variable, elements, datatype, finding }) => {
                Record::Use(RawUse { variable, elements, datatype, finding: finding.map_sites(to) })
            }
            Record::Balance { names, unbalanced } => Record::Balance { names, unbalanced },
            Record::Messages(messages) => Record::Messages(messages.map_sites(to)),
            Record::Race(race) => Record::Race(race.map_sites(to)),
            Record::Known { used } => Record::Known { used },
            Record::Communicator { name, on, members } => {
                Record::Communicator { name, on, members }
            }
            Record::Steps { steps } => Record::Steps { steps },
            Record::Withdrawn { id } => Record::Withdrawn { id },
            Record::Timing { sure, ordered } => Record::Timing { sure, ordered },
            Record::Parts(parts) => Record::Parts(parts.map_sites(to)),
            Record::Waiting(waiting) => Record::Waiting(waiting.map_sites(to)),
            Record::Thread(thread) => Record::Thread(thread.map_sites(to)),
            Record::Progress(progress) => Record::Progress(progress.map_sites(to)),
            Record::Stats { counts } => Record::Stats { counts },
            Record::Note { text } => Record::Note { text },
            Record::Guarded(guarded) => Record::Guarded(guarded),
            Record::Unchecked { why } => Record::Unchecked { why },
            Record::End(end) => Record::End(end),
        }
    }
}

impl<'a, S: Clone> RawFinding<'a, S> {
    /// The finding with what `to` makes of each of its sites.
    pub fn map_sites<T: Clone>(self, to: &mut impl FnMut(S) -> T) -> RawFinding<'a, T> {
        let RawFinding { id, code, access, operation, sites, .. } = self;
        let RawFinding { threads, collective, level, argument, work, time, .. } = self;
        let sites = sites.iter().cloned().map(to).collect::<Vec<_>>().into();
        RawFinding {
            id,
            code,
            access,
            operation,
            sites,
            threads,
            collective,
            level,
            argument,
            work,
            time,
        }
    }
}

impl<'a, S> RawMessages<'a, S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawMessages<'a, T> {
        let RawMessages { name, on, sends, peer, element, call, tag, site, count } = self;
        RawMessages { name, on, sends, peer, element, call, tag, site: to(site), count }
    }
}

impl<S> RawRace<S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawRace<T> {
        let RawRace { name, taker, instead_of, left, used, sender } = self;
        RawRace {
            name,
            taker: to(taker),
            instead_of,
            left: to(left),
            used: used.map(|(number, site)| (number, to(site))),
            sender,
        }
    }
}

impl<'a, S> RawParts<'a, S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawParts<'a, T> {
        let RawParts { name, on, kind, call, sends, calls, element, site, parts } = self;
        RawParts { name, on, kind, call, sends, calls, element, site: to(site), parts }
    }
}

impl<'a, S: Clone> RawWaiting<'a, S> {
    fn map_sites<T: Clone>(self, to: &mut impl FnMut(S) -> T) -> RawWaiting<'a, T> {
        let RawWaiting { moves, again, beside, any, needs, pending, entered, roll_call, .. } = self;
        let site = to(self.site);
        let mut each = |needs: &[RawNeed<'a, S>]| {
            needs.iter().cloned().map(|need| need.map_sites(to)).collect::<Vec<_>>().into()
        };
        let (needs, pending) = (each(&needs), each(&pending));
        RawWaiting { moves, site, again, beside, any, needs, pending, entered, roll_call }
    }
}

impl<'a, S> RawThread<'a, S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawThread<'a, T> {
        let RawThread { roll_call, id, doing, file, site } = self;
        RawThread { roll_call, id, doing, file, site: site.map(to) }
    }
}

impl<'a, S> RawProgress<'a, S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawProgress<'a, T> {
        let RawProgress { roll_call, name, on, entered, site } = self;
        RawProgress { roll_call, name, on, entered, site: site.map(to) }
    }
}

impl<'a, S> RawNeed<'a, S> {
    fn map_sites<T>(self, to: &mut impl FnMut(S) -> T) -> RawNeed<'a, T> {
        let RawNeed { kind, call, site, ranks, tag, on, name, number } = self;
        RawNeed { kind, call, site: site.map(to), ranks, tag, on, name, number }
    }
}
