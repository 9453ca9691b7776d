/* A timeline as Perfetto's protobuf: TracePackets of one sequence, whose names are said once and then have numbers.

   Source: protos/perfetto/trace of Perfetto: trace_packet, track_event/{track_event,track_descriptor,debug_annotation},
   interned_data. A number below is that of a field. */
#include <string.h>

#include "perfetto/internal/writing.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };
enum { PACKET = 1 };                                                                            /* of Trace */
enum { TIMESTAMP = 8, SEQUENCE = 10, TRACK_EVENT = 11, INTERNED = 12, FLAGS = 13, TRACK = 60 }; /* of TracePacket */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };                                                    /* FLAGS */
enum { CATEGORY = 1, EVENT_NAME = 2, ANNOTATION_NAME = 3, STRING = 29 };                        /* of InternedData */
enum { IID = 1, TEXT = 2 };                                                    /* of what is interned */
enum { UUID = 1, PROCESS = 3, THREAD = 4, PARENT = 5, COUNTER = 8, NAME = 2 }; /* of TrackDescriptor */
enum { PID = 1, PROCESS_NAME = 6, TID = 2, THREAD_NAME = 5 };
enum {
    ANNOTATION = 4,
    TYPE = 9,
    NAME_IID = 10,
    TRACK_UUID = 11,
    CATEGORY_IID = 3,
    VALUE = 30,
    MEASURE = 44,
    OPENS = 47,
    CLOSES = 48
};
enum { ANNOTATION_IID = 1, INTEGER = 4, STRING_IID = 17 }; /* of DebugAnnotation */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER_VALUE = 4 };
enum { OF_CALLS = 1, OF_REGIONS, OF_MESSAGES, OF_EVENTS }; /* categories */
enum {
    PEER = 1,
    TAG,
    SENT,
    RECEIVED,
    CALLS,
    COMM,
    PLACE,
    EVENT_VALUE,
    VALUE_NAME,
    ARGUMENTS
}; /* names of annotations */
enum { MESSAGE_NAME = 1, MORE = 1024 }; /* bytes of a packet without texts and arrows */

static char *put_varint(char *p, uint64_t v)
{
    for (; v >= 128; v >>= 7) *p++ = (char)(v | 128);
    *p++ = (char)v;
    return p;
}

static char *put_number_field(char *p, int field, int64_t v)
{
    return put_varint(put_varint(p, (uint64_t)field << 3 | VARINT), (uint64_t)v);
}

static char *fixed(char *p, int field, const void *v)
{
    p = put_varint(p, (uint64_t)field << 3 | FIXED64);
    memcpy(p, v, sizeof(uint64_t));
    return p + sizeof(uint64_t);
}

static char *string(char *p, int field, const char *text, int64_t length)
{
    p = put_varint(put_varint(p, (uint64_t)field << 3 | BYTES), (uint64_t)length);
    memcpy(p, text, (size_t)length);
    return p + length;
}

/* A message inside begins: its length, one byte unless it turns out to be longer, lies before what is returned. */
static char *inside(char *p, int field)
{
    return put_varint(p, (uint64_t)field << 3 | BYTES) + 1;
}

static char *inside_ends(char *begin, char *p)
{
    char length[10];
    int64_t n = p - begin, more = put_varint(length, (uint64_t)n) - length - 1;
    if (more) memmove(begin + more, begin, (size_t)n);
    memcpy(begin - 1, length, (size_t)more + 1);
    return p + more;
}

static void done(struct timeline *t, char *packet, char *p)
{
    t->used = inside_ends(packet, p) - t->out;
}

/* A packet with names: one of a kind. */
static void intern(struct timeline *t, int field, int64_t iid, const char *text, int64_t length)
{
    char *p = timeline_room(t, MORE + length);
    if (!p) return;
    char *packet = p = inside(p, PACKET);
    p = put_number_field(put_number_field(p, SEQUENCE, 1), FLAGS, NEEDS_STATE);
    char *data = p = inside(p, INTERNED);
    char *entry = p = inside(p, field);
    p = string(put_number_field(p, IID, iid), TEXT, text, length);
    done(t, packet, inside_ends(data, inside_ends(entry, p)));
}

/* Names of calls, regions and events are names of Perfetto's events, the others are values of annotations. */
static int64_t iid_of(int kind, int64_t name)
{
    return MESSAGE_NAME + 1 + NAME_OF_COMM * name + kind % NAME_OF_COMM;
}

