// A thread of C11's, started with a function that sends, beside its maker who does.
#include <mpi.h>
#include <threads.h>

static int out[4], in[4];

static int send(void *to) {
  MPI_Send(out, 4, MPI_INT, *(int *)to, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
  return 0;
}

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  thrd_t thread;
  thrd_create(&thread, send, &other);
  MPI_Recv(in, 4, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
  thrd_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
