/* Calls, operations and epochs of known numbers, in two ranks; see
 * crates/commsan/tests/stats.rs. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100 };

static double data[N], more[N], window[N];

/* Each rank: 10 sends and 10 receives that requests complete, and a send and a receive that do
 * not. */
static void point_to_point(int other) {
  for (int i = 0; i < 10; i++) {
    MPI_Request requests[2];
    MPI_Irecv(data, N, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(more, N, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  int sent[3] = {1, 2, 3}, received[3];
  MPI_Sendrecv(sent, 3, MPI_INT, other, 2, received, 3, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* Nobody gets these. */
  MPI_Send(data, N, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  MPI_Recv(data, N, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each rank: one persistent send or receive, started 4 times. */
static void persistent(int rank, int other) {
  MPI_Request request;
  if (rank == 0)
    MPI_Send_init(data, N, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &request);
  else
    MPI_Recv_init(data, N, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 4; i++) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/* Three collectives, one of which a request completes. */
static void collectives(void) {
  MPI_Request request;
  MPI_Bcast(data, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, more, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One window; epochs of each kind; in rank 0 two puts, a get and an accumulate. */
static void one_sided(int rank, int other) {
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (rank == 0) MPI_Put(data, 10, MPI_DOUBLE, other, 0, 10, MPI_DOUBLE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Get(more, 20, MPI_DOUBLE, other, 0, 20, MPI_DOUBLE, win);
    MPI_Win_unlock(other, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) MPI_Accumulate(data, 1, MPI_DOUBLE, other, 50, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &group);
  if (rank == 0) {
    MPI_Win_start(group, 0, win);
    MPI_Put(data, 1, MPI_DOUBLE, other, 90, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
  } else {
    MPI_Win_post(group, 0, win);
    MPI_Win_wait(win);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
}

/* A message to the own rank; each thread has a tag of its own. */
static void *thread(void *tag) {
  int sent = 1, received, number = (int)(size_t)tag;
  MPI_Sendrecv(&sent, 1, MPI_INT, 0, number, &received, 1, MPI_INT, 0, number, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return 0;
}

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  point_to_point(other);
  persistent(rank, other);
  collectives();
  one_sided(rank, other);
  pthread_t threads[3];
  for (size_t i = 0; i < 3; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  for (size_t i = 0; i < 3; i++) pthread_join(threads[i], 0);
  if (argc > 1 && !strcmp(argv[1], "wrong")) { /* a finding */
    MPI_Request request;
    MPI_Isend(data, 1, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, &request);
    data[0] = 1;
    MPI_Recv(more, 1, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