static void packets_name(struct timeline *t, int kind, int64_t number, const char *text, int64_t length)
{
    intern(t, kind < NAME_OF_COMM ? EVENT_NAME : STRING, iid_of(kind, number), text, length);
}

static void packets_begin(struct timeline *t)
{
    static const char *const categories[] = {"mpi", "region", "message", "event"};
    static const char *const arguments[] = {"peer", "tag",   "sent_bytes", "received_bytes", "calls",
                                            "comm", "place", "value",      "label"};
    char *p = timeline_room(t, MORE);
    if (!p) return;
    char *packet = p = inside(p, PACKET);
    done(t, packet, put_number_field(put_number_field(p, SEQUENCE, 1), FLAGS, STATE_CLEARED));
    for (int i = 0; i < OF_EVENTS; i++) intern(t, CATEGORY, i + 1, categories[i], (int64_t)strlen(categories[i]));
    for (int i = 0; i < ARGUMENTS - 1; i++)
        intern(t, ANNOTATION_NAME, i + 1, arguments[i], (int64_t)strlen(arguments[i]));
    intern(t, EVENT_NAME, MESSAGE_NAME, "message", strlen("message"));
}

static void packets_end(struct timeline *t)
{
    (void)t;
}

/* Numbers of tracks: of threads from 1, then those of ranks, then those of counters. Rank and main thread have one
   number as process and thread, as they have in Linux. */
static int64_t of_lane(int64_t lane)
{
    return lane + 1;
}
static int64_t of_process(const struct timeline *t, int64_t lane)
{
    return t->lanes + 1 + t->lane[lane].process;
}
static int64_t of_counter(const struct timeline *t, int64_t track)
{
    return 2 * t->lanes + 1 + track;
}

/* A packet that describes a track: its number, the track around it (0: none), its name. What it is besides follows. */
struct description {
    char *packet, *track, *p;
};

static bool describe_track(struct timeline *t, struct description *d, int64_t uuid, int64_t parent, const char *name)
{
    int64_t length = (int64_t)strlen(name);
    char *p = timeline_room(t, MORE + 3 * length);
    if (!p) return false;
    d->packet = p = inside(p, PACKET);
    d->track = p = inside(put_number_field(p, SEQUENCE, 1), TRACK);
    p = put_number_field(p, UUID, uuid);
    if (parent) p = put_number_field(p, PARENT, parent);
    d->p = string(p, NAME, name, length);
    return true;
}

static void described(struct timeline *t, struct description d)
{
    done(t, d.packet, inside_ends(d.track, d.p));
}

static void put_rank(struct timeline *t, int64_t lane, const char *rank)
{
    struct description d;
    if (!describe_track(t, &d, of_process(t, lane), 0, rank)) return;
    char *process = inside(d.p, PROCESS);
    char *p = put_number_field(process, PID, of_lane(lane));
    d.p = inside_ends(process, string(p, PROCESS_NAME, rank, (int64_t)strlen(rank)));
    described(t, d);
}

static void packets_lane(struct timeline *t, int64_t lane, const char *rank, const char *text)
{
    struct description d;
    if (t->lane[lane].process == lane) put_rank(t, lane, rank);
    if (!describe_track(t, &d, of_lane(lane), of_process(t, lane), text)) return;
    char *thread = inside(d.p, THREAD);
    char *p = put_number_field(put_number_field(thread, PID, of_lane(t->lane[lane].process)), TID, of_lane(lane));
    d.p = inside_ends(thread, string(p, THREAD_NAME, text, (int64_t)strlen(text)));
    described(t, d);
}

static void packets_counter(struct timeline *t, int64_t number, int64_t lane, const char *name)
{
    struct description d;
    int64_t parent = lane < t->threads ? of_lane(lane) : of_process(t, lane);
    if (!describe_track(t, &d, of_counter(t, number), parent, name)) return;
    d.p = inside_ends(inside(d.p, COUNTER), inside(d.p, COUNTER));
    described(t, d);
}

/* An event of a track, as far as all have it. */
struct event {
    char *packet, *event, *p;
};

static bool packets_event(struct timeline *t, struct event *e, int64_t time, int type, int64_t uuid, int64_t arrows)
{
    char *p = timeline_room(t, MORE + 16 * arrows);
    if (!p) return false;
    e->packet = p = inside(p, PACKET);
    p = put_number_field(put_number_field(put_number_field(p, TIMESTAMP, time), SEQUENCE, 1), FLAGS, NEEDS_STATE);
    e->event = p = inside(p, TRACK_EVENT);
    e->p = put_number_field(put_number_field(p, TYPE, type), TRACK_UUID, uuid);
    return true;
}

