#ifndef VIEWS_STACK_H
#define VIEWS_STACK_H
#include <stdint.h>

struct stacks;

/* Create empty stacks for `rows` rows. Returns NULL if there is no memory. */
struct stacks *stacks_new(int64_t rows);

/* Free the stacks. */
void stacks_free(struct stacks *stacks);

/* Take n steps. A step to a value other than 0 pushes it on the stack of its row; a step to 0 pops the top. top,
   depth: (n), the value on top after the step (0: none), and the number of values. Returns -1 if there is no memory. */
int64_t stacks_feed(struct stacks *stacks, int64_t n, const int64_t *row, const double *value, double *top,
                    double *depth);

#endif
