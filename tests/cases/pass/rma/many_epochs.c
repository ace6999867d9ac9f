// Many puts in many epochs of every kind: what is ordered is forgotten.
#include <mpi.h>

enum { N = 64, ROUNDS = 50 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, right = 1;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[N], out[N];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < N; i++) out[i] = round + i;
    if (round % 2) {
      MPI_Win_fence(0, win);
      for (int i = 0; i < N; i++) MPI_Put(&out[i], 1, MPI_INT, peer, i, 1, MPI_INT, win);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else {
      MPI_Win_post(other, 0, win);
      MPI_Win_start(other, 0, win);
      for (int i = 0; i < N; i++) MPI_Put(&out[i], 1, MPI_INT, peer, i, 1, MPI_INT, win);
      MPI_Win_complete(win);
      MPI_Win_wait(win);
    }
    for (int i = 0; i < N; i++) right &= window[i] == round + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
    for (int i = 0; i < N; i++) MPI_Put(&out[N - 1 - i], 1, MPI_INT, peer, i, 1, MPI_INT, win);
    MPI_Win_unlock(peer, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int i = 0; i < N; i++) right &= window[i] == round + N - 1 - i;
    MPI_Win_unlock(rank, win);
  }

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
