// CUDA arrays, textures and surfaces against what the programming guide says of them, computed by
// the host.
#include "check.h"
#include <cmath>
#include <vector>

enum { W = 13, H = 7, D = 5 };

__global__ void one(cudaTextureObject_t t, const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(t, x[i]);
}

__global__ void two(cudaTextureObject_t t, const float2 *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

__global__ void three(cudaTextureObject_t t, const float4 *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].z);
}

__global__ void layers(cudaTextureObject_t t, const float4 *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2DLayered<float>(t, at[i].x, at[i].y, (int)at[i].z);
}

__global__ void layers_of_one(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, blockIdx.x);
    if (blockIdx.x != 2) out[threadIdx.x] = 0;
}

__global__ void fetch(cudaTextureObject_t t, int first, int *out) {
    out[threadIdx.x] = tex1Dfetch<int>(t, first + (int)threadIdx.x);
}

__global__ void bytes(cudaTextureObject_t t, float4 *out) {
    out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
}

__global__ void integers(cudaTextureObject_t t, short2 *out) {
    out[threadIdx.x] = tex2D<short2>(t, threadIdx.x + 0.5f, 1.5f);
}

__global__ void gather(cudaTextureObject_t t, float4 *out) {
    out[0] = tex2Dgather<float4>(t, 3, 2, 0);
    bool there = false;
    out[1].x = tex2D<float>(t, 1.5f, 2.5f, &there);
    out[1].y = there;
    out[1].z = tex2DLod<float>(t, 1.5f, 2.5f, 0);
    out[1].w = tex2DGrad<float>(t, 1.5f, 2.5f, make_float2(1, 0), make_float2(0, 1));
}

__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x;
    float4 v = surf2Dread<float4>(from, x * 16, y);
    surf2Dwrite(make_float4(v.w, v.z, v.y, v.x), to, x * 16, y);
}

__global__ void edges(cudaSurfaceObject_t s, int *out) {
    out[0] = surf1Dread<int>(s, -4, cudaBoundaryModeClamp);
    out[1] = surf1Dread<int>(s, 4 * W, cudaBoundaryModeClamp);
    out[2] = surf1Dread<int>(s, 4 * W, cudaBoundaryModeZero);
    surf1Dwrite(1234, s, 4 * W, cudaBoundaryModeZero);
    surf1Dwrite(77, s, 4 * W + 8, cudaBoundaryModeClamp);
}

__global__ void slices(cudaSurfaceObject_t s) {
    surf3Dwrite((short)(threadIdx.x + 10 * blockIdx.x + 100 * blockIdx.y), s, threadIdx.x * 2, blockIdx.x,
                blockIdx.y);
}

__global__ void outside(cudaSurfaceObject_t s) { surf1Dwrite(1, s, 4 * W); }

static unsigned next_ = 1;
static float random_(float low, float high) {
    next_ = next_ * 1664525 + 1013904223;
    return low + (high - low) * (next_ >> 8) / (1 << 24);
}

static cudaTextureDesc sampling(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalised) {
    cudaTextureDesc d = {};
    for (auto &m : d.addressMode) m = mode;
    d.filterMode = filter;
    d.readMode = cudaReadModeElementType;
    d.normalizedCoords = normalised;
    d.borderColor[0] = 42;
    return d;
}

static cudaTextureObject_t of(cudaArray_t array, const cudaTextureDesc &d) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureObject_t t;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static cudaSurfaceObject_t surface(cudaArray_t array) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r));
    return s;
}

