#ifndef DIMRECORD_H
#define DIMRECORD_H

#include "dimemas/internal/dimstream.h"

/* Read a record of this kind, from behind its thread to the end of its line. */
void dim_read_record(struct dim_reader *r, struct cursor *c, int64_t kind);

#endif
