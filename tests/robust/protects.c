/* A program protects pages of its heap, which a message holds afterwards.
 *
 *   protects */
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PAGE = 4096 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char *out = aligned_alloc(PAGE, SIZE), *in = malloc(SIZE);
  out[0] = 7;
  for (int i = 0; i < 5; i++) {
    mprotect(out, SIZE, PROT_READ | PROT_WRITE);
    mprotect(out, SIZE, PROT_READ);
  }
  MPI_Request request;
  MPI_Isend(out, SIZE, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
  MPI_Recv(in, SIZE, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* It cannot be written, as the program has left it. */
  int ends[2], is_written = pipe(ends) == 0 && write(ends[1], in, 1) == 1 && read(ends[0], out, 1) == 1;
  int wrong = is_written || in[0] != 7;
  MPI_Finalize();
  return wrong;
}
