/* Each rank goes on as far as it can: what it waits for wakes it, at the time when that is there. */
#include "ideal/ideal.h"

#include <stdlib.h>

#include "common/duration.h"
#include "ideal/internal/groups.h"
#include "ideal/internal/messages.h"
#include "packed/unpack.h"
#include "packed/window.h"

/* Messages that are sent and not received take memory. So a rank does AT_A_TIME operations, then other ranks have their
   turn. A rank with MANY_WAITING unreceived messages lets OTHERS_FIRST other ranks go first. */
enum { AT_A_TIME = 4096, MANY_WAITING = 4096, OTHERS_FIRST = 64 };

/* Return true if all that an operation names exists, as the simulator checks, and ranks need only wait for each other.
 */
static bool op_is_sound(const struct ideal *ideal, const struct rank_at *rank, const struct op *op)
{
    bool access = op->kind == OP_PUT || op->kind == OP_GET, waited = op->kind == OP_WAIT && op->peer >= 0;
    bool message = access || op->kind == OP_SEND || op->kind == OP_RECV || op->kind == OP_IRECV;
    bool request = ((access || op->kind == OP_FILE) && op->request >= 0) || op->kind == OP_IRECV ||
                   op->kind == OP_WAIT || op->kind == OP_COLLECTIVE_START;
    if (op->kind >= OP_KINDS || op->bytes < 0 || op->block || op->flags & OP_SHARED) return false;
    if (message && op->peer < 0) return false;
    if ((message || (waited && !(op->flags & (OP_OF_COLLECTIVE | OP_OF_ACCESS)))) &&
        op->peer >= ideal->program->n_ranks)
        return false;
    return !request || (op->request >= 0 && op->request < rank->slots);
}

/* Take the next operation of a rank; NULL: there is none, or it cannot be read. */
static const struct op *next(struct ideal *ideal, struct rank_at *rank, struct known **known)
{
    const struct program *program = ideal->program;
    int64_t burst;
    if (rank->stop - rank->at < PACK_MOST &&
        !window_fill(program, rank->buffer, ideal->buffered, &rank->at, &rank->stop, &rank->position)) {
        refuse(ideal, IDEAL_OTHER);
        return NULL;
    }
    if (*rank->at % PACK_PLACES >= program->places) {
        refuse(ideal, IDEAL_OTHER);
        return NULL;
    }
    unsigned found = unpack_place(rank->shapes, &rank->at, &burst), place = found % PACK_PLACES;
    *known = &rank->known[place];
    if (found & PACK_NEW) {
        if ((*known)->channel) messages_leave(ideal, (*known)->channel);
        **known = (struct known){NULL, NULL, NULL, false};
    }
    rank->to_come--;
    if (burst < 0 || burst > LONGEST - rank->now) {
        refuse(ideal, IDEAL_OTHER);
        return NULL;
    }
    rank->now += burst;
    rank->computing += burst;
    rank->began = rank->now;
    return &rank->shapes[place];
}

/* A call on a file lasts as long as in the traced run, less what the rank waited there for others. */
static bool last(struct ideal *ideal, struct rank_at *rank, const struct op *op)
{
    int64_t ns = op->other - rank->met_before;
    rank->met_before = 0;
    if (ns > LONGEST - rank->now) return refuse(ideal, IDEAL_OTHER);
    if (ns > 0) rank->now += ns;
    return true;
}

static bool wait_for_request(struct ideal *ideal, struct rank_at *rank, const struct op *op)
{
    if ((op->flags & (OP_OF_FILE | OP_OF_COLLECTIVE)) == OP_OF_FILE) return last(ideal, rank, op);
    struct request request = rank->requests[op->request];
    rank->requests[op->request] = (struct request){NULL, NULL};
    if (request.receive) return messages_wait(ideal, rank, request.receive);
    return request.gathering ? groups_wait(ideal, rank, op, request.gathering) : refuse(ideal, IDEAL_OTHER);
}

/* false: it waits, or nothing goes on. */
static bool act(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known)
{
    if (!known->sound && !(known->sound = op_is_sound(ideal, rank, op))) return refuse(ideal, IDEAL_OTHER);
    switch (op->kind) {
    case OP_SEND:
        return messages_send(ideal, rank, op, known);
    case OP_RECV:
    case OP_IRECV:
        return messages_receive(ideal, rank, op, known);
    case OP_WAIT:
        return wait_for_request(ideal, rank, op);
    case OP_COLLECTIVE:
    case OP_COLLECTIVE_START:
        return groups_enter(ideal, rank, op, known);
    case OP_PUT:
    case OP_GET:
        return messages_access(ideal, rank, op);
    case OP_FILE:
        return last(ideal, rank, op);
    case OP_NONE:
    case OP_EVENT:
    case OP_PRIORITY:
    case OP_ACCESSES_WAIT:
        return true;
    default:
        return refuse(ideal, IDEAL_OTHER);
    }
}

static void finish_rank(struct ideal *ideal, const struct rank_at *rank)
{
    struct ideal_state *state = &ideal->state;
    state->unfinished--;
    if (rank->now > state->end) state->end = rank->now;
    if (rank->computing > state->most_computing) state->most_computing = rank->computing;
}

