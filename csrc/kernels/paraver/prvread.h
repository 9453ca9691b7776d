#ifndef PRVREAD_H
#define PRVREAD_H
#include <stdint.h>

/* Faults of a line. */
enum prv_reason {
    PRV_FINE,
    PRV_NO_NUMBER,
    PRV_NO_RECORD,
    PRV_NO_OBJECT,
    PRV_NO_CPU,
    PRV_BAD_TIME,
    PRV_BAD_PAIRS,
    PRV_BAD_TYPE,
    PRV_BAD_END,
    PRV_LATE_COMMUNICATOR,
    PRV_FULL,
    PRV_BAD_SIZE
};

/* Create a reader of the lines of a .prv. tasks: (applications), number of tasks. threads, first_cpu, last_cpu: for
   each task of all applications (rank), the number of its threads and the range of its CPUs. All are copied.
   nanoseconds: ns in the trace's unit of time. duration: ns, the end of states that are left open. Returns NULL if
   there is no memory. */
void *prv_reader_new(int64_t applications, const int32_t *tasks, const int32_t *threads, const int32_t *first_cpu,
                     const int32_t *last_cpu, int64_t nanoseconds, int64_t duration);

/* Free a reader; NULL is ignored. */
void prv_reader_free(void *reader);

/* Read complete lines of the text into states, events and messages (struct trace_state, trace_event, trace_message),
   which each have room for `room` rows. counts: (3), number of rows in each; moved on. A faulty line is skipped, and
   noted as a problem. Returns the bytes of the lines that were read; the others wait for more room, or for the rest
   of a line. */
int64_t prv_read(void *reader, const char *text, int64_t length, void *states, void *events, void *messages,
                 int64_t room, int64_t *counts);

/* Return the fault (enum prv_reason) of a problem, from 0 on; PRV_FINE if no more are kept. line: receives the
   number of its line in the body. */
int64_t prv_reader_problem(const void *reader, int64_t index, int64_t *line);

/* Return the number of problems, including those that are not kept. */
int64_t prv_reader_problems(const void *reader);

/* Write a summary of the lines read. begin, last_act, last_other: by rank, the first time, the end of the last act
   and of the last other record (-1: none). calls: (MPI_EVENT_TYPES, PRV_CALL_VALUES), 1 for the MPI values seen. last:
   the latest time; cpu: the largest CPU. */
void prv_reader_summary(const void *reader, int64_t *begin, int64_t *last_act, int64_t *last_other, uint8_t *calls,
                        int64_t *last, int32_t *cpu);

#endif
