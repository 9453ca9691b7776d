#define _GNU_SOURCE
#define LINKS_TEMPLATE /* this file alone takes the template of run.h5 */
#include "output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "links.h"
#include "output/job.h"

enum { MOST_NAMES = 1000000, LONGEST_WAIT_MS = 1000 };

static int join_stem(char out[PATH_MAX], const char *stem, const char *suffix)
{
    return snprintf(out, PATH_MAX, "%s%s", stem, suffix) < PATH_MAX ? 0 : ENAMETOOLONG;
}

static int absolute_stem(const char *wanted, char stem[PATH_MAX])
{
    char here[PATH_MAX] = "";
    if (wanted[0] != '/' && !getcwd(here, sizeof here)) return errno;
    int n = snprintf(stem, PATH_MAX, "%s%s%s", here, wanted[0] == '/' ? "" : "/", wanted);
    if (n >= PATH_MAX - 32) return ENAMETOOLONG;
    if (n > 3 && strcmp(stem + n - 3, ".h5") == 0) stem[n - 3] = '\0';
    if (stem[strlen(stem) - 1] == '/') strcat(stem, "run"); /* a directory, or no name but the suffix */
    return 0;
}

/* NAME, NAME-2, ... */
static int numbered_stem(const char *first, int i, char stem[PATH_MAX])
{
    if (i == 1) return join_stem(stem, first, "");
    return snprintf(stem, PATH_MAX, "%s-%d", first, i) < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* 0: reserved, EEXIST: taken, or another errno. */
static int try_name(const char *stem)
{
    char path[PATH_MAX];
    int error = join_stem(path, stem, ".h5");
    if (error || access(path, F_OK) == 0) return error ? error : EEXIST;
    if ((error = join_stem(path, stem, ".ranks"))) return error;
    return mkdir(path, 0755) ? errno : 0;
}

int output_reserve(const char *wanted, char stem[PATH_MAX])
{
    char first[PATH_MAX];
    int error = absolute_stem(wanted && wanted[0] ? wanted : "run.h5", first);
    for (int i = 1; !error && i < MOST_NAMES; i++) {
        error = numbered_stem(first, i, stem);
        if (!error) error = try_name(stem);
        if (error != EEXIST) return error;
        error = 0;
    }
    return error ? error : EEXIST;
}

/* A file system may take less at a time than it is given. */
static int write_file(const char *path, const char *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), error = fd < 0 ? errno : 0;
    while (!error && bytes) {
        ssize_t done = write(fd, data, bytes);
        if (done > 0) {
            data += done;
            bytes -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            error = done ? errno : ENOSPC;
        }
    }
    if (fd >= 0 && close(fd) && !error) error = errno;
    return error;
}

static int write_job(const char *stem, const char *job)
{
    char path[PATH_MAX];
    int error = join_stem(path, stem, ".ranks/job");
    return error ? error : write_file(path, job, strlen(job));
}

/* Empty where nothing is said. */
static void read_job(const char *stem, char job[JOB_KEY_ROOM])
{
    char path[PATH_MAX];
    int fd = join_stem(path, stem, ".ranks/job") ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, job, JOB_KEY_ROOM - 1);
    if (fd >= 0) close(fd);
    job[n < 0 ? 0 : n] = '\0';
}

static bool has_ranks(const char *stem)
{
    char path[PATH_MAX];
    bool found = false;
    DIR *folder = join_stem(path, stem, ".ranks") ? NULL : opendir(path);
    for (struct dirent *e; folder && !found && (e = readdir(folder));)
        found = e->d_name[0] >= '0' && e->d_name[0] <= '9';
    if (folder) closedir(folder);
    return found;
}

/* For whom a name is reserved. Who has just reserved it is about to say so, and does before its rank has a file: so
 * files are looked for first, and the job read after that. */
static void wait_for_job(const char *stem, char job[JOB_KEY_ROOM])
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < LONGEST_WAIT_MS; i++) {
        bool said = has_ranks(stem);
        read_job(stem, job);
        if (said || job[0]) return;
        nanosleep(&pause, NULL);
    }
}

/* Is this name our job's, with no file of this rank? */
static bool is_our_run(const char *stem, const char *job, int rank)
{
    char theirs[JOB_KEY_ROOM] = "", path[PATH_MAX];
    wait_for_job(stem, theirs);
    return strcmp(theirs, job) == 0 && output_rank_path(stem, rank, path) == 0 && access(path, F_OK) != 0;
}

