//! Agents that one thread executes in turns: explicit tasks, and what the thread does besides.
//!
//! No order between two tasks follows from that one thread has executed both, since another one
//! might have. But what belongs to the thread, only one of them uses at a time (OpenMP 5.2 §12.9:
//! a tied task leaves its thread at scheduling points only): the element of an array that the
//! thread's number selects, its thread-local variables, and what these point to.
//!
//! **Soundness.** A task may use what belongs to its thread once it has asked for the thread's
//! number, or where the program's modules have thread-local variables or call functions that
//! identify threads ([`ownership`](super::ownership)). Two agents of one thread that both may then
//! count as ordered in all memory, so that a race between them is seen only where different threads
//! execute them. An agent whose number another one has got since counts as one that has asked. Not
//! known is a number that a task has from the one that created it, or asks a library for that
//! commsan does not see.

use super::{AGENTS, AgentSet, CLOCKS, NONE, current, worksharing};
use commsan_shadow::Epoch;
use std::cell::Cell as Local;
use std::sync::atomic::Ordering::Relaxed;

thread_local! {
    /// The last epoch in which this thread was each agent.
    static EXECUTED: [Local<u32>; AGENTS] = const { [const { Local::new(0) }; AGENTS] };
}

/// The agents that have asked for their thread's number.
static HAVE_ASKED: AgentSet = AgentSet::empty();

/// This thread's agent asks for the thread's number.
pub fn ask() {
    if let Some(me) = current()
        && !HAVE_ASKED.contains(me)
    {
        HAVE_ASKED.insert(me);
    }
}

/// An agent begins.
pub(super) fn begins(agent: usize) {
    HAVE_ASKED.remove(agent);
}

/// This thread stops being an agent, for a while or for good.
pub(super) fn leaves(agent: usize) {
    if agent != NONE {
        EXECUTED.with(|last| last[agent].set(CLOCKS[agent][agent].load(Relaxed)));
    }
}

/// Whether this thread has executed an agent's epoch.
pub fn has_executed(past: Epoch) -> bool {
    EXECUTED.with(|last| last[past.agent as usize % AGENTS].get() >= past.time)
}

/// Whether this thread's agent has asked for the thread's number, and that of an epoch has, as far
/// as is known.
pub fn both_have_asked(past: Epoch) -> bool {
    let other = past.agent as usize % AGENTS;
    current().is_some_and(|me| HAVE_ASKED.contains(me))
        && (HAVE_ASKED.contains(other) || !worksharing::is_present(other, past.time))
}
