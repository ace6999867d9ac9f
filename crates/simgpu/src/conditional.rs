//! Conditional nodes of graphs: which of a node's graphs run is decided when the node is reached,
//! by a value that kernels set (CUDA C++ Programming Guide, "Conditional Graph Nodes").
//!
//! The node's operation starts, has the nodes of the chosen graph executed, and starts again when
//! they are complete: of a loop it chooses anew then.

use crate::error::{Error, Result};
use crate::graphs::{self, ExecNode};
use crate::order::OpId;
use crate::runtime::State;
use crate::schedule::Pending;
use crate::task::Task;
use commsan_simt::Conditions;
use std::ffi::c_int;
use std::sync::Arc;

/// The values of all conditions; a process has one runtime.
pub static CONDITIONS: Conditions = Conditions::new();

/// `cudaGraphCondAssignDefault`.
const ASSIGN_DEFAULT: u32 = 1;

/// How a node chooses: `cudaGraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first graph if the value is not zero, else the second, if there is one.
    If,
    /// The graph, as long as the value is not zero.
    While,
    /// The graph of that number, if there is one.
    Switch,
}

impl Which {
    /// The one that a program means, with so many graphs.
    pub fn from_number(number: c_int, graphs: u32) -> Option<Which> {
        match (number, graphs) {
            (0, 1 | 2) => Some(Which::If),
            (1, 1) => Some(Which::While),
            (2, 1..) => Some(Which::Switch),
            _ => None,
        }
    }

    fn chosen(self, value: u32, graphs: usize) -> Option<usize> {
        let number = match (self, value) {
            (Which::If, 0) => 1,
            (Which::While, 0) => return None,
            (Which::If | Which::While, _) => 0,
            (Which::Switch, value) => value as usize,
        };
        (number < graphs).then_some(number)
    }
}

/// What a node chooses from.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// The condition's handle.
    pub condition: u64,
    /// How it chooses.
    pub which: Which,
    /// Its graphs, by the handles that the program was given.
    pub graphs: Arc<[usize]>,
}

/// A conditional node with its instantiated bodies, ready for execution.
#[derive(Debug)]
pub struct Choice {
    condition: u64,
    which: Which,
    bodies: Vec<Vec<ExecNode>>,
}

impl Conditional {
    /// What the node does, with the nodes of its graphs.
    pub fn task(&self, bodies: &[Vec<ExecNode>]) -> Task {
        let Conditional { condition, which, .. } = *self;
        Task::Choose(Arc::new(Choice { condition, which, bodies: bodies.to_vec() }))
    }
}

impl State {
    /// A condition for a graph. If the program wants that, it has this value at each launch.
    pub(crate) fn new_condition(&mut self, graph: usize, value: u32, flags: u32) -> Result<u64> {
        self.graphs.get(graph)?;
        if flags & !ASSIGN_DEFAULT != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let handle = self.new_handle() as u64;
        CONDITIONS.insert(handle, value);
        if flags == ASSIGN_DEFAULT {
            self.graphs.defaults.insert(handle, value);
        }
        Ok(handle)
    }

    /// What gives the conditions of some nodes the values that they have at a launch.
    pub(crate) fn assignment(&self, nodes: &[ExecNode]) -> Task {
        let mut values = Vec::new();
        self.add_defaults(nodes, &mut values);
        if values.is_empty() { Task::Mark } else { Task::Assign(values.into()) }
    }

    fn add_defaults(&self, nodes: &[ExecNode], to: &mut Vec<(u64, u32)>) {
        for node in nodes {
            if let graphs::Body::Conditional(Conditional { condition, .. }) = &node.body {
                to.extend(self.graphs.defaults.get(condition).map(|value| (*condition, *value)));
                node.bodies.iter().for_each(|body| self.add_defaults(body, to));
            }
        }
    }

    /// Has the graph executed that the condition says, and the node wait for it; false if there is
    /// none, or none any more.
    pub(crate) fn choose(
        &mut self,
        op: OpId,
        choice: &Arc<Choice>,
        device: usize,
        now: u64,
    ) -> bool {
        let Choice { condition, which, bodies } = &**choice;
        let value = CONDITIONS.value(*condition).unwrap_or(0);
        let Some(body) = which.chosen(value, bodies.len()).map(|number| &bodies[number]) else {
            return false;
        };
        let Ok(ops) = self.launch_nodes(device, body, &[]) else { return false };
        let ends: Vec<OpId> = graphs::leaves(body).into_iter().map(|leaf| ops[leaf]).collect();
        let task = match which {
            Which::While => Task::Choose(Arc::clone(choice)),
            Which::If | Which::Switch => Task::Mark,
        };
        self.order.start_again(op, &ends);
        self.pending.insert(op, Pending { task, device, start: now });
        self.choices_made += 1;
        true
    }
}
