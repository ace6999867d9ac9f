// A thread fills and copies buffers before another one sends and receives, and says so. LLVM's
// runtime.
//# flags: -fopenmp -Wl,-rpath,/usr/lib/llvm-19/lib
//# cc: clang
#include <mpi.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

static int told, out[256], in[256], copy[256];

int main(int argc, char **argv) {
  int provided, rank, size = 1024, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) size = 512;
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      memset(out, 1, size);
      memcpy(copy, in, size);
      __atomic_store_n(&told, 1, __ATOMIC_RELEASE);
    } else {
      while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE)) usleep(10);
      MPI_Request request;
      MPI_Irecv(in, 256, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
      MPI_Send(out, 256, MPI_INT, !rank, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  wrong += in[255] != 0x01010101 || copy[0] != 0;
  MPI_Finalize();
  return wrong;
}
