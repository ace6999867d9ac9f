/* Where the time goes: each rank writes how long its calls took, by call, peer and ranks of the
 * communicator. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static FILE *out;

static void took(const char *call, int peer, const char *communicator, double from) {
  fprintf(out, "%s,%d,%s,%.6f\n", call, peer, communicator, MPI_Wtime() - from);
}

int main(int argc, char **argv) {
  char name[4096];
  int rank, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s.%d", argv[1], rank);
  out = fopen(name, "w");
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int source = 1; source < 3; source++) {
      double from = MPI_Wtime();
      MPI_Recv(&number, 1, MPI_INT, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      took("MPI_Recv", source, "ranks 0-2", from);
    }
  } else {
    usleep(rank * 150000);
    double from = MPI_Wtime();
    MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    took("MPI_Send", 0, "ranks 0-2", from);
  }
  if (rank == 1) usleep(200000);
  double from = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, pair);
  took("MPI_Allreduce", -1, rank < 2 ? "ranks 0, 1" : "rank 2", from);
  fclose(out);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
