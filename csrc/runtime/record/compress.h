/* TRACELIB_COMPRESS: chunks of the rank file as HDF5's filters shuffle and deflate would make them, by whatever zlib
 * the node has. */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the user wants it and it can be done; says why not. Once, before the file is created. */
bool compress_start(void);

/* The bytes of a chunk of n rows, in memory that lasts until the next call; 0: they would not get fewer. One thread at
 * a time. */
uint64_t compress_chunk(const void *rows, uint64_t n, uint32_t row_bytes, const void **out);

#endif
