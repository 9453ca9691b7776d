/* Sums up a critical path by function, and the slack of the computation. */
#include "path/shares.h"

#include "rows/inline/min_max.h"

/* Return the ns of the path on a thread before `time`, which must not fall from call to call. */
static int64_t path_before(struct share_thread *thread, int64_t time)
{
    const struct path_segment *stays = thread->stays;
    int64_t next = thread->stay; /* the first that begins later; the one before it may go on */
    for (; next < thread->n_stays && stays[next].begin <= time; next++)
        if (next) thread->before += stays[next - 1].end - stays[next - 1].begin;
    thread->stay = next;
    if (!next) return 0;
    const struct path_segment *stay = &stays[next - 1];
    return thread->before + min_i64(time - stay->begin, stay->end - stay->begin);
}

static void add_time(int64_t *sums, int32_t function, int64_t time)
{
    if (time > 0) sums[function] += time;
}

static void add_slack(struct slack_sum *sum, int64_t burst, int64_t slack)
{
    sum->computing += burst;
    if (!slack) sum->none += burst;
    sum->least = min_i64(sum->least, slack);
    sum->weighted += (double)burst * (double)slack;
}

/* Return the slack of the thread's computation before its next node. */
static int64_t next_slack(struct share_thread *thread, const struct node *node)
{
    int64_t *at = &thread->at;
    if (!thread->polls) return thread->slack[(*at)++];
    while (*at < thread->n_own - 1 && thread->own[*at].exit < node->enter) ++*at;
    return thread->slack[*at];
}

void shares_add(struct share_sums *sums, struct share_thread *thread, const struct node *nodes, int64_t n)
{
    int64_t begin = thread->begin, held = thread->held;
    for (const struct node *node = nodes; node < nodes + n; node++) {
        int32_t ahead = thread->is_on ? node->region + 1 : (int32_t)sums->launch, inside = sums->of_call[node->call];
        int64_t until = min_i64(max_i64(held, begin), max_i64(node->enter, begin));
        int64_t path[] = {path_before(thread, begin), path_before(thread, until), path_before(thread, node->enter),
                          path_before(thread, node->exit)};
        sums->on_path[sums->tracer] += path[1] - path[0];
        sums->in_all[sums->tracer] += until - begin;
        add_time(sums->on_path, ahead, path[2] - path[1]);
        add_time(sums->in_all, ahead, node->enter - until);
        add_time(sums->on_path, inside, path[3] - path[2]);
        add_time(sums->in_all, inside, node->exit - node->enter);
        int64_t slack = next_slack(thread, node);
        if (thread->is_on && node->enter > until) {
            add_slack(thread->rank, node->enter - until, slack);
            add_slack(&sums->slack[ahead], node->enter - until, slack);
        }
        thread->is_on = 1;
        begin = node->exit;
        held = max_i64(held, node->exit + node->tracer);
    }
    thread->begin = begin;
    thread->held = held;
}
