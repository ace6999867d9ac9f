// Some calls are allowed to every thread, whatever the level.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
  int provided, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  #pragma omp parallel num_threads(3) reduction(+ : wrong)
  {
    int flag, main, level, version, subversion, length;
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    MPI_Is_thread_main(&main);
    MPI_Query_thread(&level);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(name, &length);
    wrong += !flag || main != (omp_get_thread_num() == 0) || level != provided;
    #pragma omp master
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return wrong;
}
