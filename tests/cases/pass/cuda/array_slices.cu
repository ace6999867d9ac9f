// A kernel writes a box by a surface, and a slice of it is copied after it.
//# np: 1
//# mpi: openmpi
#include <mpi.h>

constexpr int N = 8;

__global__ void fill(cudaSurfaceObject_t box) {
  surf3Dwrite(1.0f, box, threadIdx.x * sizeof(float), threadIdx.y, threadIdx.z);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  float *out;
  cudaMallocHost(&out, N * N * sizeof *out);
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(&array, &format, make_cudaExtent(N, N, N), cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t box;
  cudaCreateSurfaceObject(&box, &resource);
  fill<<<1, dim3(N, N, N), 0, one>>>(box);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.srcPos = make_cudaPos(0, 0, 3);
  copy.dstPtr = make_cudaPitchedPtr(out, N * sizeof *out, N, N);
  copy.extent = make_cudaExtent(N, N, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&copy, one);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(box);
  cudaFreeArray(array);
  cudaFreeHost(out);
  MPI_Finalize();
  return 0;
}
