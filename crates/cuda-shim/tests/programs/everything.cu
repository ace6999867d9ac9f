// Every family of calls, once. What they say is in the snapshot, in this order.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call)                                                                             \
    do {                                                                                     \
        cudaError_t got_ = (call);                                                           \
        if (got_ != cudaSuccess) {                                                           \
            printf("line %d: %s is %s\n", __LINE__, #call, cudaGetErrorName(got_));          \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            printf("line %d: not so: %s\n", __LINE__, #condition);                           \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

static __device__ int factor = 1;
static __managed__ int total;

static __global__ void scale(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= factor;
}

static __global__ void sum(const int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&total, a[i]);
}

static void add_one(void *counter) { ++*(int *)counter; }
static void came(cudaStream_t, cudaError_t, void *counter) { ++*(int *)counter; }

static const int N = 64;
static const size_t BYTES = N * sizeof(int);
static int values[N];

static void memory() {
    void *device, *managed, *pinned, *host;
    size_t pitch;
    cudaPitchedPtr box;
    int own[4];
    OK(cudaMalloc(&device, 100));
    OK(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal));
    OK(cudaMallocHost(&pinned, 100));
    OK(cudaHostAlloc(&host, 100, cudaHostAllocMapped));
    OK(cudaHostRegister(own, sizeof own, 0));
    OK(cudaHostUnregister(own));
    OK(cudaFree(device));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(host));
    OK(cudaMallocPitch(&device, &pitch, 100, 3));
    OK(cudaMemset2D(device, pitch, 1, 100, 3));
    OK(cudaFree(device));
    OK(cudaMalloc3D(&box, make_cudaExtent(8, 4, 2)));
    OK(cudaMemset3D(box, 2, make_cudaExtent(8, 4, 2)));
    OK(cudaFree(box.ptr));
    OK(cudaFree(nullptr));
    CHECK(cudaFree(values) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

static void copies() {
    int *a, *b;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    for (int i = 0; i < N; i++) values[i] = i;
    OK(cudaMemcpy(a, values, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(b, 32, a, 16, 8, 4, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = make_cudaPitchedPtr(a, 16, 16, 4);
    parms.dstPtr = make_cudaPitchedPtr(b, 16, 16, 4);
    parms.dstPos = make_cudaPos(4, 1, 0);
    parms.extent = make_cudaExtent(8, 2, 2);
    parms.kind = cudaMemcpyDefault;
    OK(cudaMemcpy3D(&parms));
    OK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDefault, 0));
    OK(cudaMemcpyPeer(b, 1, a, 0, 16));
    OK(cudaMemcpyPeerAsync(b, 1, a, 0, 16, 0));
    int three = 3;
    OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    scale<<<1, N>>>(a, N);
    sum<<<1, N>>>(a, N);
    OK(cudaMemcpyFromSymbol(&three, factor, sizeof three));
    OK(cudaDeviceSynchronize());
    CHECK(total == 3 * N * (N - 1) / 2 && three == 3);
    int n = N;
    void *arguments[] = {&a, &n};
    OK(cudaLaunchKernel((const void *)scale, dim3(1), dim3(N), arguments, 0, nullptr));
    OK(cudaLaunchCooperativeKernel((const void *)scale, dim3(1), dim3(N), arguments, 0, nullptr));
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(1);
    configuration.blockDim = dim3(N);
    OK(cudaLaunchKernelExC(&configuration, (const void *)scale, arguments));
    CHECK(cudaLaunchKernel((const void *)scale, dim3(0), dim3(N), arguments, 0, nullptr) !=
          cudaSuccess);
    cudaGetLastError();
    OK(cudaMemcpy(values, a, BYTES, cudaMemcpyDeviceToHost));
    CHECK(values[1] == 81);
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void streams() {
    cudaStream_t s, t, u;
    cudaEvent_t event, untimed;
    int *a, calls = 0;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&u, cudaStreamDefault, 0));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaMallocAsync(&a, BYTES, s));
    OK(cudaMemsetAsync(a, 0, BYTES, s));
    OK(cudaEventRecord(event, s));
    OK(cudaStreamWaitEvent(t, event, 0));
    OK(cudaLaunchHostFunc(t, add_one, &calls));
    OK(cudaStreamAddCallback(t, came, &calls, 0));
    OK(cudaEventRecordWithFlags(untimed, t, 0));
    OK(cudaEventSynchronize(untimed));
    OK(cudaEventQuery(untimed));
    CHECK(calls == 2);
    OK(cudaFreeAsync(a, t));
    OK(cudaStreamSynchronize(t));
    OK(cudaStreamQuery(t));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    int *managed;
    OK(cudaMallocManaged(&managed, BYTES));
    cudaMemLocation here = {};
    here.type = cudaMemLocationTypeDevice;
    OK(cudaMemPrefetchAsync(managed, BYTES, here, 0, s));
    OK(cudaStreamAttachMemAsync(s, managed, 0, cudaMemAttachSingle));
    OK(cudaFree(managed));
    OK(cudaEventDestroy(event));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaStreamDestroy(u));
}

