// Small blocks that have pages of their own, however they were allocated, in code that nobody has
// recompiled.
//# hooks: none
//# options: --guards --isolate-buffers 64
#include <cstdlib>
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  std::vector<double> out(16, rank);
  double *in = static_cast<double *>(std::calloc(16, sizeof(double)));
  float *grown = static_cast<float *>(std::malloc(8 * sizeof(float)));
  for (int i = 1; i < 40; i++) grown = static_cast<float *>(std::realloc(grown, 8 * i * sizeof(float)));
  void *aligned = nullptr;
  if (posix_memalign(&aligned, 64, 20 * sizeof(long))) return 1;
  long *row = static_cast<long *>(aligned);
  MPI_Request requests[4];
  MPI_Irecv(in, 16, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation
  double early = in[15]; //~ CS-BUF-02 access ranks=0,1
  MPI_Isend(out.data(), 16, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  out[3] = early; //~ CS-BUF-01 access ranks=0,1
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Isend(grown, 312, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, &requests[2]); //~ CS-BUF-01 operation
  grown[311] = 1; //~ CS-BUF-01 access ranks=0,1
  std::vector<float> all(312);
  MPI_Recv(all.data(), 312, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Isend(row, 20, MPI_LONG, peer, 2, MPI_COMM_WORLD, &requests[3]); //~ CS-BUF-01 operation
  row[19] = 1; //~ CS-BUF-01 access ranks=0,1
  std::vector<long> rows(20);
  MPI_Recv(rows.data(), 20, MPI_LONG, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  std::free(row);
  std::free(in);
  std::free(grown);
  MPI_Finalize();
}
