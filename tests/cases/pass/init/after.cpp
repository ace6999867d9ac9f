// An object that lives longer than MPI asks whether there still is one.
//# np: 2
//# options: --leaks=false
#include <mpi.h>

struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  ~Team() {
    int over;
    MPI_Finalized(&over);
    if (comm != MPI_COMM_NULL && !over) MPI_Comm_free(&comm);
  }
};

static Team team;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &team.comm);
  MPI_Barrier(team.comm);
  MPI_Finalize();
  return 0;
}
