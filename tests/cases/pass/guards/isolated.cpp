// Small blocks that have pages of their own, however they were allocated, in code that nobody has
// recompiled.
//# hooks: none
//# options: --guards --isolate-buffers 64
#include <cstdlib>
#include <cstring>
#include <map>
#include <mpi.h>
#include <string>
#include <vector>

static int wrong;

static void expect(bool holds) { wrong += !holds; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  std::vector<double> out(16, rank);
  double *in = static_cast<double *>(std::calloc(16, sizeof(double)));
  float *grown = static_cast<float *>(std::malloc(8 * sizeof(float)));
  for (int i = 0; i < 8; i++) grown[i] = i;
  for (int n = 1; n < 400; n++) {
    grown = static_cast<float *>(std::realloc(grown, 8 * n * sizeof(float)));
    for (int i = 0; i < 8; i++) grown[8 * (n - 1) + i] = 8 * (n - 1) + i;
  }
  for (int i = 0; i < 399 * 8; i++) expect(grown[i] == i);
  grown = static_cast<float *>(std::realloc(grown, 8));
  expect(grown[0] == 0 && grown[1] == 1);
  MPI_Request requests[2];
  MPI_Irecv(in, 15, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  in[15] = 7;
  MPI_Isend(out.data(), 16 - 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  out[15] = in[15] + out[14];
  /* While these are pending: blocks of many sizes, alignments and lifetimes. */
  std::map<int, std::string> words;
  for (int i = 0; i < 300; i++) words[i * 7919 % 300] = std::string(1 + i * 37 % 5000, 'a' + i % 26);
  for (int i = 0; i < 300; i += 2) words.erase(i);
  void *aligned = nullptr, *kept[64];
  expect(posix_memalign(&aligned, 256, 1000) == 0 && reinterpret_cast<std::size_t>(aligned) % 256 == 0);
  for (int i = 0; i < 64; i++) {
    kept[i] = std::aligned_alloc(std::size_t(1) << (4 + i % 12), std::size_t(1) << (5 + i % 12));
    std::memset(kept[i], i, std::size_t(1) << (5 + i % 12));
  }
  for (int i = 0; i < 64; i++) {
    auto bytes = static_cast<unsigned char *>(kept[i]);
    for (std::size_t at = 0; at < std::size_t(1) << (5 + i % 12); at++) expect(bytes[at] == i);
    std::free(kept[i]);
  }
  std::free(aligned);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect(in[14] == peer && in[15] == 7);
  unsigned char *zero = static_cast<unsigned char *>(std::calloc(1000, 3));
  for (int i = 0; i < 3000; i++) expect(zero[i] == 0);
  std::free(zero);
  std::free(in);
  std::free(grown);
  MPI_Finalize();
  return wrong != 0;
}
