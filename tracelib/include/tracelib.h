/* Regions and events of a C or C++ program in its trace.
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

/* What libtrace.so offers under the name "tracelib_functions". It only ever grows at its end. */
struct tracelib_functions {
    size_t bytes; /* of this struct as the library knows it */
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

/* With glibc before 2.34 dlsym is in libdl: a program without it links all the same, and is not traced. A weak
 * reference to the library's own symbols would not do, it is always NULL in programs linked with -no-pie. */
#pragma weak dlsym

/* The library, if it is loaded into this process, else NULL. */
static inline const struct tracelib_functions *tracelib_library(void)
{
    static const struct tracelib_functions absent = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct tracelib_functions *known;
    const struct tracelib_functions *f = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
    if (!f) {
        void *everywhere = 0; /* RTLD_DEFAULT, which not all settings of the compiler define */
        f = dlsym ? (const struct tracelib_functions *)dlsym(everywhere, "tracelib_functions") : 0;
        if (!f || f->bytes < sizeof *f) f = &absent;
        __atomic_store_n(&known, f, __ATOMIC_RELEASE);
    }
    return f->bytes ? f : 0;
}

static inline size_t tracelib_length(const char *name)
{
    return name ? strlen(name) : 0;
}

/* A region of the program begins, on this thread. Regions nest. */
static inline void tracelib_region_begin(const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_begin(name, tracelib_length(name));
}

/* It ends; NULL ends the innermost one. Regions inside it that were left open end with it. */
static inline void tracelib_region_end(const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_end(name, tracelib_length(name));
}

/* What the innermost region is working on: a size, a number of iterations, ... */
static inline void tracelib_region_parameter(const char *name, double value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parameter(name, tracelib_length(name), value);
}

static inline void tracelib_region_parameter_integer(const char *name, long long value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parameter_integer(name, tracelib_length(name), value);
}

/* What if the innermost region ran on so many threads? Its computation stands for theirs together. */
static inline void tracelib_region_parallel(long long threads)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->region_parallel(threads);
}

/* An event at this moment, as Paraver shows it. Types from 40000000 to 69999999 belong to the tracer. */
static inline void tracelib_event(unsigned type, long long value)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->event(type, value);
}

/* What the events of a type are, and what one of their values means. */
static inline void tracelib_label_type(unsigned type, const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->label_type(type, name, tracelib_length(name));
}

static inline void tracelib_label_value(unsigned type, long long value, const char *name)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->label_value(type, value, name, tracelib_length(name));
}

/* No calls of this process are recorded from here on, of no thread; messages are counted, so that the later ones find
 * their partners. Regions and events are recorded all the time. */
static inline void tracelib_pause(void)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->pause();
}

/* They are again. */
static inline void tracelib_resume(void)
{
    const struct tracelib_functions *f = tracelib_library();
    if (f) f->resume();
}

#ifdef __cplusplus
}
#endif

#endif
