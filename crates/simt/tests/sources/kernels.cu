// Kernels whose results tests/kernels.rs computes again on the host.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

K saxpy(int n, float a, const float *x, float *y) {
  int i = thread();
  if (i < n) y[i] = a * x[i] + y[i];
}

K dot(int n, const double *x, const double *y, double *out) {
  __shared__ double part[256];
  double sum = 0;
  for (int i = thread(); i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 128; k; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (!threadIdx.x) atomicAdd(out, part[0]);
}

K stencil(int n, const double *in, double *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < n - 1 && y < n - 1) {
    int i = y * n + x;
    out[i] = 0.25 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
  }
}

// Different trip counts, break, continue, nested branches, early exit.
K diverge(int n, const int *in, int *out) {
  int i = thread();
  if (i >= n) return;
  int v = in[i], sum = 0;
  for (int k = 0; k < (v & 63); k++) {
    if (k % 7 == v % 7) continue;
    if (k % 3 == 0) {
      sum += k;
      if (sum > 500) break;
    } else if (v & 1) {
      for (int j = 0; j < k % 5; j++) sum ^= j * v;
    } else {
      sum -= k;
    }
  }
  switch (v % 6) {
  case 0: sum += 1; break;
  case 1: sum *= 3; break;
  case 2: sum -= v;
  case 3: sum ^= 0x55; break;
  case 4: out[i] = -1; return;
  default: sum = ~sum;
  }
  out[i] = sum;
}

