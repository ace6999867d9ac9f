//! Counting transfers of calls.
//!
//! Data counts when it is sent: when the call starts it, whenever it completes. The receiver
//! records it separately, so that place and memory of both ends are known. What is read from a file
//! counts when the read is complete (`files.rs`).

mod counting;
mod events;
mod links;
pub(crate) mod symmetric;

pub(crate) use links::begin;

use crate::datatypes;
use crate::files::{self, Reads};
use crate::groups::{self, Member};
use crate::library::{Mpi, envelope};
use crate::matched::{self, Found};
use crate::outcome::{arrived, by_reference, request_at, tokens};
use crate::rank::{Rank, mode};
use crate::windows;
use commsan_callsite::StackId;
use commsan_counters::{CallSignature, HOST, Identity, MAX_STEPS, Steps, Traffic, WORDS, ticks};
use commsan_mpi::Args;
use commsan_mpi::rma::Group;
use commsan_mpi::transfers::{TransferKind, Transfers, transfers};
use commsan_mpi_calls::{Effect, Role};
use commsan_rundir::traffic::{Memory, Place};
use commsan_shadow::Footprint;
use commsan_threads::Here;
use counting::{Counting, Parts};
use events::{Pending, Requests};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The transfers of a call, ready to be counted at any later time.
#[derive(Clone)]
pub(crate) struct Described {
    kind: TransferKind,
    /// The communicator, or the window.
    handle: Option<usize>,
    /// Its group, if that is known already.
    group: Option<u32>,
    order: InOrder,
    /// The name of the file.
    file: Option<Arc<str>>,
    pub(crate) transfers: Transfers,
    /// The call that has begun the transfer, and its stack, if it is another one.
    begun: Option<(u32, StackId)>,
    /// At the target of a one-sided operation.
    window: Option<(Window, Footprint)>,
}

/// The matching order of messages with one tag between two ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InOrder {
    /// The order of the calls that start them on a communicator.
    Starts(Option<usize>),
    /// Taken out of that order by `MPI_Mprobe`.
    Taken,
    /// Another order: partitioned communication, collectives.
    Apart,
}

/// A window, as far as its memory has a name.
#[derive(Clone)]
struct Window {
    group: Group,
    call: &'static str,
    stack: StackId,
    /// Its displacement unit, in bytes.
    unit: u64,
}

/// The transfers of each start of persistent requests.
static TEMPLATES: LazyLock<Mutex<HashMap<usize, Described>>> = LazyLock::new(Mutex::default);

static WINDOWS: LazyLock<Mutex<HashMap<usize, Window>>> = LazyLock::new(Mutex::default);

/// A call is about to be made whose effect will be counted [`after`] it.
#[inline]
pub(crate) fn before(rank: &dyn Rank, args: &Args, here: &Here) -> Ahead {
    let mut ahead = Ahead::of(args);
    ahead.begin = rank.keep(here.thread, ticks());
    ahead
}

/// The call has returned: counts what it has done.
#[inline]
pub(crate) fn after(rank: &dyn Rank, args: &Args, here: &Here, ahead: &Ahead, ok: bool) {
    let end = ticks();
    if mode().counts() {
        let (mut begun, mut completed) = Default::default();
        if ok && events::are_recorded() {
            (begun, completed) = (events::begun(args), events::completed(args, &ahead.pending));
        }
        let times = (ahead.begin, end);
        Done { rank, args, here, times, begun, completed }.record(ahead, ok);
    }
}

/// What must be known of the arguments before the library changes them.
#[derive(Default)]
pub(crate) struct Ahead {
    /// When the call began.
    begin: u64,
    /// A handle that is about to be freed.
    gone: usize,
    /// Requests that are about to be started or freed.
    requests: SmallVec<[usize; 4]>,
    /// Reads of files that may be completed.
    reads: Reads,
    /// A message that was found before, and is about to be received.
    found: Option<Found>,
    /// Requests that the call may complete.
    pending: Pending,
}

impl Ahead {
    fn of(args: &Args) -> Ahead {
        let requests = match args.call.effect {
            Effect::Go | Effect::GoAll | Effect::Free => {
                tokens(args, 0).iter().map(|token| token.key).collect()
            }
            _ => SmallVec::new(),
        };
        let reads = files::that_may_end(args);
        Ahead {
            begin: 0,
            gone: by_reference(args),
            requests,
            reads,
            found: matched::received(args),
            pending: events::pending(args),
        }
    }
}