static void captured() {
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *a, calls = 0;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(a, 0, BYTES, s));
    scale<<<1, N, 0, s>>>(a, N);
    OK(cudaLaunchHostFunc(s, add_one, &calls));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(calls == 2);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(a));
}

static void graphs() {
    cudaGraph_t graph, child, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel, copy, host, empty, nested, symbol, any;
    int *a, n = N, calls = 0;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams bytes = {};
    bytes.dst = a;
    bytes.elementSize = 4;
    bytes.width = N;
    bytes.height = 1;
    bytes.value = 1;
    OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &bytes));
    void *arguments[] = {&a, &n};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)scale;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(N);
    launch.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, values, a, BYTES, cudaMemcpyDefault));
    OK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, &copy, 1, factor, values, 4, 0,
                                      cudaMemcpyDefault));
    cudaHostNodeParams function = {add_one, &calls};
    OK(cudaGraphAddHostNode(&host, graph, nullptr, 0, &function));
    cudaHostNodeParams told = {};
    OK(cudaGraphHostNodeGetParams(host, &told));
    CHECK(told.fn == add_one && told.userData == &calls);
    OK(cudaGraphAddDependencies(graph, &copy, &host, nullptr, 1));
    OK(cudaGraphRemoveDependencies(graph, &copy, &host, nullptr, 1));
    OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddMemsetNode(&set, child, nullptr, 0, &bytes));
    OK(cudaGraphAddChildGraphNode(&nested, graph, &copy, 1, child));
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeHost;
    node.host.fn = add_one;
    node.host.userData = &calls;
    OK(cudaGraphAddNode(&any, graph, nullptr, nullptr, 0, &node));
    node = {};
    node.type = cudaGraphNodeTypeMemset;
    memcpy(&node.memset, &bytes, sizeof bytes);
    OK(cudaGraphAddNode(&any, graph, &nested, nullptr, 1, &node));
    OK(cudaGraphMemsetNodeSetParams(any, &bytes));
    cudaEvent_t event;
    cudaGraphNode_t record, wait;
    OK(cudaEventCreate(&event));
    OK(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, event));
    OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    cudaGraphExecUpdateResultInfo result;
    OK(cudaGraphExecUpdate(exec, clone, &result));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(calls == 2 && values[0] == 3);
    OK(cudaGraphExecMemsetNodeSetParams(exec, any, &bytes));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroyNode(any));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(a));
}

int main() {
    OK(cudaSetDevice(0));
    memory();
    copies();
    streams();
    captured();
    graphs();
    OK(cudaSetDevice(1));
    OK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
    // A pending error stays what it is, whatever commsan asks.
    int *a;
    OK(cudaMalloc(&a, 4));
    OK(cudaMemset(a, 0, 4));
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    OK(cudaDeviceReset());
    printf("done\n");
}
