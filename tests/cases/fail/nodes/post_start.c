/* The target loads what an origin on another node puts, before its epoch has ended. */
//# np: 4
//# nodes: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, *window, mine, sum = 0, others[3];
  MPI_Win win;
  MPI_Group all, group;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  mine = rank;
  for (int i = 0; i < 3; i++) others[i] = i + 1;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (rank == 0) {
    MPI_Group_incl(all, 3, others, &group);
    MPI_Win_post(group, 0, win);
    sum += window[3]; //~ CS-RMA-03 access ranks=0
    MPI_Win_wait(win);
    sum += window[1] + window[2];
  } else {
    MPI_Group_incl(all, 1, (int[]){0}, &group);
    MPI_Win_start(group, 0, win);
    MPI_Put(&mine, 1, MPI_INT, 0, rank, 1, MPI_INT, win); //~ CS-RMA-03 operation ranks=0
    MPI_Win_complete(win);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 0 && sum != 3 && sum != 6;
}
