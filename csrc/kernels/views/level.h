#ifndef VIEWS_LEVEL_H
#define VIEWS_LEVEL_H
#include <stdint.h>

/* How the values of a row's children become its own. */
enum level_operation { LEVEL_SUM, LEVEL_MAXIMUM, LEVEL_MINIMUM };

struct level;

/* `parent` has the row that each child belongs to. All values are 0 at first. NULL: no memory. */
struct level *level_new(int64_t children, const int64_t *parent, int64_t rows, int operation);
void level_free(struct level *level);

/* The next steps of all children, those of child c from first[c] until first[c + 1], in order of time. Writes the steps
   of the rows, by row and time; returns how many, which is no more than there are in. */
int64_t level_feed(struct level *level, const int64_t *first, const int64_t *time, const double *value,
                   int64_t *out_row, int64_t *out_time, double *out_value);

#endif
