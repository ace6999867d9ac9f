// One of everything that nvcc makes instructions of, by subject; not meant to be run.
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

__global__ void warps(int *a, unsigned long long *b, int n) {
  int i = threadIdx.x;
  a[i] = __shfl_sync(~0u, a[i], 3) + __shfl_xor_sync(~0u, n, 1) + __shfl_up_sync(~0u, i, 2);
  if (__any_sync(~0u, n > i) && __all_sync(~0u, n)) a[i] += __match_any_sync(__activemask(), i);
  int all;
  a[i] += __match_all_sync(~0u, b[i], &all) + all + __popc(__ballot_sync(~0u, n > 3));
#if __CUDA_ARCH__ >= 800
  a[i] += __reduce_add_sync(~0u, i) + __reduce_max_sync(~0u, i) + __reduce_or_sync(~0u, (unsigned)i);
#endif
}

__global__ void bits(int *a, unsigned long long *b, int n) {
  int i = threadIdx.x;
  a[i] = __popc(n) + __popcll(b[i]) + __brev(n) + __clz(n) + __clzll(b[2]) + __ffs(n);
  a[i] += __byte_perm(n, i, 0x3210) + __funnelshift_l(n, i, 3) + __funnelshift_rc(n, i, n);
  a[i] += __fns(n, 1, 2) + __vabsdiffu4(n, i) + __dp4a(n, i, 3) + __usad(n, i, 2);
  a[i] += __mulhi(n, i) + __umul24(n, i) + __vadd4(n, i) + __vmaxs2(n, i);
}

__global__ void singles(float *f) {
  int i = threadIdx.x;
  f[i] = __sinf(f[i]) + __cosf(f[1]) + __expf(f[2]) + __log2f(f[3]) + rsqrtf(f[4]);
  f[i] += __fdividef(f[5], f[6]) + tanhf(f[7]) + copysignf(f[8], f[9]) + sinf(f[10]);
  f[i] += powf(f[11], f[12]) + sqrtf(f[13]) + 1.f / f[14] + fmodf(f[1], f[3]) + __saturatef(f[2]);
  f[i] += rintf(f[9]) + floorf(f[3]) + __frsqrt_rn(f[8]) + __fmaf_rz(f[1], f[2], f[3]);
  f[i] += fmaxf(f[1], f[4]) + fabsf(f[9]) + isinf(f[3]) + isnan(f[9]) + erff(f[4]) + lgammaf(f[9]);
}

__global__ void doubles(double *d, int n) {
  int i = threadIdx.x;
  d[i] = sin(d[i]) + exp(d[1]) + log(d[2]) + pow(d[3], d[4]) + fma(d[1], d[2], d[3]) + sqrt(d[6]);
  d[i] += 1 / d[7] + rsqrt(d[8]) + cbrt(d[9]) + atan2(d[1], d[2]) + __double2int_rd(d[3]);
  d[i] += __longlong_as_double(n) + fmin(d[1], d[2]) + trunc(d[3]) + (float)d[7];
  d[i] += (unsigned char)d[9] + hypot(d[1], d[2]) + isfinite(d[3]);
  atomicAdd(d, d[9]);
}

__global__ void halves(__half *h, __half2 *h2, float *f) {
  int i = threadIdx.x;
  h[i] = __hfma(h[i], h[1], h[2]) + h[3] * h[4] - h[5] / h[6];
  h2[i] = __hfma2(h2[1], h2[2], h2[3]);
  f[i] = __half2float(h[9]);
  h[7] = __float2half(f[3]);
  h[10] = hexp(h[2]);
  h[11] = __hmax(h[1], h[2]);
  h[21] = __habs(h[9]);
  if (__hgt(h[1], h[2])) h[22] = -h[3];
  h[23] = __int2half_rn(i);
  f[9] = __half2int_rz(h[3]);
  h2[9] = h2exp2(h2[2]);
  h2[10] = __floats2half2_rn(f[1], f[2]);
  h2[12] = __hmul2_sat(h2[1], h2[2]);
}

__global__ void bfloats(__nv_bfloat16 *b, __nv_bfloat162 *b2, float *f) {
  int i = threadIdx.x;
  b[i] = b[1] + b[2] * b[3];
  b2[i] = __hadd2(b2[1], b2[2]);
  f[i] = __bfloat162float(b[9]);
  b[8] = __float2bfloat16(f[4]);
  b[11] = __hmin(b[1], b[9]);
  b2[10] = __floats2bfloat162_rn(f[1], f[3]);
}

