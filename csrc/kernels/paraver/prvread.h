#ifndef PRVREAD_H
#define PRVREAD_H
#include <stdint.h>

/* What is wrong with a line. */
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

void *prv_reader_new(int64_t applications, const int32_t *tasks, const int32_t *threads, const int32_t *first_cpu,
                     const int32_t *last_cpu, int64_t nanoseconds, int64_t duration);
void prv_reader_free(void *reader);
int64_t prv_read(void *reader, const char *text, int64_t length, void *states, void *events, void *messages,
                 int64_t room, int64_t *counts);
int64_t prv_reader_problem(const void *reader, int64_t index, int64_t *line);
int64_t prv_reader_problems(const void *reader);
void prv_reader_summary(const void *reader, int64_t *begin, int64_t *last_act, int64_t *last_other, uint8_t *calls,
                        int64_t *last, int32_t *cpu);

#endif
