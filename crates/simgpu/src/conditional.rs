//! Conditional graph nodes: when such a node is reached, a value set by kernels selects which of
//! its graphs run (CUDA C++ Programming Guide, "Conditional Graph Nodes").
//!
//! The node's operation starts, launches the nodes of the selected graph, and starts again when
//! they are complete: a loop then selects again.

use crate::error::{Error, Result};
use crate::graphs::{self, ExecNode};
use crate::order::OpId;
use crate::runtime::State;
use crate::schedule::Pending;
use crate::task::Task;
use commsan_simt::Conditions;
use std::ffi::c_int;
use std::sync::Arc;

/// The values of all conditions; there is one runtime per process.
pub static CONDITIONS: Conditions = Conditions::new();

/// `cudaGraphCondAssignDefault`.
const ASSIGN_DEFAULT: u32 = 1;

/// How a node selects: `cudaGraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionalType {
    /// The first graph if the value is not zero, else the second, if there is one.
    If,
    /// The graph, while the value is not zero.
    While,
    /// The graph of that number, if there is one.
    Switch,
}

impl ConditionalType {
    /// The type with this number, if a node of that type can have `graphs` graphs.
    pub fn from_number(number: c_int, graphs: u32) -> Option<ConditionalType> {
        match (number, graphs) {
            (0, 1 | 2) => Some(ConditionalType::If),
            (1, 1) => Some(ConditionalType::While),
            (2, 1..) => Some(ConditionalType::Switch),
            _ => None,
        }
    }

    fn chosen(self, value: u32, graphs: usize) -> Option<usize> {
        let number = match (self, value) {
            (ConditionalType::If, 0) => 1,
            (ConditionalType::While, 0) => return None,
            (ConditionalType::If | ConditionalType::While, _) => 0,
            (ConditionalType::Switch, value) => value as usize,
        };
        (number < graphs).then_some(number)
    }
}

/// A conditional node.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// The condition's handle.
    pub condition: u64,
    /// How it selects.
    pub which: ConditionalType,
    /// Its graphs, by the handles returned to the program.
    pub graphs: Arc<[usize]>,
}

/// A conditional node with its instantiated graphs.
#[derive(Debug)]
pub struct Choice {
    condition: u64,
    which: ConditionalType,
    bodies: Vec<Vec<ExecNode>>,
}

impl Conditional {
    /// The operation of the node, with its instantiated graphs.
    pub fn task(&self, bodies: &[Vec<ExecNode>]) -> Task {
        let Conditional { condition, which, .. } = *self;
        Task::Choose(Arc::new(Choice { condition, which, bodies: bodies.to_vec() }))
    }
}

impl State {
    /// Creates a condition for a graph. With the flag, it is set to `value` at each launch.
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

    /// The operation that sets the conditions of some nodes to their values at a launch.
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

    /// Launches the graph that the condition selects, and makes the node wait for it; false if none
    /// is selected, or no longer.
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
            ConditionalType::While => Task::Choose(Arc::clone(choice)),
            ConditionalType::If | ConditionalType::Switch => Task::Mark,
        };
        self.order.start_again(op, &ends);
        self.pending.insert(op, Pending { task, device, start: now });
        self.choices_made += 1;
        true
    }
}