// The texel that stands for an index, -1 for the border.
static int index_(int i, int n, cudaTextureAddressMode mode) {
    switch (mode) {
    case cudaAddressModeWrap: return ((i % n) + n) % n;
    case cudaAddressModeMirror: {
        int m = ((i % (2 * n)) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    case cudaAddressModeBorder: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

struct Axis {
    int at[2];
    float weight[2];
};

static Axis axis(float x, int n, const cudaTextureDesc &d) {
    if (d.normalizedCoords) x *= n;
    if (d.filterMode == cudaFilterModePoint) {
        int i = index_((int)floorf(x), n, d.addressMode[0]);
        return {{i, i}, {1, 0}};
    }
    float low = floorf(x - 0.5f), part = roundf((x - 0.5f - low) * 256) / 256;
    return {{index_((int)low, n, d.addressMode[0]), index_((int)low + 1, n, d.addressMode[0])}, {1 - part, part}};
}

static float want(const std::vector<float> &texels, Axis x, Axis y, Axis z, const cudaTextureDesc &d) {
    float sum = 0;
    // The product of two weights has eight fraction bits; the others are what is left.
    float both = roundf(x.weight[1] * y.weight[1] * 256) / 256;
    bool flat = z.weight[1] == 0;
    float weights[2][2] = {{1 - x.weight[1] - y.weight[1] + both, x.weight[1] - both}, {y.weight[1] - both, both}};
    for (int c = 0; c < 2; c++)
        for (int b = 0; b < 2; b++)
            for (int a = 0; a < 2; a++) {
                float weight = flat ? weights[b][a] * z.weight[c] : x.weight[a] * y.weight[b] * z.weight[c];
                if (weight == 0) continue;
                bool border = x.at[a] < 0 || y.at[b] < 0 || z.at[c] < 0;
                sum += weight * (border ? d.borderColor[0] : texels[(z.at[c] * H + y.at[b]) * W + x.at[a]]);
            }
    return sum;
}

static bool close(float a, float b) { return fabsf(a - b) <= 1e-4f * (1 + fabsf(b)); }

// How hardware rounds the products of three weights is not known.
static bool close_in_three(float a, float b) { return is_simulated() ? close(a, b) : fabsf(a - b) <= 0.2f; }

// A coordinate of n texels that lies in none's edge, where hardware may take either.
static float inside_(float low, float high, bool normalised, int n) {
    for (;;) {
        float x = random_(low, high), part = normalised ? x * n : x;
        part -= floorf(part);
        if (part > 0.01f && part < 0.99f) return x;
    }
}

static void sampled() {
    std::vector<float> texels(W * H * D);
    for (float &t : texels) t = random_(-10, 10);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t line, plane, box, stack;
    OK(cudaMallocArray(&line, &format, W, 0));
    OK(cudaMallocArray(&plane, &format, W, H));
    OK(cudaMalloc3DArray(&box, &format, make_cudaExtent(W, H, D)));
    OK(cudaMalloc3DArray(&stack, &format, make_cudaExtent(W, H, D), cudaArrayLayered));
    OK(cudaMemcpy2DToArray(line, 0, 0, texels.data(), W * 4, W * 4, 1, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArray(plane, 0, 0, texels.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    for (cudaArray_t to : {box, stack}) {
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(texels.data(), W * 4, W, H);
        p.dstArray = to;
        p.extent = make_cudaExtent(W, H, D);
        p.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&p));
    }
    const int n = 500;
    float *x, *out;
    float2 *xy;
    float4 *xyz;
    OK(cudaMallocManaged(&x, n * sizeof *x));
    OK(cudaMallocManaged(&xy, n * sizeof *xy));
    OK(cudaMallocManaged(&xyz, n * sizeof *xyz));
    OK(cudaMallocManaged(&out, n * sizeof *out));
    Axis none = {{0, 0}, {1, 0}};
    for (auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror})
        for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
            for (bool normalised : {false, true}) {
                bool periodic = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                cudaTextureDesc d = sampling(mode, filter, normalised), expected = d;
                if (periodic && !normalised) expected.addressMode[0] = cudaAddressModeClamp;
                for (int i = 0; i < n; i++) {
                    float width = normalised ? 1 : W, height = normalised ? 1 : H, depth = normalised ? 1 : D;
                    x[i] = inside_(-2 * width, 3 * width, normalised, W);
                    xy[i] = make_float2(x[i], inside_(-2 * height, 3 * height, normalised, H));
                    xyz[i] = make_float4(xy[i].x, xy[i].y, inside_(-2 * depth, 3 * depth, normalised, D), 0);
                }
                cudaTextureObject_t t = of(line, d);
                one<<<8, 64>>>(t, x, out, n);
                OK(cudaDeviceSynchronize());
                for (int i = 0; i < n; i++)
                    CHECK(close(out[i], want(texels, axis(x[i], W, expected), none, none, d)));
                cudaTextureObject_t u = of(plane, d);
                two<<<8, 64>>>(u, xy, out, n);
                OK(cudaDeviceSynchronize());
                for (int i = 0; i < n; i++)
                    CHECK(close(out[i], want(texels, axis(xy[i].x, W, expected), axis(xy[i].y, H, expected), none, d)));
                cudaTextureObject_t v = of(box, d);
                three<<<8, 64>>>(v, xyz, out, n);
                OK(cudaDeviceSynchronize());
                for (int i = 0; i < n; i++)
                    CHECK(close_in_three(out[i], want(texels, axis(xyz[i].x, W, expected), axis(xyz[i].y, H, expected),
                                                      axis(xyz[i].z, D, expected), d)));
                cudaTextureObject_t w = of(stack, d);
                for (int i = 0; i < n; i++) xyz[i].z = (int)random_(-3, D + 3);
                layers<<<8, 64>>>(w, xyz, out, n);
                OK(cudaDestroyTextureObject(w)); // the kernel was launched before
                OK(cudaDeviceSynchronize());
                for (int i = 0; i < n; i++) {
                    // An unsigned number: negative ones are large.
                    int layer = xyz[i].z < 0 ? D - 1 : index_((int)xyz[i].z, D, cudaAddressModeClamp);
                    Axis z = {{layer, layer}, {1, 0}};
                    CHECK(close(out[i], want(texels, axis(xyz[i].x, W, expected), axis(xyz[i].y, H, expected), z, d)));
                }
                for (cudaTextureObject_t o : {t, u, v}) OK(cudaDestroyTextureObject(o));
            }
    for (cudaArray_t a : {line, plane, box, stack}) OK(cudaFreeArray(a));
    for (void *p : {(void *)x, (void *)xy, (void *)xyz, (void *)out}) OK(cudaFree(p));
}

static void memory() {
    int *d, *out, host[64];
    for (int i = 0; i < 64; i++) host[i] = i * i;
    OK(cudaMalloc(&d, sizeof host));
    OK(cudaMallocManaged(&out, 64 * sizeof *out));
    OK(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = sizeof host;
    cudaTextureDesc s = {};
    cudaTextureObject_t t;
    OK(cudaCreateTextureObject(&t, &r, &s, nullptr));
    fetch<<<1, 64>>>(t, 8, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(out[i] == (i + 8 < 64 ? (i + 8) * (i + 8) : 0));
    cudaResourceDesc back;
    OK(cudaGetTextureObjectResourceDesc(&back, t));
    CHECK(back.resType == cudaResourceTypeLinear && back.res.linear.devPtr == d);
    OK(cudaDestroyTextureObject(t));
    EXPECT(cudaGetTextureObjectResourceDesc(&back, t), cudaErrorInvalidValue);

    // Rows with a pitch, bytes that are read as numbers from 0 to 1.
    uchar4 *rows, rgba[W];
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, sizeof rgba, H));
    for (int i = 0; i < W; i++) rgba[i] = make_uchar4(i, 255 - i, 128, 255);
    OK(cudaMemcpy2D(rows, pitch, rgba, sizeof rgba, sizeof rgba, 1, cudaMemcpyHostToDevice));
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = rows;
    r.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r.res.pitch2D.width = W;
    r.res.pitch2D.height = H;
    r.res.pitch2D.pitchInBytes = pitch;
    s.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&t, &r, &s, nullptr));
    float4 *colours;
    OK(cudaMallocManaged(&colours, W * sizeof *colours));
    bytes<<<1, W>>>(t, colours);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < W; i++)
        CHECK(colours[i].x == i / 255.f && colours[i].y == (255 - i) / 255.f && colours[i].w == 1);
    OK(cudaDestroyTextureObject(t));
    for (void *p : {(void *)d, (void *)out, (void *)rows, (void *)colours}) OK(cudaFree(p));
}

static void others() {
    // Integers stay what they are.
    short2 pairs[H * W], *out;
    for (int i = 0; i < H * W; i++) pairs[i] = make_short2(-i, 1000 + i);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
    cudaArray_t a, b;
    OK(cudaMallocArray(&a, &format, W, H));
    OK(cudaMallocArray(&b, &format, W, H));
    OK(cudaMemcpy2DToArray(a, 0, 0, pairs, W * sizeof *pairs, W * sizeof *pairs, H, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(b, 4, 1, a, 8, 1, 8, 2, cudaMemcpyDeviceToDevice));
    OK(cudaMallocManaged(&out, W * sizeof *out));
    cudaTextureObject_t t = of(b, sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
    integers<<<1, W>>>(t, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) CHECK(out[1 + i].x == -(W + 2 + i) && out[1 + i].y == 1000 + W + 2 + i);
    OK(cudaDestroyTextureObject(t));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc d = sampling(cudaAddressModeClamp, cudaFilterModeLinear, false);
    EXPECT(cudaCreateTextureObject(&t, &r, &d, nullptr), cudaErrorInvalidFilterSetting);
    EXPECT(cudaMemcpy2DToArray(a, 8, 0, pairs, W * sizeof *pairs, W * sizeof *pairs, 1, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2DToArray(a, 0, 1, pairs, W * sizeof *pairs, W * sizeof *pairs, H, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r)); // though it was not asked for
    OK(cudaDestroySurfaceObject(s));
    cudaExtent extent;
    unsigned flags = 99;
    OK(cudaArrayGetInfo(&format, &extent, &flags, a));
    CHECK(format.x == 16 && format.y == 16 && format.z == 0 && format.f == cudaChannelFormatKindSigned);
    CHECK(extent.width == W && extent.height == H && extent.depth == 0 && flags == 0);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
    OK(cudaFree(out));

    float texels[H * W];
    for (int i = 0; i < H * W; i++) texels[i] = i;
    format = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&a, &format, W, H, cudaArrayTextureGather));
    OK(cudaMemcpy2DToArray(a, 0, 0, texels, W * sizeof *texels, W * sizeof *texels, H, cudaMemcpyHostToDevice));
    float4 *four;
    OK(cudaMallocManaged(&four, 2 * sizeof *four));
    t = of(a, sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
    gather<<<1, 1>>>(t, four);
    OK(cudaDeviceSynchronize());
    CHECK(four[0].x == texels[2 * W + 2] && four[0].y == texels[2 * W + 3]);
    CHECK(four[0].z == texels[W + 3] && four[0].w == texels[W + 2]);
    CHECK(four[1].x == texels[2 * W + 1] && four[1].y == 1 && four[1].z == texels[2 * W + 1] && four[1].w == texels[2 * W + 1]);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));

    float lines[3 * W], *line;
    for (int i = 0; i < 3 * W; i++) lines[i] = i;
    OK(cudaMalloc3DArray(&a, &format, make_cudaExtent(W, 0, 3), cudaArrayLayered));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(lines, W * sizeof *lines, W, 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(W, 1, 3);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    OK(cudaMallocManaged(&line, W * sizeof *line));
    t = of(a, sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
    layers_of_one<<<dim3(3), W>>>(t, line);
    OK(cudaDeviceSynchronize());
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    OK(cudaFree(line));
    OK(cudaFree(four));
}

static void surfaces() {
    float4 in[H * W], out[H * W];
    for (int i = 0; i < H * W; i++) in[i] = make_float4(i, -i, 2 * i, 0.5f * i);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaArray_t a, b;
    OK(cudaMallocArray(&a, &format, W, H, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&b, &format, W, H, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(a, 0, 0, in, W * sizeof *in, W * sizeof *in, H, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t from = surface(a), to = surface(b);
    turn<<<H, W>>>(from, to);
    OK(cudaMemcpy2DFromArray(out, W * sizeof *out, b, 0, 0, W * sizeof *out, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < H * W; i++)
        CHECK(out[i].x == in[i].w && out[i].y == in[i].z && out[i].z == in[i].y &&
              out[i].w == in[i].x);
    OK(cudaDestroySurfaceObject(from));
    OK(cudaDestroySurfaceObject(to));
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));

    int numbers[W], *found;
    for (int i = 0; i < W; i++) numbers[i] = 5 * i + 1;
    format = cudaCreateChannelDesc<int>();
    OK(cudaMallocArray(&a, &format, W, 0, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(a, 0, 0, numbers, sizeof numbers, sizeof numbers, 1, cudaMemcpyHostToDevice));
    OK(cudaMallocManaged(&found, 3 * sizeof *found));
    cudaSurfaceObject_t s = surface(a);
    edges<<<1, 1>>>(s, found);
    OK(cudaDeviceSynchronize());
    CHECK(found[0] == 1 && found[1] == numbers[W - 1] && found[2] == 0);
    OK(cudaMemcpy2DFromArray(numbers, sizeof numbers, a, 0, 0, sizeof numbers, 1, cudaMemcpyDeviceToHost));
    CHECK(numbers[W - 1] == 77 && numbers[0] == 1);

    cudaArray_t box;
    format = cudaCreateChannelDesc<short>();
    OK(cudaMalloc3DArray(&box, &format, make_cudaExtent(W, H, D), cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t whole = surface(box);
    slices<<<dim3(H, D), W>>>(whole);
    short part[2][3][4];
    cudaMemcpy3DParms p = {};
    p.srcArray = box;
    p.srcPos = make_cudaPos(5, 2, 1);
    p.dstPtr = make_cudaPitchedPtr(part, 4 * sizeof(short), 4, 3);
    p.extent = make_cudaExtent(4, 3, 2);
    p.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&p));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) CHECK(part[z][y][x] == 5 + x + 10 * (2 + y) + 100 * (1 + z));

    outside<<<1, 1>>>(s);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

int main() {
    sampled();
    memory();
    others();
    surfaces();
}
