//! The rendezvous of collectives: those that this rank enters are compared with what other ranks
//! enter; see [`crate::collective`].

use super::group_creation::Making;
use super::{OneSided, ThreadCalls, Tracker};
use crate::buffers::Args;
use crate::collective::alike;
use crate::collective::communicators::{Communicators, Known};
use crate::collective::entry::{Asserted, Difference, Entry, Progress, Root};
use crate::collective::signature::Signature;
use crate::ids::{Group, On};
use commsan_callsite::{Findings, Place, Site, Stacks};
use commsan_findings::record::{RawCollective, Record};
use commsan_findings::{Code, Role};
use commsan_job_shm::{Posted, Rendezvous};
use commsan_mpi_calls::{Call, Effect, reduction};
use std::borrow::Cow;

/// Communicators, and the collectives on them.
#[derive(Default)]
pub struct Together {
    /// Where ranks compare their collectives, and this rank; `None` where they cannot.
    pub(super) rendezvous: Option<(Rendezvous, u32)>,
    pub(super) on: Communicators,
    /// Communicators that groups with this rank are making without their parents' other ranks.
    pub(super) making: Vec<Making>,
    /// This rank, in the job.
    pub(super) me: u32,
    /// Collectives are counted, but not compared.
    pub(super) ignored: bool,
}

/// A collective that this rank is about to call.
#[derive(Clone, Debug)]
pub struct Entering {
    /// The call.
    pub call: &'static Call,
    /// What it is called on.
    pub on: On,
    /// Whether it may wait for other ranks before it returns.
    pub blocking: bool,
    /// Whether this process has several threads at work.
    pub parallel: bool,
    /// The root.
    pub root: Root,
    /// Number of the predefined reduction, [`reduction::OTHER`] for others.
    pub op: u32,
    /// The signature that all ranks must match.
    pub data: Option<Signature>,
    /// Assertions of a fence that all ranks must make alike.
    pub asserted: Asserted,
    /// Arguments that all ranks must pass alike.
    pub alike: alike::Values,
    /// Where each rank both sends and receives, the signature that this rank receives.
    pub received: Option<Signature>,
}

/// Two calls that do not match, the offending one first.
struct Mismatch {
    code: Code,
    sites: [Site; 2],
    collective: RawCollective<'static>,
}

impl Together {
    /// The collective with this number, and what two ranks have passed.
    fn describe(&self, on: On, number: u32, passed: Option<[String; 2]>) -> RawCollective<'static> {
        let passed = passed.map(|both| both.map(Cow::Owned));
        let between_groups = self.on.find(on).is_some_and(|known| known.is_inter);
        RawCollective { on: self.words_for(on).into(), number, passed, between_groups }
    }

    /// Sets the rendezvous through which ranks compare their collectives.
    pub fn connect(&mut self, rendezvous: Rendezvous, me: u32) {
        self.rendezvous = Some((rendezvous, me));
    }

    /// Sets the number of this process, which may have no `MPI_COMM_WORLD`.
    pub fn name_process(&mut self, me: u32) {
        self.me = me;
    }

    /// Sets the handles of `MPI_COMM_WORLD`, of this size, and of `MPI_COMM_SELF`, with this rank
    /// alone.
    pub fn name_world(&mut self, handle: usize, size: usize, (own, me): (usize, u32)) {
        self.me = me;
        self.on.add_world(handle, size);
        self.on.add_self(own, me);
    }

    /// The collective that was entered last on `parent` has made something for a group.
    pub fn made(&mut self, parent: usize, child: On, group: &Group) {
        self.on.add_child(parent, child, group);
    }

    /// Two groups have been joined.
    pub fn joined(&mut self, args: &Args, child: On, group: &Group) {
        if let Some(name) = self.name_between(args) {
            self.on.leave(name);
        }
        let tag = args.call.at.tag.map_or(0, |index| args.int(index));
        self.on.add_joined(tag, child, group);
    }

    /// The members of a group have made a communicator, out of `parent` or of a session's group.
    pub fn made_by_group(&mut self, parent: Option<usize>, tag: i32, child: On, group: &Group) {
        self.on.add_of_group(parent, tag, child, group);
    }

    /// The handle may come to stand for something else.
    pub fn unmade(&mut self, on: On) {
        self.on.forget(on);
    }

    /// A call has failed: it is not known whether other ranks' calls have, too.
    pub fn not_entered(&mut self, on: On) {
        self.on.distrust(on);
    }

    /// Whether all processes of a communicator are known to be ranks of this job.
    pub fn knows_members(&self, on: On) -> bool {
        let known = self.on.find(on);
        known.is_some_and(|known| known.name != 0 && !known.members.is_empty())
    }

    /// What the first rank has entered as the collective of this number on a communicator.
    fn posted(&self, known: &Known, number: u32) -> Option<Entry> {
        let (rendezvous, _) = self.rendezvous?;
        rendezvous.find(known.key(number)).as_ref().map(Entry::from_words)
    }

    /// A communicator, window or file in words.
    pub(super) fn words_for(&self, on: On) -> String {
        let what = match on {
            On::Comm(_) => "communicator",
            On::Window(_) => "window",
            On::File(_) => "file",
            On::Pes(0) => return "all PEs".to_owned(),
            On::Pes(_) => {
                let size = self.on.find(on).map_or(0, |known| known.size);
                return format!("an active set of {size} PEs");
            }
        };
        match self.on.find(on) {
            Some(known) if known.is_world() => "MPI_COMM_WORLD".to_owned(),
            Some(known) if known.is_inter => {
                format!("an intercommunicator with {} remote ranks", known.size)
            }
            Some(known) if known.size > 0 => format!("a {what} of {} ranks", known.size),
            _ => format!("one {what}"),
        }
    }
}

