// The variables of a coroutine are on the heap until it ends, whoever it returns to in between.
//# flags: -std=c++20
#include <mpi.h>
#include <coroutine>

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

static MPI_Request pending;

struct Sent {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() { MPI_Wait(&pending, MPI_STATUS_IGNORE); }
};

static Task report(int to) {
  double row[64];
  for (int i = 0; i < 64; i++) row[i] = i;
  MPI_Isend(row, 64, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &pending);
  co_await Sent{};
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  double in[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Task task = report(rank);
  MPI_Recv(in, 64, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  task.handle.resume();
  task.handle.destroy();
  MPI_Finalize();
}
