#include "places/internal/stack_path.h"

#include "places/internal/modules.h"
#include "places/internal/path_rows.h"
#include "places/internal/python_process.h"

static const struct module *module_at(uint64_t place, bool exact)
{
    return modules_find(exact ? place : place - 1);
}

/* The innermost frame of the interpreter; as many as there are frames: none is. */
static unsigned find_interpreter(const struct walk *w)
{
    const struct python_process *process = python_process();
    const struct module *interpreter = process ? modules_find((uint64_t)process->thread_state) : NULL;
    uint64_t begin = interpreter ? interpreter->begin : 0;
    for (unsigned i = 0; begin && i < w->frames; i++) {
        const struct module *m = module_at(w->places[i], w->exact[i]);
        if (m && m->begin == begin) return i;
    }
    return w->frames;
}

void stack_ask_python(struct walk *w, struct interpreted *python, unsigned most)
{
    unsigned at = find_interpreter(w);
    python->n = 0;
    if (at == w->frames && w->end != WALK_CUT) return;
    python->n = python->in_handler ? python_frames_of_handler(python->frame, most) : python_frames(python->frame, most);
    if (!python->n) return;
    for (unsigned i = 0; i < python->n; i++) python->mark[i] = python_code_mark(&python->frame[i]);
    if (at == w->frames) return;
    w->frames = at;
    w->words = w->words_before[at];
}

static uint32_t row_of_place(uint32_t parent, uint64_t place, bool exact)
{
    const struct module *m = module_at(place, exact);
    uint32_t row = m ? modules_row(m) : 0;
    return path_row(parent, row, row ? place + exact - m->base : PATH_LOST); /* all as if behind a call */
}

static uint32_t row_of_frame(uint32_t parent, const struct python_frame *frame)
{
    struct file_function function = {.kind = 1};
    uint32_t line = 0;
    bool known =
        python_describe(frame, function.file, sizeof function.file, function.name, sizeof function.name, &line);
    uint32_t row = known ? function_row(&function) : 0;
    return path_row(parent, row ? PATH_IN_FUNCTION | row : 0, row ? line : PATH_LOST);
}

uint32_t stack_path(const struct walk *w, const struct interpreted *python, unsigned most, uint64_t cut)
{
    uint32_t row = 0;
    if (python->n ? python->n == most : w->end == WALK_CUT) row = path_row(0, 0, cut);
    if (!python->n && w->end == WALK_LOST) row = path_row(0, 0, PATH_LOST);
    for (unsigned i = python->n; i-- > 0;) {
        row = row_of_frame(row, &python->frame[i]);
        if (!row) return 0;
    }
    for (unsigned i = w->frames; i-- > 0;) {
        row = row_of_place(row, w->places[i], w->exact[i]);
        if (!row) return 0;
    }
    return row;
}
