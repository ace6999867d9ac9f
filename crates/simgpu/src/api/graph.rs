//! Graph management: creation, inspection, instantiation and launch.

use crate::abi::{GraphEdgeData, GraphExecUpdateResultInfo, GraphInstantiateParams};
use crate::api::entry::{In, Out};
use crate::error::{Error, Result};
use crate::graphs::{Body, Exec, Graph};
use crate::runtime::Session;
use crate::task::Task;
use std::ffi::{c_int, c_uint};
use std::mem::discriminant;

/// The supported flags of `cudaGraphInstantiate`; launches from devices are not among them.
const INSTANTIATE_FLAGS: u64 = 0b1011;

/// Values of `cudaGraphExecUpdateResult`.
const UPDATED: c_int = 0;
const TOPOLOGY_CHANGED: c_int = 2;
const TYPE_CHANGED: c_int = 3;
const PARAMETERS_CHANGED: c_int = 5;

calls! {
    fn cudaGraphCreate in (session)(graph: Out<usize>, flags: c_uint) {
        session.current()?;
        if flags != 0 || graph.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let handle = session.new_handle();
        session.graphs.create(handle);
        graph.put(handle)
    }

    fn cudaGraphDestroy in (session)(graph: usize) {
        let memory = session.graphs.destroy(graph)?;
        session.free_after(None, memory);
        Ok(())
    }

    fn cudaGraphClone in (session)(clone: Out<usize>, graph: usize) {
        clone.put(copy(session, graph)?)
    }

    fn cudaGraphNodeFindInClone in (session)(found: Out<usize>, origin: usize, clone: usize) {
        let node = session.graphs.get(clone)?.clone_of(origin);
        found.put(node.ok_or(Error::INVALID_VALUE)?)
    }

    fn cudaGraphDestroyNode in (session)(node: usize) {
        let memory = session.graphs.remove(node)?;
        session.free_after(None, memory);
        Ok(())
    }

    fn cudaGraphGetNodes in (session)(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        let found: Vec<usize> = session.graphs.get(graph)?.handles().collect();
        list(&found, nodes, count)
    }

    fn cudaGraphGetRootNodes in (session)(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        let found: Vec<usize> = session.graphs.get(graph)?.roots().collect();
        list(&found, nodes, count)
    }

    fn commsan_12_cudaGraphGetEdges in (session)(
        graph: usize,
        from: Out<usize>,
        to: Out<usize>,
        count: Out<usize>,
    ) {
        edges(session, graph, from, to, count)
    }

    fn cudaGraphGetEdges_v2 in (session)(
        graph: usize,
        from: Out<usize>,
        to: Out<usize>,
        data: Out<GraphEdgeData>,
        count: Out<usize>,
    ) {
        plain(data, count);
        edges(session, graph, from, to, count)
    }

    fn commsan_12_cudaGraphNodeGetDependencies in (session)(
        node: usize,
        nodes: Out<usize>,
        count: Out<usize>,
    ) {
        list(&session.graphs.node(node)?.after, nodes, count)
    }

    fn cudaGraphNodeGetDependencies_v2 in (session)(
        node: usize,
        nodes: Out<usize>,
        data: Out<GraphEdgeData>,
        count: Out<usize>,
    ) {
        plain(data, count);
        list(&session.graphs.node(node)?.after, nodes, count)
    }

    fn commsan_12_cudaGraphNodeGetDependentNodes in (session)(
        node: usize,
        nodes: Out<usize>,
        count: Out<usize>,
    ) {
        list(&dependents(session, node)?, nodes, count)
    }

    fn cudaGraphNodeGetDependentNodes_v2 in (session)(
        node: usize,
        nodes: Out<usize>,
        data: Out<GraphEdgeData>,
        count: Out<usize>,
    ) {
        plain(data, count);
        list(&dependents(session, node)?, nodes, count)
    }

    fn commsan_12_cudaGraphAddDependencies in (session)(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        count: usize,
    ) {
        each_edge(session, graph, from, to, count, Graph::connect)
    }

    fn cudaGraphAddDependencies_v2 in (session)(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        _data: usize,
        count: usize,
    ) {
        each_edge(session, graph, from, to, count, Graph::connect)
    }

    fn commsan_12_cudaGraphRemoveDependencies in (session)(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        count: usize,
    ) {
        each_edge(session, graph, from, to, count, Graph::disconnect)
    }

    fn cudaGraphRemoveDependencies_v2 in (session)(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        _data: usize,
        count: usize,
    ) {
        each_edge(session, graph, from, to, count, Graph::disconnect)
    }

    fn cudaGraphInstantiate in (session)(exec: Out<usize>, graph: usize, flags: u64) {
        exec.put(instantiate(session, graph, flags)?)
    }

    fn cudaGraphInstantiateWithFlags in (session)(exec: Out<usize>, graph: usize, flags: u64) {
        exec.put(instantiate(session, graph, flags)?)
    }

    fn cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz in (session, _which)(
        exec: Out<usize>,
        graph: usize,
        parameters: Out<GraphInstantiateParams>,
    ) {
        /// `cudaGraphInstantiateError`.
        const FAILED: c_int = 1;
        let mut given = parameters.get()?;
        let made = instantiate(session, graph, given.flags);
        given.result_out = if made.is_ok() { 0 } else { FAILED };
        given.errNode_out = 0;
        parameters.put(given)?;
        exec.put(made?)
    }

    fn cudaGraphExecGetFlags in (session)(exec: usize, flags: Out<u64>) {
        flags.put(session.graphs.exec_mut(exec)?.flags)
    }

    fn cudaGraphUpload, cudaGraphUpload_ptsz in (session, which)(exec: usize, stream: usize) {
        session.graphs.exec_mut(exec)?;
        let stream = session.stream(which(stream))?;
        session.submit(stream, Task::Mark).map(drop)
    }

    fn cudaGraphLaunch, cudaGraphLaunch_ptsz in (session, which)(exec: usize, stream: usize) {
        session.graphs.exec_mut(exec)?;
        let stream = session.stream(which(stream))?;
        session.launch_graph(exec, stream)
    }

    fn cudaGraphExecDestroy in (session)(exec: usize) {
        let (last, memory) = session.graphs.destroy_exec(exec)?;
        session.free_after(last, memory);
        Ok(())
    }

    fn cudaGraphExecUpdate in (session)(
        exec: usize,
        graph: usize,
        result: Out<GraphExecUpdateResultInfo>,
    ) {
        let new = session.graphs.instantiate(graph)?;
        let old = session.graphs.exec_mut(exec)?;
        let (code, error_node) = compare(old, &new);
        result.put(GraphExecUpdateResultInfo {
            result: code,
            errorNode: error_node,
            errorFromNode: 0,
        })?;
        if code != UPDATED {
            return Err(Error::GRAPH_EXEC_UPDATE_FAILURE);
        }
        // The nodes keep the handles of the nodes that they were instantiated from.
        for (node, new) in old.nodes.iter_mut().zip(new.nodes) {
            (node.body, node.bodies) = (new.body, new.bodies);
        }
        Ok(())
    }

    fn cudaGraphNodeSetEnabled in (session)(exec: usize, node: usize, enabled: c_uint) {
        let node = session.graphs.exec_mut(exec)?.node_mut(node)?;
        if matches!(node.body, Body::Task(Task::Kernel(_) | Task::Copy(_) | Task::Set(_))) {
            node.enabled = enabled != 0;
            Ok(())
        } else {
            Err(Error::INVALID_VALUE)
        }
    }

    fn cudaGraphNodeGetEnabled in (session)(exec: usize, node: usize, enabled: Out<c_uint>) {
        enabled.put(session.graphs.exec_mut(exec)?.node_mut(node)?.enabled.into())
    }
}