/* A rank goes on, until it waits or others have their turn. Returns how many operations it took. */
static int64_t run_rank(struct ideal *ideal, struct rank_at *rank)
{
    for (int64_t done = 0; done < AT_A_TIME; done++) {
        struct known *known;
        if (!rank->to_come) {
            finish_rank(ideal, rank);
            return done;
        }
        const struct op *op = next(ideal, rank, &known);
        if (!op || !act(ideal, rank, op, known)) return done + 1;
        mark_over(rank);
    }
    is_ready(ideal, rank);
    return AT_A_TIME;
}

static struct rank_at *first_ready(struct ideal *ideal)
{
    struct rank_at *rank = ideal->ready;
    ideal->ready = rank->next;
    if (!ideal->ready) ideal->last_ready = &ideal->ready;
    return rank;
}

/* Whose turn it is. */
static struct rank_at *next_rank(struct ideal *ideal)
{
    struct rank_at *rank = first_ready(ideal);
    for (int passed = 0; rank->waiting >= MANY_WAITING && ideal->ready && passed < OTHERS_FIRST; passed++) {
        is_ready(ideal, rank);
        rank = first_ready(ideal);
    }
    return rank;
}

enum ideal_answer ideal_go_on(struct ideal *ideal, const struct told *told, int64_t n_told, int64_t most,
                              struct ideal_state *state)
{
    ideal->state.n_telling = 0;
    for (int64_t k = 0; k < n_told && !ideal->answer; k++)
        (told[k].kind == TOLD_MEMBERS ? groups_told : messages_told)(ideal, &told[k]);
    for (int64_t done = 0; ideal->ready && done < most && !ideal->answer;) {
        int64_t more = run_rank(ideal, next_rank(ideal));
        done += more;
        ideal->state.operations += more;
    }
    *state = ideal->state;
    state->telling = ideal->telling;
    state->goes_on = ideal->ready != NULL;
    return ideal->answer;
}

/* The first operations of a block may be of the rank before: only their shapes are needed. */
static bool open_rank(struct ideal *ideal, struct rank_at *rank, int32_t number)
{
    const struct program *p = ideal->program;
    int64_t first = p->offsets[number], last = p->offsets[number + 1];
    struct known *known;
    rank->number = number;
    rank->slots = p->slots[number];
    rank->shapes = arena_zeros(&ideal->arena, (size_t)p->places, sizeof *rank->shapes);
    rank->known = arena_zeros(&ideal->arena, (size_t)p->places, sizeof *rank->known);
    rank->buffer = arena_take(&ideal->arena, ideal->buffered + PACK_MOST);
    rank->requests = arena_zeros(&ideal->arena, (size_t)rank->slots + 1, sizeof *rank->requests);
    if (!rank->shapes || !rank->known || !rank->buffer || !rank->requests) return false;
    rank->at = rank->stop = rank->buffer;
    rank->position = first < last ? p->blocks[first / PACK_BLOCK] : 0;
    for (int64_t k = first < last ? first % PACK_BLOCK : 0; k > 0 && !ideal->answer; k--) {
        rank->now = 0;
        next(ideal, rank, &known);
    }
    rank->to_come = last - first;
    rank->now = rank->computing = 0;
    is_ready(ideal, rank);
    return true;
}

static bool open_all(struct ideal *ideal, struct op_time *times)
{
    const struct program *p = ideal->program;
    ideal->ranks = arena_zeros(&ideal->arena, (size_t)ideal->n_ranks + 1, sizeof *ideal->ranks);
    if (!ideal->ranks || !groups_init(ideal)) return false;
    for (int32_t k = 0; k < ideal->n_ranks; k++) {
        if (!open_rank(ideal, &ideal->ranks[k], k)) return false;
        if (times) ideal->ranks[k].time = times + p->offsets[k];
    }
    return true;
}

struct ideal *ideal_new(const struct program *program, const int32_t *first, int32_t processes, int32_t own,
                        int64_t eager_limit, struct op_time *times)
{
    enum { OF_A_RANK = 2048, MOST_WAITING = 1 << 19, MOST_OF_A_RANK = 64 }; /* of a rank: bytes that one takes, about */
    struct ideal *ideal = calloc(1, sizeof *ideal);
    if (!ideal) return NULL;
    *ideal = (struct ideal){.program = program, .first = first, .processes = processes, .own = own};
    ideal->eager_limit = eager_limit;
    ideal->n_ranks = first[own + 1] - first[own];
    ideal->state.unfinished = ideal->n_ranks;
    ideal->most_waiting = MOST_WAITING + (int64_t)ideal->n_ranks * MOST_OF_A_RANK;
    ideal->buffered = window_bytes(ideal->n_ranks);
    ideal->last_ready = &ideal->ready;
    arena_open(&ideal->arena, (size_t)ideal->n_ranks * OF_A_RANK);
    ideal->channel_pool = (struct pool){sizeof(struct channel), NULL, &ideal->arena};
    ideal->letters = (struct pool){sizeof(struct letter), NULL, &ideal->arena};
    ideal->receives = (struct pool){sizeof(struct receive), NULL, &ideal->arena};
    if (open_all(ideal, times)) return ideal;
    ideal_free(ideal);
    return NULL;
}

void ideal_free(struct ideal *ideal)
{
    if (!ideal) return;
    free(ideal->telling);
    free(ideal->channels.at);
    arena_free(&ideal->arena);
    free(ideal);
}
