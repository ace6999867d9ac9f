// Two rounds in which nobody knows who sends to it: synchronous sends, and a barrier that is begun
// when they have arrived. Who leaves the first round early may send for the second while others
// still probe for the first, whose tag is another.
//# np: 3
#include <mpi.h>
#include <unistd.h>

static int consensus(MPI_Comm comm, int tag, int to, int what, int late) {
  MPI_Request send, barrier = MPI_REQUEST_NULL;
  int got = 0, begun = 0;
  MPI_Issend(&what, 1, MPI_INT, to, tag, comm, &send);
  for (int done = 0; !done;) {
    int there, sent;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status);
    if (there) {
      int value;
      MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE);
      got += value;
    }
    if (begun) {
      usleep(late);
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Test(&send, &sent, MPI_STATUS_IGNORE);
      if (sent) {
        MPI_Ibarrier(comm, &barrier);
        begun = 1;
      }
    }
  }
  return got;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // Rank 0 asks late whether the barrier is complete.
  int first = consensus(MPI_COMM_WORLD, 17, (rank + 1) % size, 1, rank == 0 ? 50000 : 0);
  int second = consensus(MPI_COMM_WORLD, 18, (rank + 2) % size, 10, 0);
  MPI_Finalize();
  return first + second != 11;
}
