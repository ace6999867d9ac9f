// A field in one dimension, whose halos are put by one stream while another one computes what is
// inside; events and barriers in streams order the two. NVSHMEM is initialised twice.
//# gpu: 2
//# flags: -lnvshmem_host
#include "../../../headers/nvshmem.h"
#include <mpi.h>

constexpr int N = 256;

__global__ void relax(float *out, const float *in, int from, int to) {
  int i = from + (int)threadIdx.x;
  if (i < to) out[i] = (in[i - 1] + in[i + 1]) / 2;
}

static float run(int steps, int rank) {
  nvshmem_init();
  int pes = nvshmem_n_pes(), left = (rank + pes - 1) % pes, right = (rank + 1) % pes;
  float *fields[2], start[N + 2];
  for (float *&field : fields) field = (float *)nvshmem_malloc((N + 2) * sizeof(float));
  for (float &value : start) value = rank + 1;
  for (float *field : fields) cudaMemcpy(field, start, sizeof start, cudaMemcpyHostToDevice);
  cudaStream_t inner, edges;
  cudaStreamCreateWithFlags(&inner, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&edges, cudaStreamNonBlocking);
  cudaEvent_t done, sent;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&sent, cudaEventDisableTiming);
  nvshmem_barrier_all();
  for (int step = 0; step < steps; step++) {
    float *in = fields[step % 2], *out = fields[1 - step % 2];
    relax<<<1, N, 0, inner>>>(out, in, 2, N);
    cudaEventRecord(done, inner);
    relax<<<1, 1, 0, edges>>>(out, in, 1, 2);
    relax<<<1, 1, 0, edges>>>(out, in, N, N + 1);
    nvshmemx_float_put_on_stream(out + N + 1, out + 1, 1, left, edges);
    nvshmemx_float_put_nbi_on_stream(out, out + N, 1, right, edges);
    nvshmemx_barrier_all_on_stream(edges);
    cudaStreamWaitEvent(edges, done, 0);
    cudaEventRecord(sent, edges);
    cudaStreamWaitEvent(inner, sent, 0);
  }
  cudaStreamSynchronize(inner);
  nvshmem_barrier_all();
  float result;
  nvshmem_float_get(&result, fields[steps % 2] + N, 1, right);
  nvshmem_barrier_all();
  cudaEventDestroy(sent);
  cudaEventDestroy(done);
  cudaStreamDestroy(edges);
  cudaStreamDestroy(inner);
  for (float *field : fields) nvshmem_free(field);
  nvshmem_finalize();
  return result;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaSetDevice(rank);
  float first = run(2, rank), second = run(5, rank);
  MPI_Finalize();
  return first <= 0 || second <= 0;
}
