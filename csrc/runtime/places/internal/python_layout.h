/* Where CPython keeps what is read of it, by its version. */
#ifndef PYTHON_LAYOUT_H
#define PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum python_instruction {
    INSTRUCTION_BYTE, /* an int: bytes into the code */
    INSTRUCTION_UNIT, /* an int: units of two bytes */
    INSTRUCTION_AT,   /* its address */
};

/* Offsets in bytes, from the beginning of what they are in. */
struct python_layout {
    unsigned minor; /* 3.minor */
    struct {
        uint32_t id;     /* as pthread_self says it */
        uint32_t frame;  /* of the innermost frame ... */
        bool indirect;   /* ... or of the C frame that knows it, */
        uint32_t inside; /* at this offset */
    } thread;
    struct {
        uint32_t code, previous, instruction, owner;
        uint8_t owned_by_c; /* an owner from this one on; 0: frames have no owner */
        uintptr_t tag;      /* bits of `code` that are not the pointer's */
        enum python_instruction kind;
    } frame;
    struct {
        uint32_t file, function, first_line, lines;
        uint32_t traceable;    /* the first instruction, in units, that Python shows; 0: it shows all */
        uint32_t instructions; /* the code itself; INSTRUCTION_AT only: how many units of it are the object's size */
        uint32_t version;      /* a number that no other code object has; 0: it has none */
    } code;
    struct {
        uint32_t type, size;
    } object;
    struct {
        uint32_t length, state, ascii, wide; /* the last two: the characters, where all are ASCII, and otherwise */
    } text;
    uint32_t bytes; /* of a bytes object: what is in it */
    uint32_t type_flags;
};

/* The least version, whose types lie as in all others that publish nothing. */
enum { PYTHON_FIRST_MINOR = 9 };

/* Which 3.minor publishes its offsets at its datum _PyRuntime (NULL: it has none), as from 3.13 on; 0: none does. */
unsigned python_layout_published(const void *runtime);

/* As the version says, or what is published. False: that version is not known, or what it publishes makes no sense. */
bool python_layout_find(struct python_layout *layout, unsigned minor, const void *runtime);

#endif
