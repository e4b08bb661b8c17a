/* Gives a redis-server a clock that the test owns: microseconds in a mapped file. Every look adds one microsecond, so
 * that no two scripts see the same time, unless the highest bit is set: then the clock stands still. Preloaded by
 * support.rs; never part of the product. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STANDS_STILL (UINT64_C(1) << 63)

static _Atomic uint64_t *shared;

__attribute__((constructor)) static void map_clock(void) {
    const char *path = getenv("DELAYQUEUE_TEST_CLOCK");
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED) shared = at;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    if (!shared) return (int)syscall(SYS_gettimeofday, tv, tz);
    uint64_t us = atomic_load(shared);
    if (us & STANDS_STILL)
        us &= ~STANDS_STILL;
    else
        us = atomic_fetch_add(shared, 1);
    tv->tv_sec = (time_t)(us / 1000000);
    tv->tv_usec = (suseconds_t)(us % 1000000);
    return 0;
}

/* Valkey 9.1 looks at this clock once a millisecond, and adds what the processor has counted since, unless it finds no such counter. */
FILE *fopen(const char *restrict path, const char *restrict mode) {
    static FILE *(*next)(const char *restrict, const char *restrict);
    if (shared && strcmp(path, "/proc/cpuinfo") == 0) {
        errno = ENOENT;
        return NULL;
    }
    if (!next) next = (FILE * (*)(const char *restrict, const char *restrict)) dlsym(RTLD_NEXT, "fopen");
    return next(path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode) {
    return fopen(path, mode);
}
