/* Objects that no call of the program frees; of two windows and two files one is freed. */
//# options: --leaks
#include <mpi.h>

static int memory[8];

static MPI_Comm split(int rank) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part); //~ CS-OBJ-01 operation
  return part;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Win first, second;
  MPI_Datatype type;
  MPI_Group group;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = split(rank);
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, part, &first);
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, part, &second); //~ CS-WIN-05 operation
  MPI_Type_contiguous(4, MPI_INT, &type); //~ CS-OBJ-01 operation
  MPI_Type_commit(&type);
  MPI_Comm_group(part, &group); //~ CS-OBJ-01 operation
  MPI_Send_init(memory, 1, type, 0, 0, part, &request); //~ CS-OBJ-01 operation
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_free(&first);
  MPI_File closed, open;
  MPI_File_open(MPI_COMM_WORLD, "one", MPI_MODE_RDONLY, MPI_INFO_NULL, &closed);
  MPI_File_open(MPI_COMM_WORLD, "two", MPI_MODE_RDONLY, MPI_INFO_NULL, &open); //~ CS-OBJ-02 operation
  MPI_File_close(&closed);
  MPI_Finalize();
}