__global__ void atomics(int *a, unsigned *u, unsigned long long *l, float *f, __half2 *h) {
  atomicAdd(a, 1);
  atomicSub(a + 1, 2);
  a[2] = atomicExch(a + 3, 4);
  atomicMin(a + 4, 5);
  atomicMax(u, 3u);
  u[1] = atomicInc(u + 2, 9);
  u[4] = atomicDec(u + 3, 4);
  l[0] = atomicCAS(l + 1, 2ull, 3ull);
  atomicAnd(a + 9, 3);
  atomicOr(u + 9, 3);
  atomicXor(l + 3, 9ull);
  atomicAdd_block(a + 3, 4);
  atomicAdd_system(f, 3.f);
  atomicAdd(h, h[3]);
#if __CUDA_ARCH__ >= 900
  f[8] = atomicAdd((float4 *)f, make_float4(1, 2, 3, 4)).x;
#endif
}

__global__ void ordered(int *a, unsigned long long *l) {
  cuda::atomic_ref<int, cuda::thread_scope_device> device(a[20]);
  device.fetch_add(3, cuda::std::memory_order_release);
  while (device.load(cuda::std::memory_order_acquire) < 3) __nanosleep(20);
  device.store(3, cuda::std::memory_order_release);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> system(l[9]);
  system.fetch_max(3);
  unsigned long long expected = system.exchange(9);
  system.compare_exchange_strong(expected, 4);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_device);
}

__global__ void cached(int *a) {
  a[33] = *(volatile int *)a;
  a[34] = __ldg(a + 35) + __ldcg(a + 36) + __ldcs(a + 37) + __ldcv(a + 38);
  __stwt(a + 39, 3);
  __stcg(a + 40, 4);
  __stcs(a + 41, 9);
  a[42] = __isGlobal(a) + __isShared(a);
}

__global__ void pipelines(int4 *from, int4 *to) {
  extern __shared__ int4 buffer[];
  __pipeline_memcpy_async(buffer + threadIdx.x, from + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  to[threadIdx.x] = buffer[threadIdx.x ^ 1];
  int count = __syncthreads_count(from[0].x);
  to[0].x = count + __syncthreads_and(count) + __syncthreads_or(count + 3);
}

__global__ void groups(float *p, int n) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  float sum = cg::reduce(tile, p[grid.thread_rank()], cg::plus<float>());
  grid.sync();
  p[n] = sum;
  block.sync();
  tile.sync();
  auto active = cg::coalesced_threads();
  p[active.size()] = active.shfl(sum, 0);
  if (n == 0) __trap();
  if (n == 1) asm volatile("exit;");
  assert(n != 3);
  printf("%d %f\n", n, sum);
}

__global__ void barriers(int *data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int buffer[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(buffer + threadIdx.x, data + threadIdx.x, sizeof(int), barrier);
  barrier.arrive_and_wait();
  data[threadIdx.x] = buffer[127 - threadIdx.x];
}

__device__ __noinline__ int triple(int x) { return x * 3; }
__device__ __noinline__ int later(int x) { return x + clock(); }
__device__ int (*functions[2])(int) = {triple, later};

struct Base {
  virtual __device__ int go(int) { return 1; }
  int y;
};
struct Derived : Base {
  __device__ int go(int x) override { return x + y; }
};

__global__ void indirect(int *a, int i) {
  a[1] = functions[i](a[0]);
  Derived on_stack;
  Base *object = i ? new Base : &on_stack;
  a[2] = object->go(i);
  int *heap = (int *)malloc(33);
  heap[0] = 3;
  a[3] = heap[i];
  free(heap);
}

__global__ void __launch_bounds__(128, 2) branches(int *a, int n) {
  switch (n) {
  case 0: a[0] = 3; break;
  case 1: a[n] = sinf(n); break;
  case 2: a[7] = clock64(); break;
  case 3: a[4] /= a[9]; break;
  case 4: a[n * 3]++; break;
  case 5: a[1] = 9; break;
  case 6: atomicAdd(a, 2); break;
  case 7: a[3] %= n; break;
  case 8: __syncthreads(); break;
  case 9: a[8] = n * n; break;
  }
}
