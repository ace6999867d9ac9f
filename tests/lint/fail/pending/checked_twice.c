/* A macro that evaluates the call once more to tell of its failure, and a request that is
 * overwritten besides. */
#include <mpi.h>
#include <stdio.h>

#define CHECK(call)                                      \
  do {                                                   \
    if ((call) != MPI_SUCCESS) {                         \
      fprintf(stderr, "%s failed: %d\n", #call, call);   \
      MPI_Abort(MPI_COMM_WORLD, 1);                      \
    }                                                    \
  } while (0)

static int in[10], out[10];

static int start(MPI_Request *request) {
  int result = MPI_Irecv(in, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, request); //~ CS-REQ-02 operation
  if (result != MPI_SUCCESS) return result;
  return 0;
}

int main(int argc, char **argv) {
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  if (start(&requests[0])) return 1;
  CHECK(MPI_Isend(out, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &(requests[0]))); //~ CS-REQ-02 overwrite
  CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  MPI_Finalize();
}
