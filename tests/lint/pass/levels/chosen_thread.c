// A thread that only the program knows: by a number in a variable, a flag, a field, an array.
#include <mpi.h>
#include <omp.h>

struct worker {
  int number, leads;
};

static int value, leads[64] = {1}, own_number;
#pragma omp threadprivate(own_number)

static void send(void) { MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }

static void work(struct worker *worker) {
  if (worker->leads) send();
  if (worker->number == 0) send();
}

static void again(void) {
  if (own_number == 0) send();
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int communicator = argc > 7;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    if (me == communicator) send();
    struct worker own = {me, me == 0};
    work(&own);
    if (leads[me]) send();
    int first = !me && argc > 1;
    if (first) send();
    own_number = me;
    again();
  }
  MPI_Finalize();
  return 0;
}
