// An object that lives longer than MPI frees its communicator.
//# np: 2
#include <mpi.h>

struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  ~Team() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm); //~ CS-INI-01 operation
  }
};

static Team team;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &team.comm); //~ CS-OBJ-01 operation
  MPI_Barrier(team.comm);
  MPI_Finalize();
  return 0;
}
