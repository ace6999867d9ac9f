// Without any header: what clang itself makes of CUDA.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

__device__ int table[4] = {1, 2, 3, 4};
__device__ const int *second = &table[1];

__device__ __attribute__((noinline)) float at(const float *p, int i) { return p[i]; }

__global__ void scale(float *a, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
          __nvvm_read_ptx_sreg_tid_x();
  if (i < n) a[i] = a[i] * 2.0f + (float)table[n & 3] + at(a, n) / (float)*second;
}

__global__ void share(double *a, int n) {
  __shared__ double tile[64];
  int i = __nvvm_read_ptx_sreg_tid_x();
  tile[i] = a[i];
  __syncthreads();
  switch (n) {
  case 0: a[i] = tile[63 - i]; break;
  case 1: a[0] = 1; break;
  case 2: a[1] = tile[0]; break;
  case 3: a[i + 1] = __nvvm_fma_rn_d(tile[i], 2.0, 1.0); break;
  case 4: __nvvm_atom_add_gen_f((float *)a, 1.0f); break;
  case 5: a[5] = n / 7; break;
  default: a[2] = n % 5; break;
  }
}
