// Graphs: captured from several streams, and made node by node; cloned, changed, launched.
//# seeds: 4
#include "check.h"
#include <vector>

static int *a, *b, *host, *order;

static void append(void *digit) { *order = *order * 10 + (int)(size_t)digit; }

static void captured() {
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    *host = 77;
    cudaGraph_t graph;
    // Who asks for a captured event breaks the capture.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, s));
    EXPECT(cudaEventQuery(fork), cudaErrorCapturedEvent);
    EXPECT(cudaMemsetAsync(a, 1, 4, s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(a, 1, 4, s));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, t));
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaMemcpyAsync(host, b, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaStreamIsCapturing(t, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    size_t nodes = 0, edges = 0, roots = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    OK(EDGES(graph, nullptr, nullptr, &edges));
    CHECK(nodes == 3 && roots == 1 && edges == 3);
    CHECK(*host == 77);
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++) {
        *host = 0;
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        CHECK(*host == 0x01010101);
    }
    OK(cudaGraphExecDestroy(exec));
    EXPECT(cudaGraphLaunch(exec, s), cudaErrorInvalidValue);
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

static void broken() {
    cudaStream_t s, t, blocking;
    cudaEvent_t e;
    cudaGraph_t graph;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&blocking));
    OK(cudaEventCreate(&e));
    // Waiting for what is captured.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaMemsetAsync(a, 0, 4, s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    // A fork without a join.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(cudaMemsetAsync(a, 0, 4, t));
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    // Ended where it did not begin.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(cudaMemsetAsync(a, 0, 4, t));
    EXPECT(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureUnmatched);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    // The default stream would come to depend on a captured one.
    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaMemsetAsync(a, 0, 4, 0), cudaErrorStreamCaptureImplicit);
    EXPECT(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
    // Work from outside.
    OK(cudaEventRecord(e, t));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamWaitEvent(s, e, 0), cudaErrorStreamCaptureIsolation);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    // Calls that may wait, unless the thread says that it knows.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    void *p;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaMalloc(&p, 4));
    OK(cudaFree(p));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
    OK(cudaDeviceSynchronize());
}

static void made() {
    cudaGraph_t graph, child, clone;
    cudaGraphNode_t set, copy, first, second, last, nested;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    cudaMemsetParams p = {};
    p.dst = a;
    p.elementSize = 4;
    p.value = 1234567;
    p.width = 1;
    p.height = 1;
    OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &p));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, host, a, 4, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {append, (void *)2};
    OK(cudaGraphAddHostNode(&nested, child, nullptr, 0, &h));
    h.userData = (void *)1;
    OK(cudaGraphAddHostNode(&first, graph, &copy, 1, &h));
    OK(cudaGraphAddChildGraphNode(&second, graph, &first, 1, child));
    h.userData = (void *)3;
    OK(cudaGraphAddHostNode(&last, graph, nullptr, 0, &h));
    OK(CONNECT(graph, &second, &last, 1));
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(second, &type));
    CHECK(type == cudaGraphNodeTypeGraph);
    OK(cudaGraphDestroy(child));
    OK(cudaGraphClone(&clone, graph));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    *order = 0;
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*order == 123123 && *host == 1234567);
    // What is ready is changed, not the graph it was made of.
    p.value = 99;
    OK(cudaGraphExecMemsetNodeSetParams(exec, set, &p));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*host == 99);
    OK(cudaGraphNodeSetEnabled(exec, copy, 0));
    *host = 5;
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*host == 5);
    cudaGraphExecUpdateResultInfo info;
    p.value = 44;
    cudaGraphNode_t cloned;
    OK(cudaGraphNodeFindInClone(&cloned, set, clone));
    OK(cudaGraphMemsetNodeSetParams(cloned, &p));
    OK(cudaGraphExecUpdate(exec, clone, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphNodeSetEnabled(exec, copy, 1));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*host == 44);
    cudaGraphNode_t empty;
    OK(cudaGraphAddEmptyNode(&empty, clone, nullptr, 0));
    EXPECT(cudaGraphExecUpdate(exec, clone, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    OK(CONNECT(graph, &last, &set, 1));
    cudaGraphExec_t cyclic;
    EXPECT(cudaGraphInstantiate(&cyclic, graph, 0), cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    EXPECT(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(clone));
    OK(cudaStreamDestroy(s));
}

// Memory that a graph allocates has the same address in every launch, and goes with the graph.
static void memory() {
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *p, *q;
    size_t before, during, after, total;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync((void **)&p, 4096, s));
    OK(cudaMemsetAsync(p, 6, 4096, s));
    OK(cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamEndCapture(s, &graph));
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 256;
    cudaGraphNode_t alloc, free;
    OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
    OK(cudaGraphAddMemFreeNode(&free, graph, &alloc, 1, params.dptr));
    OK(cudaGraphMemFreeNodeGetParams(free, &q));
    CHECK(q == params.dptr && q != p);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        *host = 0;
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        CHECK(*host == 0x06060606);
    }
    OK(cudaMemGetInfo(&during, &total));
    CHECK(is_simulated() ? during == before - 4096 - 256 : during < before);
    *host = 0;
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaDeviceSynchronize());
    CHECK(*host == 0x06060606);
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
    OK(cudaStreamDestroy(s));
}

