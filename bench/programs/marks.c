/* Marks what the kernels of launches.cu touch as ThreadSanitizer's range calls do, byte by byte.
 *
 *   marks BYTES SECONDS */
#include "measure.h"

void __tsan_read_range(void *start, unsigned long bytes);
void __tsan_write_range(void *start, unsigned long bytes);

static char *arrays[2];
static size_t bytes;

static void mark(int times) {
  for (int i = 0; i < times; i++) {
    __tsan_read_range(arrays[1 - i % 2], bytes);
    __tsan_write_range(arrays[i % 2], bytes);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  bytes = strtoul(argv[1], NULL, 10);
  for (int i = 0; i < 2; i++) {
    arrays[i] = malloc(bytes);
    if (!arrays[i]) return 1;
  }
  print_measured(measure(mark, atof(argv[2])));
  MPI_Finalize();
  return 0;
}
