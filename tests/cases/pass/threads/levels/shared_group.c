// Each thread asks for the group of the same communicator and frees what it got: libraries count
// how often they give one away.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int wrong[2];

static void *ask(void *argument) {
  int *is_wrong = argument, size, first[1] = {0};
  for (int i = 0; i < 50; i++) {
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, first, &one);
    MPI_Group_size(one, &size);
    *is_wrong |= size != 1;
    MPI_Group_free(&one);
    MPI_Group_free(&all);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t other;
    pthread_create(&other, NULL, ask, &wrong[0]);
    ask(&wrong[1]);
    pthread_join(other, NULL);
  }
  printf("%d\n", wrong[0] | wrong[1]);
  MPI_Finalize();
  return wrong[0] | wrong[1];
}
