/* The resolver that picks a clone is instrumented and runs while the program is relocated. */
#include <stdio.h>

__attribute__((target_clones("avx2", "default"))) int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) total += p[i];
  return total;
}

int main(void) {
  int values[8] = {1, 2, 3};
  printf("%d\n", sum(values, 8));
  return 0;
}
