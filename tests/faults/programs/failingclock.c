/* Preloaded into a PHP: the n-th look of the extension at the clock fails, where n is in a mapped file; 0: none. The Rust standard library
 * knows no such failure and panics, so each of these looks is a place where a panic can be had. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *left;

__attribute__((constructor)) static void map_number(void) {
    const char *path = getenv("DELAYQUEUE_TEST_NUMBER");
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) left = at;
    close(fd);
}

/* PHP has an extension prefer the libraries that it names itself: then it would not see this one. */
void *dlopen(const char *file, int flags) {
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(file, flags & ~RTLD_DEEPBIND);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    Dl_info caller;
    if (left && atomic_load(left) > 0 && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        strstr(caller.dli_fname, "delayqueue") && atomic_fetch_sub(left, 1) == 1) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_clock_gettime, clock, time);
}
