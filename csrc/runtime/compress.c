#include "compress.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "settings.h"

typedef int compress2_function(unsigned char *to, unsigned long *to_bytes, const unsigned char *from,
                               unsigned long from_bytes, int level);

static compress2_function *compress2;
static int level;

/* Never linked: a program without zlib stays one, and one with a zlib of its own keeps that. */
static bool find_zlib(void)
{
    void *zlib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (zlib) *(void **)&compress2 = dlsym(zlib, "compress2");
    return compress2 != NULL;
}

bool compress_start(void)
{
    const char *wanted = getenv("TRACELIB_COMPRESS");
    if (!wanted || !wanted[0] || strcmp(wanted, "0") == 0) return false;
    if (wanted[1] || wanted[0] < '1' || wanted[0] > '9') {
        setting_trouble("TRACELIB_COMPRESS=%s is not a level from 1 (fast) to 9 (small), or 0; not compressing",
                        wanted);
        return false;
    }
    level = wanted[0] - '0';
    if (find_zlib()) return true;
    say("TRACELIB_COMPRESS: no libz.so.1 on this node; not compressing (analyze pack does it afterwards)");
    return false;
}

/* HDF5's shuffle: the first bytes of all rows, then the second ones, ... */
static void shuffle(const unsigned char *rows, uint64_t n, uint32_t row_bytes, unsigned char *out)
{
    for (uint32_t byte = 0; byte < row_bytes; byte++)
        for (uint64_t row = 0; row < n; row++) *out++ = rows[row * row_bytes + byte];
}

uint64_t compress_chunk(const void *rows, uint64_t n, uint32_t row_bytes, const void **out)
{
    static unsigned char *memory;
    static uint64_t room;
    uint64_t bytes = n * row_bytes;
    if (room < 2 * bytes) {
        free(memory);
        memory = malloc(2 * bytes);
        room = memory ? 2 * bytes : 0;
        if (!memory) return 0;
    }
    unsigned long compressed = bytes - 1; /* zlib refuses when it needs more */
    shuffle(rows, n, row_bytes, memory);
    *out = memory + bytes;
    return compress2(memory + bytes, &compressed, memory, bytes, level) == 0 ? compressed : 0;
}
