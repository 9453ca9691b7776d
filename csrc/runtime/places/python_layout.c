#include "places/internal/python_layout.h"

#include <string.h>

enum { FIRST_PUBLISHED = 13, MOST_BYTES = 1 << 16, WORD = 8, TAGS = 3 };

/* Bytes that PyCompactUnicodeObject adds to PyASCIIObject, from 3.12 on: length and place of UTF-8. */
enum { MORE_OF_WIDE_TEXT = 16 };

#define OBJECTS .object = {.type = 8, .size = 16}, .bytes = 32, .type_flags = 168
#define TEXTS_TO_3_11 .text = {.length = 16, .state = 32, .ascii = 48, .wide = 72}
#define CODE_TO_3_10 .code = {.file = 104, .function = 112, .first_line = 40, .lines = 120, .instructions = 48}

/* Up to 3.12, of 64-bit machines: the public structs PyThreadState, _frame and PyCodeObject, and from 3.11 on also
 * _PyCFrame and _PyInterpreterFrame of CPython's internal headers. They stay the same within a minor version. */
static const struct python_layout written_down[] = {
    {
        .minor = 9,
        .thread = {.id = 176, .frame = 24},
        .frame = {.code = 32, .previous = 24, .instruction = 104, .kind = INSTRUCTION_BYTE},
        CODE_TO_3_10,
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 10,
        .thread = {.id = 176, .frame = 24},
        .frame = {.code = 32, .previous = 24, .instruction = 96, .kind = INSTRUCTION_UNIT},
        CODE_TO_3_10,
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 11,
        .thread = {.id = 152, .frame = 56, .indirect = true, .inside = 8},
        .frame = {.code = 32, .previous = 48, .instruction = 56, .owner = 69, .owned_by_c = 3, .kind = INSTRUCTION_AT},
        .code = {.file = 112, .function = 128, .first_line = 72, .lines = 136, .traceable = 168, .instructions = 184},
        TEXTS_TO_3_11,
        OBJECTS,
    },
    {
        .minor = 12,
        .thread = {.id = 136, .frame = 56, .indirect = true, .inside = 0},
        .frame = {.code = 0, .previous = 8, .instruction = 56, .owner = 70, .owned_by_c = 3, .kind = INSTRUCTION_AT},
        .code = {.file = 112,
                 .function = 128,
                 .first_line = 68,
                 .lines = 136,
                 .traceable = 176,
                 .instructions = 192,
                 .version = 92},
        .text = {.length = 16, .state = 32, .ascii = 40, .wide = 40 + MORE_OF_WIDE_TEXT},
        OBJECTS,
    },
};

/* struct _Py_DebugOffsets: a cookie, then words of 8 bytes. Which word the size of each struct is; its offsets follow.
 * thread_id is at a word after the thread's, which others have been put before. */
static const char cookie[] = "xdebugpy";
enum { VERSION = 1, FREE_THREADED };
static const struct groups {
    uint8_t minor, thread, thread_id, frame, code, object, type, bytes, text;
} groups[] = {
    {13, 19, 5, 28, 34, 44, 46, 64, 67},
    {14, 22, 5, 31, 39, 50, 52, 74, 77},
    {15, 22, 8, 39, 47, 58, 60, 86, 89},
};

static uint64_t published(const void *runtime, unsigned word)
{
    uint64_t value;
    memcpy(&value, (const char *)runtime + (size_t)word * WORD, sizeof value);
    return value;
}

unsigned python_layout_published(const void *runtime)
{
    if (!runtime || memcmp(runtime, cookie, WORD) != 0) return 0;
    uint64_t version = published(runtime, VERSION);
    return version >> 24 == 3 ? version >> 16 & 0xff : 0;
}

/* Place in a group, in words after its size. */
enum { THREAD_FRAME = 4 };
enum { FRAME_PREVIOUS = 1, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER = 5 };
enum { CODE_FILE = 1, CODE_FUNCTION = 3, CODE_LINES, CODE_FIRST_LINE, CODE_LOCAL_NAMES = 7, CODE_INSTRUCTIONS = 9 };
enum { OBJECT_TYPE = 1, TYPE_FLAGS = 3, BYTES_BEGIN = 2, TEXT_STATE = 1, TEXT_LENGTH, TEXT_OF_ASCII };

struct publisher {
    const void *runtime;
    bool wrong; /* something did not fit into the struct that it is of */
};

static uint32_t published_size(struct publisher *p, unsigned word)
{
    uint64_t size = published(p->runtime, word);
    p->wrong |= size < WORD || size >= MOST_BYTES;
    return (uint32_t)size;
}

static uint32_t field(struct publisher *p, unsigned group, unsigned word, unsigned bytes)
{
    uint32_t size = published_size(p, group);
    uint64_t offset = published(p->runtime, group + word);
    p->wrong |= offset >= size || bytes > size - offset || offset % bytes != 0;
    return (uint32_t)offset;
}

static bool read_published(struct python_layout *l, const struct groups *g, const void *runtime)
{
    struct publisher p = {runtime, false};
    uint32_t header = published_size(&p, g->object), ascii = published_size(&p, g->text + TEXT_OF_ASCII);
    uint32_t local_names = field(&p, g->code, CODE_LOCAL_NAMES, WORD);
    uint32_t instructions = field(&p, g->code, CODE_INSTRUCTIONS, 2);
    *l = (struct python_layout){
        .minor = g->minor,
        .thread = {.id = field(&p, g->thread, g->thread_id, WORD), .frame = field(&p, g->thread, THREAD_FRAME, WORD)},
        .frame = {.code = field(&p, g->frame, FRAME_CODE, WORD),
                  .previous = field(&p, g->frame, FRAME_PREVIOUS, WORD),
                  .instruction = field(&p, g->frame, FRAME_INSTRUCTION, WORD),
                  .owner = field(&p, g->frame, FRAME_OWNER, 1),
                  .owned_by_c = 3,
                  .tag = g->minor > FIRST_PUBLISHED ? TAGS : 0,
                  .kind = INSTRUCTION_AT},
        .code = {.file = field(&p, g->code, CODE_FILE, WORD),
                 .function = field(&p, g->code, CODE_FUNCTION, WORD),
                 .first_line = field(&p, g->code, CODE_FIRST_LINE, 4),
                 .lines = field(&p, g->code, CODE_LINES, WORD),
                 .instructions = instructions,
                 /* Fields that are not published have always been before those that are: co_version before
                  * co_localsplusnames, and _co_firsttraceable and co_extra before co_code_adaptive. */
                 .traceable = instructions - 2 * WORD,
                 .version = local_names - 4},
        .object = {.type = field(&p, g->object, OBJECT_TYPE, WORD), .size = header},
        .text = {.length = field(&p, g->text, TEXT_LENGTH, WORD),
                 .state = field(&p, g->text, TEXT_STATE, 4),
                 .ascii = ascii,
                 .wide = ascii + MORE_OF_WIDE_TEXT},
        .bytes = field(&p, g->bytes, BYTES_BEGIN, 1),
        .type_flags = field(&p, g->type, TYPE_FLAGS, WORD),
    };
    /* Without the GIL, from 3.14 on each thread has a copy of the instructions of its own. */
    bool copies = g->minor > FIRST_PUBLISHED && published(runtime, FREE_THREADED);
    return !p.wrong && !copies && local_names > header && instructions > header + 2 * WORD;
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
