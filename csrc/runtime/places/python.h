/* Which Python code this thread runs, read from the memory of CPython 3.9 to 3.15 where it lies.
 *
 * Nothing of Python is changed, no reference taken, no lock waited for. What is not known for certain is "no frames":
 * other implementations, pre-releases, debug builds, 3.14 and later without the GIL, an interpreter that is ending, and
 * up to 3.11 a process with several interpreters. */
#ifndef PYTHON_H
#define PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_frame {
    const void *code;        /* the code object */
    const void *instruction; /* how many bytes into its code; with `code`, what tells one place from another */
};

/* Frames of this thread, innermost first, at most `room`. 0: it runs no Python, or one whose frames are not known. */
unsigned python_frames(struct python_frame *frames, unsigned room);

/* The same in a signal handler, which may have interrupted the interpreter anywhere. */
unsigned python_frames_of_handler(struct python_frame *frames, unsigned room);

/* Libraries were loaded or unloaded: Python may have come or gone. Without being told, python_frames notices some calls
 * later that it has come, and never that it has gone. */
void python_look_again(void);

/* Stays the same as long as the code object is the same one. To be asked while the code runs: of frames that
 * python_frames has just found. */
uint64_t python_code_mark(const struct python_frame *frame);

/* Where a frame is, while its code runs; slow. Texts are UTF-8, cut to their room. The function's name is the qualified
 * one from 3.11 on, before that the bare name; it is "<module>" outside functions. Line 0: Python knows none.
 * False: cannot be read. */
bool python_describe(const struct python_frame *frame, char *file, size_t file_room, char *function,
                     size_t function_room, uint32_t *line);

#endif
