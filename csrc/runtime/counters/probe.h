/* Questions of `tracelib counters` to the library, which it loads into a process of its own: which counters there are,
 * whether one counts here, and what a reading costs (csrc/build_functions.py shows this to Python). */
#ifndef PROBE_H
#define PROBE_H

struct tracelib_probe {
    const char *trouble; /* why it does not count here; NULL: it counts */
    unsigned backend;    /* enum counterbackend: what reads it */
    unsigned type;       /* Paraver event type; 0: there is no such counter */
    double reading_ns;   /* a reading among many, one after the other */
    double rested_ns;    /* a reading after a millisecond of something else */
};

struct tracelib_probes {
    const char *(*name)(unsigned i); /* of the counters that need no library; NULL behind the last */
    void (*counter)(const char *name, struct tracelib_probe *found);
};

extern const struct tracelib_probes tracelib_probes;

#endif
