// A stack of lines that a program keeps by hand: each function notes where it is before it calls another one. A call of
// MPI writes the stack down under a number, which it carries as its tag; a test finds the call by that.

#ifndef HAND_KEPT_H
#define HAND_KEPT_H

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_LEVELS = 1024 };

struct level {
    const char *file;
    int line;
};

struct stack {
    struct level level[MOST_LEVELS];
    int depth;
};

#ifdef KEEPS_STACK // one source of the program defines what its libraries share
__thread struct stack stack;
static FILE *notes;
static int notes_written;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int write_stack(void)
{
    pthread_mutex_lock(&notes_lock);
    int number = notes_written++;
    if (!notes) notes = fopen(getenv("NOTES"), "w");
    fprintf(notes, "%d", number);
    for (int i = 0; i <= stack.depth; i++) fprintf(notes, " %s:%d", stack.level[i].file, stack.level[i].line);
    fputc('\n', notes);
    fflush(notes);
    pthread_mutex_unlock(&notes_lock);
    return number;
}
#else
extern __thread struct stack stack;
int write_stack(void);
#endif

#ifdef __cplusplus
}
#endif

#define HERE (stack.level[stack.depth].file = __FILE__, stack.level[stack.depth].line = __LINE__)

// The text behind the call keeps compilers from making one call of two lines, and from a jump instead of a call.
#define AT(...)                                                                                                        \
    do {                                                                                                               \
        HERE;                                                                                                          \
        __VA_ARGS__;                                                                                                   \
        __asm__ volatile("# line %c0" : : "i"(__LINE__) : "memory");                                                   \
    } while (0)

#define SEND                                                                                                           \
    do {                                                                                                               \
        HERE;                                                                                                          \
        int number = write_stack();                                                                                    \
        MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, number, MPI_COMM_WORLD);                                            \
        __asm__ volatile("# line %c0" : : "i"(__LINE__) : "memory");                                                   \
    } while (0)

#define ENTERED stack.depth++
#define LEFT stack.depth--

#endif
