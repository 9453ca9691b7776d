#include <pthread.h>

#include "places/internal/python_text.h"
#include "places/internal/readable.h"
#include "places/python.h"

enum {
    MAY_BE_UNFINISHED = 3,
    MOST_UNSEEN = 16,
    MOST_FAILURES = 1000,
    ENOUGH_CHECKED = 64,
    UNIT = 2,
    LAST_WITH_ONE_THREAD_STATE = 11
};

/* Does this process keep everything where its version says? The first thread and the first frames are read with care.
 */
static enum { NOT_CHECKED, THREAD_AS_EXPECTED, FRAMES_AS_EXPECTED, OTHERWISE } checked;
static unsigned failures;

static const char *innermost(const struct python_layout *l, const char *thread)
{
    const char *frame = python_pointer(thread, l->thread.frame);
    return l->thread.indirect && frame ? python_pointer(frame, l->thread.inside) : frame;
}

static const char *code_of(const struct python_layout *l, const char *frame)
{
    return (const char *)((uintptr_t)python_pointer(frame, l->frame.code) & ~l->frame.tag);
}

enum { OWNED_BY_GENERATOR = 1 };

static uint8_t owner_of(const struct python_layout *l, const char *frame)
{
    return l->frame.owned_by_c ? (uint8_t)frame[l->frame.owner] : 0;
}

/* Pushed by C to run Python, from 3.12 on: there is no code in it. */
static bool is_of_c(const struct python_layout *l, const char *frame)
{
    return l->frame.owned_by_c && owner_of(l, frame) >= l->frame.owned_by_c;
}

/* One that Python itself does not show: it is still making its variables, or calls an __init__ for a class. */
static bool is_hidden(const struct python_layout *l, const char *frame, const char *code, int64_t instruction)
{
    return l->code.traceable && instruction < (int64_t)python_int(code, l->code.traceable) * UNIT &&
           owner_of(l, frame) != OWNED_BY_GENERATOR;
}

/* How many bytes into its code a frame is; negative: it has not begun. */
static int64_t instruction_of(const struct python_layout *l, const char *frame, const char *code)
{
    if (l->frame.kind == INSTRUCTION_AT)
        return python_pointer(frame, l->frame.instruction) - (code + l->code.instructions);
    int32_t index = python_int(frame, l->frame.instruction);
    return l->frame.kind == INSTRUCTION_UNIT ? (int64_t)index * UNIT : index;
}

static bool is_inside(const struct python_layout *l, const char *code, int64_t instruction)
{
    if (l->frame.kind != INSTRUCTION_AT) return true; /* the length of the code is elsewhere */
    return instruction >= -UNIT && instruction <= (int64_t)python_word(code, l->object.size) * UNIT;
}

/* Up to 3.11, a thread's state that can be had is that of its first interpreter, and not of the one that runs. */
static bool may_run_another(const struct python_process *python)
{
    if (python->layout.minor > LAST_WITH_ONE_THREAD_STATE) return false;
    const char *last = python->last_interpreter();
    return !last || python_pointer(last, 0); /* the next one, which was made before it */
}

/* Return the number of bytes of a code object that are looked at. */
static size_t code_head(const struct python_layout *l)
{
    size_t head = l->code.lines + sizeof(void *);
    return head < l->code.instructions ? l->code.instructions : head;
}

static bool is_good_frame(const struct python_process *python, const char *frame)
{
    const struct python_layout *l = &python->layout;
    const char *code = code_of(l, frame);
    char beginning[2];
    size_t bytes;
    return python_is(python, code, python->code_type, code_head(l)) &&
           is_inside(l, code, instruction_of(l, frame, code)) &&
           python_bytes(python, python_pointer(code, l->code.lines), &bytes) &&
           python_text(python, python_pointer(code, l->code.file), beginning, sizeof beginning) &&
           python_text(python, python_pointer(code, l->code.function), beginning, sizeof beginning);
}

static bool is_readable_field(const char *at, uint32_t offset)
{
    return (uintptr_t)at % sizeof(void *) == 0 && readable(at + offset, sizeof(void *));
}

static bool has_fields(const struct python_layout *l, const char *frame)
{
    uint32_t fields[] = {l->frame.code, l->frame.previous, l->frame.instruction, l->frame.owner & ~7u};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!is_readable_field(frame, fields[i])) return false;
    return true;
}

