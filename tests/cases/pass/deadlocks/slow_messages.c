// Thousands of messages that take longer than a deadlock has to last, small as they are, while both
// ranks wait for them.
//# np: 2
//# flags: -rdynamic
//# options: --stuck-after 1
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

enum { MANY = 5000 };

static int in[MANY], out[MANY];
static MPI_Request requests[2 * MANY];

// MPI takes as long as it likes: this is called in place of the library's own.
int PMPI_Waitall(int count, MPI_Request all[], MPI_Status statuses[]) {
  sleep(4);
  int (*wait)(int, MPI_Request[], MPI_Status[]) = (int (*)(int, MPI_Request[], MPI_Status[]))dlsym(RTLD_NEXT, "PMPI_Waitall");
  return wait(count, all, statuses);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < MANY; i++) MPI_Isend(&out[i], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[MANY + i]);
  MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
