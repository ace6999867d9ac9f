// Two ranks have made communicators by themselves, and call different collectives on the second of
// them.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0, who[2] = {0, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Group all, two;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, who, &two);
  if (rank != 1) {
    MPI_Comm first, second;
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &second);
    MPI_Barrier(first);
    if (rank == 0) {
      MPI_Barrier(second); //~ CS-COL-01 operation
    } else {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, second); //~ CS-COL-01 access
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&two);
  MPI_Finalize();
  return 0;
}
