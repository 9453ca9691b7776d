#include "places/internal/frame_rule.h"

#include "places/internal/dwarf.h"

#if defined(__x86_64__)
enum { REGISTER_FP = 6, REGISTER_SP = 7, REGISTER_RA = 16 };
#else /* numbers that no register has: no rules are read */
enum { REGISTER_FP = 10001, REGISTER_SP, REGISTER_RA };
#endif

enum { TABLE_ENCODING = POINTER_DATA_RELATIVE | POINTER_S4, INDEX_ENTRY = 8, MOST_REMEMBERED = 8, LONG_FORM = -1 };

/* One row of the table that the instructions describe. */
struct row {
    enum cfa cfa;
    int64_t cfa_offset;
    struct expression cfa_expression;
    struct {
        enum saved how;
        int64_t offset;
        struct expression expression;
    } fp, ra;
};

/* A description of the code of functions (CIE) and of one function (FDE). */
struct description {
    uint64_t code_factor, code_begin, code_end;
    int64_t data_factor;
    uint64_t return_register;
    uint8_t pointers;
    bool augmented, interrupted;
    struct reader common, own; /* instructions */
};

static bool is_here(struct span s)
{
    return s.begin != NULL;
}

static struct reader reader_at(const struct module *m, const uint8_t *at)
{
    struct span s = modules_readable(m, at);
    return (struct reader){s.begin, s.end, !is_here(s)};
}

/* The entry of an .eh_frame that begins here, as far as its length says. */
static struct reader entry_at(const struct module *m, const uint8_t *at)
{
    struct reader r = reader_at(m, at);
    int64_t length = read_signed(&r, 4);
    if (length == LONG_FORM) length = (int64_t)read_fixed(&r, 8);
    if (length <= 0 || length > r.end - r.at) r.bad = true;
    if (!r.bad) r.end = r.at + length;
    return r;
}