impl OneSided {
    /// The number by which other ranks refer to a site.
    pub(super) fn number_of(
        &mut self,
        stacks: &Stacks,
        site: &Site,
        call: &Call,
        out: &mut dyn Findings,
    ) -> u32 {
        let new = self.sites.len() as u32;
        *self.sites.entry((site.stack, call.row, site.thread)).or_insert_with(|| {
            out.emit(Record::Site { id: new, site: (Role::Operation, *site) }, stacks);
            new
        })
    }

    /// The number of a place that is no MPI call which others may wait for.
    pub(super) fn number_of_access(
        &mut self,
        stacks: &Stacks,
        site: &Site,
        out: &mut dyn Findings,
    ) -> u32 {
        const NO_CALL: u32 = u32::MAX;
        let new = self.sites.len() as u32;
        *self.sites.entry((site.stack, NO_CALL, site.thread)).or_insert_with(|| {
            out.emit(Record::Site { id: new, site: (Role::Access, *site) }, stacks);
            new
        })
    }
}

impl ThreadCalls {
    /// The call that ends this process's use of MPI.
    pub(super) fn last_call(&self) -> Option<&'static Call> {
        let began = self.began.map(|(call, _)| call.effect);
        commsan_mpi_calls::named(match began {
            Some(Effect::Session) => "MPI_Session_finalize",
            Some(Effect::Symmetric) => "shmem_finalize",
            _ => "MPI_Finalize",
        })
    }
}

