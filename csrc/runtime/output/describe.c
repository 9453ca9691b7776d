#define _GNU_SOURCE
#include "output/describe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/clock.h"
#include "common/tasks.h"
#include "mpi/abi.h"
#include "mpi/pmpi.h"
#include "output/job.h"
#include "record/spool.h"

static void read_file_line(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static void describe_command(char *text, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    if (n < 0) n = 0;
    for (ssize_t i = 0; i + 1 < n; i++)
        if (text[i] == '\0') text[i] = ' ';
    text[n] = '\0';
}

/* Empty without MPI. */
static void describe_library(char *text)
{
    int length = 0;
    if (pmpi.Get_library_version) pmpi.Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
}

/* Ranks that spawned this process; 0: none did. */
static uint64_t parent_size(void)
{
    word parent = 0;
    int size = 0;
    if (pmpi.Comm_get_parent && pmpi.Comm_get_parent(&parent) == 0 && pmpi_handle(&parent) != abi.comm_null)
        pmpi.Comm_remote_size(pmpi_handle(&parent), &size);
    return (uint64_t)size;
}

void describe_process(struct store *s, struct identity who)
{
    char text[ROOM_MAX + 8] = "", library[8192] = ""; /* larger than any MPI_MAX_LIBRARY_VERSION_STRING */
    struct stat time_namespace = {.st_ino = 0};
    stat("/proc/self/ns/time", &time_namespace);
    store_put_integer(s, AT_RANK, (uint64_t)who.rank);
    store_put_integer(s, AT_SIZE, (uint64_t)who.size);
    store_put_integer(s, AT_PID, (uint64_t)getpid());
    store_put_integer(s, AT_TIME_NAMESPACE, time_namespace.st_ino);
    store_put_integer(s, AT_START_TICKS, who.start_ticks);
    store_put_integer(s, AT_START_REALTIME_NS, (uint64_t)who.start_realtime_ns);
    store_put_integer(s, AT_TICKS_ARE_TSC, clock_is_tsc);
    store_put_integer(s, AT_THREAD_LEVEL, abi_thread_level(who.thread_level));
    store_put_integer(s, AT_BUFFER_BYTES, who.buffer_bytes);
    gethostname(text, ROOM_HOST);
    store_put_text(s, AT_HOST, ROOM_HOST, text);
    read_file_line("/proc/sys/kernel/random/boot_id", text, ROOM_BOOT_ID);
    store_put_text(s, AT_BOOT_ID, ROOM_BOOT_ID, text);
    describe_library(library);
    store_put_text(s, AT_MPI_LIBRARY, ROOM_MPI_LIBRARY, library);
    describe_command(text, ROOM_COMMAND);
    store_put_text(s, AT_COMMAND, ROOM_COMMAND, text);
    task_cpus(0, text, ROOM_CPUS);
    store_put_text(s, AT_CPUS, ROOM_CPUS, text);
    store_put_text(s, AT_JOB, ROOM_JOB, job_key(text) ? text : "");
    store_put_integer(s, AT_PARENT_SIZE, who.has_world ? parent_size() : 0);
    store_put_text(s, AT_SPOOL, ROOM_SPOOL, spool_prefix());
}
