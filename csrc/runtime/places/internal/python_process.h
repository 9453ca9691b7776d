/* The CPython that is loaded into this process. */
#ifndef PYTHON_PROCESS_H
#define PYTHON_PROCESS_H

#include <stdbool.h>

#include "places/internal/python_layout.h"

struct python_process {
    struct python_layout layout;
    const void *code_type, *text_type, *bytes_type; /* what objects point to */
    /* These only read: the state of the thread that asks (no lock, no GIL; NULL: Python does not know the thread), is
     * Python ending, and the interpreter that was made last. */
    const char *(*thread_state)(void);
    int (*is_ending)(void);
    const char *(*last_interpreter)(void);
};

/* NULL: no Python has started whose layout is known. Cheap, once there is one. */
const struct python_process *python_process(void);

/* From here on the calling thread is told of what is known already: a signal handler must not ask for more. */
void python_process_only_known(bool only);

/* Looks for it again. */
void python_process_look(void);

#endif