impl Tracker {
    /// A collective is about to be called.
    pub fn enter(&mut self, entering: &Entering, place: &impl Place, out: &mut dyn Findings) {
        if self.is_unordered(entering.on, entering.call, place, out) {
            self.together.on.distrust(entering.on);
        }
        let known = self.together.on.get(entering.on);
        known.entered += 1;
        if self.together.ignored {
            return self.together.on.touch(entering.on);
        }
        let known = self.together.on.get(entering.on);
        let Some((rendezvous, me)) =
            self.together.rendezvous.filter(|_| known.name != 0 && known.size > 1)
        else {
            return;
        };
        let (name, number, key) = (known.name, known.entered, known.key(known.entered));
        // Between two groups, what one sends is what the other receives.
        let same_side = !known.is_inter;
        let site = self.reporter.site(entering.call, place);
        let entry = Entry {
            rank: me,
            site: self.rma.number_of(&self.reporter.stacks, &site, entering.call, out),
            kind: entering.call.kind,
            threads: entering.parallel,
            root: entering.root,
            op: if same_side { entering.op } else { reduction::OTHER },
            data: entering.data.filter(|_| same_side),
            asserted: entering.asserted,
            alike: entering.alike,
            progress: self.together.on.progress(entering.on),
        };
        if same_side {
            self.compare_own(entering, number, site, out);
        }
        let alone = entering.blocking && !entering.parallel;
        if let Posted::After(words) = rendezvous.post(key, &entry.to_words()) {
            let first = Entry::from_words(&words);
            let difference = self.compare(entering.on, number, (&entry, site), &first, out);
            if difference == Some(Difference::Kind) {
                // Everything that follows would be out of step, too.
                return self.together.on.distrust(entering.on);
            }
            if alone && first.kind == entry.kind && !first.threads {
                self.look_for_crossing(entering.on, (&entry, site), &first, out);
            }
        }
        if alone {
            self.look_for_waiting(
                entering.on,
                Progress { name, entered: number, blocking: number },
                site,
                out,
            );
            self.together.on.get(entering.on).blocking = Some((number, site));
        }
        self.together.on.touch(entering.on);
    }

    /// `MPI_Finalize` is about to be called: this rank enters no more collectives.
    pub(super) fn enter_finalize(&mut self, place: &impl Place, out: &mut dyn Findings) {
        let Some(call) = self.thread_calls.last_call().filter(|_| !self.together.ignored) else {
            return;
        };
        let Some((rendezvous, me)) = self.together.rendezvous else { return };
        let site = self.reporter.site(call, place);
        let number = self.rma.number_of(&self.reporter.stacks, &site, call, out);
        let entry = Entry {
            rank: me,
            site: number,
            kind: call.kind,
            threads: false,
            root: Root::Unknown,
            op: reduction::OTHER,
            data: None,
            asserted: Asserted::default(),
            alike: Default::default(),
            progress: Default::default(),
        };
        let open: Vec<_> =
            self.together.on.named().map(|(on, known)| (on, known.clone())).collect();
        for (on, known) in open.into_iter().filter(|(_, known)| known.size > 1) {
            let next = known.entered + 1;
            if let Posted::After(words) = rendezvous.post(known.key(next), &entry.to_words()) {
                self.compare(on, next, (&entry, site), &Entry::from_words(&words), out);
            }
        }
    }

    /// Compares the signature that this rank sends with the one it receives, in calls where it also
    /// receives from itself.
    fn compare_own(
        &mut self,
        entering: &Entering,
        number: u32,
        site: Site,
        out: &mut dyn Findings,
    ) {
        let Some((sent, received)) = entering.data.zip(entering.received) else { return };
        if !sent.matches(received) {
            let passed = Some([received.describe(), sent.describe()]);
            let collective = self.together.describe(entering.on, number, passed);
            let (code, sites) = (Code::SignaturesDiffer, [site, site]);
            self.report_mismatch(Mismatch { code, sites, collective }, out);
        }
    }

    /// Compares this rank's entry with that of the first rank that entered the same collective.
    fn compare(
        &mut self,
        on: On,
        number: u32,
        (own, site): (&Entry, Site),
        first: &Entry,
        out: &mut dyn Findings,
    ) -> Option<Difference> {
        let (difference, call) = (own.differs(first)?, first.call()?);
        let remote = Site::remote(&call.name, first.rank, first.site);
        let (code, passed) = match difference {
            Difference::Finalized => (Code::CollectiveNotEntered, None),
            Difference::Kind => (Code::CollectivesDiffer, None),
            Difference::Root => {
                (Code::RootsDiffer, passed(own, first, |entry| entry.root.describe()))
            }
            Difference::Op => (
                Code::ReductionsDiffer,
                passed(own, first, |entry| reduction::name(entry.op).map(str::to_owned)),
            ),
            Difference::Data => (
                Code::SignaturesDiffer,
                passed(own, first, |entry| entry.data.map(Signature::describe)).map(distinguished),
            ),
            Difference::Assertions => (
                Code::AssertionsDiffer,
                passed(own, first, |entry| Some(entry.asserted.describe().to_owned())),
            ),
            Difference::Argument(at) => (
                match call.symmetric_kind() {
                    Some(kind) if kind.is_of_memory() => Code::AllocationsDiffer,
                    _ => Code::ArgumentsDiffer,
                },
                passed(own, first, |entry| alike::describe(call, &entry.alike, at)),
            ),
        };
        // The rank that does not enter it is the offending one.
        let enters = |entry: &Entry| entry.call().is_some_and(|call| call.enters);
        let sites = match difference == Difference::Finalized && enters(own) {
            true => [remote, site],
            false => [site, remote],
        };
        let collective = self.together.describe(on, number, passed);
        self.report_mismatch(Mismatch { code, sites, collective }, out);
        Some(difference)
    }

