/* All objects are freed, some of them by others than those who made them. */
//# options: --leaks
#include <mpi.h>

static int memory[8];

static MPI_Comm split(int rank) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  return part;
}

static void end(MPI_Win *windows, int count) {
  for (int i = 0; i < count; i++) MPI_Win_free(&windows[i]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Win windows[2];
  MPI_Datatype type;
  MPI_Group group;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = split(rank);
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, part, &windows[0]);
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, part, &windows[1]);
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Comm_group(part, &group);
  MPI_Send_init(memory, 1, type, 0, 0, part, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Group_free(&group);
  MPI_Type_free(&type);
  end(windows, 2);
  MPI_File files[2];
  MPI_File_open(MPI_COMM_WORLD, "one", MPI_MODE_RDONLY, MPI_INFO_NULL, &files[0]);
  MPI_File_open(MPI_COMM_WORLD, "two", MPI_MODE_RDONLY, MPI_INFO_NULL, &files[1]);
  for (int i = 0; i < 2; i++) MPI_File_close(&files[i]);
  MPI_Comm_free(&part);
  MPI_Finalize();
}
