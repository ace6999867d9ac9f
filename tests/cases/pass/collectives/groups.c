// Parts of the job go their own ways: different collectives on different communicators at once.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half, single = MPI_COMM_NULL, trio = MPI_COMM_NULL, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
  if (rank / 2 == 0) {
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Barrier(half);
  } else {
    MPI_Bcast(&sum, 1, MPI_INT, 0, half);
    for (int i = 0; i < 3; i++) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, half);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 1, rank, &single);
  if (single != MPI_COMM_NULL) {
    MPI_Barrier(single);
    MPI_Comm_free(&single);
  }
  /* Only its members call it. */
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{1, 3, 1}};
  MPI_Group_range_incl(world, 1, range, &group);
  if (rank > 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &trio);
    MPI_Barrier(trio);
    MPI_Bcast(&sum, 1, MPI_INT, 0, trio);
    MPI_Comm_free(&trio);
  }
  MPI_Comm_create(MPI_COMM_WORLD, group, &trio);
  if (rank > 0) {
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MIN, trio);
    MPI_Comm_free(&trio);
  } else {
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(copy);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
