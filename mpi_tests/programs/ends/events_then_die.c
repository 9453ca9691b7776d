// A program without MPI that records for ever, counting what it has recorded in a file that it maps shared, so that the
// count outlives a SIGKILL: an event that the file says was recorded must be in the trace.

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <tracelib.h>
#include <unistd.h>

struct progress {
    volatile uint64_t pid, completed;
};

int main(void)
{
    int fd = open("progress-0", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct progress)) != 0) return 4;
    struct progress *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    progress->pid = (uint64_t)getpid();
    for (int i = 0;; i++) {
        tracelib_region_begin(i % 2 ? "odd" : "even");
        progress->completed++;
        tracelib_event(1000, i);
        progress->completed++;
        tracelib_region_end(NULL);
        progress->completed++;
    }
}
