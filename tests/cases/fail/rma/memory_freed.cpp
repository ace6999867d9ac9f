// The memory of a window is gone while the window is in use: a block, a container that goes out of
// scope, an attached block.
//# np: 2
#include <cstdlib>
#include <mpi.h>
#include <vector>

static MPI_Win local() {
  std::vector<int> values(100);
  MPI_Win window;
  MPI_Win_create(values.data(), 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window); //~ CS-WIN-06 operation ranks=0,1
  MPI_Win_fence(0, window);
  return window;
} //~ CS-WIN-06 release

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  auto *block = static_cast<int *>(std::malloc(400));
  auto *attached = static_cast<int *>(std::malloc(400));
  MPI_Win window, dynamic;
  MPI_Win_create(block, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window); //~ CS-WIN-06 operation ranks=0,1
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic); //~ CS-WIN-06 operation ranks=0,1
  MPI_Win_attach(dynamic, attached, 400);
  std::free(block); //~ CS-WIN-06 release
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  std::free(attached); //~ CS-WIN-06 release
  MPI_Win_lock_all(0, dynamic);
  MPI_Win_unlock_all(dynamic);
  MPI_Win_free(&dynamic);
  MPI_Win vanished = local();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, vanished);
  MPI_Win_free(&vanished);
  MPI_Finalize();
}
