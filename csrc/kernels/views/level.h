#ifndef VIEWS_LEVEL_H
#define VIEWS_LEVEL_H
#include <stdint.h>

/* Operations that combine the values of a row's children. */
enum level_operation { LEVEL_SUM, LEVEL_MAXIMUM, LEVEL_MINIMUM };

struct level;

/* Create a level of rows. parent: (children), the row of each child. operation: LEVEL_... All values are 0 at first.
   Returns NULL if there is no memory. */
struct level *level_new(int64_t children, const int64_t *parent, int64_t rows, int operation);

/* Free a level. */
void level_free(struct level *level);

/* Take the next steps of all children; those of child c are [first[c], first[c + 1]), in order of time. Writes the
   steps of the rows, by row and time; room: the number of steps taken. Returns the number of steps written. */
int64_t level_feed(struct level *level, const int64_t *first, const int64_t *time, const double *value,
                   int64_t *out_row, int64_t *out_time, double *out_value);

#endif
