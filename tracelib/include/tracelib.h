/* Functions by which a C or C++ program names its regions and records events in its trace.
 *
 *     #include <tracelib.h>                   cc -I $(tracelib lib --include) app.c
 *
 *     tracelib_region_begin("solve");
 *     tracelib_region_parameter("n", n);
 *     ...
 *     tracelib_region_end("solve");
 *
 * There is nothing to link. Where libtrace.so is not loaded the functions do nothing, in 1 or 2 ns. They may be called
 * by any thread, before MPI_Init, after MPI_Finalize and without MPI, but not by a signal handler.
 * docs/regions.md says more. */
#ifndef TRACELIB_H
#define TRACELIB_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Table of functions that libtrace.so exports as "tracelib_functions". New versions only add members at its end. */
struct tracelib_functions {
    size_t bytes; /* size of this struct in the loaded library */
    void (*region_begin)(const char *name, size_t length);
    void (*region_end)(const char *name, size_t length);
    void (*region_parameter)(const char *name, size_t length, double value);
    void (*region_parameter_integer)(const char *name, size_t length, long long value);
    void (*region_parallel)(long long threads);
    void (*event)(unsigned type, long long value);
    void (*label_type)(unsigned type, const char *name, size_t length);
    void (*label_value)(unsigned type, long long value, const char *name, size_t length);
    void (*pause)(void);
    void (*resume)(void);
};

/* With glibc before 2.34 dlsym is in libdl. The weak reference lets a program link without libdl; such a program is not
 * traced. A weak reference to the library's own symbols does not work: it is NULL in programs linked with -no-pie. */
#pragma weak dlsym

/* Return the functions of the library; NULL if this process has not loaded it, or has loaded an older one that lacks
 * some of them. The first call looks them up, later calls return the same answer. Any thread. */
static inline const struct tracelib_functions *tracelib_library(void)
{
    static const struct tracelib_functions absent = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct tracelib_functions *known;
    const struct tracelib_functions *f = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
    if (!f) {
        void *everywhere = 0; /* RTLD_DEFAULT; the macro is not defined in strict C */
        f = dlsym ? (const struct tracelib_functions *)dlsym(everywhere, "tracelib_functions") : 0;
        if (!f || f->bytes < sizeof *f) f = &absent;
        __atomic_store_n(&known, f, __ATOMIC_RELEASE);
    }
    return f->bytes ? f : 0;
}

/* Return the length of a name in bytes; 0 for NULL. */
static inline size_t tracelib_length(const char *name)
{
    return name ? strlen(name) : 0;
}

/* Begin a region on this thread. Regions nest. The name is copied. */
static inline void tracelib_region_begin(const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_begin(name, tracelib_length(name));
}

/* End the region of this name on this thread; NULL ends the innermost region. Open regions inside it end, too. */
static inline void tracelib_region_end(const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_end(name, tracelib_length(name));
}

/* Record a parameter of this thread's innermost region: a size, a number of iterations, ... */
static inline void tracelib_region_parameter(const char *name, double value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parameter(name, tracelib_length(name), value);
}

/* As tracelib_region_parameter, for a whole number. */
static inline void tracelib_region_parameter_integer(const char *name, long long value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parameter_integer(name, tracelib_length(name), value);
}

/* Declare that the computation of the innermost region stands for the work of this number of threads together. A replay
 * then shows how long the region takes on as many threads. */
static inline void tracelib_region_parallel(long long threads)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parallel(threads);
}

/* Record an event of this thread at this moment, as Paraver shows it. Types from 40000000 to 69999999 belong to the
 * tracer. */
static inline void tracelib_event(unsigned type, long long value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->event(type, value);
}

/* Give the events of a type a name. */
static inline void tracelib_label_type(unsigned type, const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->label_type(type, name, tracelib_length(name));
}

/* Give one value of the events of a type a name. */
static inline void tracelib_label_value(unsigned type, long long value, const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->label_value(type, value, name, tracelib_length(name));
}

/* Stop recording the calls of this process, in all threads. Messages are still counted, so that later messages find
 * their partners. Regions and events are recorded all the time. */
static inline void tracelib_pause(void)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->pause();
}

/* Record the calls of this process again, after tracelib_pause. */
static inline void tracelib_resume(void)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->resume();
}

#ifdef __cplusplus
}
#endif

#endif