static void packets_put_event(struct timeline *t, struct event e, const struct timeline_flow *flows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) e.p = fixed(e.p, flows[i].closes ? CLOSES : OPENS, &flows[i].id);
    done(t, e.packet, inside_ends(e.event, e.p));
}

static char *annotation(char *p, int name, int field, int64_t value)
{
    char *begin = inside(p, ANNOTATION);
    return inside_ends(begin, put_number_field(put_number_field(begin, ANNOTATION_IID, name), field, value));
}

static char *annotations(char *p, const struct trace_call *call, int64_t place)
{
    if (call->peer >= 0) p = annotation(p, PEER, INTEGER, call->peer);
    if (call->tag >= 0) p = annotation(p, TAG, INTEGER, call->tag);
    if (call->sent > 0) p = annotation(p, SENT, INTEGER, call->sent);
    if (call->received > 0) p = annotation(p, RECEIVED, INTEGER, call->received);
    if (call->count > 1) p = annotation(p, CALLS, INTEGER, call->count);
    if (call->comm >= 0) p = annotation(p, COMM, STRING_IID, iid_of(NAME_OF_COMM, call->comm));
    return place > 0 ? annotation(p, PLACE, STRING_IID, iid_of(NAME_OF_PLACE, place)) : p;
}

static void packets_open(struct timeline *t, int64_t lane, const struct slice *slice, const struct timeline_flow *flows,
                         int64_t n)
{
    struct event e;
    if (!packets_event(t, &e, slice->time, SLICE_BEGIN, of_lane(lane), n)) return;
    e.p = put_number_field(e.p, CATEGORY_IID, slice->kind == NAME_OF_CALL ? OF_CALLS : OF_REGIONS);
    e.p = put_number_field(e.p, NAME_IID, iid_of(slice->kind, slice->name));
    if (slice->call) e.p = annotations(e.p, slice->call, slice->place);
    packets_put_event(t, e, flows, n);
}

static void packets_close(struct timeline *t, int64_t lane, int64_t time, const struct timeline_flow *flows, int64_t n)
{
    struct event e;
    if (packets_event(t, &e, time, SLICE_END, of_lane(lane), n)) packets_put_event(t, e, flows, n);
}

static void packets_instant(struct timeline *t, int64_t lane, const struct timeline_flow *flow)
{
    struct event e;
    if (!packets_event(t, &e, flow->time, INSTANT, of_lane(lane), 1)) return;
    e.p = put_number_field(put_number_field(e.p, CATEGORY_IID, OF_MESSAGES), NAME_IID, MESSAGE_NAME);
    packets_put_event(t, e, flow, 1);
}

static void packets_value(struct timeline *t, const struct timeline_value *value)
{
    struct event e;
    if (!packets_event(t, &e, value->time, COUNTER_VALUE, of_counter(t, value->track), 0)) return;
    e.p = put_number_field(e.p, VALUE, value->value);
    packets_put_event(t, e, NULL, 0);
}

static void packets_measure(struct timeline *t, const struct timeline_measure *measure)
{
    struct event e;
    if (!packets_event(t, &e, measure->time, COUNTER_VALUE, of_counter(t, measure->track), 0)) return;
    e.p = fixed(e.p, MEASURE, &measure->value);
    packets_put_event(t, e, NULL, 0);
}

static void packets_note(struct timeline *t, const struct timeline_note *note)
{
    struct event e;
    if (!packets_event(t, &e, note->time, INSTANT, of_lane(note->lane), 0)) return;
    e.p =
        put_number_field(put_number_field(e.p, CATEGORY_IID, OF_EVENTS), NAME_IID, iid_of(NAME_OF_EVENT, note->event));
    e.p = annotation(e.p, EVENT_VALUE, INTEGER, note->value);
    if (note->name >= 0) e.p = annotation(e.p, VALUE_NAME, STRING_IID, iid_of(NAME_OF_VALUE, note->name));
    packets_put_event(t, e, NULL, 0);
}

const struct format perfetto_format = {
    packets_begin, packets_end,   packets_name,    packets_lane,  put_rank,        packets_counter,
    packets_open,  packets_close, packets_instant, packets_value, packets_measure, packets_note,
};
