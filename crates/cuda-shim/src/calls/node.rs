//! Nodes of graphs, of every kind: each is added, changed, and changed in a graph that was made ready,
//! by calls that take the same parameters.

use crate::arguments::{In, Out};
use crate::copies::Copied;
use crate::graphs::{Target, host_parameters};
use commsan_cuda_abi::{
    HostNodeParams, KernelNodeParams, MemAllocNodeParams, Memcpy3DParms, MemsetParams,
};
use std::ffi::c_int;

/// Defines the three calls of each kind, and others.
macro_rules! nodes {
    (kinds { $(
        $add:ident, $change:ident, $change_ready:ident ($($arg:ident: $ty:ty),* $(,)?)
        ($target:ident, $call:ident) $does:block
    )* } others $others:tt) => {
        nodes! { @with $others $(
            fn $add(
                node: Out<usize>,
                graph: usize,
                after: In<usize>,
                count: usize,
                $($arg: $ty),*
            ) after($call) {
                let $target = Target::New { node, graph, after, count };
                $does
            }

            fn $change(node: usize, $($arg: $ty),*) after($call) {
                let $target = Target::Old { node };
                $does
            }

            fn $change_ready(exec: usize, node: usize, $($arg: $ty),*) after($call) {
                let $target = Target::Ready { exec, node };
                $does
            }
        )* }
    };
    (@with { $($others:tt)* } $($rows:tt)*) => {
        entries! { $($rows)* $($others)* }
    };
}

nodes! {
    kinds {
    cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams
    (parameters: In<Memcpy3DParms>)(node, call) {
        node.copy_slices(call, parameters);
    }

    cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D
    (to: usize, from: usize, bytes: usize, _kind: c_int)(node, call) {
        node.copy(call, Some(Copied::flat(to, from, bytes)));
    }

    cudaGraphAddMemcpyNodeToSymbol, cudaGraphMemcpyNodeSetParamsToSymbol,
    cudaGraphExecMemcpyNodeSetParamsToSymbol
    (to: usize, from: usize, bytes: usize, offset: usize, _kind: c_int)(node, call) {
        node.copy_to_symbol(call, (to, offset), from, bytes);
    }

    cudaGraphAddMemcpyNodeFromSymbol, cudaGraphMemcpyNodeSetParamsFromSymbol,
    cudaGraphExecMemcpyNodeSetParamsFromSymbol
    (to: usize, from: usize, bytes: usize, offset: usize, _kind: c_int)(node, call) {
        node.copy_from_symbol(call, to, (from, offset), bytes);
    }

    cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams
    (parameters: In<MemsetParams>)(node, call) {
        node.set(call, parameters);
    }

    cudaGraphAddEventRecordNode, cudaGraphEventRecordNodeSetEvent,
    cudaGraphExecEventRecordNodeSetEvent
    (event: usize)(node, call) {
        node.records(call, event);
    }

    cudaGraphAddEventWaitNode, cudaGraphEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent
    (event: usize)(node, call) {
        node.waits(call, event);
    }

    } others {
        fn cudaGraphAddKernelNode(
            node: Out<usize>,
            graph: usize,
            after: In<usize>,
            count: usize,
            parameters: In<KernelNodeParams>,
        ) instead(call, real) {
            Target::New { node, graph, after, count }.kernel(call, parameters, || {
                // SAFETY: the program's arguments.
                unsafe { real(node, graph, after, count, parameters) }
            })
        }

        fn cudaGraphKernelNodeSetParams(node: usize, parameters: In<KernelNodeParams>)
        instead(call, real) {
            // SAFETY: the program's arguments.
            Target::Old { node }.kernel(call, parameters, || unsafe { real(node, parameters) })
        }

        fn cudaGraphExecKernelNodeSetParams(
            exec: usize,
            node: usize,
            parameters: In<KernelNodeParams>,
        ) instead(call, real) {
            Target::Ready { exec, node }.kernel(call, parameters, || {
                // SAFETY: the program's arguments.
                unsafe { real(exec, node, parameters) }
            })
        }

        fn cudaGraphAddEmptyNode(node: Out<usize>, graph: usize, after: In<usize>, count: usize)
        after(call) {
            Target::New { node, graph, after, count }.nothing(call);
        }

        fn cudaGraphAddChildGraphNode(
            node: Out<usize>,
            graph: usize,
            after: In<usize>,
            count: usize,
            child: usize,
        ) after(call) {
            Target::New { node, graph, after, count }.graph(call, child);
        }

        fn cudaGraphAddMemAllocNode(
            node: Out<usize>,
            graph: usize,
            after: In<usize>,
            count: usize,
            parameters: Out<MemAllocNodeParams>,
        ) after(call) {
            Target::New { node, graph, after, count }.allocates(call, &parameters.get());
        }

        fn cudaGraphAddMemFreeNode(
            node: Out<usize>,
            graph: usize,
            after: In<usize>,
            count: usize,
            pointer: usize,
        ) after(call) {
            Target::New { node, graph, after, count }.frees(call, pointer);
        }

        fn cudaGraphAddHostNode(
            node: Out<usize>,
            graph: usize,
            after: In<usize>,
            count: usize,
            parameters: In<HostNodeParams>,
        ) instead(call, real) {
            Target::New { node, graph, after, count }.host(call, parameters, |ours| {
                // SAFETY: the program's arguments, or ours for them.
                unsafe { real(node, graph, after, count, ours.map_or(parameters, In::from)) }
            })
        }

        fn cudaGraphHostNodeSetParams(node: usize, parameters: In<HostNodeParams>)
        instead(call, real) {
            Target::Old { node }.host(call, parameters, |ours| {
                // SAFETY: the program's arguments, or ours for them.
                unsafe { real(node, ours.map_or(parameters, In::from)) }
            })
        }

        fn cudaGraphExecHostNodeSetParams(
            exec: usize,
            node: usize,
            parameters: In<HostNodeParams>,
        ) instead(call, real) {
            Target::Ready { exec, node }.host(call, parameters, |ours| {
                // SAFETY: the program's arguments, or ours for them.
                unsafe { real(exec, node, ours.map_or(parameters, In::from)) }
            })
        }

        fn cudaGraphHostNodeGetParams(_node: usize, parameters: Out<HostNodeParams>) after(_) {
            host_parameters(parameters);
        }
    }
}
