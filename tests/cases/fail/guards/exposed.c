/* The owner of a window loads from and stores to it between fences and while it is posted, where
   other ranks put something in the same epoch. Nobody has recompiled it. */
//# hooks: none
//# options: --guards=windows --guard-budget 100
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 13, HALF = COUNT / 2 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, other_rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other_rank = 1 - rank;
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other_rank, &other);
  double *memory = calloc(COUNT, sizeof *memory), *part = calloc(HALF, sizeof *part), sum = 0, *allocated;
  MPI_Win window, second;
  MPI_Win_create(memory, COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_allocate(COUNT * sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &second);
  MPI_Win_fence(0, window);
  MPI_Win_fence(0, second);
  sum += memory[HALF + 700]; //~ CS-RMA-03 access ranks=0,1
  allocated[HALF + 900] = 1; //~ CS-RMA-03 access ranks=0,1
  MPI_Put(part, HALF, MPI_DOUBLE, 1 - rank, HALF, HALF, MPI_DOUBLE, window); //~ CS-RMA-03 operation
  MPI_Put(part, HALF, MPI_DOUBLE, 1 - rank, HALF, HALF, MPI_DOUBLE, second); //~ CS-RMA-03 operation
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, second);
  MPI_Win_post(other, 0, window);
  MPI_Win_start(other, 0, window);
  MPI_Get(part, 1000, MPI_DOUBLE, 1 - rank, 1000, 1000, MPI_DOUBLE, window); //~ CS-RMA-03 operation
  MPI_Win_complete(window);
  memory[1500] = sum; //~ CS-RMA-03 access ranks=0,1
  MPI_Win_wait(window);
  MPI_Win_free(&window);
  MPI_Win_free(&second);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
  free(memory);
  free(part);
  MPI_Finalize();
}
