// A new process uses its copy of the buffer, and this one waits.
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int in[1024], out[1024];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  MPI_Request requests[2];
  MPI_Irecv(in, 1024, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 1024, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  pid_t child = fork();
  if (child == 0) {
    out[1] = in[1];
    printf("%d\n", out[1]);
    _exit(0);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int own = in[0];
  if (child > 0) waitpid(child, NULL, 0);
  printf("%d\n", own);
  MPI_Finalize();
  return 0;
}
