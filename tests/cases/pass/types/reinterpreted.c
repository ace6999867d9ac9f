// Memory that was allocated for integers holds real numbers, which are sent.
//# levels: -O0 -O2
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *work = malloc(N * sizeof *work);
  int *packed = malloc(N * sizeof *packed);
  float *values = (float *)work, data[N];
  for (int i = 0; i < N; i++) values[i] = data[i] = 1.5f * i;
  memcpy(packed, data, sizeof data);
  if (rank == 0) {
    MPI_Send(work, N, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(packed, N, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
  } else {
    float got[N];
    for (int i = 0; i < 2; i++) MPI_Recv(got, N, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = got[2] != 3;
  }
  free(work);
  free(packed);
  MPI_Finalize();
  return bad;
}
