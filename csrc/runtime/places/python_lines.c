#include "places/internal/python_lines.h"

#include <stdbool.h>

enum { UNIT = 2, NO_LINE = -128 };

/* co_lnotab, up to 3.9: pairs of steps, of the offset and then of the line (signed). */
static int64_t line_of_steps(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
    int64_t at = 0;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        at += table[i];
        if (at > offset) break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

/* co_linetable of 3.10: pairs of the length of a range, and the step of the line (signed) to it. */
static int64_t line_of_ranges(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
    int64_t end = 0;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        int8_t step = (int8_t)table[i + 1];
        end += table[i];
        if (step != NO_LINE) line += step;
        if (offset < end) return step == NO_LINE ? 0 : line;
    }
    return 0;
}

/* Entries of co_linetable from 3.11 on: a byte with bit 7 set, which has the kind (4 bits) and length less one in units
 * (3 bits); and bytes without that bit: the step of the line first, where there is one, and columns. */
enum location { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG_FORM = 14, NOWHERE = 15 };

/* A signed number in groups of 6 bits, the lowest first, bit 6 saying that more follow; its lowest bit is the sign. */
static int64_t signed_number(const uint8_t *table, size_t bytes, size_t at)
{
    uint64_t number = 0;
    for (unsigned shift = 0; at < bytes && shift < 36; shift += 6) {
        uint8_t byte = table[at++];
        number |= (uint64_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40)) break;
    }
    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

static int64_t line_of_locations(const uint8_t *table, size_t bytes, int64_t line, int64_t offset)
{
    int64_t end = 0;
    for (size_t i = 0; i < bytes;) {
        unsigned kind = table[i] >> 3 & 15;
        end += ((table[i] & 7) + 1) * UNIT;
        if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2) line += kind - ONE_LINE_0;
        if (kind == NO_COLUMNS || kind == LONG_FORM) line += signed_number(table, bytes, i + 1);
        if (offset < end) return kind == NOWHERE ? 0 : line;
        do i++;
        while (i < bytes && !(table[i] & 0x80));
    }
    return 0;
}

uint32_t python_line(unsigned minor, const uint8_t *table, size_t bytes, int32_t first, int64_t offset)
{
    int64_t line = first;
    if (offset >= 0) {
        if (minor < 10)
            line = line_of_steps(table, bytes, first, offset);
        else
            line = (minor == 10 ? line_of_ranges : line_of_locations)(table, bytes, first, offset);
    }
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
