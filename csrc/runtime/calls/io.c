/* MPI I/O: which file, where in it, and how many bytes really went. */
#include "calls/io.h"

#include <string.h>

#include "calls/arguments.h"
#include "calls/internal/rows.h"
#include "calls/rma.h"
#include "calls/timed.h"
#include "handles/comms.h"
#include "handles/objects.h"
#include "handles/requests.h"
#include "mpi/pmpi.h"

/* The view that MPI_File_open gives: bytes from the beginning. */
static const struct object plain_view = {
    .kind = OBJECTKIND_FILE, .unit = 1, .dense = true, .positioned = true, .split_at = -1};

/* A name that is too long for its column keeps its end. */
static void take_name(struct file_object *row, const char *name, size_t length)
{
    enum { ROOM = sizeof row->name - 1 };
    while (length && name[length - 1] == ' ') length--; /* Fortran pads */
    bool cut = length > ROOM;
    size_t kept = cut ? ROOM - 3 : length;
    if (cut) memcpy(row->name, "...", 3);
    memcpy(row->name + (cut ? 3 : 0), name + length - kept, kept);
}

void record_file_opened(const struct frame *f, word comm, const char *name, size_t length, int amode, word file)
{
    const struct object *opened = NULL;
    if (f->result == 0) {
        struct file_object row = {.flags = abi_access_mode(amode)};
        struct object like = plain_view;
        like.handle = file;
        like.positioned = !(row.flags & MODE_SEQUENTIAL);
        take_name(&row, name, length);
        opened = objects_created(&like, comm, row);
    }
    record_access(f, (struct access){.object = opened, .offset = -1, .peer = PEER_NONE});
}

void record_file_view(const struct frame *f, word file, int64_t begin, word etype, word filetype, bool native)
{
    struct object *o = objects_find(OBJECTKIND_FILE, file);
    int64_t lower = 0, extent = 0;
    if (o && f->result == 0) {
        o->begin = begin;
        o->unit = (uint32_t)type_bytes(1, etype);
        o->dense = pmpi.Type_get_extent(filetype, &lower, &extent) == 0 && lower == 0 && extent > 0 &&
                   (uint64_t)extent == type_bytes(1, filetype);
        if (!native) o->positioned = false; /* bytes in the file are not those in memory */
    }
    record_access(f, (struct access){.object = o, .offset = o && o->positioned ? begin : -1, .peer = PEER_NONE});
}

/* MPI answers these questions from what it has in memory. */
static int64_t place_in_file(const struct object *o, int64_t offset)
{
    int64_t bytes;
    if (o->dense) return o->begin + offset * o->unit;
    if (!pmpi.File_get_byte_offset || pmpi.File_get_byte_offset(o->handle, offset, &bytes)) return -1;
    return bytes;
}

int64_t io_at(word file, int64_t offset)
{
    const struct object *o = objects_find(OBJECTKIND_FILE, file);
    return o && o->positioned && offset >= 0 ? place_in_file(o, offset) : -1;
}

int64_t io_position(word file)
{
    const struct object *o = objects_find(OBJECTKIND_FILE, file);
    int64_t offset;
    if (!o || !o->positioned || !pmpi.File_get_position || pmpi.File_get_position(file, &offset)) return -1;
    return place_in_file(o, offset);
}

int64_t io_split(word file)
{
    const struct object *o = objects_find(OBJECTKIND_FILE, file);
    return o ? o->split_at : -1;
}

/* Ours says "nothing" until MPI has filled it in. */
void *io_status(struct thread *t, word user, bool ignored)
{
    void *status = status_buffer(t, user, ignored, 1, NULL);
    if (ignored) memset(status, 0, abi.status_bytes);
    return status;
}

void record_file(const struct frame *f, word file, int64_t offset)
{
    record_access(f,
                  (struct access){.object = objects_find(OBJECTKIND_FILE, file), .offset = offset, .peer = PEER_NONE});
}

static struct access io_access(word file, enum io direction, uint64_t bytes, int64_t offset)
{
    return (struct access){.object = objects_find(OBJECTKIND_FILE, file),
                           .sent = direction == IO_WRITE ? bytes : 0,
                           .received = direction == IO_READ ? bytes : 0,
                           .offset = offset,
                           .peer = PEER_NONE};
}

void record_io(const struct frame *f, word file, enum io direction, int64_t offset, const void *status)
{
    record_access(f, io_access(file, direction, f->result ? 0 : abi_status_bytes(status), offset));
}

void record_io_begin(const struct frame *f, word file, int64_t offset)
{
    struct object *o = objects_find(OBJECTKIND_FILE, file);
    if (o && f->result == 0) o->split_at = offset;
    record_file(f, file, offset);
}

/* Written bytes are handed over here; read bytes are known when the operation is complete. */
void record_io_request(const struct frame *f, word file, enum io direction, struct data data, int64_t offset,
                       word request)
{
    uint64_t bytes = f->result ? 0 : data_bytes(&data);
    struct access a = io_access(file, direction, bytes, offset);
    a.received = 0;
    record_access(f, a);
    if (f->result) return;
    requests_add(&(struct request){.handle = request,
                                   .posted = f->enter,
                                   .bytes = bytes,
                                   .comm = a.object ? a.object->comm : COMM_INDEX_NONE,
                                   .peer = PEER_NONE,
                                   .tag = -1,
                                   .kind = direction == IO_READ ? REQUEST_READ : REQUEST_WRITE,
                                   .active = true});
}
