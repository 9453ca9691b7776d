#ifndef PACK_H
#define PACK_H
#include <stdbool.h>
#include <stdint.h>

/* Writes operations in their packed form (form.h) and reads parts of it. Both the compiler and cffi read this file:
   plain declarations only. */
struct packer; /* the dictionary of the block under way */

/* Make a packer with an empty dictionary; NULL: no memory. The caller frees it; NULL may be freed. */
struct packer *packer_new(void);
void packer_free(struct packer *packer);

/* Let `to` go on from the place where `from` stands. */
void packer_copy(struct packer *to, const struct packer *from);

/* Append n operations to what was packed before; returns how many bytes went to `out`, which has room for
   n * PACK_MOST. begins: where in `out` each block begins that begins here. */
int64_t packer_append(struct packer *packer, const void *operations, int64_t n, uint8_t *out, int64_t *begins);

/* Begin with an empty dictionary: the next operations have little in common with the ones before. */
void packer_forget(struct packer *packer);

/* The largest `other` of any OP_PARALLEL that was appended, at least 0. */
int64_t packer_virtual_threads(const struct packer *packer);

/* How many places of the dictionary were ever used. */
int64_t packer_places(const struct packer *packer);

/* Write n operations to `out` of a block that begins at `packed`, or of several one after the other, without the first
   `skip`. false: they are longer than `size` bytes, so not whole. */
bool unpack_operations(const uint8_t *packed, int64_t size, int64_t skip, int64_t n, void *out);

#endif
