/* Turns calls on files into operations. A collective call becomes two: its ranks meet, then each does its part. An
   operation that is started is asked for where it is posted; a split collective where it begins, though only its end
   says how much it moves. */
#include "operations/internal/operation_files.h"

#include "operations/internal/op_turns.h"

/* Tags that tell requests of files from those of messages: an access, a meeting of ranks, the begin of a split
   collective. */
enum { TAG_OF_FILE = -2, TAG_OF_MEETING = -3, TAG_OF_SPLIT = -4 };

enum { WHENEVER = 0 }; /* a split collective is told from others by its communicator only */

enum { ANY_OTHER = -1 }; /* the thread that completes is not known */

static struct op file_op(enum file_use access, int64_t bytes, int64_t ns)
{
    return (struct op){.kind = OP_FILE, .tag = (int32_t)access, .bytes = bytes, .other = ns, .peer = -1, .request = -1};
}

static struct op meeting_op(enum op_kind kind, int32_t comm, int64_t entered)
{
    return (struct op){
        .kind = (uint16_t)kind, .flags = OP_OF_FILE, .comm = comm, .other = entered, .peer = -1, .request = -1};
}

static void start_meeting(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call, int32_t comm,
                          int64_t posted, int32_t completer)
{
    struct open_request *request = op_open(walk, thread, posted, PEER_NONE, TAG_OF_MEETING, call->comm + 1, completer);
    if (!request) return;
    request->of = comm;
    op_put_opening(walk, thread, meeting_op(OP_COLLECTIVE_START, comm, call->enter), request);
}

/* Wait for those whom a call met that was posted then, in a call that was entered at `entered`. */
static void end_meeting(struct op_walk *walk, struct op_thread *thread, int32_t comm, int64_t posted, int64_t entered)
{
    const struct open_request *found = slots_give(&walk->slots, posted, PEER_NONE, TAG_OF_MEETING, comm + 1);
    if (!found) return;
    struct op op = meeting_op(OP_WAIT, found->of, entered);
    op.flags |= OP_OF_COLLECTIVE;
    op_put_wait(walk, thread, op, found);
}

static void begin_split(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call, int32_t comm)
{
    if (comm) start_meeting(walk, thread, call, comm, WHENEVER, ANY_OTHER);
    const struct open_request *request =
        op_open(walk, thread, WHENEVER, PEER_NONE, TAG_OF_SPLIT, call->comm + 1, ANY_OTHER);
    if (request) op_put_opening(walk, thread, file_op(FILE_BEGIN, 0, call->inside), request);
}

static void end_split(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call, struct op op)
{
    end_meeting(walk, thread, call->comm, WHENEVER, call->enter);
    const struct open_request *found = slots_give(&walk->slots, WHENEVER, PEER_NONE, TAG_OF_SPLIT, call->comm + 1);
    if (found) {
        op.flags |= OP_OF_FILE;
        op.request = found->slot;
    }
    if (found && found->shared) {
        op.flags |= OP_SHARED;
        op_put_semaphore(walk, thread, OP_SEM_WAIT, SHARED_REQUESTS + (int64_t)op.request);
    }
    op_put(walk, thread, op);
}

void op_put_on_file(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                    const struct trace_call *call, int32_t completer)
{
    int32_t plan = plans->call[2 * call->call + 1], comm = plan & FILE_OF_ALL ? plans->file_comm[call->comm + 1] : 0;
    enum file_use access = (enum file_use)(plan & FILE_ACCESS);
    int64_t bytes = access == FILE_WRITE ? call->sent : call->received;
    bool moves = access == FILE_READ || access == FILE_WRITE;
    if (moves && !bytes && plan & FILE_OF_ALL) access = FILE_LOCAL; /* no part in what the others move */
    struct op op = file_op(access, moves ? bytes : 0, call->inside);
    if (plan & FILE_BEGINS) {
        begin_split(walk, thread, call, comm);
    } else if (plan & FILE_ENDS) {
        end_split(walk, thread, call, op);
    } else if (plan & FILE_STARTS) {
        if (comm) start_meeting(walk, thread, call, comm, call->enter, completer);
        op_put(walk, thread, file_op(FILE_LOCAL, 0, call->inside));
    } else {
        if (comm) op_put_global(walk, thread, plans, meeting_op(OP_COLLECTIVE, comm, call->enter));
        op_put(walk, thread, op);
    }
}

void op_put_file_posted(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r)
{
    enum file_use access = r->what == WHAT_READ_DONE ? FILE_READ : FILE_WRITE;
    const struct open_request *request =
        op_open(walk, thread, r->posted, PEER_NONE, TAG_OF_FILE, r->comm + 1, r->thread);
    if (request) op_put_opening(walk, thread, file_op(access, r->bytes, 0), request);
}

/* How long the call waited in the traced run counts once, for the first that it completed. */
void op_put_file_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r)
{
    bool first = thread->first;
    end_meeting(walk, thread, r->comm, r->posted, walk->entered);
    const struct open_request *found = slots_give(&walk->slots, r->posted, PEER_NONE, TAG_OF_FILE, r->comm + 1);
    int64_t waited = first && r->completed > walk->entered ? r->completed - walk->entered : 0;
    if (found) op_put_wait(walk, thread, (struct op){.flags = OP_OF_FILE, .peer = -1, .other = waited}, found);
}
