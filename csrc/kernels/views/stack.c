/* Values that enclose each other, as routines do: after an inner one the one around it counts again. */
#include "views/stack.h"
#include <stdlib.h>

struct stack {
    double *value;
    int64_t n, room;
};

struct stacks {
    int64_t rows;
    struct stack of[];
};

struct stacks *stacks_new(int64_t rows)
{
    struct stacks *s = calloc(1, sizeof *s + (size_t)rows * sizeof *s->of);
    if (s) s->rows = rows;
    return s;
}

void stacks_free(struct stacks *s)
{
    for (int64_t row = 0; s && row < s->rows; row++) free(s->of[row].value);
    free(s);
}

static int push_value(struct stack *stack, double value)
{
    if (stack->n == stack->room) {
        int64_t room = stack->room ? 2 * stack->room : 8;
        double *more = realloc(stack->value, (size_t)room * sizeof *more);
        if (!more) return -1;
        stack->value = more;
        stack->room = room;
    }
    stack->value[stack->n++] = value;
    return 0;
}

int64_t stacks_feed(struct stacks *s, int64_t n, const int64_t *row, const double *value, double *top, double *depth)
{
    for (int64_t i = 0; i < n; i++) {
        struct stack *stack = &s->of[row[i]];
        if (value[i]) {
            if (push_value(stack, value[i])) return -1;
        } else if (stack->n) {
            stack->n--;
        }
        top[i] = stack->n ? stack->value[stack->n - 1] : 0;
        depth[i] = (double)stack->n;
    }
    return 0;
}
