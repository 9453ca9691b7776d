/* Memory that may not be there. */
#ifndef READABLE_H
#define READABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Can these bytes be read now? Costs a system call a page; leaves errno alone. */
bool readable(const void *at, size_t bytes);

#endif
