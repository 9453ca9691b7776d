#include "places/internal/python_text.h"

#include "places/internal/readable.h"

enum { MOST_TEXT = 1 << 20, LARGEST_CHARACTER = 0x10ffff, NO_CHARACTER = 0xfffd };

/* PyASCIIObject.state: the bytes of a character, are they in the object, and are all of them ASCII? */
enum { KIND_SHIFT = 2, KIND_MASK = 7, COMPACT = 0x20, ASCII = 0x40 };

const char *python_text_data(const struct python_layout *l, const char *text)
{
    int32_t state = python_int(text, l->text.state);
    return state & COMPACT ? text + (state & ASCII ? l->text.ascii : l->text.wide) : NULL;
}

bool python_is(const struct python_process *python, const char *object, const void *type, size_t bytes)
{
    bool aligned = (uintptr_t)object % sizeof(void *) == 0;
    return aligned && readable(object, bytes) && python_pointer(object, python->layout.object.type) == type;
}

static uint32_t character_at(const unsigned char *data, unsigned bytes, size_t index)
{
    if (bytes == 1) return data[index];
    uint32_t c = bytes == 2 ? ((const uint16_t *)data)[index] : ((const uint32_t *)data)[index];
    bool surrogate = c >= 0xd800 && c < 0xe000;
    return surrogate || c > LARGEST_CHARACTER ? NO_CHARACTER : c;
}

/* How many bytes of UTF-8 it has become. */
static unsigned put_character(char to[4], uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    to[0] = (char)(0xff00 >> (more + 1) | c >> 6 * more);
    for (unsigned i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return more + 1;
}

bool python_text(const struct python_process *python, const char *object, char *to, size_t room)
{
    const struct python_layout *l = &python->layout;
    if (!room || !python_is(python, object, python->text_type, l->text.ascii)) return false;
    uint64_t length = python_word(object, l->text.length);
    uint32_t state = (uint32_t)python_int(object, l->text.state);
    unsigned bytes = state >> KIND_SHIFT & KIND_MASK;
    const unsigned char *data = (const void *)python_text_data(l, object);
    if (!data || length > MOST_TEXT || (bytes != 1 && bytes != 2 && bytes != 4)) return false;
    if (length && !readable(data, length * bytes)) return false;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char utf8[4];
        unsigned n = put_character(utf8, character_at(data, bytes, i));
        if (used + n >= room) break;
        for (unsigned j = 0; j < n; j++) to[used++] = utf8[j];
    }
    to[used] = 0;
    return true;
}

const unsigned char *python_bytes(const struct python_process *python, const char *object, size_t *bytes)
{
    const struct python_layout *l = &python->layout;
    if (!python_is(python, object, python->bytes_type, l->bytes)) return NULL;
    uint64_t size = python_word(object, l->object.size);
    const unsigned char *data = (const void *)(object + l->bytes);
    if (size > MOST_TEXT || (size && !readable(data, size))) return NULL;
    *bytes = size;
    return data;
}
