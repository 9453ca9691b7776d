#define _GNU_SOURCE
#include "common/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int descriptor_out_of_the_way(int fd)
{
    struct rlimit limit;
    int room = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, room / 2);
    if (high < 0) return fd;
    close(fd);
    return high;
}
