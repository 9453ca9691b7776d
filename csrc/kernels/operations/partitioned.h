/* Partitioned sends that were started and are not handed over yet: one message each, sent with its last part. */
#ifndef PARTITIONED_H
#define PARTITIONED_H

#include <stddef.h>
#include <stdint.h>

struct partitioned_send {
    int64_t bytes, left; /* of the message; of those not handed over */
    int32_t comm, peer, tag;
    int32_t channel; /* operations name it instead of the communicator */
};

struct partitioned {
    struct partitioned_send *at;
    size_t n, room;
};

/* 0: no memory. */
int partitioned_start(struct partitioned *sends, struct partitioned_send send);

/* Hand over `bytes` of the first alike that lacks as many. 1: *done is complete with them, and forgotten. */
int partitioned_ready(struct partitioned *sends, int32_t comm, int32_t peer, int32_t tag, int64_t bytes,
                      struct partitioned_send *done);

/* The first of the channel is over, whatever was handed over. 1: it was open, and is forgotten. */
int partitioned_end(struct partitioned *sends, int32_t channel, int32_t peer, int32_t tag,
                    struct partitioned_send *done);

#endif
