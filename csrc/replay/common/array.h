#ifndef ARRAY_H
#define ARRAY_H
/* Arrays that grow: a pointer, NULL at first, and for how many members there is room. */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* See ARRAY_GROW; at: of the pointer. Returns the new room, 0: no memory. */
static inline size_t array_doubled(void *at, size_t room, size_t least, size_t size)
{
    size_t more = room ? 2 * room : least;
    void *array;
    memcpy(&array, at, sizeof array);
    array = realloc(array, more * size);
    if (!array) return 0;
    memcpy(at, &array, sizeof array);
    return more;
}

/* Room for twice as many members, at first for `least`. false: no memory, and nothing has changed. */
#define ARRAY_GROW(at, room, least)                                                                                    \
    ({                                                                                                                 \
        size_t more_ = array_doubled(&(at), (size_t)(room), (least), sizeof *(at));                                    \
        if (more_) (room) = (__typeof__(room))more_;                                                                   \
        more_ != 0;                                                                                                    \
    })

#endif
