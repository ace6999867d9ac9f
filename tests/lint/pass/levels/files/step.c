void exchange(void);

void step(void) {
#pragma omp parallel
  {
#pragma omp master
    exchange();
  }
}
