// A buffered send is started again before its message has left, for which Open MPI gives the
// request another handle.
#include <mpi.h>
#include <stdlib.h>

enum { N = 100000, TIMES = 4 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static double data[N];
  if (rank == 0) {
    int size = TIMES * (N * (int)sizeof *data + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    MPI_Request request;
    MPI_Bsend_init(data, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < TIMES; i++) {
      MPI_Start(&request); //~ CS-BUF-01 operation ranks=0
      data[i] = 1;         //~ CS-BUF-01 access count=4 ranks=0
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
      MPI_Recv(data, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
