/* Messages from rank 0 to rank 1, as many as are asked for.
 *
 *   messages COUNT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BUFFERS = 16, DOUBLES = 8, AHEAD = 1024 };

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 messages COUNT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double *buffers = calloc(BUFFERS * DOUBLES, sizeof *buffers);
  if (!buffers) MPI_Abort(MPI_COMM_WORLD, 2);
  const long count = atol(argv[1]);
  for (long k = 0; k < count; k++) {
    double *buffer = buffers + k % BUFFERS * DOUBLES;
    /* Now and then both meet, so that what is under way stays small. */
    if (k % AHEAD == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      MPI_Send(buffer, DOUBLES, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(buffer, DOUBLES, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(buffers);
  MPI_Finalize();
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (rank == 0) printf("ended %lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
  return 0;
}