/* The last entry of the sorted index whose function begins at `pc` or before it; NULL: there is none. */
static const uint8_t *find_description(const struct module *m, uint64_t pc)
{
    if (!m->index) return NULL;
    struct reader r = reader_at(m, m->index);
    uint64_t data = (uint64_t)m->index;
    uint8_t version = (uint8_t)read_fixed(&r, 1), frame = (uint8_t)read_fixed(&r, 1);
    uint8_t number = (uint8_t)read_fixed(&r, 1), table = (uint8_t)read_fixed(&r, 1);
    if (r.bad || version != 1 || frame == POINTER_OMITTED || number == POINTER_OMITTED || table != TABLE_ENCODING)
        return NULL;
    read_pointer(&r, frame, data);
    uint64_t low = 0, high = read_pointer(&r, number, data);
    if (r.bad || high > (uint64_t)(r.end - r.at) / INDEX_ENTRY) return NULL;
    const uint8_t *entries = r.at;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct reader entry = {entries + middle * INDEX_ENTRY, r.end, false};
        if (read_pointer(&entry, TABLE_ENCODING, data) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    struct reader entry = {entries + (low - 1) * INDEX_ENTRY + 4, r.end, false};
    return (const uint8_t *)read_pointer(&entry, TABLE_ENCODING, data);
}

/* The letters of a CIE's augmentation, but for z, and what belongs to them. */
static void read_augmentation(struct reader *r, const char *letters, struct description *d)
{
    for (; *letters && !r->bad; letters++) switch (*letters) {
        case 'R':
            d->pointers = (uint8_t)read_fixed(r, 1);
            break;
        case 'L':
            skip(r, 1);
            break;
        case 'P': {
            uint8_t encoding = (uint8_t)read_fixed(r, 1);
            read_pointer(r, encoding & ~POINTER_INDIRECT, 0);
            break;
        }
        case 'S':
            d->interrupted = true;
            break;
        case 'B':
            break; /* pointers are signed in a way that this processor does not know */
        default:
            r->bad = true;
        }
}

static bool read_common(const struct module *m, const uint8_t *at, struct description *d)
{
    struct reader r = entry_at(m, at);
    if (read_fixed(&r, 4) != 0) return false;
    uint8_t version = (uint8_t)read_fixed(&r, 1);
    const char *letters = (const char *)r.at;
    while (read_fixed(&r, 1) && !r.bad);
    if (r.bad || (version != 1 && version != 3)) return false;
    d->code_factor = read_uleb(&r);
    d->data_factor = read_sleb(&r);
    d->return_register = version == 1 ? read_fixed(&r, 1) : read_uleb(&r);
    d->augmented = *letters == 'z';
    if (d->augmented) {
        uint64_t bytes = read_uleb(&r);
        struct reader data = r;
        skip(&r, bytes);
        data.end = r.at;
        read_augmentation(&data, letters + 1, d);
        r.bad |= data.bad;
    } else if (*letters) {
        return false;
    }
    d->common = r;
    return !r.bad;
}

static bool read_description(const struct module *m, const uint8_t *at, struct description *d)
{
    struct reader r = entry_at(m, at);
    const uint8_t *place = r.at;
    uint64_t back = read_fixed(&r, 4);
    if (r.bad || !back || back > (uint64_t)place || !read_common(m, place - back, d)) return false;
    d->code_begin = read_pointer(&r, d->pointers, 0);
    d->code_end = d->code_begin + read_pointer(&r, d->pointers & 0x0f, 0);
    if (d->augmented) skip(&r, read_uleb(&r));
    d->own = r;
    return !r.bad;
}

static struct expression read_expression(struct reader *r)
{
    uint64_t bytes = read_uleb(r);
    struct expression e = {r->at, (uint32_t)bytes};
    skip(r, bytes);
    return e;
}

static void set_saved(struct row *row, uint64_t number, enum saved how, int64_t offset, struct expression e)
{
    if (number == REGISTER_FP) {
        row->fp.how = how;
        row->fp.offset = offset;
        row->fp.expression = e;
    } else if (number == REGISTER_RA) {
        row->ra.how = how;
        row->ra.offset = offset;
        row->ra.expression = e;
    }
}

static void set_cfa_register(struct row *row, uint64_t number)
{
    row->cfa = number == REGISTER_SP ? CFA_FROM_SP : number == REGISTER_FP ? CFA_FROM_FP : CFA_NOT_KNOWN;
}

static void restore(struct row *row, const struct row *first, uint64_t number)
{
    if (number == REGISTER_FP) row->fp = first->fp;
    if (number == REGISTER_RA) row->ra = first->ra;
}

enum {
    ADVANCE = 0x40,
    OFFSET = 0x80,
    RESTORE = 0xc0,
    NOP = 0,
    SET_LOC,
    ADVANCE_1,
    ADVANCE_2,
    ADVANCE_4,
    OFFSET_EXTENDED,
    RESTORE_EXTENDED,
    UNDEFINED,
    SAME_VALUE,
    REGISTER,
    REMEMBER,
    RECALL,
    DEF_CFA,
    DEF_CFA_REGISTER,
    DEF_CFA_OFFSET,
    DEF_CFA_EXPRESSION,
    EXPRESSION,
    OFFSET_EXTENDED_SF,
    DEF_CFA_SF,
    DEF_CFA_OFFSET_SF,
    VAL_OFFSET,
    VAL_OFFSET_SF,
    VAL_EXPRESSION,
    ARGS_SIZE = 0x2e,
    NEGATIVE_OFFSET = 0x2f,
};

struct machine {
    const struct description *d;
    struct row row, first, remembered[MOST_REMEMBERED];
    unsigned depth;
    uint64_t at; /* the row is of the code from here on */
};

/* A factored offset. What is too large does not fit where it goes. */
static int64_t factored(uint64_t offset, int64_t factor)
{
    return (int64_t)(offset * (uint64_t)factor);
}

/* Instructions that say where a register is saved. False: it is another one. */
static bool run_saved(struct machine *m, struct reader *r, uint8_t code)
{
    static const struct expression none;
    const int64_t factor = m->d->data_factor;
    uint64_t number = code > NOP && code < ADVANCE ? read_uleb(r) : 0;
    switch (code) {
    case OFFSET_EXTENDED:
        set_saved(&m->row, number, SAVED_AT, factored(read_uleb(r), factor), none);
        return true;
    case OFFSET_EXTENDED_SF:
        set_saved(&m->row, number, SAVED_AT, factored((uint64_t)read_sleb(r), factor), none);
        return true;
    case NEGATIVE_OFFSET:
        set_saved(&m->row, number, SAVED_AT, factored(-read_uleb(r), factor), none);
        return true;
    case RESTORE_EXTENDED:
        restore(&m->row, &m->first, number);
        return true;
    case UNDEFINED:
        set_saved(&m->row, number, SAVED_NOWHERE, 0, none);
        return true;
    case SAME_VALUE:
        set_saved(&m->row, number, SAVED_NOT, 0, none);
        return true;
    case EXPRESSION:
        set_saved(&m->row, number, SAVED_BY_EXPRESSION, 0, read_expression(r));
        return true;
    case REGISTER:
    case VAL_OFFSET:
        read_uleb(r);
        break;
    case VAL_OFFSET_SF:
        read_sleb(r);
        break;
    case VAL_EXPRESSION:
        read_expression(r);
        break;
    default:
        return false;
    }
    set_saved(&m->row, number, SAVED_OTHERWISE, 0, none);
    return true;
}

/* Instructions that say where the frame is. False: it is none that is known. */
static bool run_cfa(struct machine *m, struct reader *r, uint8_t code)
{
    const int64_t factor = m->d->data_factor;
    switch (code) {
    case DEF_CFA:
        set_cfa_register(&m->row, read_uleb(r));
        m->row.cfa_offset = (int64_t)read_uleb(r);
        return true;
    case DEF_CFA_SF:
        set_cfa_register(&m->row, read_uleb(r));
        m->row.cfa_offset = factored((uint64_t)read_sleb(r), factor);
        return true;
    case DEF_CFA_REGISTER:
        set_cfa_register(&m->row, read_uleb(r));
        return true;
    case DEF_CFA_OFFSET:
        m->row.cfa_offset = (int64_t)read_uleb(r);
        return true;
    case DEF_CFA_OFFSET_SF:
        m->row.cfa_offset = factored((uint64_t)read_sleb(r), factor);
        return true;
    case DEF_CFA_EXPRESSION:
        m->row.cfa = CFA_BY_EXPRESSION;
        m->row.cfa_expression = read_expression(r);
        return true;
    case REMEMBER:
        if (m->depth == MOST_REMEMBERED) return false;
        m->remembered[m->depth++] = m->row;
        return true;
    case RECALL:
        if (!m->depth) return false;
        m->row = m->remembered[--m->depth];
        return true;
    case ARGS_SIZE:
        read_uleb(r);
        return true;
    case NOP:
        return true;
    default:
        return false;
    }
}

static bool is_saved(uint8_t code)
{
    return (code >= OFFSET_EXTENDED && code <= REGISTER) || code == EXPRESSION || code == OFFSET_EXTENDED_SF ||
           (code >= VAL_OFFSET && code <= VAL_EXPRESSION) || code == NEGATIVE_OFFSET;
}

/* How far an instruction advances the place; 0: it is another one. */
static uint64_t advance_of(const struct machine *m, struct reader *r, uint8_t code)
{
    uint64_t units = 0;
    if ((code & RESTORE) == ADVANCE) units = code & 0x3f;
    if (code == ADVANCE_1) units = read_fixed(r, 1);
    if (code == ADVANCE_2) units = read_fixed(r, 2);
    if (code == ADVANCE_4) units = read_fixed(r, 4);
    return units * m->d->code_factor;
}

/* Instructions until the row of `pc`. False: some are not understood. */
static bool run(struct machine *m, struct reader r, uint64_t pc)
{
    static const struct expression none;
    while (r.at < r.end && !r.bad) {
        uint8_t code = (uint8_t)read_fixed(&r, 1), short_form = code & RESTORE;
        uint64_t number = code & 0x3f;
        if (short_form == ADVANCE || (code >= ADVANCE_1 && code <= ADVANCE_4)) {
            m->at += advance_of(m, &r, code);
            if (m->at > pc) return !r.bad;
        } else if (code == SET_LOC) {
            m->at = read_pointer(&r, m->d->pointers, 0);
            if (m->at > pc) return !r.bad;
        } else if (short_form == OFFSET) {
            set_saved(&m->row, number, SAVED_AT, factored(read_uleb(&r), m->d->data_factor), none);
        } else if (short_form == RESTORE) {
            restore(&m->row, &m->first, number);
        } else if (!(is_saved(code) ? run_saved(m, &r, code) : run_cfa(m, &r, code))) {
            return false;
        }
    }
    return !r.bad;
}

static bool fits(int64_t offset)
{
    return offset == (int32_t)offset;
}

struct frame_rule frame_rule(const struct module *module, uint64_t pc)
{
    struct frame_rule none = {.cfa = CFA_NOT_KNOWN};
    struct description d = {.pointers = POINTER_ABSOLUTE};
    const uint8_t *at = find_description(module, pc);
    if (!at || !read_description(module, at, &d) || pc < d.code_begin || pc >= d.code_end) return none;
    if (d.return_register != REGISTER_RA) return none;
    struct machine m = {.d = &d, .at = d.code_begin, .row.ra.how = SAVED_OTHERWISE};
    if (!run(&m, d.common, UINT64_MAX)) return none;
    m.first = m.row;
    m.at = d.code_begin;
    if (!run(&m, d.own, pc)) return none;
    if (!fits(m.row.cfa_offset) || !fits(m.row.fp.offset) || !fits(m.row.ra.offset)) return none;
    return (struct frame_rule){
        .cfa = m.row.cfa,
        .fp = m.row.fp.how,
        .ra = m.row.ra.how,
        .interrupted = d.interrupted,
        .cfa_offset = (int32_t)m.row.cfa_offset,
        .fp_offset = (int32_t)m.row.fp.offset,
        .ra_offset = (int32_t)m.row.ra.offset,
        .cfa_expression = m.row.cfa_expression,
        .fp_expression = m.row.fp.expression,
        .ra_expression = m.row.ra.expression,
    };
}
