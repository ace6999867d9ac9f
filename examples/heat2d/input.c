/* heat.in: lines of `key = value`, `#` begins a comment. Rank 0 reads, all get the result. */
#include "heat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *file, int line, const char *why) {
  fprintf(stderr, "%s:%d: %s\n", file, line, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int set(struct params *p, const char *key, const char *value) {
  struct {
    const char *key;
    int *integer;
    double *real;
  } known[] = {
      {"nx", &p->nx, NULL},           {"ny", &p->ny, NULL},
      {"steps", &p->steps, NULL},     {"output_every", &p->output_every, NULL},
      {"alpha", NULL, &p->alpha},     {"initial", NULL, &p->initial},
      {"south", NULL, &p->south},     {"north", NULL, &p->north},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(key, known[k].key) != 0) continue;
    return known[k].integer ? sscanf(value, "%d", known[k].integer)
                            : sscanf(value, "%lf", known[k].real);
  }
  if (strcmp(key, "image") == 0) return sscanf(value, "%255s", p->image);
  if (strcmp(key, "source") == 0 && p->sources < MAX_SOURCES) {
    struct source *s = &p->source[p->sources++];
    return sscanf(value, "%lf %lf %lf %lf", &s->x, &s->y, &s->radius, &s->power) == 4;
  }
  return 0;
}

struct params read_params(const char *file, MPI_Comm comm) {
  struct params p = {.nx = 128, .ny = 128, .steps = 100, .output_every = 50, .alpha = 1.0};
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    FILE *in = fopen(file, "r");
    if (!in) fail(file, 0, "cannot be opened");
    char text[512], key[64];
    for (int line = 1; fgets(text, sizeof text, in); line++) {
      text[strcspn(text, "#\n")] = '\0';
      int value = 0;
      if (sscanf(text, " %63[a-z_] = %n", key, &value) < 1) continue;
      if (!value || set(&p, key, text + value) != 1) fail(file, line, "cannot be understood");
    }
    fclose(in);
    if (p.nx < 2 || p.ny < 2 || p.alpha <= 0) fail(file, 0, "no such grid");
  }
  MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, comm);
  return p;
}
