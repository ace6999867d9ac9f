// Who checks a program learns what a kernel with a tag accesses, and only if it wants to.
//# nvcc: -arch=sm_90 -lineinfo
#include "check.h"
#include <dlfcn.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>

using Tag = unsigned long long;
// Line, whether it writes, how strong it is.
using Access = std::tuple<unsigned, bool, unsigned>;
// How often each byte was reported.
using Bytes = std::map<Tag, int>;

static Tag asked, wanted;
static int calls;
static std::map<std::pair<Tag, Access>, Bytes> told;

extern "C" bool wants(Tag tag) {
    asked = tag;
    return tag == wanted;
}

extern "C" void touched(Tag tag, bool write, Tag address, Tag size, const char *file, unsigned line,
                        unsigned strength) {
    CHECK(file && std::string(file).find("watch.cu") != std::string::npos);
    Bytes &bytes = told[{tag, {line, write, strength}}];
    for (Tag byte = address; byte < address + size; byte++) bytes[byte]++;
    calls++;
}

static const int scatter_line = __LINE__ + 4, sum_line = __LINE__ + 5;

__global__ void scatter(const int *index, int *to, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[index[i]] = i;
    if (threadIdx.x == 0) atomicAdd(sum, 1);
}

static int *index_, *to, *sum;
static const int n = 500, room = 4000;

static void launch() { scatter<<<4, 128>>>(index_, to, sum, n); }

// All bytes of the indices, every seventh element, the sum; each of them once but for the sum.
static void check(Tag tag) {
    CHECK(told.size() == 3);
    Bytes &reads = told[{tag, {scatter_line, false, 0}}];
    CHECK(reads.size() == n * sizeof(int) && reads.count((Tag)index_));
    Bytes &writes = told[{tag, {scatter_line, true, 0}}];
    CHECK(writes.size() == n * sizeof(int));
    for (int i = 0; i < n; i++)
        for (int byte = 0; byte < 4; byte++) CHECK(writes[(Tag)(to + 7 * i) + byte] == 1);
    Bytes &sums = told[{tag, {sum_line, true, 1}}];
    CHECK(sums.size() == sizeof(int) && sums.count((Tag)sum));
    told.clear();
}

int main() {
    auto tag = (void (*)(Tag))dlsym(RTLD_DEFAULT, "commsan_simgpu_tag");
    auto watch = (void (*)(bool (*)(Tag), void (*)(Tag, bool, Tag, Tag, const char *, unsigned, unsigned)))
        dlsym(RTLD_DEFAULT, "commsan_simgpu_watch");
    CHECK(tag && watch);
    watch(wants, touched);
    int indices[n];
    for (int i = 0; i < n; i++) indices[i] = 7 * i;
    OK(cudaMalloc(&index_, sizeof indices));
    OK(cudaMalloc(&to, room * sizeof *to));
    OK(cudaMalloc(&sum, sizeof *sum));
    OK(cudaMemcpy(index_, indices, sizeof indices, cudaMemcpyHostToDevice));
    OK(cudaDeviceSynchronize());

    wanted = 5;
    tag(5);
    launch();
    CHECK(told.empty());
    OK(cudaDeviceSynchronize());
    check(5);
    // Contiguous accesses are reported as one.
    CHECK(calls == n + 2);

    // The tag was that launch's; and nobody wants another.
    asked = 0;
    launch();
    OK(cudaDeviceSynchronize());
    CHECK(asked == 0);
    tag(6);
    launch();
    OK(cudaDeviceSynchronize());
    CHECK(asked == 6 && told.empty());
    // A launch that fails takes its tag with it.
    tag(5);
    scatter<<<0, 1>>>(index_, to, sum, n);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    launch();
    OK(cudaDeviceSynchronize());
    CHECK(told.empty());

    // The nodes of a graph have tags of their own, to which a launch adds its own.
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    tag(7);
    scatter<<<4, 128, 0, stream>>>(index_, to, sum, n);
    scatter<<<4, 128, 0, stream>>>(index_, to, sum, n);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (Tag launch = 0; launch < 3; launch++) {
        wanted = (launch << 32) + 7;
        tag(launch << 32);
        OK(cudaGraphLaunch(exec, stream));
        CHECK(told.empty());
        OK(cudaStreamSynchronize(stream));
        CHECK(asked == wanted);
        check(wanted);
    }

    watch(nullptr, nullptr);
    tag(5);
    launch();
    OK(cudaDeviceSynchronize());
    CHECK(told.empty());
}
