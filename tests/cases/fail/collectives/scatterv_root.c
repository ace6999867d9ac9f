// A rank scatters by itself what another one is to send it; that the amounts do not fit follows
// from that.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int all[6], mine[2];
  int counts[3] = {2, 2, 2}, displs[3] = {0, 2, 4};
  MPI_Scatterv(all, counts, displs, MPI_INT, mine, 2, MPI_INT, rank == 1 ? 1 : 0, MPI_COMM_WORLD); //~ CS-COL-02 access //~ CS-COL-02 operation
  MPI_Finalize();
  return 0;
}
