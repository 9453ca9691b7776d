#include <string.h>

#include "places/internal/python_text.h"
#include "places/python.h"

enum { WORD = sizeof(uint64_t), ENDS = 3 * WORD };

/* Words by factors of their own, so that no multiplication waits for another; the compiler knows the factors. */
struct sum {
    uint64_t words, factor;
};

static inline void add_to_sum(struct sum *s, uint64_t word)
{
    s->words += word * s->factor;
    s->factor *= UINT64_C(0xa0761d6478bd642f);
}

static inline uint32_t half_at(const char *at)
{
    uint32_t half;
    memcpy(&half, at, sizeof half);
    return half;
}

/* Make a word of up to 8 bytes. */
static inline uint64_t word_at(const char *at, uint64_t bytes)
{
    uint64_t word;
    if (bytes >= WORD) return memcpy(&word, at, WORD), word;
    if (bytes >= WORD / 2) return half_at(at) | (uint64_t)half_at(at + bytes - WORD / 2) << 32;
    return bytes ? (uint8_t)at[0] | (uint8_t)at[bytes / 2] << 8 | (uint8_t)at[bytes - 1] << 16 : 0;
}

/* The first 24 bytes of a table, and the last ones. */
static inline void add_table(struct sum *s, const char *at, uint64_t bytes)
{
    const char *end = at + bytes - ENDS;
    add_to_sum(s, bytes);
    for (unsigned i = 0; i < ENDS; i += WORD) {
        bool whole = bytes >= ENDS;
        add_to_sum(s, whole ? word_at(at + i, WORD) : i < bytes ? word_at(at + i, bytes - i) : 0);
        add_to_sum(s, whole ? word_at(end + i, WORD) : 0);
    }
}

/* The last 8 bytes of a text: that is where names of files that were made up differ. */
static inline void add_text(struct sum *s, const struct python_layout *l, const char *text)
{
    const char *data = python_text_data(l, text);
    uint64_t bytes = python_word(text, l->text.length);
    add_to_sum(s, bytes);
    add_to_sum(s, !data ? 0 : bytes < WORD ? word_at(data, bytes) : word_at(data + bytes - WORD, WORD));
}

/* Another code object at this address may have all its parts where the first one had its own. From 3.12 on each has a
 * number of its own (0, when there are no more). Before that, what is in the parts says it, as far as a look shows. */
uint64_t python_code_mark(const struct python_frame *frame)
{
    const struct python_process *python = python_process();
    if (!python) return 0;
    const struct python_layout *l = &python->layout;
    const char *code = frame->code, *file = python_pointer(code, l->code.file);
    const char *function = python_pointer(code, l->code.function), *lines = python_pointer(code, l->code.lines);
    uint32_t version = l->code.version ? (uint32_t)python_int(code, l->code.version) : 0;
    struct sum s = {1, 1};
    add_to_sum(&s, version);
    add_to_sum(&s, (uint64_t)file);
    add_to_sum(&s, (uint64_t)function);
    add_to_sum(&s, (uint64_t)lines);
    add_to_sum(&s, python_word(code, l->object.size));
    add_to_sum(&s, (uint32_t)python_int(code, l->code.first_line));
    if (!version) {
        add_text(&s, l, file);
        add_text(&s, l, function);
        add_table(&s, lines + l->bytes, python_word(lines, l->object.size));
    }
    return s.words;
}