int output_join(const char *wanted, const char *job, int rank, char stem[PATH_MAX], bool *first)
{
    char name[PATH_MAX];
    int error = absolute_stem(wanted && wanted[0] ? wanted : "run.h5", name);
    for (int i = 1; !error && i < MOST_NAMES; i++) {
        if ((error = numbered_stem(name, i, stem))) return error;
        error = try_name(stem);
        *first = error == 0;
        if (*first) return write_job(stem, job);
        if (error != EEXIST) return error;
        if (is_our_run(stem, job, rank)) return 0;
        error = 0;
    }
    return error ? error : EEXIST;
}

int output_rank_path(const char *stem, int rank, char path[PATH_MAX])
{
    int error = join_stem(path, stem, ".ranks");
    if (error) return error;
    if (mkdir(path, 0755) && errno != EEXIST) return errno;
    return snprintf(path, PATH_MAX, "%s.ranks/%06d.h5", stem, rank) < PATH_MAX ? 0 : ENAMETOOLONG;
}

void output_release(const char *stem)
{
    char path[PATH_MAX];
    if (join_stem(path, stem, ".h5") == 0) unlink(path);
    if (join_stem(path, stem, ".ranks/job") == 0) unlink(path);
    if (join_stem(path, stem, ".ranks") == 0) rmdir(path);
}

/* One message of a version 1 object header: type, size, data padded to 8 bytes (HDF5 File Format Specification,
 * IV.A.1.a). */
static char *put_h5_message(char *at, uint16_t type, const void *data, size_t bytes)
{
    size_t padded = (bytes + 7) & ~(size_t)7;
    uint16_t size = (uint16_t)padded;
    memset(at, 0, 8 + padded);
    memcpy(at, &type, 2);
    memcpy(at + 2, &size, 2);
    memcpy(at + 8, data, bytes);
    return at + 8 + padded;
}

/* A link message (IV.A.2.g): name "000123" to the root of "NAME.ranks/000123.h5". */
static char *put_link(char *at, const char *base, int rank)
{
    unsigned char data[PATH_MAX];
    char target[NAME_MAX + 32];
    uint16_t bytes = (uint16_t)(snprintf(target, sizeof target, "%s.ranks/%06d.h5", base, rank) + 1);
    size_t n = 0;
    data[n++] = 1;    /* version */
    data[n++] = 0x08; /* the link type is given; one byte for the length of the name */
    data[n++] = 64;   /* external */
    data[n++] = 6;
    n += (size_t)sprintf((char *)data + n, "%06d", rank);
    uint16_t value_bytes = (uint16_t)(1 + bytes + 2);
    memcpy(data + n, &value_bytes, 2);
    n += 2;
    data[n++] = 0; /* version and flags of an external link */
    memcpy(data + n, target, bytes);
    n += bytes;
    memcpy(data + n, "/", 2);
    return put_h5_message(at, 0x0006, data, n + 2);
}

/* The whole of run.h5, to be freed. NULL: no memory. */
static char *make_links(const char *base, int size, int64_t realtime_ns, uint64_t *end)
{
    int links = size < LINKS_MOST ? size : LINKS_MOST;
    size_t room = LINKS_BYTES + 256 + (size_t)links * (64 + strlen(base) + 16);
    char *image = calloc(1, room);
    if (!image) return NULL;
    memcpy(image, links_bytes, LINKS_BYTES);
    uint64_t ranks = (uint64_t)size;
    memcpy(image + LINKS_AT_SIZE, &ranks, 8);
    memcpy(image + LINKS_AT_CREATED, &realtime_ns, 8);
    char *header = image + LINKS_BYTES, *at = header + 16;
    at = put_h5_message(at, 0x0002, links_info, sizeof links_info);
    for (int i = 0; i < links; i++) at = put_link(at, base, i);
    uint16_t messages = (uint16_t)(links + 1);
    uint32_t references = 1, bytes = (uint32_t)(at - header - 16);
    header[0] = 1; /* version */
    memcpy(header + 2, &messages, 2);
    memcpy(header + 4, &references, 4);
    memcpy(header + 8, &bytes, 4);
    *end = (uint64_t)(at - image);
    memcpy(image + LINKS_AT_END_OF_FILE, end, 8);
    return image;
}

int output_write_links(const char *stem, int size, int64_t realtime_ns)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    int error = join_stem(path, stem, ".h5");
    if (!error) error = join_stem(temporary, stem, ".h5.tmp");
    if (error) return error;
    uint64_t end;
    char *image = make_links(strrchr(stem, '/') + 1, size, realtime_ns, &end);
    if (!image) return ENOMEM;
    error = write_file(temporary, image, end);
    if (!error && rename(temporary, path)) error = errno;
    if (error) unlink(temporary);
    free(image);
    return error;
}
