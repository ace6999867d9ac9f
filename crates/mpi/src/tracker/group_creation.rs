//! What those wait for who make a communicator without all ranks of another one: `MPI_Comm_create_group`, in which those
//! of a group meet, `MPI_Comm_create_from_group`, and the leaders of two groups in `MPI_Intercomm_create` (MPI 4.1 §7.4.2, §7.6.2).
//!
//! Such a meeting has a name that all who take part know without asking. Who has come to it names it among what it has
//! entered, as what it has entered 0 collectives on.
//!
//! **Soundness.** That of `waiting.rs`. The groups' leaders meet by a name of the communicator of both, the tag and who
//! they are; if two such meetings are alike, who has been in the first counts as having come to the second, which may
//! miss a deadlock.

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
    /// Those of a group are about to make a communicator by themselves, out of `parent` or of a session's group.
    pub fn makes_by_group(&mut self, thread: u32, parent: Option<usize>, tag: i32, group: &Group) {
        let name = self.on.name_of_group(parent, tag, group);
        if let Some(name) = name {
            self.making.push(Making { thread, name, members: group.members.clone() });
        }
    }

    /// They have made it, or failed.
    pub fn made_or_not(&mut self, thread: u32) {
        self.making.retain(|making| making.thread != thread);
    }

    /// Names of what this rank has come to, and not left.
    pub(super) fn meetings(&self) -> impl Iterator<Item = (u64, u32)> {
        self.making.iter().map(|making| (making.name, 0))
    }

    /// What a call of this thread needs in which a group makes a communicator.
    pub(super) fn need_of_group(&self, call: &'static Call, thread: u32) -> Result<Need, Unsure> {
        let making = self.making.iter().find(|making| making.thread == thread);
        let Making { name, members, .. } = making.ok_or(Unsure)?;
        let (_, me) = self.rendezvous.ok_or(Unsure)?;
        let ranks = members.iter().copied().filter(|rank| *rank != me).collect();
        let on = format!("a group of {} ranks", members.len());
        Ok(meeting(call, *name, ranks, on))
    }

    /// What a call needs that joins two groups, besides its own group's: the other leader, or one's own.
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

    /// The name of the leaders' meeting, for leaders.
    pub(super) fn name_between(&self, args: &Args) -> Option<u64> {
        let (own, other) = self.leaders(args)?;
        let peer = On::Comm(args.words[args.call.at.peer_comm?]);
        let peer = self.on.find(peer).filter(|known| known.name != 0)?;
        let tag = args.int(args.call.at.tag?);
        let (first, second) = (own.min(other?), own.max(other?));
        let leaders = u64::from(first) | u64::from(second) << 32;
        (own == self.me).then(|| mixed(mixed(peer.name ^ OF_LEADERS, tag as u64), leaders) | 1)
    }

    /// This rank's own leader and, if it is this rank, the other one, as ranks of the job.
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