/// Clones a graph.
pub(crate) fn copy(session: &mut Session, graph: usize) -> Result<usize> {
    let state = &mut **session;
    let mut graphs = std::mem::take(&mut state.graphs);
    let copied = graphs.copy(graph, &mut || state.new_handle());
    state.graphs = graphs;
    copied
}

/// Returns the number of items, and as many items as fit.
fn list(found: &[usize], to: Out<usize>, count: Out<usize>) -> Result {
    if to.is_null() {
        return count.put(found.len());
    }
    let room = count.get()?;
    // Entries beyond the last item are set to 0.
    let rest = std::iter::repeat_n(0, room.saturating_sub(found.len()));
    to.put_all(found.iter().copied().take(room).chain(rest));
    count.put(found.len().min(room))
}

/// Edges carry no data.
fn plain(data: Out<GraphEdgeData>, count: Out<usize>) {
    if !data.is_null()
        && let Ok(room) = count.get()
    {
        data.put_all(std::iter::repeat_n(GraphEdgeData::zero(), room));
    }
}

fn edges(
    session: &Session,
    graph: usize,
    from: Out<usize>,
    to: Out<usize>,
    count: Out<usize>,
) -> Result {
    let found: Vec<(usize, usize)> = session.graphs.get(graph)?.edges().collect();
    if from.is_null() != to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let (sources, targets): (Vec<usize>, Vec<usize>) = found.into_iter().unzip();
    let room = if from.is_null() { 0 } else { count.get()? };
    list(&sources, from, count)?;
    if !to.is_null() {
        to.put_all(targets.into_iter().take(room));
    }
    Ok(())
}

