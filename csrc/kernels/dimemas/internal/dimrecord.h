#ifndef DIMRECORD_H
#define DIMRECORD_H

#include "dimemas/internal/dimstream.h"

/* Read a record of this kind: the cursor stands behind the thread, and moves to the end of the line. Adds the
   operations of the record to the reader. A fault is noted in the cursor. */
void dim_read_record(struct dim_reader *r, struct cursor *c, int64_t kind);

#endif
