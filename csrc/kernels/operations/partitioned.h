/* Partitioned sends that were started and are not handed over yet: one message each, sent with its last part. */
#ifndef PARTITIONED_H
#define PARTITIONED_H

#include <stddef.h>
#include <stdint.h>

struct partitioned_send {
    int64_t bytes, left; /* bytes of the message; bytes that are not handed over yet */
    int32_t comm, peer, tag;
    int32_t channel; /* operations name it instead of the communicator */
};

struct partitioned {
    struct partitioned_send *at;
    size_t n, room;
};

/* Add a send that was started. Returns 0 if there is no memory. */
int partitioned_start(struct partitioned *sends, struct partitioned_send send);

/* Hand over `bytes` bytes of the first matching send that lacks at least these. Returns 1 if that completes the
   send: it is copied to *done and removed. */
int partitioned_ready(struct partitioned *sends, int32_t comm, int32_t peer, int32_t tag, int64_t bytes,
                      struct partitioned_send *done);

/* End the first send of the channel, however much was handed over. Returns 1 if there was one: it is copied to *done
   and removed. */
int partitioned_end(struct partitioned *sends, int32_t channel, int32_t peer, int32_t tag,
                    struct partitioned_send *done);

#endif
