#ifndef VIEWS_STACK_H
#define VIEWS_STACK_H
#include <stdint.h>

struct stacks;

/* NULL: no memory. */
struct stacks *stacks_new(int64_t rows);
void stacks_free(struct stacks *stacks);

/* A step to another value than 0 lays it on the stack of its row, one to 0 takes the top off. `top` gets what is on top
   then (0: nothing), `depth` how many there are. -1: no memory. */
int64_t stacks_feed(struct stacks *stacks, int64_t n, const int64_t *row, const double *value, double *top,
                    double *depth);

#endif
