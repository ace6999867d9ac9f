// Copies of rows and slices against loops, and what copies make the host wait for.
//# seeds: 4
//# once: read late
//# sometimes: read at once
#include "check.h"
#include <vector>

static unsigned next_ = 1;
static unsigned random_(unsigned below) {
    next_ = next_ * 1664525 + 1013904223;
    return (next_ >> 8) % below;
}

static void fill(std::vector<char> &v) {
    for (char &c : v) c = (char)random_(256);
}

static void rows() {
    for (int round = 0; round < 50; round++) {
        size_t width = 1 + random_(100), height = 1 + random_(20), from = width + random_(9);
        std::vector<char> source(from * height), back(from * height), want;
        fill(source);
        fill(back);
        want = back;
        char *d;
        size_t pitch;
        OK(cudaMallocPitch((void **)&d, &pitch, width, height));
        CHECK(pitch % 512 == 0 && pitch >= width);
        OK(cudaMemcpy2D(d, pitch, source.data(), from, width, height, cudaMemcpyHostToDevice));
        OK(cudaMemcpy2D(back.data(), from, d, pitch, width, height, cudaMemcpyDefault));
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) want[y * from + x] = source[y * from + x];
        CHECK(back == want);
        OK(cudaMemset2D(d, pitch, 7, width / 2, height));
        OK(cudaMemcpy2D(back.data(), from, d, pitch, width, height, cudaMemcpyDeviceToHost));
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width / 2; x++) want[y * from + x] = 7;
        CHECK(back == want);
        OK(cudaFree(d));
    }
}

static void slices() {
    for (int round = 0; round < 50; round++) {
        size_t w = 1 + random_(30), h = 1 + random_(8), z = 1 + random_(6);
        cudaExtent whole = make_cudaExtent(w, h, z);
        cudaPitchedPtr d;
        OK(cudaMalloc3D(&d, whole));
        OK(cudaMemset3D(d, 3, whole));
        std::vector<char> source(w * h * z), back(w * h * z), want(w * h * z, 3);
        fill(source);
        cudaPos at = make_cudaPos(random_(w), random_(h), random_(z));
        cudaExtent part = make_cudaExtent(1 + random_(w - at.x), 1 + random_(h - at.y),
                                          1 + random_(z - at.z));
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(source.data(), w, w, h);
        p.srcPos = p.dstPos = at;
        p.dstPtr = d;
        p.extent = part;
        p.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&p));
        for (size_t k = at.z; k < at.z + part.depth; k++)
            for (size_t j = at.y; j < at.y + part.height; j++)
                for (size_t i = at.x; i < at.x + part.width; i++)
                    want[(k * h + j) * w + i] = source[(k * h + j) * w + i];
        cudaMemcpy3DParms q = {};
        q.srcPtr = d;
        q.dstPtr = make_cudaPitchedPtr(back.data(), w, w, h);
        q.extent = whole;
        q.kind = cudaMemcpyDeviceToHost;
        OK(cudaMemcpy3DAsync(&q, 0));
        OK(cudaStreamSynchronize(0));
        CHECK(back == want);
        p.extent.depth = z + 1;
        EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
        OK(cudaFree(d.ptr));
    }
}

// Pageable memory is copied when cudaMemcpy is called, and may be read when cudaMemcpyAsync is.
static void waits() {
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    int *d, pageable = 1, result = 0;
    OK(cudaMalloc(&d, 2 * sizeof(int)));
    OK(cudaMemcpy(d, &pageable, sizeof(int), cudaMemcpyHostToDevice));
    if (is_simulated()) CHECK(*d == 1); // the host can look
    pageable = 2;
    OK(cudaMemcpyAsync(d, &pageable, sizeof(int), cudaMemcpyHostToDevice, s));
    pageable = 3;
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(&result, d, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(result == 2 || result == 3);
    puts(result == 3 ? "read late" : "read at once");
    int *pinned;
    OK(cudaMallocHost(&pinned, 2 * sizeof(int)));
    *pinned = 9;
    OK(cudaMemcpy(d, pinned, sizeof(int), cudaMemcpyHostToDevice));
    *pinned = 8;
    // Between host memories, even asynchronously, nothing is left to do afterwards.
    OK(cudaMemcpyAsync(&pinned[1], &pageable, sizeof(int), cudaMemcpyHostToHost, s));
    CHECK(pinned[1] == 3);
    OK(cudaMemset(&pinned[1], 0, sizeof(int)));
    CHECK(pinned[1] == 0);
    OK(cudaMemcpy(&result, d, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(result == 9);
    int *managed;
    OK(cudaMallocManaged(&managed, sizeof(int)));
    OK(cudaMemcpyAsync(managed, d, sizeof(int), cudaMemcpyDefault, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*managed == 9);
    OK(cudaMemcpy(managed, &pageable, sizeof(int), cudaMemcpyDefault));
    CHECK(*managed == 3);
    OK(cudaMemcpy(managed, d, sizeof(int), cudaMemcpyDefault));
    CHECK(*managed == 9);
    OK(cudaMemset(managed, 0, sizeof(int)));
    CHECK(*managed == 0);
    OK(cudaFree(managed));
    OK(cudaFree(d));
    OK(cudaFreeHost(pinned));
    OK(cudaStreamDestroy(s));
}

// More than is kept of pageable memory: it is copied before the call returns.
static void large() {
    const size_t size = 65 << 20;
    char *source = (char *)malloc(size), *d, last;
    memset(source, 1, size);
    OK(cudaMalloc((void **)&d, size));
    OK(cudaMemcpy(d, source, size, cudaMemcpyHostToDevice));
    if (is_simulated()) CHECK(d[0] == 1 && d[size - 1] == 1); // the host can look
    memset(source, 2, size);
    OK(cudaMemcpy(&last, d + size - 1, 1, cudaMemcpyDeviceToHost));
    CHECK(last == 1);
    OK(cudaFree(d));
    free(source);
}

// Many at once, in no order. Of the second and third, the source may change when the call has
// returned.
static void batch() {
#if CUDART_VERSION >= 13000
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    int *d, *pinned, local[2] = {2, 3}, result[3];
    OK(cudaMalloc((void **)&d, 3 * sizeof *d));
    OK(cudaMallocHost((void **)&pinned, sizeof *pinned));
    *pinned = 1;
    void *to[] = {d, d + 1, d + 2};
    const void *from[] = {pinned, local, local + 1};
    size_t sizes[] = {4, 4, 4}, starts[] = {0, 1};
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    OK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, starts, 2, s));
    local[0] = local[1] = 0;
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(result, d, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result[0] == 1 && result[1] == 2 && result[2] == 3);
    // The driver may be older than this call.
    if (cudaMemcpyWithAttributesAsync(d, d + 2, 4, how, s) == cudaErrorCallRequiresNewerDriver) {
        cudaGetLastError();
    } else {
        OK(cudaStreamSynchronize(s));
        CHECK(*d == 3);
    }
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 3, how, starts, 2, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 3, how, starts + 1, 1, s), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 3, how, starts, 0, s), cudaErrorInvalidValue);
    OK(cudaFree(d));
    OK(cudaFreeHost(pinned));
    OK(cudaStreamDestroy(s));
#endif
    EXPECT(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
}

int main() {
    batch();
    rows();
    slices();
    waits();
    large();
}
