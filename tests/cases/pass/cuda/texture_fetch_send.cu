// A kernel reads memory by a texture object while it is received into: what it reads is another
// part.
#include <mpi.h>

constexpr int N = 256;

__global__ void square(cudaTextureObject_t from, float *to, int first) {
  float x = tex1Dfetch<float>(from, first + threadIdx.x);
  to[threadIdx.x] = x * x;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float *from, *to;
  cudaMalloc(&from, 2 * N * sizeof *from);
  cudaMalloc(&to, N * sizeof *to);
  cudaMemset(from, 0, 2 * N * sizeof *from);
  cudaDeviceSynchronize();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = from;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 2 * N * sizeof *from;
  cudaTextureDesc sampling = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
  if (rank == 0) {
    square<<<1, N>>>(texture, to, N);
    MPI_Recv(from, N, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaDeviceSynchronize();
  } else {
    MPI_Send(from, N, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
  }
  cudaDestroyTextureObject(texture);
  cudaFree(from);
  cudaFree(to);
  MPI_Finalize();
  return 0;
}
