// The memory of a window is released when the window is gone or the memory detached, or is not used
// any more.
//# np: 2
#include <cstdlib>
#include <mpi.h>
#include <vector>

static void local() {
  std::vector<int> values(100);
  MPI_Win window;
  MPI_Win_create(values.data(), 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Win_free(&window);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  auto *block = static_cast<int *>(std::malloc(400));
  auto *attached = static_cast<int *>(std::malloc(400));
  MPI_Win window, dynamic;
  MPI_Win_create(block, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, attached, 400);
  MPI_Win_detach(dynamic, attached);
  std::free(attached);
  MPI_Win_free(&window);
  std::free(block);
  local();
  auto *late = static_cast<int *>(std::malloc(400));
  MPI_Win_create(late, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  std::free(late);
  MPI_Win_free(&window);
  MPI_Win_free(&dynamic);
  MPI_Finalize();
}
