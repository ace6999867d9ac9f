// An array is freed after a kernel that reads it by a texture; the call waits for the kernel.
//# np: 1
//# mpi: openmpi
#include <mpi.h>

constexpr int N = 32;

__global__ void read(cudaTextureObject_t from, float *to) { to[threadIdx.x] = tex1D<float>(from, threadIdx.x + 0.5f); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  float host[N] = {}, *to;
  cudaMalloc(&to, sizeof host);
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, N, 0);
  cudaMemcpy2DToArray(array, 0, 0, host, sizeof host, sizeof host, 1, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc sampling = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  read<<<1, N, 0, stream>>>(texture, to);
  cudaFreeArray(array);
  cudaDestroyTextureObject(texture);
  cudaDeviceSynchronize();
  cudaFree(to);
  MPI_Finalize();
  return 0;
}
