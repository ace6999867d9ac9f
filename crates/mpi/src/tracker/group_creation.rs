//! What calls wait for that make a communicator without all ranks of another one:
//! `MPI_Comm_create_group` and `MPI_Comm_create_from_group`, in which the members of a group meet,
//! and `MPI_Intercomm_create`, in which the leaders of two groups do (MPI 4.1 §7.4.2, §7.6.2).
//!
//! Each such meeting has a name that all participants can compute without communication. A rank
//! that has reached the meeting lists its name among what it has entered, with a count of 0
//! collectives.
//!
//! **Soundness.** As for `waiting.rs`. The leaders' meeting is named by the peer communicator, the
//! tag and the leaders; if two meetings have the same name, a rank that was in the first counts as
//! having reached the second, which may miss a deadlock.

use super::Together;
use super::waiting::Unsure;
use crate::buffers::Args;
use crate::ids::{Group, On, mixed};
use commsan_callsite::Need;
use commsan_findings::NeedKind;
use commsan_mpi_calls::Call;
use std::borrow::Cow;
use std::sync::Arc;

const OF_LEADERS: u64 = 0x1e_ade5;

/// A communicator that a group is making, in a thread of this rank.
pub(crate) struct Making {
    thread: u32,
    name: u64,
    members: Arc<[u32]>,
}

impl Together {
    /// The members of a group are about to make a communicator, out of `parent` or of a session's
    /// group.
    pub fn makes_by_group(&mut self, thread: u32, parent: Option<usize>, tag: i32, group: &Group) {
        let name = self.on.name_of_group(parent, tag, group);
        if let Some(name) = name {
            self.making.push(Making { thread, name, members: group.members.clone() });
        }
    }

    /// The group has made its communicator, or failed to.
    pub fn made_or_not(&mut self, thread: u32) {
        self.making.retain(|making| making.thread != thread);
    }

    /// Names of the meetings that this rank has reached and not left, with a count of 0.
    pub(super) fn meetings(&self) -> impl Iterator<Item = (u64, u32)> {
        self.making.iter().map(|making| (making.name, 0))
    }

    /// The need of a call of this thread in which a group makes a communicator.
    pub(super) fn need_of_group(&self, call: &'static Call, thread: u32) -> Result<Need, Unsure> {
        let making = self.making.iter().find(|making| making.thread == thread);
        let Making { name, members, .. } = making.ok_or(Unsure)?;
        let (_, me) = self.rendezvous.ok_or(Unsure)?;
        let ranks = members.iter().copied().filter(|rank| *rank != me).collect();
        let on = format!("a group of {} ranks", members.len());
        Ok(meeting(call, *name, ranks, on))
    }

    /// What a call that joins two groups needs besides its own group: for a leader the remote
    /// leader, for other ranks their local leader.
    pub(super) fn need_between(&self, args: &Args) -> Result<Need, Unsure> {
        let (own, other) = self.leaders(args).ok_or(Unsure)?;
        let (_, me) = self.rendezvous.ok_or(Unsure)?;
        let on = "two groups".to_owned();
        if own != me {
            let kind = NeedKind::Other;
            return Ok(Need { kind, ..meeting(args.call, 0, vec![own], on) });
        }
        let name = self.name_between(args).ok_or(Unsure)?;
        Ok(meeting(args.call, name, vec![other.ok_or(Unsure)?], on))
    }

    /// The name of the leaders' meeting; `None` unless this rank is a leader.
    pub(super) fn name_between(&self, args: &Args) -> Option<u64> {
        let (own, other) = self.leaders(args)?;
        let peer = On::Comm(args.words[args.call.at.peer_comm?]);
        let peer = self.on.find(peer).filter(|known| known.name != 0)?;
        let tag = args.int(args.call.at.tag?);
        let (first, second) = (own.min(other?), own.max(other?));
        let leaders = u64::from(first) | u64::from(second) << 32;
        (own == self.me).then(|| mixed(mixed(peer.name ^ OF_LEADERS, tag as u64), leaders) | 1)
    }

    /// The local leader and, if this rank is it, the remote leader, as ranks in the job.
    fn leaders(&self, args: &Args) -> Option<(u32, Option<u32>)> {
        let member = |comm: usize, rank: &str| {
            let known = self.on.find(On::Comm(args.words[comm]))?;
            known.members.get(usize::try_from(args.int(args.call.named(rank)?)).ok()?).copied()
        };
        let own = member(args.call.at.comm?, "local_leader")?;
        let leads = own == self.me;
        let other = leads.then(|| member(args.call.at.peer_comm?, "remote_leader")).flatten();
        Some((own, other))
    }
}

fn meeting(call: &'static Call, name: u64, ranks: Vec<u32>, on: String) -> Need {
    let kind = NeedKind::Collective;
    Need {
        kind,
        call: Cow::Borrowed(&call.name),
        site: None,
        ranks: ranks.into(),
        tag: None,
        on: on.into(),
        name,
        number: 0,
    }
}
