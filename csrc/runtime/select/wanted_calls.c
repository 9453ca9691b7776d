#include "select/wanted_calls.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buffer/buffer.h"
#include "common/settings.h"
#include "mpi/procedures.h"

static const char *const class_names[CALL_CLASSES] = CALL_CLASS_NAMES;

/* Between calls that are left out by their kind, a longer computation (ns) is still shown. */
enum { LONG_BURST_NS = 100000 };

static struct {
    bool made;
    bool left_out[CALL_CLASSES];
    uint64_t burst_ticks; /* a computation longer than this ends a row */
} choice;

static int class_of(const char *name, size_t length)
{
    for (int i = 0; i < CALL_CLASSES; i++)
        if (class_names[i] && strlen(class_names[i]) == length && memcmp(class_names[i], name, length) == 0) return i;
    return -1;
}

/* "p2p,collective": only these; "-p2p": all but these. False: there is a name that none has. */
static bool choose_classes(const char *list)
{
    bool only = false, named[CALL_CLASSES] = {false}, out[CALL_CLASSES] = {false};
    for (const char *at = list;; at++) {
        bool without = *at == '-';
        at += without;
        size_t length = strcspn(at, ",");
        int found = class_of(at, length);
        if (found < 0) return false;
        *(without ? &out[found] : &named[found]) = true;
        only = only || !without;
        at += length;
        if (!*at) break;
    }
    for (int i = 0; i < CLASS_ALWAYS; i++) choice.left_out[i] = out[i] || (only && !named[i]);
    return true;
}

/* Ticks of a time, by a comparison of the clocks over a millisecond. */
static uint64_t ticks_of(int64_t ns)
{
    uint64_t begin, end;
    int64_t begin_ns, end_ns;
    if (!clock_is_tsc) return (uint64_t)ns;
    clock_pair(&begin, &begin_ns);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    clock_pair(&end, &end_ns);
    return (uint64_t)((double)(end - begin) / (double)(end_ns - begin_ns) * (double)ns);
}

void choice_start(void)
{
    const char *calls = setting_text("TRACELIB_CALLS");
    int64_t burst_ns = setting_time_ns("TRACELIB_BURSTS");
    if (calls && !choose_classes(calls))
        setting_trouble("TRACELIB_CALLS=%s: the kinds of calls are " CALL_CLASS_LIST "; all are recorded", calls);
    for (int i = 0; i < CLASS_ALWAYS; i++) {
        if (burst_ns) choice.left_out[i] = true;
        choice.made = choice.made || choice.left_out[i];
    }
    if (choice.made) choice.burst_ticks = ticks_of(burst_ns ? burst_ns : LONG_BURST_NS);
}

bool choice_made(void)
{
    return choice.made;
}

void choice_interrupt(struct thread *t)
{
    t->summed.open = NULL;
}

static struct file_summary *new_row(struct thread *t, uint64_t enter, uint16_t flags)
{
    struct file_summary *row = thread_row(t, TABLE_SUMMARIES);
    *row = (struct file_summary){.enter = enter, .thread = (uint16_t)t->index, .flags = flags};
    thread_commit(t, TABLE_SUMMARIES);
    return row;
}

/* The row of all calls of this procedure in the buffer. */
static struct file_summary *row_of_call(struct thread *t, uint16_t call, uint64_t enter)
{
    if (!t->summed.of_call) t->summed.of_call = calloc(call_count, sizeof *t->summed.of_call);
    if (!t->summed.of_call) return NULL;
    struct file_summary **row = &t->summed.of_call[call];
    if (!*row || (*row)->count == UINT32_MAX) *row = new_row(t, enter, (uint16_t)(call + 1));
    return *row;
}

static void add(struct file_summary *row, const struct file_call *call)
{
    row->exit = call->exit;
    row->inside += call->exit - call->enter;
    row->sent += call->sent;
    row->received += call->received;
    row->count++;
}

static void sum_up(struct thread *t, struct file_call call)
{
    struct summed *s = &t->summed;
    thread_end_polls(t);
    if (t->spool->count[TABLE_SUMMARIES] + 2 > t->capacity[TABLE_SUMMARIES]) thread_flush(t); /* before, not between */
    if (call_class[call.call] == CLASS_COMPLETION) call.received = 0; /* it stands at the call that posted */
    struct file_summary *total = row_of_call(t, call.call, call.enter);
    if (total) add(total, &call);
    if (!s->open || call.enter - s->open->exit > choice.burst_ticks || s->open->count == UINT32_MAX)
        s->open = new_row(t, call.enter, 0);
    add(s->open, &call);
    s->latest = call.call;
    s->latest_sent = call.sent;
    s->latest_exit = call.exit;
}

bool choice_keeps_call(struct thread *t, const struct file_call *row)
{
    if (!choice.left_out[call_class[row->call]]) {
        choice_interrupt(t);
        return true;
    }
    sum_up(t, *row);
    return false;
}

bool choice_keeps_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit)
{
    if (!choice.left_out[call_class[call]]) {
        choice_interrupt(t);
        return true;
    }
    sum_up(t, (struct file_call){.enter = enter, .exit = exit, .call = call});
    return false;
}

static enum call_class class_of_request(const struct file_request *row)
{
    static const uint8_t class_of_what[] = CLASS_OF_WHAT;
    unsigned what = row->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
    return what < sizeof class_of_what ? class_of_what[what] : CLASS_P2P; /* all others are messages */
}

/* Bytes that are known now belong to a call that is summed up already. */
static void add_bytes(struct thread *t, uint16_t call, uint64_t sent, uint64_t received)
{
    struct file_summary *total = row_of_call(t, call, t->summed.latest_exit);
    if (total) {
        if (!total->exit) total->exit = total->enter;
        total->sent += sent;
        total->received += received;
    }
    if (t->summed.open) {
        t->summed.open->sent += sent;
        t->summed.open->received += received;
    }
}

bool choice_keeps_request(struct thread *t, const struct file_request *row, uint16_t call)
{
    if (!choice.left_out[class_of_request(row)]) return true;
    if (row->what == WHAT_RECV_DONE) add_bytes(t, call, 0, row->bytes);
    /* MPI_Startall does not show the bytes that its requests send, MPI_Start does. */
    if (row->what == WHAT_SEND_STARTED && !t->summed.latest_sent) add_bytes(t, t->summed.latest, row->bytes, 0);
    return false;
}
