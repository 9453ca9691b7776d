#include <stdint.h>

#include "calls_of_mpi.h"
#include "collective.h"
#include "responder.h"
#include "seconds.h"

enum { ANSWER = 3 };

static int signal_to(const struct collective *c, int32_t rank)
{
    char sign = 0;
    return mpi_send(&sign, 1, rank, ANSWER, c->comm);
}

static int signal_from(const struct collective *c, int32_t rank)
{
    char sign;
    return mpi_receive(&sign, 1, rank, ANSWER, c->comm);
}

int responder_loop(const struct collective *c, int64_t n, int32_t responder, double wait_s, double *times_s)
{
    int error = collective_many_to_one(c);
    double before = seconds_now();
    for (int64_t k = 0; k < n && !error; k++) {
        error = collective_once(c);
        if (c->rank == responder && !error) {
            if (wait_s > 0) seconds_wait(wait_s);
            error = signal_to(c, 0);
        } else if (c->rank == 0 && !error) {
            error = signal_from(c, responder);
            double after = seconds_now();
            times_s[k] = after - before;
            before = after;
        }
    }
    return error;
}

int responder_answers(const struct collective *c, int64_t n, int32_t responder, double *times_s)
{
    int error = collective_many_to_one(c);
    double before = seconds_now();
    for (int64_t k = 0; k < n && !error; k++) {
        if (c->rank == responder) {
            error = signal_from(c, 0);
            if (!error) error = signal_to(c, 0);
        } else if (c->rank == 0) {
            error = signal_to(c, responder);
            if (!error) error = signal_from(c, responder);
            double after = seconds_now();
            times_s[k] = (after - before) / 2;
            before = after;
        }
    }
    return error;
}
