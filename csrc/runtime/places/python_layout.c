#include "places/internal/python_layout.h"

#include <string.h>

enum { FIRST_PUBLISHED = 13, LAST_MINOR = 15, MOST_BYTES = 1 << 16, WORD = 8, TAGS = 3 };

/* sizeof PyASCIIObject, and what PyCompactUnicodeObject adds to it from 3.12 on: length and place of UTF-8. */
enum { ASCII_TEXT = 40, MORE_OF_WIDE_TEXT = 16 };

#define OBJECTS .object = {.type = 8, .size = 16}, .bytes = 32, .type_flags = 168
#define TEXTS_TO_3_11 .text = {.length = 16, .state = 32, .ascii = 48, .wide = 72}
#define CODE_TO_3_10 .code = {.file = 104, .function = 112, .first_line = 40, .lines = 120, .instructions = 48}

/* Up to 3.12, of 64-bit machines: the public structs PyThreadState, _frame and PyCodeObject, and from 3.11 on also
 * _PyCFrame and _PyInterpreterFrame of CPython's internal headers. They stay the same within a minor version. */
static const struct python_layout written_down[] = {
    {
        .minor = 9,
        .thread = {.interpreter = 16, .id = 176, .frame = 24},
        .frame = {.code = 32, .previous = 24, .instruction = 104, .kind = INSTRUCTION_BYTE},
        CODE_TO_3_10,
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 10,
        .thread = {.interpreter = 16, .id = 176, .frame = 24},
        .frame = {.code = 32, .previous = 24, .instruction = 96, .kind = INSTRUCTION_UNIT},
        CODE_TO_3_10,
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 11,
        .thread = {.interpreter = 16, .id = 152, .frame = 56, .indirect = true, .inside = 8},
        .frame = {.code = 32, .previous = 48, .instruction = 56, .kind = INSTRUCTION_AT},
        .code = {.file = 112, .function = 128, .first_line = 72, .lines = 136, .instructions = 184},
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 12,
        .thread = {.interpreter = 16, .id = 136, .frame = 56, .indirect = true, .inside = 0},
        .frame = {.code = 0, .previous = 8, .instruction = 56, .owner = 70, .no_python = 3, .kind = INSTRUCTION_AT},
        .code = {.file = 112, .function = 128, .first_line = 68, .lines = 136, .instructions = 192, .version = 92},
        .text = {.length = 16, .state = 32, .ascii = ASCII_TEXT, .wide = ASCII_TEXT + MORE_OF_WIDE_TEXT},
        OBJECTS,
    },
};

/* struct _Py_DebugOffsets: a cookie, then words of 8 bytes. Which word the size of each struct is; offsets follow. */
static const char cookie[WORD] = "xdebugpy";
enum { VERSION = 1, FREE_THREADED };
static const struct groups {
    uint8_t minor, thread, thread_id, frame, code, object, type, bytes, text;
} groups[] = {
    {13, 19, 24, 28, 34, 44, 46, 64, 67},
    {14, 22, 27, 31, 39, 50, 52, 74, 77},
    {15, 22, 30, 39, 47, 58, 60, 86, 89},
};

static uint64_t published(const void *runtime, unsigned word)
{
    uint64_t value;
    memcpy(&value, (const char *)runtime + (size_t)word * WORD, sizeof value);
    return value;
}

unsigned python_layout_published(const void *runtime)
{
    if (!runtime || memcmp(runtime, cookie, sizeof cookie) != 0) return 0;
    uint64_t version = published(runtime, VERSION);
    return version >> 24 == 3 ? version >> 16 & 0xff : 0;
}

/* A field of a struct whose size is in the word `group`; the struct's size, if it does not fit in there. */
static uint32_t field(const void *runtime, unsigned group, unsigned word, unsigned bytes, bool *good)
{
    uint64_t size = published(runtime, group), offset = published(runtime, word);
    *good &= size && size < MOST_BYTES && offset < size && bytes <= size - offset && offset % bytes == 0;
    return (uint32_t)offset;
}

static bool read_published(struct python_layout *l, const struct groups *g, const void *p)
{
    bool good = true;
    bool free_threaded = published(p, FREE_THREADED);
    uint32_t header = (uint32_t)published(p, g->object);
    uint32_t ascii = (uint32_t)published(p, g->text + 3u);
    *l = (struct python_layout){
        .minor = g->minor,
        .thread = {.interpreter = field(p, g->thread, g->thread + 3u, WORD, &good),
                   .id = field(p, g->thread, g->thread_id, WORD, &good),
                   .frame = field(p, g->thread, g->thread + 4u, WORD, &good)},
        .frame = {.code = field(p, g->frame, g->frame + 2u, WORD, &good),
                  .previous = field(p, g->frame, g->frame + 1u, WORD, &good),
                  .instruction = field(p, g->frame, g->frame + 3u, WORD, &good),
                  .owner = field(p, g->frame, g->frame + 5u, 1, &good),
                  .no_python = 3,
                  .tag = g->minor > FIRST_PUBLISHED ? TAGS : 0,
                  .kind = INSTRUCTION_AT},
        .code = {.file = field(p, g->code, g->code + 1u, WORD, &good),
                 .function = field(p, g->code, g->code + 3u, WORD, &good),
                 .first_line = field(p, g->code, g->code + 5u, 4, &good),
                 .lines = field(p, g->code, g->code + 4u, WORD, &good),
                 .instructions = field(p, g->code, g->code + 9u, 2, &good),
                 /* co_version, which is not published, has always been before co_localsplusnames, which is */
                 .version = field(p, g->code, g->code + 7u, WORD, &good) - 4},
        .object = {.type = field(p, g->object, g->object + 1u, WORD, &good), .size = header},
        .text = {.length = field(p, g->text, g->text + 2u, WORD, &good),
                 .state = field(p, g->text, g->text + 1u, 4, &good),
                 .ascii = ascii,
                 .wide = ascii + MORE_OF_WIDE_TEXT},
        .bytes = field(p, g->bytes, g->bytes + 2u, 1, &good),
        .type_flags = field(p, g->type, g->type + 3u, WORD, &good),
    };
    good &= header < MOST_BYTES && ascii < MOST_BYTES;
    return good && !(free_threaded && g->minor > FIRST_PUBLISHED); /* each thread has its own copy of instructions */
}

bool python_layout_find(struct python_layout *layout, unsigned minor, const void *runtime)
{
    if (sizeof(void *) != WORD || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) return false;
    for (unsigned i = 0; i < sizeof written_down / sizeof *written_down; i++)
        if (written_down[i].minor == minor) {
            *layout = written_down[i];
            return true;
        }
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
        if (groups[i].minor == minor && python_layout_published(runtime) == minor)
            return read_published(layout, &groups[i], runtime);
    return false;
}
