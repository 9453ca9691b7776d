/* How the caller's frame is found from a place in the code, as .eh_frame says (DWARF 5, section 6.4; the Linux Standard
 * Base's .eh_frame_hdr).
 *
 * Registers that compilers find frames by are the stack pointer and the frame pointer. A rule that needs another one is
 * none. */
#ifndef FRAME_RULE_H
#define FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "places/internal/modules.h"

/* How the canonical frame address is found. */
enum cfa { CFA_NOT_KNOWN, CFA_FROM_SP, CFA_FROM_FP, CFA_BY_EXPRESSION };

/* Where the caller's value of a register is. */
enum saved {
    SAVED_NOT,           /* it is as it is here */
    SAVED_AT,            /* in memory at the canonical frame address and an offset */
    SAVED_BY_EXPRESSION, /* in memory at the address that an expression gives */
    SAVED_NOWHERE,       /* undefined: of the return address, this is the outermost frame */
    SAVED_OTHERWISE,     /* in a way that is not read */
};

struct expression {
    const uint8_t *code;
    uint32_t bytes;
};

struct frame_rule {
    enum cfa cfa;
    enum saved fp, ra;
    bool interrupted; /* the frame below is a signal handler's: the caller's place is not behind a call */
    int32_t cfa_offset, fp_offset, ra_offset;
    struct expression cfa_expression, fp_expression, ra_expression;
};

/* The rule of the place `pc` in a module. cfa CFA_NOT_KNOWN: none that can be followed. */
struct frame_rule frame_rule(const struct module *m, uint64_t pc);

/* Compute the value of an expression from the stack pointer and the frame pointer; `start`: the value that it begins
 * with, if not NULL. `read` takes a word of memory. False: it cannot be evaluated. */
bool expression_value(const struct expression *e, uint64_t sp, uint64_t fp, const uint64_t *start,
                      bool (*read)(void *context, uint64_t at, uint64_t *word), void *context, uint64_t *value);

#endif
