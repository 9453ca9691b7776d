/* Expressions of DWARF (version 5, section 2.5), as far as they find frames and saved registers. */
#include "places/internal/dwarf.h"
#include "places/internal/frame_rule.h"

#if defined(__x86_64__)
enum { REGISTER_FP = 6, REGISTER_SP = 7 };
#else /* numbers that no register has */
enum { REGISTER_FP = 10001, REGISTER_SP };
#endif

enum {
    ADDR = 0x03,
    DEREF = 0x06,
    CONST_1U = 0x08,
    CONST_1S,
    CONST_2U,
    CONST_2S,
    CONST_4U,
    CONST_4S,
    CONST_8U,
    CONST_8S,
    CONST_U,
    CONST_S,
    DUP,
    DROP,
    OVER,
    SWAP = 0x16,
    AND = 0x1a,
    MINUS = 0x1c,
    MUL = 0x1e,
    NEG,
    NOT,
    OR,
    PLUS,
    PLUS_CONST,
    SHL,
    SHR,
    SHRA,
    XOR,
    EQ = 0x29,
    GE,
    GT,
    LE,
    LT,
    NE,
    LIT_0 = 0x30,
    LIT_31 = 0x4f,
    BREG_0 = 0x70,
    BREG_31 = 0x8f,
    NOP = 0x96,
};
enum { MOST_VALUES = 32 };

struct stack {
    uint64_t values[MOST_VALUES];
    unsigned depth;
    bool bad;
};

static void push_operand(struct stack *s, uint64_t value)
{
    if (s->depth == MOST_VALUES)
        s->bad = true;
    else
        s->values[s->depth++] = value;
}

static uint64_t pop(struct stack *s)
{
    if (s->depth) return s->values[--s->depth];
    s->bad = true;
    return 0;
}

static uint64_t read_constant(struct reader *r, uint8_t code)
{
    if (code == CONST_U) return read_uleb(r);
    if (code == CONST_S) return (uint64_t)read_sleb(r);
    if (code == ADDR) return read_fixed(r, 8);
    unsigned bytes = 1U << ((code - CONST_1U) / 2);
    return (code - CONST_1U) % 2 ? (uint64_t)read_signed(r, bytes) : read_fixed(r, bytes);
}

/* Operators of two values, of which `b` is the upper one. */
static bool combine(uint8_t code, uint64_t a, uint64_t b, uint64_t *value)
{
    int64_t x = (int64_t)a, y = (int64_t)b;
    switch (code) {
    case AND:
        *value = a & b;
        return true;
    case MINUS:
        *value = a - b;
        return true;
    case MUL:
        *value = a * b;
        return true;
    case OR:
        *value = a | b;
        return true;
    case PLUS:
        *value = a + b;
        return true;
    case SHL:
        *value = b < 64 ? a << b : 0;
        return true;
    case SHR:
        *value = b < 64 ? a >> b : 0;
        return true;
    case SHRA:
        *value = (uint64_t)(x >> (b < 64 ? b : 63));
        return true;
    case XOR:
        *value = a ^ b;
        return true;
    case EQ:
        *value = x == y;
        return true;
    case GE:
        *value = x >= y;
        return true;
    case GT:
        *value = x > y;
        return true;
    case LE:
        *value = x <= y;
        return true;
    case LT:
        *value = x < y;
        return true;
    case NE:
        *value = x != y;
        return true;
    default:
        return false;
    }
}

static void arrange(struct stack *s, uint8_t code)
{
    uint64_t upper = pop(s), lower;
    switch (code) {
    case DUP:
        push_operand(s, upper);
        push_operand(s, upper);
        break;
    case DROP:
        break;
    case NEG:
        push_operand(s, -upper);
        break;
    case NOT:
        push_operand(s, ~upper);
        break;
    case OVER:
        lower = pop(s);
        push_operand(s, lower);
        push_operand(s, upper);
        push_operand(s, lower);
        break;
    case SWAP:
        lower = pop(s);
        push_operand(s, upper);
        push_operand(s, lower);
        break;
    default:
        lower = pop(s);
        s->bad |= !combine(code, lower, upper, &lower);
        push_operand(s, lower);
    }
}

bool expression_value(const struct expression *e, uint64_t sp, uint64_t fp, const uint64_t *start,
                      bool (*read)(void *context, uint64_t at, uint64_t *word), void *context, uint64_t *value)
{
    struct reader r = {e->code, e->code + e->bytes, false};
    struct stack s = {.depth = 0};
    if (start) push_operand(&s, *start);
    while (r.at < r.end && !r.bad && !s.bad) {
        uint8_t code = (uint8_t)read_fixed(&r, 1);
        uint64_t word;
        if (code >= LIT_0 && code <= LIT_31) {
            push_operand(&s, code - LIT_0);
        } else if (code >= BREG_0 && code <= BREG_31) {
            int number = code - BREG_0;
            if (number != REGISTER_FP && number != REGISTER_SP) return false;
            push_operand(&s, (number == REGISTER_FP ? fp : sp) + (uint64_t)read_sleb(&r));
        } else if (code == ADDR || (code >= CONST_1U && code <= CONST_S)) {
            push_operand(&s, read_constant(&r, code));
        } else if (code == PLUS_CONST) {
            push_operand(&s, pop(&s) + read_uleb(&r));
        } else if (code == DEREF) {
            if (!read(context, pop(&s), &word)) return false;
            push_operand(&s, word);
        } else if (code != NOP) {
            arrange(&s, code);
        }
    }
    *value = pop(&s);
    return !r.bad && !s.bad;
}
