// All who make a communicator or a window have come to it when one has got it.
#include <mpi.h>

static void make(int kind, int rank, int peer, MPI_Comm *comm) {
  int two = 2, one = 1, no = 0;
  MPI_Group group;
  switch (kind) {
  case 0: MPI_Comm_split(MPI_COMM_WORLD, rank, 0, comm); break;
  case 1: MPI_Comm_dup(MPI_COMM_WORLD, comm); break;
  case 2: MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &no, 1, comm); break;
  case 3: MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm); break;
  case 4:
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, comm);
    MPI_Group_free(&group);
    break;
  default:
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          comm);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[8], other[8];
  MPI_Win win, second;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int kind = 0; kind <= 6; kind++) {
    int out = 10 + kind;
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    MPI_Put(&out, 1, MPI_INT, peer, kind, 1, MPI_INT, win);
    MPI_Win_unlock(peer, win);
    if (kind < 6) {
      MPI_Comm comm;
      make(kind, rank, peer, &comm);
      MPI_Comm_free(&comm);
    } else {
      MPI_Win_create(other, sizeof other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    }
    right &= window[kind] == 10 + kind;
  }

  MPI_Win_free(&second);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
