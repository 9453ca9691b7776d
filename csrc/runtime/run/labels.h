/* The names that the program gives to its regions, parameters, events and communicators: rows of `labels`.
 *
 * Context: any thread, not between store_begin and store_end where nothing else is said: a new name is written at once.
 * The table has a lock of its own, which may be taken between store_begin and store_end and not the other way round. */
#ifndef LABELS_H
#define LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/store.h"

/* A name as it was passed: not terminated, of any length. The file keeps the first 111 bytes. */
struct name {
    const char *text;
    uint64_t length;
};

/* Return the number of a region, or of a parameter, from 1 in the order of first use; 0 if there are too many, which is
 * reported. */
uint32_t labels_region(struct name name);
uint32_t labels_parameter(struct name name);

/* Name a type of event, or one of its values. The last name wins. */
void labels_type(uint32_t type, struct name name);
void labels_value(uint32_t type, int64_t value, struct name name);

/* Name a communicator by its row of `communicators`. */
void labels_communicator(uint32_t row, struct name name);

/* Write the names that the file does not have yet. Returns 0 or errno.
 * Context: between store_begin and store_end. */
int labels_write(struct store *store);

#endif
