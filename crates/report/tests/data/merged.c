// A place of no line, as compilers make it of calls that they merge.
int value;

__attribute__((noinline)) void merged(void) {
  __asm__ volatile("nop\n.loc 0 0\n.globl at_merged\nat_merged: nop");
  value = 1;
}

int main(void) {
  merged();
  return 0;
}
