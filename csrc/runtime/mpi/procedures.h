/* Class and roles of a procedure by its number in the file's `procedures`. The tables are generated with the wrappers,
 * and the enumerations `call_class` and `call_role` in call_classes.h, from tracelib/schema/procedures.toml.
 *
 * Constant: any thread and any signal handler may read them. */
#ifndef PROCEDURES_H
#define PROCEDURES_H

#include <stdint.h>

#include "call_classes.h"

/* `enum call_class` and bits of `enum call_role`, both of length call_count. */
extern const uint8_t call_class[], call_role[];
extern const uint32_t call_count;

#endif