// Adds a node that chooses from graphs which set `a` to their number, counted from 1; gives its
// kind.
static cudaGraphNodeType choice(cudaGraph_t graph, cudaGraphNode_t *node, cudaGraphConditionalNodeType type,
                                unsigned size, unsigned value) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, value, cudaGraphCondAssignDefault));
    params.conditional.type = type;
    params.conditional.size = size;
    OK(ADD_NODE(node, graph, nullptr, 0, &params));
    for (unsigned i = 0; i < size; i++) {
        cudaMemsetParams set = {};
        set.dst = a;
        set.value = i + 1;
        set.elementSize = 4;
        set.width = set.height = 1;
        cudaGraphNode_t inner;
        OK(cudaGraphAddMemsetNode(&inner, params.conditional.phGraph_out[i], nullptr, 0, &set));
    }
    cudaGraphNodeType kind;
    OK(cudaGraphNodeGetType(*node, &kind));
    return kind;
}

// What a graph leaves in `a` whose only node chooses by a value.
static int chosen(cudaGraphConditionalNodeType type, unsigned size, unsigned value) {
    cudaGraph_t graph, copy;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    OK(cudaMemset(a, 0, 4));
    OK(cudaGraphCreate(&graph, 0));
    CHECK(choice(graph, &node, type, size, value) == cudaGraphNodeTypeConditional);
    OK(cudaGraphClone(&copy, graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphInstantiate(&exec, copy, 0));
    OK(cudaGraphDestroy(copy));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(host, a, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphExecDestroy(exec));
    return *host;
}

static void conditional() {
    CHECK(chosen(cudaGraphCondTypeIf, 1, 5) == 1);
    CHECK(chosen(cudaGraphCondTypeIf, 1, 0) == 0);
    CHECK(chosen(cudaGraphCondTypeIf, 2, 0) == 2);
    CHECK(chosen(cudaGraphCondTypeWhile, 1, 0) == 0);
    CHECK(chosen(cudaGraphCondTypeSwitch, 3, 2) == 3);
    CHECK(chosen(cudaGraphCondTypeSwitch, 3, 3) == 0);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.size = 1;
    OK(cudaGraphCreate(&graph, 0));
    EXPECT(ADD_NODE(&node, graph, nullptr, 0, &params), cudaErrorInvalidValue);
    OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 0, 0));
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 2;
    EXPECT(ADD_NODE(&node, graph, nullptr, 0, &params), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
}

int main() {
    OK(cudaMalloc(&a, 4));
    OK(cudaMalloc(&b, 4));
    OK(cudaMallocHost(&host, 4));
    OK(cudaMallocHost(&order, 4));
    captured();
    broken();
    made();
    memory();
    conditional();
}
