/* PEs exchange borders, and read what they got after a barrier. */
//# mpi: openshmem
#include <shmem.h>

enum { CELLS = 32 };

static double row[CELLS + 2];

int main(void) {
  shmem_init();
  int me = shmem_my_pe(), pes = shmem_n_pes();
  int left = (me + pes - 1) % pes, right = (me + 1) % pes;
  for (int i = 1; i <= CELLS; i++) row[i] = me;
  shmem_barrier_all();
  shmem_double_p(&row[CELLS + 1], row[1], left);
  shmem_double_p(&row[0], row[CELLS], right);
  shmem_barrier_all();
  double before = row[0];
  int is_wrong = row[CELLS + 1] != right || before != left;
  shmem_finalize();
  return is_wrong;
}
