/* Windows, one-sided operations and their synchronization; and what windows and files have in common. */
#include "calls/rma.h"

#include "calls/internal/rows.h"
#include "calls/timed.h"
#include "handles/comms.h"
#include "handles/groups.h"
#include "handles/requests.h"

void record_access(const struct frame *f, struct access a)
{
    struct file_call row = plain_row(f);
    bool known = f->result == 0 && a.object;
    if (f->result == 0) {
        row.sent = a.sent;
        row.received = a.received;
    }
    if (known) {
        row.comm = a.object->comm;
        row.peer = a.peer;
    }
    thread_store_call(f->t, row);
    if (known)
        thread_store_access(
            f->t,
            (struct file_access){.enter = f->enter, .offset = a.offset, .object = a.object->index, .detail = a.detail});
}

void record_object_freed(const struct frame *f, const struct object *object)
{
    if (object && f->result == 0) objects_freed(object);
    record_access(f, (struct access){.object = object, .offset = -1, .peer = PEER_NONE});
}

void record_win_created(const struct frame *f, enum window_flavor flavor, int64_t size, uint32_t unit, word comm,
                        word win)
{
    const struct object like = {.handle = win, .kind = OBJECTKIND_WINDOW, .unit = unit};
    const struct file_object row = {.size = (uint64_t)size, .unit = unit, .flags = flavor};
    const struct object *window = f->result ? NULL : objects_created(&like, comm, row);
    record_access(f, (struct access){.object = window, .offset = -1, .peer = PEER_NONE});
}

void record_win(const struct frame *f, word win, int32_t peer, uint16_t detail)
{
    record_access(f, (struct access){
                         .object = objects_find(OBJECTKIND_WINDOW, win), .offset = -1, .peer = peer, .detail = detail});
}

void record_win_group(const struct frame *f, word win, word group, uint16_t detail)
{
    uint32_t row = f->result ? COMM_INDEX_NONE : groups_row(group);
    bool known = row != COMM_INDEX_NONE;
    record_access(f, (struct access){.object = objects_find(OBJECTKIND_WINDOW, win),
                                     .offset = known ? (int64_t)row : -1,
                                     .peer = PEER_NONE,
                                     .detail = (uint16_t)(detail | (known ? ACCESS_HAS_GROUP : 0))});
}

/* In a dynamic window a displacement is an address. */
void record_win_memory(const struct frame *f, word win, word base)
{
    record_access(
        f, (struct access){.object = objects_find(OBJECTKIND_WINDOW, win), .offset = (int64_t)base, .peer = PEER_NONE});
}

static struct access rma_access(const struct frame *f, word win, struct data *sent, struct data *received, int target,
                                int64_t at)
{
    const struct object *window = objects_find(OBJECTKIND_WINDOW, win);
    struct access a = {.object = window, .offset = -1, .peer = abi_peer(target)};
    if (f->result || a.peer < 0) return a; /* MPI_PROC_NULL: nothing moves */
    a.sent = data_bytes(sent);
    a.received = data_bytes(received);
    if (window) a.offset = at * window->unit;
    return a;
}

void record_rma(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at)
{
    record_access(f, rma_access(f, win, &sent, &received, target, at));
}

void record_rma_request(const struct frame *f, word win, struct data sent, struct data received, int target, int64_t at,
                        word request)
{
    struct access a = rma_access(f, win, &sent, &received, target, at);
    record_access(f, a);
    if (f->result) return;
    requests_add(&(struct request){.handle = request,
                                   .posted = f->enter,
                                   .bytes = a.sent + a.received,
                                   .comm = a.object ? a.object->comm : COMM_INDEX_NONE,
                                   .peer = a.object ? a.peer : PEER_NONE,
                                   .tag = -1,
                                   .kind = REQUEST_RMA,
                                   .active = true});
}
