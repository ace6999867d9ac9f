/* The random messages of traffic.c, of which what is sent is protected from writing. */
//# hooks: none
//# options: --guards=sends --guard-budget 100
//# flags: -pthread
#include "traffic.c"
