/* A program with a small alternate stack for signals stores to a message that is being sent. */
//# hooks: none
//# options: --guards
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { COUNT = 1 << 16, PAGE = 4096, STACK = 2 * PAGE };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *memory = mmap(NULL, PAGE + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, PAGE, PROT_NONE);
  stack_t stack = {.ss_sp = memory + PAGE, .ss_size = STACK};
  if (sigaltstack(&stack, NULL) != 0) return 3;
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in);
  MPI_Request requests[2];
  MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  out[COUNT / 2] = 1; //~ CS-BUF-01 access ranks=0,1
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  free(out);
  free(in);
  MPI_Finalize();
}
