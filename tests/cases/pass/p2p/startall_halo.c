// MPI_Startall starts both directions; only inner cells are updated while they are pending.
#include <mpi.h>

enum { N = 34 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double u[N];
  for (int i = 0; i < N; i++) {
    u[i] = i;
  }
  MPI_Request halo[2];
  MPI_Recv_init(&u[N - 2], 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &halo[0]);
  MPI_Send_init(&u[0], 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &halo[1]);
  for (int step = 0; step < 4; step++) {
    MPI_Startall(2, halo);
    for (int i = 2; i < N - 2; i++) {
      u[i] = 0.25 * i;
    }
    MPI_Waitall(2, halo, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&halo[0]);
  MPI_Request_free(&halo[1]);

  MPI_Finalize();
  return u[N - 2] == 0 && u[N - 1] == 1 ? 0 : 1;
}
