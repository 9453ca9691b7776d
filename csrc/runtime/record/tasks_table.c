#include "record/tasks_table.h"

#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "common/own_thread.h"
#include "common/tasks.h"
#include "record/threads.h"

enum { MOST_TASKS_WRITTEN = 4096 };

struct writing {
    struct store *store;
    int error;
    unsigned n;
};

struct numbering {
    int32_t tid;
    uint16_t thread;
};

static void number_if_same(struct thread *t, void *data)
{
    struct numbering *of = data;
    if (t->tid == of->tid) of->thread = (uint16_t)t->index;
}

/* "name:\tnumber" in a line of its own. */
static uint64_t number_named(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : TASK_NOT_KNOWN;
}

static void describe_task(struct file_task *row)
{
    char text[2048];
    int32_t tid = (int32_t)row->task;
    row->time = clock_ticks();
    if (!task_cpu_ns(tid, &row->cpu_ns)) row->cpu_ns = TASK_NOT_KNOWN;
    row->delay_ns = task_run_delay_ns(tid);
    task_text(tid, "status", text, sizeof text);
    row->voluntary = number_named(text, "\nvoluntary_ctxt_switches:\t");
    row->involuntary = number_named(text, "\nnonvoluntary_ctxt_switches:\t");
    task_cpus(tid, row->cpus, sizeof row->cpus);
}

static void write_task(int32_t tid, void *data)
{
    struct writing *w = data;
    struct numbering of = {tid, SAMPLER_THREAD};
    struct file_task row = {.task = (uint32_t)tid};
    if (w->error || w->n == MOST_TASKS_WRITTEN) return;
    task_text(tid, "comm", row.name, sizeof row.name);
    row.name[strcspn(row.name, "\n")] = '\0';
    if (strcmp(row.name, own_thread_name) == 0) return;
    threads_each(number_if_same, &of);
    row.thread = of.thread;
    describe_task(&row);
    w->error = store_append(w->store, TABLE_TASKS, &row, 1);
    w->n++;
}

int tasks_write(struct store *store)
{
    struct writing w = {.store = store};
    tasks_each(write_task, &w);
    return w.error;
}
