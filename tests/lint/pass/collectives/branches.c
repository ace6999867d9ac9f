/* Both sides of a condition call the same, with the same root and reduction; what differs is what
 * may. */
#include <mpi.h>

static double local[4], total[4];

static void share(int rank) {
  if (rank == 0)
    MPI_Bcast(local, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(total, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void sum(int rank) {
  if (rank % 2) {
    MPI_Allreduce(local, total, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    local[0] = 1;
    MPI_Allreduce(local, total, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Each side of an intercommunicator says where the root is (MPI 4.1 §6.4). */
static void across(int rank, MPI_Comm inter) {
  if (rank == 0)
    MPI_Bcast(local, 4, MPI_DOUBLE, MPI_ROOT, inter);
  else if (rank < 3)
    MPI_Bcast(local, 4, MPI_DOUBLE, MPI_PROC_NULL, inter);
  else
    MPI_Bcast(local, 4, MPI_DOUBLE, 0, inter);
}

/* Everybody is rank 0 of its own. */
static void alone(void) {
  int own;
  MPI_Comm_rank(MPI_COMM_SELF, &own);
  if (own) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Comm half, inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  share(rank);
  sum(rank);
  alone();
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 3 ? 3 : 0, 0, &inter);
  across(rank, inter);
  MPI_Finalize();
  return 0;
}
