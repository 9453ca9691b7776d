/* Objects of CPython that hold text, read from memory that may not be there. */
#ifndef PYTHON_TEXT_H
#define PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "places/internal/python_process.h"

/* A pointer, or what else has 8 or 4 bytes, at an offset into an object. */
static inline uint64_t python_word(const char *object, uint32_t offset)
{
    return *(const uint64_t *)(object + offset);
}
static inline const char *python_pointer(const char *object, uint32_t offset)
{
    return *(const char *const *)(object + offset);
}
static inline int32_t python_int(const char *object, uint32_t offset)
{
    return *(const int32_t *)(object + offset);
}

/* Is an object of this type here, whose first `bytes` can be read? */
bool python_is(const struct python_process *python, const char *object, const void *type, size_t bytes);

/* The characters of a str; NULL: they are elsewhere. */
const char *python_text_data(const struct python_layout *l, const char *text);

/* A str as UTF-8, cut to `room` after a whole character. What UTF-8 cannot say becomes U+FFFD. False: this is none. */
bool python_text(const struct python_process *python, const char *object, char *to, size_t room);

/* Return the content of a bytes object; NULL: this is none. */
const unsigned char *python_bytes(const struct python_process *python, const char *object, size_t *bytes);

#endif