static bool check_thread(const struct python_layout *l, const char *thread)
{
    if (!is_readable_field(thread, l->thread.id) || !is_readable_field(thread, l->thread.frame)) return false;
    if (python_word(thread, l->thread.id) != (uint64_t)pthread_self()) return false;
    return !l->thread.indirect || is_readable_field(python_pointer(thread, l->thread.frame), l->thread.inside);
}

/* The same way as python_frames goes, each step only when it is known to be possible. */
static bool check_frames(const struct python_process *python, const char *frame)
{
    const struct python_layout *l = &python->layout;
    for (unsigned n = 0; frame && n < ENOUGH_CHECKED; n++) {
        if (!has_fields(l, frame)) return false;
        if (!is_of_c(l, frame) && !is_good_frame(python, frame)) return false;
        frame = python_pointer(frame, l->frame.previous);
    }
    return true;
}

/* Something unexpected may be of one thread alone: others are asked, but not for ever. A thread that runs no Python now
 * says nothing of frames. */
static bool check(const struct python_process *python, const char *thread)
{
    int now = __atomic_load_n(&checked, __ATOMIC_RELAXED);
    if (now == OTHERWISE) return false;
    bool good = now == THREAD_AS_EXPECTED || check_thread(&python->layout, thread);
    const char *frame = good ? innermost(&python->layout, thread) : NULL;
    if (good && now == NOT_CHECKED) now = THREAD_AS_EXPECTED;
    if (frame) good = check_frames(python, frame);
    if (frame && good) now = FRAMES_AS_EXPECTED;
    if (!good && __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) >= MOST_FAILURES) now = OTHERWISE;
    __atomic_store_n(&checked, now, __ATOMIC_RELAXED);
    return now == FRAMES_AS_EXPECTED;
}

/* 0 also if one frame is not what it should be: the others would be a wrong path. */
static unsigned walk(const struct python_process *python, const char *frame, struct python_frame *frames, unsigned room)
{
    const struct python_layout *l = &python->layout;
    unsigned n = 0;
    for (unsigned unseen = 0; frame && n < room && unseen < MOST_UNSEEN;
         frame = python_pointer(frame, l->frame.previous), unseen++) {
        if (is_of_c(l, frame)) continue;
        const char *code = code_of(l, frame);
        if (!code || python_pointer(code, l->object.type) != python->code_type) return 0;
        int64_t instruction = instruction_of(l, frame, code);
        if (!is_inside(l, code, instruction)) return 0;
        if (is_hidden(l, frame, code, instruction)) continue;
        frames[n++] = (struct python_frame){code, (const void *)(intptr_t)instruction};
        unseen = 0;
    }
    return n;
}

/* The interpreter may have been interrupted while it makes a frame: what the innermost ones point to may not be there.
 */
static bool innermost_are_there(const struct python_process *python, const char *frame)
{
    const struct python_layout *l = &python->layout;
    for (unsigned n = 0; frame && n < MAY_BE_UNFINISHED; n++, frame = python_pointer(frame, l->frame.previous)) {
        const char *code = NULL;
        if (!has_fields(l, frame)) return false;
        if (is_of_c(l, frame)) continue;
        code = code_of(l, frame);
        if ((uintptr_t)code % sizeof(void *) || !readable(code, code_head(l))) return false;
    }
    return true;
}

unsigned python_frames_of_handler(struct python_frame *frames, unsigned room)
{
    const struct python_process *python = python_process();
    const char *thread = python && !may_run_another(python) && !python->is_ending() ? python->thread_state() : NULL;
    if (!thread || __atomic_load_n(&checked, __ATOMIC_RELAXED) == OTHERWISE) return 0;
    if (!innermost_are_there(python, innermost(&python->layout, thread))) return 0;
    return python_frames(frames, room);
}

/* The frames are this thread's own: they stay as they are while it is in here, with the GIL or without. Only an
 * interpreter that ends takes them away from threads that it does not wait for. */
unsigned python_frames(struct python_frame *frames, unsigned room)
{
    const struct python_process *python = python_process();
    if (!python || may_run_another(python)) return 0;
    const char *thread = python->thread_state();
    if (!thread || python->is_ending()) return 0;
    bool good = __atomic_load_n(&checked, __ATOMIC_RELAXED) == FRAMES_AS_EXPECTED;
    if (__builtin_expect(!good, 0) && !check(python, thread)) return 0;
    return walk(python, innermost(&python->layout, thread), frames, room);
}

void python_look_again(void)
{
    __atomic_store_n(&checked, NOT_CHECKED, __ATOMIC_RELAXED);
    python_process_look();
}
