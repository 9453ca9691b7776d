#include "record/compress.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "common/settings.h"
#include "common/user_message.h"

/* zlib's interface, as it has been since version 1.2.5. */
struct deflate_stream {
    const unsigned char *next_in;
    unsigned available_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned available_out;
    unsigned long total_out;
    const char *message;
    void *state, *allocate, *release, *opaque;
    int data_type;
    unsigned long adler, reserved;
};
enum flush { NO_FLUSH = 0, FINISH = 4, END_BLOCK = 5 };
enum { STREAM_END = 1 };

static struct {
    int (*start)(struct deflate_stream *z, int level, const char *version, int stream_bytes);
    int (*run)(struct deflate_stream *z, int flush);
    int (*reset)(struct deflate_stream *z);
} zlib;
static struct deflate_stream stream;

/* Never linked: a program without zlib stays one, and one with a zlib of its own keeps that. */
static bool find_zlib(int level)
{
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    *(void **)&zlib.start = dlsym(library, "deflateInit_");
    *(void **)&zlib.run = dlsym(library, "deflate");
    *(void **)&zlib.reset = dlsym(library, "deflateReset");
    return zlib.start && zlib.run && zlib.reset && zlib.start(&stream, level, "1", sizeof stream) == 0;
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
    if (find_zlib(wanted[0] - '0')) return true;
    say("TRACELIB_COMPRESS: no libz.so.1 on this node; not compressing (analyze pack does it afterwards)");
    return false;
}

/* HDF5's shuffle: the first bytes of all rows, then the second ones, ... */
static void shuffle(const unsigned char *rows, uint64_t n, uint32_t row_bytes, unsigned char *out)
{
    for (uint32_t byte = 0; byte < row_bytes; byte++)
        for (uint64_t row = 0; row < n; row++) *out++ = rows[row * row_bytes + byte];
}

/* Does it differ from byte to byte, as the lower bytes of times do? */
static bool is_noise(const unsigned char *bytes, uint64_t n)
{
    uint64_t repeated = 0;
    for (uint64_t i = 1; i < n; i++) repeated += bytes[i] == bytes[i - 1];
    return 2 * repeated < n;
}

static bool put_compressed(const unsigned char *bytes, uint64_t n, enum flush flush)
{
    stream.next_in = bytes;
    stream.available_in = (unsigned)n;
    int result = zlib.run(&stream, flush);
    return flush == FINISH ? result == STREAM_END : result == 0 && stream.available_out;
}

/* Noise has blocks of its own, and so codes of its own: those of bytes that are mostly alike stay short. */
static bool deflate_columns(const unsigned char *columns, uint64_t n, uint32_t row_bytes)
{
    bool next = is_noise(columns, n), done = true;
    for (uint32_t left = row_bytes; done && left; left--, columns += n) {
        bool noise = next;
        next = left > 1 && is_noise(columns + n, n);
        done = put_compressed(columns, n, left == 1 ? FINISH : noise || next ? END_BLOCK : NO_FLUSH);
    }
    return done;
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
    shuffle(rows, n, row_bytes, memory);
    *out = stream.next_out = memory + bytes;
    stream.available_out = (unsigned)bytes - 1; /* if it needs more it is not worth it */
    if (zlib.reset(&stream) || !deflate_columns(memory, n, row_bytes)) return 0;
    return (uint64_t)(stream.next_out - (memory + bytes));
}