fn dependents(session: &Session, node: usize) -> Result<Vec<usize>> {
    let graph = session.graphs.get(session.graphs.home(node)?)?;
    Ok(graph.edges().filter(|&(from, _)| from == node).map(|(_, to)| to).collect())
}

/// Adds edges to a graph, or removes them.
fn each_edge(
    session: &mut Session,
    graph: usize,
    from: In<usize>,
    to: In<usize>,
    count: usize,
    change: impl Fn(&mut Graph, usize, usize) -> Result,
) -> Result {
    let graph = session.graphs.get_mut(graph)?;
    let mut pairs = from.all(count)?.into_iter().zip(to.all(count)?);
    pairs.try_for_each(|(from, to)| change(graph, from, to))
}

fn instantiate(session: &mut Session, graph: usize, flags: u64) -> Result<usize> {
    session.current()?;
    if flags & !INSTANTIATE_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let mut exec = session.graphs.instantiate(graph)?;
    exec.flags = flags;
    let handle = session.new_handle();
    session.graphs.insert_exec(handle, exec);
    Ok(handle)
}

/// Whether `new` can replace `old`; if not, also the node that differs.
fn compare(old: &Exec, new: &Exec) -> (c_int, usize) {
    if old.nodes.len() != new.nodes.len() {
        return (TOPOLOGY_CHANGED, 0);
    }
    for (old, new) in old.nodes.iter().zip(&new.nodes) {
        let same_kind = match (&old.body, &new.body) {
            (Body::Task(old), Body::Task(new)) => discriminant(old) == discriminant(new),
            (old, new) => discriminant(old) == discriminant(new),
        };
        if !same_kind {
            return (TYPE_CHANGED, new.handle);
        }
        if old.after != new.after {
            return (TOPOLOGY_CHANGED, new.handle);
        }
        // An instantiated graph keeps the memory of its first instantiation.
        if let (Body::Alloc(old), Body::Alloc(other)) | (Body::Free(old), Body::Free(other)) =
            (&old.body, &new.body)
            && old != other
        {
            return (PARAMETERS_CHANGED, new.handle);
        }
    }
    (UPDATED, 0)
}
