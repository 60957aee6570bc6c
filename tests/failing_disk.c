/* Loaded before libc (LD_PRELOAD): writes and syncs of one folder's files fail on demand.

   What fails and when stands in a shared page that the test writes and reads; see failing_disk.py.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITES = 1, SYNCS = 2, STICKY = 4, HALF = 8, MAIN = 16 };

struct orders {
    int64_t kinds;     /* which calls fail, and how */
    int64_t countdown; /* the call at which this reaches 0 fails */
    int64_t error;     /* errno */
    int64_t failed;    /* calls that failed so far */
};

static struct orders *orders;
static const char *folder;

__attribute__((constructor)) static void begin(void) {
    const char *page = getenv("FAILING_DISK_PAGE");
    folder = getenv("FAILING_DISK_FOLDER");
    int handle = page ? open(page, O_RDWR | O_CLOEXEC) : -1;
    if (handle < 0 || !folder) return;
    void *found = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    if (found != MAP_FAILED) orders = found;
    close(handle);
}

static int ours(int handle) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    return !(orders->kinds & MAIN) || strcmp(path + length - 3, ".db") == 0;
}

static int fails(int handle, int kind) {
    if (!orders || !ours(handle)) return 0;
    if (!(orders->kinds & kind)) return 0;
    int64_t left = __atomic_sub_fetch(&orders->countdown, 1, __ATOMIC_SEQ_CST);
    if (left > 0 || (left < 0 && !(orders->kinds & STICKY))) return 0;
    __atomic_add_fetch(&orders->failed, 1, __ATOMIC_SEQ_CST);
    errno = (int)orders->error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite64(int handle, const void *bytes, size_t count, off64_t at) {
    if (fails(handle, WRITES)) {
        if (orders->kinds & HALF && count > 1) REAL(pwrite64)(handle, bytes, count / 2, at);
        errno = (int)orders->error;
        return -1;
    }
    return REAL(pwrite64)(handle, bytes, count, at);
}

ssize_t pwrite(int handle, const void *bytes, size_t count, off_t at) {
    return pwrite64(handle, bytes, count, at);
}

ssize_t write(int handle, const void *bytes, size_t count) {
    return fails(handle, WRITES) ? -1 : REAL(write)(handle, bytes, count);
}

int ftruncate64(int handle, off64_t size) {
    return fails(handle, WRITES) ? -1 : REAL(ftruncate64)(handle, size);
}

int fsync(int handle) { return fails(handle, SYNCS) ? -1 : REAL(fsync)(handle); }

int fdatasync(int handle) { return fails(handle, SYNCS) ? -1 : REAL(fdatasync)(handle); }
