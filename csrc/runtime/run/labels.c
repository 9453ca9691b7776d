#define _GNU_SOURCE
#include "run/labels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/user_message.h"
#include "handles/ids.h"
#include "record/rank_file.h"

enum { MOST = 1 << 16, MOST_PARAMETERS = 1 << 15, NAME_BYTES = sizeof(((struct file_label *)0)->name) - 1 };

/* A row of the file. Never moved or freed once it is known, so threads read it without the lock. */
struct label {
    struct file_label row;
    uint64_t length;
};

/* Open addressing, linear probing. The lock may be taken between store_begin and store_end, not the other way round. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct label **slots;
static struct label **in_order;
static uint32_t unwritten; /* labels that a thread is about to write to the file */
static uint64_t room, count;
static uint32_t numbers[LABELKIND_PARAMETER + 1];

/* A cut name still ends with a whole character of UTF-8. */
static struct name fitted(struct name name)
{
    if (!name.text || !name.length) return (struct name){"(no name)", 9};
    const char *end = memchr(name.text, '\0', name.length);
    if (end) name.length = (uint64_t)(end - name.text);
    if (name.length <= NAME_BYTES) return name;
    name.length = NAME_BYTES;
    while (name.length > NAME_BYTES - 3 && (name.text[name.length] & 0xc0) == 0x80) name.length--;
    return name;
}

static bool is_numbered(uint32_t kind)
{
    return kind <= LABELKIND_PARAMETER;
}

/* Regions and parameters are known by their name, events by type and value. */
static uint64_t key_hash(const struct file_label *key, struct name name)
{
    uint64_t h = ids_mix(key->kind * 31 + key->type) ^ (is_numbered(key->kind) ? 0 : ids_mix((uint64_t)key->value));
    for (uint64_t i = 0; is_numbered(key->kind) && i < name.length; i++) h = h * 31 + (unsigned char)name.text[i];
    return ids_mix(h);
}

static bool has_name(const struct label *l, struct name name)
{
    return l->length == name.length && memcmp(l->row.name, name.text, name.length) == 0;
}

static bool is_key(const struct label *l, const struct file_label *key, struct name name)
{
    if (l->row.kind != key->kind || l->row.type != key->type) return false;
    return is_numbered(key->kind) ? has_name(l, name) : l->row.value == key->value;
}

/* Its slot, or the free one where it belongs. */
static struct label **find_label(const struct file_label *key, struct name name)
{
    uint64_t i = key_hash(key, name) & (room - 1);
    while (slots[i] && !is_key(slots[i], key, name)) i = (i + 1) & (room - 1);
    return &slots[i];
}

static struct name name_of(const struct label *l)
{
    return (struct name){l->row.name, l->length};
}

static bool grow_labels(void)
{
    if (2 * (count + 1) <= room) return true;
    uint64_t old_room = room, larger = room ? 2 * room : 64;
    struct label **old = slots, **new = calloc(larger, sizeof *new);
    struct label **list = realloc(in_order, larger / 2 * sizeof *list);
    if (list) in_order = list;
    if (!new || !list) {
        free(new);
        return false;
    }
    slots = new;
    room = larger;
    for (uint64_t i = 0; i < old_room; i++)
        if (old[i]) *find_label(&old[i]->row, name_of(old[i])) = old[i];
    free(old);
    return true;
}

static struct label *add_label(struct label **slot, struct file_label key, struct name name)
{
    struct label *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    if (is_numbered(key.kind)) key.value = ++numbers[key.kind];
    l->row = key;
    l->length = name.length;
    memcpy(l->row.name, name.text, name.length);
    in_order[count++] = l;
    return *slot = l;
}

static bool is_full(uint32_t kind)
{
    return count == MOST || (kind == LABELKIND_PARAMETER && numbers[kind] == MOST_PARAMETERS - 1);
}

/* The label of this key, made if it is new. Sets `added`. NULL: there are too many, or no memory. Under the lock. */
static struct label *find_or_add_label(struct file_label key, struct name name, bool *added)
{
    static bool said;
    if (!grow_labels()) return NULL;
    struct label **slot = find_label(&key, name);
    if (*slot && has_name(*slot, name)) return *slot;
    if (is_full(key.kind)) {
        if (!said)
            say("the program uses too many different names of regions, parameters, events and communicators: new ones "
                "are lost");
        said = true;
        return NULL;
    }
    *added = true;
    return add_label(slot, key, name);
}

int labels_write(struct store *store)
{
    int error = 0;
    pthread_mutex_lock(&lock);
    while (!error && store->table[TABLE_LABELS].rows < count)
        error = store_append(store, TABLE_LABELS, &in_order[store->table[TABLE_LABELS].rows]->row, 1);
    pthread_mutex_unlock(&lock);
    return error;
}

/* In the file before anything that refers to it. */
static void write_now(void)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? labels_write(store) : 0;
    if (error) rank_file_failed(error);
    store_end();
}

static const struct label *label_of(struct file_label key, struct name name)
{
    bool added = false;
    pthread_mutex_lock(&lock);
    const struct label *l = find_or_add_label(key, name, &added);
    if (added) unwritten++;
    bool write = unwritten > 0; /* it may be one that another thread has just added */
    pthread_mutex_unlock(&lock);
    if (write) write_now();
    if (added) {
        pthread_mutex_lock(&lock);
        unwritten--;
        pthread_mutex_unlock(&lock);
    }
    return l;
}

/* Text that this thread looked up last, by the address of the text: mostly a string of the program, which stays. */
struct recent {
    const char *text;
    const struct label *label;
};
enum { RECENT = 16 };
static __thread struct recent recent[RECENT] __attribute__((tls_model("initial-exec")));

static uint32_t label_number(enum labelkind kind, struct name name)
{
    uintptr_t at = (uintptr_t)name.text;
    struct recent *r = &recent[(at ^ at >> 4 ^ at >> 8) % RECENT];
    if (name.text && r->text == name.text && r->label->row.kind == kind && has_name(r->label, name))
        return (uint32_t)r->label->row.value;
    const struct label *l = label_of((struct file_label){.kind = kind}, fitted(name));
    if (!l) return 0;
    *r = (struct recent){name.text, l};
    return (uint32_t)l->row.value;
}

uint32_t labels_region(struct name name)
{
    return label_number(LABELKIND_REGION, name);
}

uint32_t labels_parameter(struct name name)
{
    return label_number(LABELKIND_PARAMETER, name);
}

void labels_type(uint32_t type, struct name name)
{
    label_of((struct file_label){.kind = LABELKIND_EVENT_TYPE, .type = type}, fitted(name));
}

void labels_communicator(uint32_t row, struct name name)
{
    label_of((struct file_label){.kind = LABELKIND_COMMUNICATOR, .value = row}, fitted(name));
}

void labels_value(uint32_t type, int64_t value, struct name name)
{
    label_of((struct file_label){.kind = LABELKIND_EVENT_VALUE, .type = type, .value = value}, fitted(name));
}