    /// This rank and another one are in the same collective: was one of them before that in a
    /// blocking one which the other has not entered?
    fn look_for_crossing(
        &mut self,
        on: On,
        (own, site): (&Entry, Site),
        first: &Entry,
        out: &mut dyn Findings,
    ) {
        let Some(call) = first.call() else { return };
        let crossed = self.together.on.others(on).find_map(|(other, known)| {
            let (theirs, (number, before)) = (first.progress_on(known.name)?, known.blocking?);
            (number > theirs.entered).then_some((other, before))
        });
        let remote = Site::remote(&call.name, first.rank, first.site);
        if let Some((other, before)) = crossed {
            self.report_crossing([before, remote], [other, on], out);
        }
        let ahead = self.together.on.others(on).find_map(|(other, known)| {
            let theirs = first.progress_on(known.name)?;
            let before = self.together.posted(known, theirs.blocking)?;
            let is_ahead = theirs.blocking > own.progress_on(known.name)?.entered;
            is_ahead.then_some((other, before))
        });
        if let Some((other, before)) = ahead
            && let Some(call) = before.call()
        {
            let before = Site::remote(&call.name, before.rank, before.site);
            self.report_crossing([site, before], [on, other], out);
        }
    }

    /// This rank enters a blocking collective: does another rank wait in one that this rank has not
    /// entered, without having entered this one?
    fn look_for_waiting(&mut self, on: On, own: Progress, site: Site, out: &mut dyn Findings) {
        let waiting = self.together.on.others(on).find_map(|(other, known)| {
            let entry = self.together.posted(known, known.entered + 1)?;
            let theirs = entry.progress_on(own.name)?;
            let waits = entry.blocks() && !entry.threads && theirs.entered < own.entered;
            waits.then_some((other, entry))
        });
        if let Some((other, entry)) = waiting
            && let Some(call) = entry.call()
        {
            let remote = Site::remote(&call.name, entry.rank, entry.site);
            self.report_crossing([site, remote], [on, other], out);
        }
    }

    fn report_crossing(&mut self, sites: [Site; 2], on: [On; 2], out: &mut dyn Findings) {
        let passed = Some(on.map(|on| self.together.words_for(on)));
        let collective = self.together.describe(on[0], 0, passed);
        self.report_mismatch(Mismatch { code: Code::CollectivesCross, sites, collective }, out);
    }

    fn report_mismatch(&mut self, mismatch: Mismatch, out: &mut dyn Findings) {
        let Mismatch { code, sites: [offender, other], collective } = mismatch;
        if out.again(code, offender.pc, other.pc)
            || !self.reporter.report_calls(code, offender, other, collective, out)
        {
            return;
        }
        if let Some((rendezvous, _)) = &self.together.rendezvous {
            rendezvous.count_mismatch();
        }
    }
}

/// What both have passed, in words.
fn passed(
    own: &Entry,
    first: &Entry,
    words: impl Fn(&Entry) -> Option<String>,
) -> Option<[String; 2]> {
    Some([words(own)?, words(first)?])
}

/// Two sides whose descriptions may be equal, though the data differ.
fn distinguished([own, other]: [String; 2]) -> [String; 2] {
    match own == other {
        true => [format!("{own} of other types, or otherwise shared out"), other],
        false => [own, other],
    }
}
