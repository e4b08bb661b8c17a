/* Preloaded into a redis-server: its wall clock is the machine's plus an offset, microseconds in a mapped file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("DELAYQUEUE_TEST_NUMBER");
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) offset = at;
    close(fd);
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    int result = (int)syscall(SYS_gettimeofday, tv, tz);
    if (offset) {
        int64_t us = (int64_t)tv->tv_sec * 1000000 + tv->tv_usec + *offset;
        tv->tv_sec = us / 1000000;
        tv->tv_usec = us % 1000000;
    }
    return result;
}