// Threads of a warp that take a lock one after the other.
K warp_lock(int *lock, int *count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int *)count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The same without care for lockstep: hangs on devices without independent thread scheduling.
K naive_lock(int *lock, int *count) {
  while (atomicCAS(lock, 0, 1)) {
  }
  *(volatile int *)count += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// A chain of blocks, each waiting for the one before.
K chain(volatile int *flags, int *out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x)
      while (!flags[blockIdx.x - 1]) {
      }
    out[blockIdx.x] = blockIdx.x ? out[blockIdx.x - 1] + 1 : 1;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

// Two grids that answer each other.
K ping(volatile int *a, volatile int *b, int rounds) {
  for (int r = 1; r <= rounds; r++) {
    *a = r;
    while (*b < r) {
    }
  }
}

K grid_sync(int *data) {
  auto grid = cg::this_grid();
  int n = grid.size(), i = grid.thread_rank();
  for (int r = 0; r < 5; r++) {
    int v = data[(i + 1) % n] + 1;
    grid.sync();
    data[i] = v;
    grid.sync();
  }
}

K block_scan(const int *in, int *out) {
  __shared__ int sums[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = thread(), v = in[i];
  for (int d = 1; d < 32; d <<= 1) {
    int o = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += o;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      int o = __shfl_up_sync(~0u, s, d);
      if (lane >= d) s += o;
    }
    sums[lane] = s;
  }
  __syncthreads();
  out[i] = v + (warp ? sums[warp - 1] : 0);
}

K warp_ops(const unsigned *in, unsigned *out) {
  unsigned lane = threadIdx.x, v = in[lane], *o = out + lane * 12;
  o[0] = __shfl_xor_sync(~0u, v, 5);
  o[1] = __shfl_down_sync(~0u, v, 3, 8);
  o[2] = __shfl_sync(~0u, v, lane * 7);
  o[3] = __ballot_sync(~0u, v & 1);
  o[4] = __any_sync(~0u, v == 3) | __all_sync(~0u, v < 1000) << 1;
  o[5] = __match_any_sync(~0u, v & 3);
  o[6] = __reduce_add_sync(~0u, v);
  o[7] = __reduce_max_sync(~0u, v);
  if (lane < 12) {
    o[8] = __ballot_sync(0xfff, v & 2);
    o[9] = __shfl_sync(0xfff, v, lane ^ 1);
  } else {
    o[8] = __ballot_sync(~0xfffu, v & 2);
    o[9] = __reduce_min_sync(~0xfffu, v);
  }
  __syncwarp();
  o[10] = __popc(v) | __clz(v) << 8 | __ffs(v) << 16;
  o[11] = __brev(v) ^ __byte_perm(v, lane, 0x3715) ^ __funnelshift_l(v, lane, 9);
}

// Named barriers: half of the block produces, half consumes.
K producer(int rounds, int *out) {
  __shared__ int item;
  int sum = 0;
  for (int r = 0; r < rounds; r++) {
    if (threadIdx.x < 64) {
      if (threadIdx.x == 0) item = r * r;
      asm volatile("bar.sync 3, 64;" ::: "memory");
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += item;
      asm volatile("bar.sync 2, 128;" ::: "memory");
    }
  }
  out[threadIdx.x] = sum;
}

K barrier_counts(int *out) {
  int t = threadIdx.x;
  if (t >= 96) return; // exited threads are waited for no more
  out[t] = __syncthreads_count(t % 3 == 0) | __syncthreads_and(t < 96) << 8 |
           __syncthreads_or(t == 95) << 9;
}

#define TILE 16
K matmul(int n, const float *a, const float *b, float *c) {
  __shared__ float x[TILE][TILE], y[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum = fmaf(x[threadIdx.y][k], y[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
K recursion(int *data) { data[thread()] = fib(data[thread()]); }

__device__ __noinline__ int twice(int v) { return 2 * v; }
__device__ __noinline__ int square(int v) { return v * v; }
__device__ int (*const table[2])(int) = {twice, square};
K indirect(int *data) { data[thread()] = table[data[thread()] & 1](data[thread()]); }

struct Pair { double value; int index; char tag[3]; };
__device__ __noinline__ Pair larger(Pair a, Pair b) { return a.value < b.value ? b : a; }
K structs(Pair given, int n, Pair *pairs) {
  Pair best = given;
  for (int i = 0; i < n; i++) best = larger(best, pairs[i]);
  pairs[n + threadIdx.x] = best;
}

K print(int n) {
  if (threadIdx.x < n)
    printf("thread %d of %s: %5.2f %c %llx %%\n", threadIdx.x, "block", threadIdx.x / 4.0, 'a' + threadIdx.x,
           1ull << 40);
}

K check(int *data) { assert(data[threadIdx.x] == 0); }

K heap(int n, int **lists) {
  int *list = new int[n];
  for (int i = 0; i < n; i++) list[i] = i * threadIdx.x;
  lists[threadIdx.x] = list;
}
K heap_use(int n, int **lists, int *out) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += lists[threadIdx.x][i];
  out[threadIdx.x] = sum;
  delete[] lists[threadIdx.x];
}

__constant__ int factors[4] = {2, 3, 5, 7};
__device__ int counter = 100;
extern __shared__ int dynamic[];
K spaces(int n, int *out) {
  int local[8], *generic = threadIdx.x & 1 ? dynamic : local;
  for (int i = 0; i < 8; i++) local[i] = i * factors[i & 3];
  if (threadIdx.x < 8) dynamic[threadIdx.x] = -local[threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; i++) sum += generic[(i * 3) & 7];
  out[threadIdx.x] = sum;
  atomicAdd(&counter, 1);
  atomicMax(&dynamic[8], (int)threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockDim.x] = counter, out[blockDim.x + 1] = dynamic[8];
}

K atomics(unsigned *u, int *s, float *f, double *d, unsigned long long *l) {
  int t = thread();
  atomicAdd(u, t);
  atomicMin(s, 5 - t);
  atomicMax(s + 1, t);
  atomicInc(u + 1, 10);
  atomicDec(u + 2, 6);
  atomicOr(u + 3, 1u << (t & 31));
  atomicXor(u + 4, t);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicAdd(l, 1ull << 33);
  unsigned long long old = l[1], seen;
  do {
    seen = old;
    old = atomicCAS(l + 1, seen, seen + 3);
  } while (old != seen);
}

K math(int n, const double *x, double *out, float *single) {
  int i = thread();
  if (i >= n) return;
  double v = x[i];
  out[i * 6] = sin(v), out[i * 6 + 1] = exp(v / 100), out[i * 6 + 2] = log(fabs(v) + 1);
  out[i * 6 + 3] = sqrt(fabs(v)), out[i * 6 + 4] = pow(fabs(v), 0.3), out[i * 6 + 5] = 1 / (v + 0.5);
  float w = v;
  single[i * 4] = sinf(w), single[i * 4 + 1] = expf(w / 100), single[i * 4 + 2] = w / 3.7f;
  single[i * 4 + 3] = __half2float(__hfma(__float2half(w), __float2half(0.5f), __float2half(1.f)));
}

K sleepy(volatile int *flag) {
  if (threadIdx.x == 0) {
    __nanosleep(1000000);
    *flag = 1;
  } else {
    while (!*flag) __nanosleep(1000);
  }
}

K out_of_bounds(int n, int *data) {
  int i = thread();
  data[i] = 1; // line marked for the test
}
K misaligned(char *data) { *(int *)(data + 4 * threadIdx.x + (threadIdx.x == 5)) = 1; }
K beyond_shared(int at) {
  __shared__ volatile int small[4];
  small[at] = 1;
}
K stuck() {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
}

// Carries: sums, products, quotients and remainders of 128 bits, with and without sign.
K wide(int n, const unsigned __int128 *in, unsigned __int128 *out) {
  int i = thread();
  if (i >= n) return;
  unsigned __int128 a = in[2 * i], b = in[2 * i + 1];
  unsigned __int128 *o = out + 8 * i;
  o[0] = a + b;
  o[1] = a - b;
  o[2] = a * b;
  o[3] = a / b;
  o[4] = a % b;
  o[5] = (__int128)a / (__int128)b;
  o[6] = (__int128)a % (__int128)b;
  o[7] = a / 7;
}

// Copies to shared memory that a barrier waits for: in bulk, and what is not aligned for that.
K copies(int n, const int *in, int *out) {
  __shared__ alignas(16) int part[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  auto block = cg::this_thread_block();
  int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  block.sync();
  for (int i = 0; i < n; i++) {
    cuda::memcpy_async(block, part, in + 256 * i, cuda::aligned_size_t<16>(sizeof part), barrier);
    barrier.arrive_and_wait();
    out[256 * i + t] = part[255 - t];
    block.sync();
  }
  cuda::memcpy_async(block, part, in + 1, sizeof(int) * 255, barrier);
  barrier.arrive_and_wait();
  out[256 * n + t] = part[t % 255];
}
