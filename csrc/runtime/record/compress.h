/* TRACELIB_COMPRESS: chunks of the rank file as HDF5's filters shuffle and deflate would make them, by whatever zlib
 * the node has. */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Load zlib if the user wants compression. Returns true if chunks can be compressed; reports why not.
 * Context: between store_begin and store_end, once, before the file is created. */
bool compress_start(void);

/* Compress a chunk of `n` rows of `row_bytes`. Returns the number of compressed bytes, *out being memory that lasts
 * until the next call; 0 if they would not get fewer. Context: between store_begin and store_end: there is one buffer
 * for all threads. */
uint64_t compress_chunk(const void *rows, uint64_t n, uint32_t row_bytes, const void **out);

#endif
