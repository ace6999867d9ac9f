// Each of two threads communicates with its own buffers, tags and requests.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

enum { N = 16 };

static int rank, in[2][N], out[2][N] = {{1}, {2}};
static pthread_barrier_t posted;

static void *exchange(void *argument) {
  int me = *(int *)argument;
  MPI_Request request;
  MPI_Irecv(in[me], N, MPI_INT, 1 - rank, me, MPI_COMM_WORLD, &request);
  pthread_barrier_wait(&posted);
  MPI_Send(out[me], N, MPI_INT, 1 - rank, me, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  in[me][N - 1] = in[me][0];
  return NULL;
}

int main(int argc, char **argv) {
  int provided, ids[2] = {0, 1};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t threads[2];
  pthread_barrier_init(&posted, NULL, 2);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, exchange, &ids[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }

  MPI_Finalize();
  return in[0][N - 1] == 1 && in[1][N - 1] == 2 ? 0 : 1;
}