/// A call that has returned.
struct Done<'a> {
    rank: &'a dyn Rank,
    args: &'a Args<'a>,
    here: &'a Here<'a>,
    times: (u64, u64),
    /// Requests that stand for what it has begun.
    begun: Requests,
    /// Requests that it has completed.
    completed: Requests,
}

impl Done<'_> {
    /// Requests that have been started may have other handles than before.
    fn rename(&self, before: &[usize]) {
        for (old, token) in before.iter().zip(tokens(self.args, 0)) {
            if *old != token.key {
                let mut templates = lock(&TEMPLATES);
                if let Some(described) = templates.remove(old) {
                    templates.insert(token.key, described);
                }
            }
        }
    }

    fn record(&self, ahead: &Ahead, ok: bool) {
        let effect = self.args.call.effect;
        match effect {
            _ if ok && files::begins_read(self.args) => {
                files::begun(self.args, self.describe_begun());
                self.count(&[]);
            }
            _ if ok && ahead.found.is_some() => {
                self.count(&[self.describe_found(ahead.found)]);
            }
            _ if ok && self.repeats() => {
                if !self.count_again() {
                    self.count(&[self.describe()]);
                }
            }
            Effect::Block | Effect::Start | Effect::Rma | Effect::SplitBegin if ok => {
                self.count(&[self.describe()]);
            }
            Effect::Go | Effect::GoAll if ok => {
                let templates = lock(&TEMPLATES);
                let started: SmallVec<[Described; 2]> =
                    ahead.requests.iter().filter_map(|key| templates.get(key)).cloned().collect();
                drop(templates);
                self.count(&started);
                self.rename(&ahead.requests);
            }
            Effect::Local if ok && self.args.call.collective => self.count(&[self.describe()]),
            _ => self.count(&files::ended(self.args, &ahead.reads)),
        }
        if !ok {
            // Whether a message is gone is not known then.
            if TransferKind::of(self.args.call) == Some(TransferKind::PointToPoint) {
                self.with(|traffic| traffic.lose_receive_order(None));
            }
            return;
        }
        match effect {
            Effect::Cancel => self.with(|traffic| traffic.lose_receive_order(None)),
            Effect::Init | Effect::InitPartitioned => {
                let at = self.args.call.at.request.map_or(0, |index| self.args.words[index]);
                // SAFETY: the call has succeeded and stored a handle there.
                let request = unsafe { request_at(at, self.args.fortran) };
                let described = self.describe_for_later();
                lock(&TEMPLATES).insert(request, described);
            }
            Effect::Free => {
                let mut templates = lock(&TEMPLATES);
                ahead.requests.iter().for_each(|key| drop(templates.remove(key)));
            }
            // In a process that is checked, this has been done.
            Effect::CommFree => {
                groups::forget(ahead.gone);
                self.with(|traffic| traffic.set_group_of(ahead.gone, None));
            }
            Effect::TypeFree => {
                datatypes::forget(ahead.gone);
                self.with(Traffic::forget_calls);
            }
            Effect::Block => matched::probed(self.args),
            Effect::Local => {
                if let Some(tie) = links::tie(&self.args.call.name) {
                    links::made(self.rank, self.here, self.args, tie, self.times);
                }
            }
            Effect::Window => self.window_made(),
            Effect::FileOpen => files::opened(self.args),
            Effect::FileClose => files::closed(ahead.gone),
            Effect::WindowFree => {
                lock(&WINDOWS).remove(&ahead.gone);
                self.with(|traffic| traffic.set_group_of(ahead.gone, None));
            }
            Effect::MemAlloc => {
                // SAFETY: the call has stored an address there, in C and Fortran alike.
                let base = unsafe { *(self.args.words[2] as *const usize) };
                self.allocated(base..base.saturating_add(self.args.words[0]));
            }
            // Fortran passes the memory itself, as C passes a pointer to it: both are the address.
            Effect::MemFree => {
                self.with(|traffic| traffic.objects.freed(self.args.words[0]));
            }
            _ => {}
        }
    }

    fn with(&self, mut f: impl FnMut(&mut Traffic)) {
        self.rank.count(self.here.thread, &mut |traffic, _| f(traffic));
    }

    /// The transfers of the call, determined before anything is locked.
    fn describe(&self) -> Described {
        let args = self.args;
        let Some(kind) = TransferKind::of(args.call) else {
            // A barrier moves nothing, but it takes time on a communicator.
            let comm = args.call.at.comm.filter(|_| args.call.collective);
            return Described {
                kind: TransferKind::Collective,
                handle: comm.map(|index| args.words[index]),
                group: None,
                order: InOrder::Apart,
                file: None,
                transfers: Transfers::new(),
                begun: None,
                window: None,
            };
        };
        let transfers = match (kind, args.call.at.status) {
            (TransferKind::PointToPoint, Some(_)) => self.with_status(),
            (TransferKind::File, Some(status)) => {
                let mut transfers = transfers(args, &Mpi);
                files::shorten(&mut transfers, args.words[status]);
                transfers
            }
            _ => transfers(args, &Mpi),
        };
        let window = match kind {
            TransferKind::OneSided => self.at_target(),
            _ => None,
        };
        let handle = args.call.at.comm.or(args.call.at.win).map(|index| args.words[index]);
        let order = match kind {
            TransferKind::PointToPoint if args.call.effect != Effect::InitPartitioned => {
                InOrder::Starts(handle)
            }
            _ => InOrder::Apart,
        };
        let file = match kind {
            TransferKind::File => {
                args.call.at.file.and_then(|index| files::name(args.words[index]))
            }
            _ => None,
        };
        Described { kind, handle, group: None, order, file, transfers, begun: None, window }
    }

    /// Sees to it that the groups of communicators and windows are known.
    #[cold]
    fn ask_groups(&self, all: &[Described]) {
        for described in all {
            let Some(handle) = described.handle else { continue };
            let group = match &described.window {
                Some((window, _)) => window.group.clone(),
                None if described.kind == TransferKind::OneSided => continue,
                None => groups::of_comm(handle),
            };
            let (mut name, mut members): (u64, Vec<Place>) =
                (group.name, group.members.iter().map(|rank| Place::Rank(*rank)).collect());
            if members.is_empty() && described.window.is_none() {
                let place = |member| match member {
                    Member::Own(rank) => Place::Rank(rank),
                    Member::Other(number, rank) => Place::Linked(number, rank),
                    Member::Stranger => Place::Unknown,
                };
                members = groups::with_others(handle).into_iter().map(place).collect();
                name = BuildHasherDefault::<DefaultHasher>::default().hash_one(&members);
            }
            self.with(|traffic| {
                let number = traffic.group(name, || members.clone());
                traffic.set_group_of(handle, Some(number));
            });
        }
    }

    /// For later: with the site of this call.
    fn describe_begun(&self) -> Described {
        let mut described = self.describe();
        self.with(|traffic| {
            let call = traffic.strings.fixed(&self.args.call.name);
            described.begun = Some((call, traffic.path(self.here)));
        });
        described
    }

    /// For later: the communicator may be freed before.
    fn describe_for_later(&self) -> Described {
        let mut described = self.describe();
        self.ask_groups(std::slice::from_ref(&described));
        let handle = described.handle.take();
        self.with(|traffic| {
            described.group = handle.and_then(|handle| traffic.group_of(handle));
        });
        described
    }

    /// A call that receives what a matching probe has found.
    fn describe_found(&self, found: Option<Found>) -> Described {
        let mut described = self.describe();
        described.handle = found.map(|found| found.comm);
        described.order = InOrder::Taken;
        if let Some((source, tag)) = found.and_then(|found| found.envelope) {
            described.transfers.iter_mut().for_each(|transfer| transfer.comes_from(source, tag));
        }
        described
    }

    /// The source and size of what has been received are in the status.
    fn with_status(&self) -> Transfers {
        let words = arrived(self.args);
        let received = transfers(&Args { words: &words, ..*self.args }, &Mpi);
        let mut found = match self.args.call.at.dest {
            Some(_) => transfers(self.args, &Mpi),
            None => Transfers::new(),
        };
        found.retain(|transfer| transfer.sends);
        found.extend(received.into_iter().filter(|transfer| !transfer.sends));
        let status = self.args.call.at.status.map_or(0, |index| self.args.words[index]);
        // SAFETY: the call has filled its status, if it has one.
        let Some((source, tag)) = (unsafe { envelope(status) }) else { return found };
        for transfer in found.iter_mut().filter(|transfer| !transfer.sends) {
            transfer.comes_from(source, tag);
        }
        found
    }

    /// The window that the call accesses, and what it does there.
    fn at_target(&self) -> Option<(Window, Footprint)> {
        let handle = self.args.call.at.win.map(|index| self.args.words[index])?;
        let window = lock(&WINDOWS).get(&handle).cloned()?;
        let at_target = windows::at_target(self.args);
        let base = at_target.displacement * window.unit as i64;
        Some((window, Footprint::new(base as usize, at_target.pattern)))
    }

    fn window_made(&self) {
        // SAFETY: the call has made a window.
        let made = unsafe { windows::new(self.args) };
        let group = groups::of_comm(made.comm);
        let mut stack = None;
        self.with(|traffic| stack = Some(traffic.path(self.here)));
        let Some(stack) = stack else { return };
        let window = Window { group, call: &self.args.call.name, stack, unit: made.part.unit };
        lock(&WINDOWS).insert(made.handle, window);
        // A dynamic window has no memory yet.
        let Some(end) = made.base.checked_add(made.part.size as usize) else { return };
        let bytes = made.base..end;
        if made.allocated {
            self.allocated(bytes);
        } else if made.base != 0 && !bytes.is_empty() {
            self.with(|traffic| {
                let own = self.window_here(traffic);
                // Memory of a device stays there.
                let place = traffic.objects.at(bytes.start).map_or(own.place, |(object, _)| {
                    traffic.objects.all()[object as usize].identity.place
                });
                traffic.objects.exposed(&bytes, Identity { place, ..own });
            });
        }
    }

    /// The call has allocated memory.
    fn allocated(&self, bytes: Range<usize>) {
        self.with(|traffic| {
            let identity = self.window_here(traffic);
            traffic.objects.allocated(bytes.clone(), identity);
        });
    }

    /// What this process calls the memory that the call makes a window of.
    fn window_here(&self, traffic: &mut Traffic) -> Identity {
        Identity {
            memory: Memory::Window,
            place: HOST,
            stack: traffic.path(self.here),
            call: Some(&self.args.call.name),
            name: None,
        }
    }

    /// Whether the call has the same transfers whenever it is made with these arguments: it has no
    /// arrays, and receives amounts that are known.
    fn repeats(&self) -> bool {
        let call = self.args.call;
        let is_array =
            |role| matches!(role, Role::Counts | Role::Displs | Role::ByteDispls | Role::Datatypes);
        matches!(call.effect, Effect::Block | Effect::Start)
            && self.args.words.len() <= WORDS
            && (call.at.status.is_none() || call.accesses.is_empty())
            && !call.params.iter().any(|param| is_array(param.role))
    }

    /// The call, as it may be made again.
    fn same(&self, traffic: &mut Traffic) -> CallSignature {
        let mut words = [0; WORDS];
        for (word, argument) in words.iter_mut().zip(self.args.words) {
            *word = *argument;
        }
        // Where a result goes does not matter.
        if let Some(word) = self.args.call.at.request.and_then(|index| words.get_mut(index)) {
            *word = 0;
        }
        let stack = traffic.path(self.here);
        let call = traffic.strings.fixed(&self.args.call.name);
        let thread = self.here.thread.number();
        CallSignature { call, stack, thread, region: traffic.region(), words }
    }

    /// Counts the call if it was made before.
    fn count_again(&self) -> bool {
        let mut known = false;
        let request = self.begun.first().copied();
        self.with(|traffic| {
            let same = self.same(traffic);
            let thread = self.here.thread.number();
            known = traffic.record_repeated(&same, thread, self.times, request);
        });
        known
    }

    /// Counts the call and what it has moved.
    fn count(&self, all: &[Described]) {
        if !self.try_to_count(all, false) {
            self.ask_groups(all);
            self.try_to_count(all, true);
        }
    }

    /// Counts, unless a group is not known yet and that matters.
    fn try_to_count(&self, all: &[Described], anyway: bool) -> bool {
        let mut counted = true;
        self.rank.count(self.here.thread, &mut |traffic, me| {
            let knows = |handle| traffic.group_of(handle).is_some();
            if !anyway && !all.iter().all(|described| described.handle.is_none_or(knows)) {
                counted = false;
                return;
            }
            let stack = traffic.path(self.here);
            let call = traffic.strings.fixed(&self.args.call.name);
            let partner = counting::partner(traffic, all);
            let calls = traffic.record_call(call, stack, partner, self.times);
            let (here, time, steps) = (self.here, self.times.0, Some(SmallVec::new()));
            let parts = Parts::new();
            let mut counting = Counting { traffic, here, me, call, stack, time, steps, parts };
            all.iter().for_each(|described| counting.add(described));
            let (steps, parts) = (counting.steps.take(), counting.parts);
            let event = self.record_event(traffic, calls, all, parts);
            if let Some(steps) = steps.filter(|steps| steps.len() <= MAX_STEPS && self.repeats()) {
                let mut kept = Steps { calls, event, steps: [None; MAX_STEPS] };
                kept.steps.iter_mut().zip(steps).for_each(|(slot, step)| *slot = Some(step));
                let same = self.same(traffic);
                traffic.remember(same, kept);
            }
        });
        counted
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
