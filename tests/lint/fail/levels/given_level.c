// The level is given on the command line: this is a library, called by a parallel region's one
// thread.
//# options: --thread-level funneled --initial-context single
#include <mpi.h>

static int value;

void library_send(void) { MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); } //~ CS-THR-01 access
