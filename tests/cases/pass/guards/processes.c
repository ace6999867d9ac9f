/* While operations are pending, the program creates processes in every way, and handles page faults
   of memory of its own; a child reads what is being sent. Nobody has recompiled it. */
//# hooks: none
//# options: --guards --guard-budget 100
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COUNT = 1 << 16, ROUNDS = 3 };

static int wrong;

static void ended_well(pid_t child) {
  int status;
  wrong += waitpid(child, &status, 0) != child || status != 0;
}

static void create(const double *out) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
  }
  ended_well(child);
  char *arguments[] = {"true", NULL};
  wrong += posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0;
  ended_well(child);
  wrong += system("true") != 0;
  char text[16] = "";
  FILE *pipe = popen("echo hello", "r");
  wrong += fgets(text, sizeof text, pipe) == NULL || strcmp(text, "hello\n") != 0;
  pclose(pipe);
  child = fork();
  if (child == 0) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) sum += out[i];
    _exit(sum < 0);
  }
  ended_well(child);
}

/* Where the system allows it to. */
static void handle_faults(void) {
  int file = (int)syscall(SYS_userfaultfd, O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct uffdio_api api = {.api = UFFD_API};
  void *memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(unsigned long)memory, 1 << 16}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  wrong += ioctl(file, UFFDIO_API, &api) != 0 || ioctl(file, UFFDIO_REGISTER, &range) != 0;
  close(file);
  munmap(memory, 1 << 16);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Request requests[2];
    MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    create(out);
    handle_faults();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++) out[i] = in[i] + 1;
  }
  wrong += out[COUNT - 1] != ROUNDS;
  free(out);
  free(in);
  MPI_Finalize();
  return wrong != 0;
}
