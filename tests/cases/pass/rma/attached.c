// Memory is attached in regions that touch each other, detached by its beginning, and attached
// again.
#include <mpi.h>

static int memory[32];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_attach(win, memory, 16 * sizeof(int));
  MPI_Win_attach(win, memory + 16, 16 * sizeof(int));
  MPI_Win_detach(win, memory);
  MPI_Win_attach(win, memory, 8 * sizeof(int));
  MPI_Win_detach(win, memory + 16);
  MPI_Win_detach(win, memory);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
