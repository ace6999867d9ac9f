//! Graphs.

use crate::arguments::{In, Out};
use crate::call::Call;
use crate::{ask, graphs, traffic};
use std::ffi::{c_int, c_uint};

entries! {
    fn cudaGraphCreate(graph: Out<usize>, _flags: c_uint) after(call) {
        call.with(|streams, _, _| streams.graph_created(graph.get()));
    }

    fn cudaGraphClone(clone: Out<usize>, graph: usize) after(call) {
        let clone = clone.get();
        traffic::graphs::cloned(call, graph, clone);
        call.with(|streams, _, _| streams.graph_cloned(graph, clone));
    }

    fn cudaGraphDestroy(graph: usize) before(call) {
        traffic::graphs::destroyed(call, graph);
        call.with(|streams, _, _| streams.graph_destroyed(graph));
    }

    fn cudaGraphDestroyNode(node: usize) after(call) {
        graphs::Target::Old { node }.nothing(call);
    }

    // CUDA 13 has data of edges before their number.
    fn cudaGraphAddDependencies(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        data_or_count: usize,
        count: usize,
    ) after(call) {
        let count = if ask::is_13() { count } else { data_or_count };
        graphs::edges(call, graph, (from, to), count, true);
    }

    fn cudaGraphAddDependencies_v2(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        _data: usize,
        count: usize,
    ) after(call) {
        graphs::edges(call, graph, (from, to), count, true);
    }

    fn cudaGraphRemoveDependencies(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        data_or_count: usize,
        count: usize,
    ) after(call) {
        let count = if ask::is_13() { count } else { data_or_count };
        graphs::edges(call, graph, (from, to), count, false);
    }

    fn cudaGraphRemoveDependencies_v2(
        graph: usize,
        from: In<usize>,
        to: In<usize>,
        _data: usize,
        count: usize,
    ) after(call) {
        graphs::edges(call, graph, (from, to), count, false);
    }

    fn cudaGraphInstantiate(exec: Out<usize>, graph: usize, _flags: u64) after(call) {
        instantiated(call, exec.get(), graph);
    }

    fn cudaGraphInstantiateWithFlags(exec: Out<usize>, graph: usize, _flags: u64) after(call) {
        instantiated(call, exec.get(), graph);
    }

    fn cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz(
        exec: Out<usize>,
        graph: usize,
        _parameters: usize,
    ) after(call) {
        instantiated(call, exec.get(), graph);
    }

    fn cudaGraphExecUpdate(exec: usize, graph: usize, _result: usize) after(call) {
        instantiated(call, exec, graph);
    }

    fn cudaGraphNodeSetEnabled(exec: usize, node: usize, _enabled: c_uint) after(call) {
        graphs::Target::Ready { exec, node }.nothing(call);
    }

    fn cudaGraphExecDestroy(exec: usize) before(call) {
        traffic::graphs::exec_destroyed(call, exec);
        call.with(|streams, _, _| streams.exec_destroyed(exec));
    }

    fn cudaGraphLaunch, cudaGraphLaunch_ptsz(exec: usize, stream: usize) after(call) {
        let stream = call.stream(stream);
        traffic::graphs::launched(call, exec, stream);
        call.with(|streams, place, out| streams.graph_launched(exec, stream, place, out));
    }

    fn cudaGraphExecChildGraphNodeSetParams(exec: usize, node: usize, _child: usize) after(call) {
        graphs::Target::Ready { exec, node }.nothing(call);
    }

    // CUDA 13 has data of edges before their number.
    fn cudaGraphAddNode(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        data_or_count: usize,
        count_or_parameters: usize,
        parameters: In<c_int>,
    ) instead(call, real) {
        if ask::is_13() {
            let (data, count) = (data_or_count, count_or_parameters);
            return graphs::Target::New { node, graph, after, count }.any(call, parameters, |made| {
                // SAFETY: the program's arguments, or ours for them.
                unsafe { real(node, graph, after, data, count, made) }
            });
        }
        let (count, wanted) = (data_or_count, In::from(count_or_parameters as *const c_int));
        graphs::Target::New { node, graph, after, count }.any(call, wanted, |made| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(node, graph, after, count, made.address(), parameters) }
        })
    }

    fn cudaGraphAddNode_v2(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        data: usize,
        count: usize,
        parameters: In<c_int>,
    ) instead(call, real) {
        graphs::Target::New { node, graph, after, count }.any(call, parameters, |made| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(node, graph, after, data, count, made) }
        })
    }

    fn cudaGraphNodeSetParams(node: usize, parameters: In<c_int>) instead(call, real) {
        graphs::Target::Old { node }.any(call, parameters, |made| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(node, made) }
        })
    }

    fn cudaGraphExecNodeSetParams(exec: usize, node: usize, parameters: In<c_int>)
    instead(call, real) {
        graphs::Target::Ready { exec, node }.any(call, parameters, |made| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(exec, node, made) }
        })
    }

    fn cudaGraphNodeGetParams(_node: usize, parameters: Out<c_int>) after(_) {
        graphs::any_parameters(parameters);
    }
}

/// A graph can be launched under a name.
fn instantiated(call: &Call, exec: usize, graph: usize) {
    traffic::graphs::instantiated(call, exec, graph);
    call.with(|streams, _, _| streams.graph_instantiated(exec, graph));
}
