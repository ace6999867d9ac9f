/* An ordinary C program; its output must not depend on instrumentation. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
  double x, y;
  char name[40];
};

static atomic_int hits;

static int compare(const void *a, const void *b) {
  double d = ((const struct point *)a)->x - ((const struct point *)b)->x;
  return (d > 0) - (d < 0);
}

static double sum(const double *p, int n) {
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < n; i++) {
    total += p[i];
    atomic_fetch_add(&hits, 1);
  }
  return total;
}

int main(int argc, char **argv) {
  struct point points[5], copy;
  double values[100];
  for (int i = 0; i < 5; i++) {
    points[i] = (struct point){.x = (i * 7) % 5, .y = i};
    snprintf(points[i].name, sizeof points[i].name, "point %d of %s", i, "five");
  }
  qsort(points, 5, sizeof points[0], compare);
  copy = points[2];
  for (int i = 0; i < 100; i++) values[i] = i;
  char text[64] = "", *end;
  strcat(strcpy(text, "12 words"), " and more");
  long number = strtol(text, &end, 10);
  double total = sum(values, 100);
  printf("%s %g %g %ld %s %d\n", copy.name, copy.y, total, number, end, (int)hits);
  unsigned __int128 big = 1;
  for (int i = 0; i < 40; i++) big = big * 7 + (unsigned)strlen(text);
  printf("%016llx %d\n", (unsigned long long)(big >> 64), memcmp(text, "12 words!", 9) > 0);
  if (argc > 1 && !strcmp(argv[1], "abort")) raise(SIGABRT);
  return argc > 1 ? atoi(argv[1]) : 0;
}
