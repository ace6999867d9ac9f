// Functions that call each other walk through a tree: before a node is received into, and
// meanwhile.
#include <cstdio>
#include <memory>
#include <mpi.h>

struct Node {
  double value[4];
  std::unique_ptr<Node> left, right;
};

static double sum_of(const Node *node);

[[gnu::noinline]] static double sum_of_children(const Node &node) {
  return sum_of(node.left.get()) + sum_of(node.right.get());
}

[[gnu::noinline]] static double sum_of(const Node *node) {
  if (!node) return 0;
  double own = 0;
  for (double value : node->value) own += value; //~ CS-BUF-02 access
  return own + sum_of_children(*node);
}

static std::unique_ptr<Node> tree(int depth) {
  if (!depth) return nullptr;
  auto node = std::make_unique<Node>();
  for (double &value : node->value) value = depth;
  node->left = tree(depth - 1), node->right = tree(depth - 1);
  return node;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  auto root = tree(6);
  double before = sum_of(root.get()), own[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Irecv(root->left->right->value, 4, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  double during = sum_of(root.get());
  MPI_Send(own, 4, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::printf("%g %g %g\n", before, during, sum_of(root.get()));

  MPI_Finalize();
}
