/* From a call of MPI outwards through the frames of its thread: where each was called, and all that was read to find
 * that out. */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_FRAMES = 256, MOST_WORDS = 768 };

enum walk_end {
    WALK_WHOLE, /* the outermost frame is among them */
    WALK_CUT,   /* there may be more than were wanted */
    WALK_LOST,  /* the next one is not known */
};

/* A word of the stack. */
struct word {
    uint64_t at, value;
};

/* The lower part of a stack, as it was. */
struct stack_copy {
    uint64_t at, bytes;
    const char *memory;
};

/* Walking is a function of where it begins and of what it reads. So it gives the same again as long as `place`, `sp`
 * and `words` are as they were. Return addresses alone would not do: one that is left over in a room of variable size
 * may stand where a live one stood before. */
struct walk {
    uint64_t place, sp; /* where it begins: return address of the call, and the caller's stack pointer */
    uint64_t fp_at;     /* where the caller's frame pointer lies; 0: it is `fp` */
    uint64_t fp;
    bool interrupted;              /* `place` is where the thread was interrupted, and not behind a call */
    const struct stack_copy *copy; /* words are read from here; NULL: from the stack itself */
    enum walk_end end;
    unsigned frames, words;
    uint64_t places[MOST_FRAMES];       /* return addresses, innermost first */
    bool exact[MOST_FRAMES];            /* the place was interrupted, and is not behind a call */
    unsigned words_before[MOST_FRAMES]; /* number of words that were read to find it */
    struct word word[MOST_WORDS];
};

/* Find at most `most` frames; what stands before `end` is given. Under the lock of places.c. */
void walk_stack(struct walk *w, unsigned most);

/* Can the word be read? `page`: one that was found to be there, 0 at first. */
bool memory_is_there(uint64_t at, uint64_t *page);

/* Rules that are remembered are of modules that may be gone. */
void walk_forget(void);

#endif
