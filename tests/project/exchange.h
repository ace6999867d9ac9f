#ifndef EXCHANGE_H
#define EXCHANGE_H
#ifdef __cplusplus
extern "C" {
#endif
/* Sends a value to the other of two ranks, and returns its value. If `wrong`, the buffer is reused
 * too early. */
int exchange(int value, int wrong);
#ifdef __cplusplus
}
#endif
#endif
