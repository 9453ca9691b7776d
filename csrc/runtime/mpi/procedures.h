/* What kind of call a procedure is, by its number (generated with the wrappers: csrc/generate/semantics.py). */
#ifndef PROCEDURES_H
#define PROCEDURES_H

#include <stdint.h>

enum call_class {
    CLASS_P2P,
    CLASS_COMPLETION,
    CLASS_COLLECTIVE,
    CLASS_RMA,
    CLASS_IO,
    CLASS_COMMUNICATOR,
    CLASS_OTHER,
    CLASS_ALWAYS, /* MPI_Init, MPI_Finalize: never left out while recording is on */
    CALL_CLASSES
};

/* What a row of `calls` is to the matching of messages and collectives: with a peer a send, a receive; it posts one; it
 * takes part in a collective, blocking or nonblocking. Bits. */
enum call_role { CALL_SENDS = 1, CALL_RECEIVES = 2, CALL_POSTS = 4, CALL_MEETS = 8, CALL_BEGINS_TO_MEET = 16 };

extern const uint8_t call_class[], call_role[];
extern const uint32_t call_count;

#endif
