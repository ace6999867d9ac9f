/* Null handles where something is asked about an object, and arrays that are not there. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank, number = 0, dims[2] = {2, -1}, periods[2] = {0, 0}, counts[2] = {1, -1}, places[2] = {0, 1};
  int in[2] = {1, 2}, out[2] = {0, 0};
  MPI_Aint bound, extent;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_NULL, &rank);                                           //~ CS-ARG-01 operation
  MPI_Type_size(MPI_DATATYPE_NULL, &number);                                     //~ CS-ARG-01 operation
  MPI_Type_get_extent(MPI_DATATYPE_NULL, &bound, &extent);                       //~ CS-ARG-01 operation
  MPI_Group_size(MPI_GROUP_NULL, &number);                                       //~ CS-ARG-01 operation
  MPI_Comm_test_inter(MPI_COMM_NULL, &number);                                   //~ CS-ARG-01 operation
  MPI_Info_set(MPI_INFO_NULL, "key", "value");                                   //~ CS-ARG-01 operation
  MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &comm);                                  //~ CS-ARG-01 operation
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm); // MPICH takes any color
  MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &comm);                    //~ CS-ARG-01 operation
  MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_SELF);   // only its own count
  MPI_Alltoallv(in, counts + 1, places, MPI_INT, out, places, places, MPI_INT, MPI_COMM_SELF); //~ CS-ARG-01 operation
  MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE);                                     //~ CS-ARG-01 operation
  MPI_Recv(in, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DATATYPE_NULL, &number);                            //~ CS-ARG-01 operation
  printf("%d %d\n", number, out[0]);
  MPI_Finalize();
  return 0;
}
