/* The same with handles that stand for something, and with arrays that nothing is done with. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, number = 0, dims[2] = {1, 1}, periods[2] = {0, 0}, counts[2] = {1, 1}, places[2] = {0, 1};
  int in[2] = {1, 2}, out[2] = {0, 0}, wrong = 0;
  MPI_Aint bound, extent;
  MPI_Comm comm;
  MPI_Group group;
  MPI_Info info;
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_size(MPI_INT, &number);
  wrong += number != (int)sizeof(int);
  MPI_Type_get_extent(MPI_INT, &bound, &extent);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_size(group, &number);
  MPI_Group_free(&group);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &number);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_free(&info);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &comm);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &comm);
  MPI_Comm_free(&comm);
  MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_SELF);
  wrong += out[0] != 1;
  MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_SELF);
  /* What is received matters on the root alone. */
  MPI_Gatherv(in, 1, MPI_INT, rank == 0 ? out : NULL, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_INT, 0,
              MPI_COMM_WORLD);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Recv(in, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &number);
  printf("%d %d\n", number, out[0]);
  MPI_Finalize();
  return wrong;
}
