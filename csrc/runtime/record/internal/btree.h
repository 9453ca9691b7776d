/* How HDF5 finds the chunks of a table. */
#ifndef BTREE_H
#define BTREE_H

#include <stdint.h>

/* HDF5 File Format Specification, III.A.1: a version 1 B-tree node for chunked raw data. */
enum { NODE_HEADER = 24, KEY_BYTES = 24, ENTRY_BYTES = 32, AT_LEVEL = 5, AT_USED = 6, AT_RIGHT_SIBLING = 16 };
enum { NO_FILTER_USED = 3 }; /* a chunk's filter mask: both were skipped */
enum { PAGE = 4096 };
#define UNDEFINED_ADDRESS UINT64_MAX

struct key {
    uint32_t chunk_bytes, filter_mask;
    uint64_t row, element;
};
struct entry {
    struct key key;
    uint64_t child; /* ends where the next entry's key begins */
};
struct node_header {
    char signature[4];
    uint8_t type, level;
    uint16_t used;
    uint64_t left, right;
};

#endif
