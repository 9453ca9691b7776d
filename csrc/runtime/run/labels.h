/* The names that the program gives to its regions, parameters, events and communicators: rows of `labels`. */
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

/* Number of a region, or of a parameter, from 1 in the order of first use; 0: there are too many, which is said. */
uint32_t labels_region(struct name name);
uint32_t labels_parameter(struct name name);

/* Name a type of event, or one of its values. The last name counts. */
void labels_type(uint32_t type, struct name name);
void labels_value(uint32_t type, int64_t value, struct name name);

/* Name a communicator by its row of `communicators`. */
void labels_communicator(uint32_t row, struct name name);

/* The file exists, and store_begin holds: write the names that it does not have yet. 0 or errno. */
int labels_write(struct store *store);

#endif
