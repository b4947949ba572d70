/* SPDX-License-Identifier: MIT */
#include "tests/faults/inject.h"

#include "tests/slots.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { MEMORY, OPEN, READ, WRITE, CLOSE, STAT, NAME, LOCK, LIST, OTHER, LOADER };

/* EINTR: never from `on`, as a call that is interrupted for ever is no fault but a hang. */
static const int errors_of[][20] = {
    [MEMORY] = {ENOMEM},
    [OPEN] = {EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOENT, ENOSPC, EDQUOT, EIO, ESTALE, EINTR, ENOMEM, ELOOP, ENOTDIR,
              EBUSY, EEXIST, ENXIO, EISDIR},
    [READ] = {EIO, ESTALE, EINTR, EAGAIN, EISDIR},
    [WRITE] = {ENOSPC, EDQUOT, EIO, EFBIG, EINTR, EPERM, ESTALE, EAGAIN},
    [CLOSE] = {EIO, ENOSPC, EDQUOT, EINTR},
    [STAT] = {EIO, EACCES, ENOENT, ESTALE, ENOMEM, EOVERFLOW, ENOTDIR, ELOOP},
    [NAME] = {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO, ESTALE, EBUSY, ENOENT, ENOTEMPTY, EISDIR, EEXIST, EINTR,
              ENOMEM, ENOSYS},
    [LOCK] = {ENOLCK, EAGAIN, EACCES, EINTR, EIO, EINVAL, EDEADLK, ENOSYS, ESTALE},
    [LIST] = {EIO, ESTALE}, /* not ENOENT: readdir() takes that for the end */
    [OTHER] = {ENOMEM, EACCES, ENOENT, EIO, EPERM, ESRCH, EAGAIN, ENOSYS},
    [LOADER] = {ENOMEM},
};

static struct inject_plan plan;
static struct inject_report *report;
static unsigned calls;

static unsigned begin(unsigned call)
{
	if (!report) {
		return 0;
	}
	if (++calls <= INJECT_CALLS_MAX) {
		report->call[calls - 1] = (unsigned char)call;
	}
	report->calls = calls;
	if (plan.action == INJECT_KILL_BEFORE && calls == plan.at) {
		report->injected++;
		(void)kill(getpid(), SIGKILL);
	}
	return calls;
}

static void end(unsigned number)
{
	if (number != 0 && plan.action == INJECT_KILL_AFTER && number == plan.at) {
		report->injected++;
		(void)kill(getpid(), SIGKILL);
	}
}

static bool is_time(unsigned number)
{
	return number != 0 && (number == plan.at || (plan.on && number > plan.at));
}

static bool fails(unsigned call, unsigned number)
{
	if (plan.action != INJECT_ERROR || !is_time(number) || !inject_admits(call, plan.error)) {
		return false;
	}
	report->injected++;
	errno = plan.error;
	return true;
}

static size_t shortened(unsigned number, size_t size)
{
	size_t length = plan.length == INJECT_HALF ? size / 2 : plan.length;

	if (plan.action != INJECT_SHORT || !is_time(number) || length >= size) {
		return size;
	}
	report->injected++;
	return length;
}

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
int __cxa_atexit(void (*handler)(void *), void *argument, void *object);

/* A header that is said to be absent is absent: that is an answer, and no fault. Files of the cache vanish at any time.
 */
static bool is_answer(const char *path)
{
	return (plan.error == ENOENT || plan.error == ENOTDIR) && strstr(path, ".h");
}

/*
 * KIND, type, name, what it returns on failure, when it may fail, parameters, arguments. A clock does not fail, so it
 * only counts as a place to be killed at; a thread always has its number, and an open file its position.
 */
#define PLAIN_CALLS(X)                                                                                                 \
	X(MEMORY, void *, malloc, NULL, true, (size_t size), (size))                                                   \
	X(MEMORY, void *, calloc, NULL, true, (size_t count, size_t size), (count, size))                              \
	X(MEMORY, void *, realloc, NULL, true, (void *bytes, size_t size), (bytes, size))                              \
	X(MEMORY, void *, aligned_alloc, NULL, true, (size_t alignment, size_t size), (alignment, size))               \
	X(MEMORY, char *, strdup, NULL, true, (const char *text), (text))                                              \
	X(MEMORY, char *, strndup, NULL, true, (const char *text, size_t size), (text, size))                          \
	X(MEMORY, void *, tsearch, NULL, true, (const void *key, void **tree, comparison_fn_t order),                  \
	  (key, tree, order))                                                                                          \
	X(OPEN, DIR *, fdopendir, NULL, true, (int file), (file))                                                      \
	X(LIST, struct dirent *, readdir, NULL, true, (DIR * names), (names))                                          \
	X(STAT, int, stat, -1, true, (const char *path, struct stat *found), (path, found))                            \
	X(STAT, int, lstat, -1, true, (const char *path, struct stat *found), (path, found))                           \
	X(STAT, int, fstat, -1, true, (int file, struct stat *found), (file, found))                                   \
	X(STAT, int, fstatfs, -1, true, (int file, struct statfs *found), (file, found))                               \
	X(STAT, int, statfs, -1, true, (const char *path, struct statfs *found), (path, found))                        \
	X(STAT, ssize_t, readlink, -1, true, (const char *path, char *text, size_t size), (path, text, size))          \
	X(STAT, int, access, -1, true, (const char *path, int mode), (path, mode))                                     \
	X(STAT, int, faccessat, -1, true, (int at, const char *path, int mode, int flags), (at, path, mode, flags))    \
	X(NAME, int, renameat, -1, true, (int from_at, const char *from, int to_at, const char *to),                   \
	  (from_at, from, to_at, to))                                                                                  \
	X(NAME, int, unlinkat, -1, true, (int at, const char *path, int flags), (at, path, flags))                     \
	X(NAME, int, mkdirat, -1, true, (int at, const char *path, mode_t mode), (at, path, mode))                     \
	X(NAME, int, chmod, -1, true, (const char *path, mode_t mode), (path, mode))                                   \
	X(NAME, int, fchmod, -1, true, (int file, mode_t mode), (file, mode))                                          \
	X(NAME, int, fchownat, -1, true, (int at, const char *path, uid_t user, gid_t group, int flags),               \
	  (at, path, user, group, flags))                                                                              \
	X(NAME, int, utimensat, -1, true, (int at, const char *path, const struct timespec times[2], int flags),       \
	  (at, path, times, flags))                                                                                    \
	X(NAME, int, ftruncate, -1, true, (int file, off_t size), (file, size))                                        \
	X(NAME, int, futimens, -1, true, (int file, const struct timespec times[2]), (file, times))                    \
	X(NAME, int, fsync, -1, true, (int file), (file))                                                              \
	X(OTHER, char *, getcwd, NULL, true, (char *bytes, size_t size), (bytes, size))                                \
	X(OTHER, int, flock, -1, true, (int file, int how), (file, how))                                               \
	X(OTHER, int, getrlimit, -1, true, (int what, struct rlimit *limit), (what, limit))                            \
	X(OTHER, int, getgroups, -1, true, (int count, gid_t *groups), (count, groups))                                \
	X(OTHER, int, kill, -1, true, (pid_t process, int signal_number), (process, signal_number))                    \
	X(OTHER, int, clock_gettime, -1, false, (clockid_t clock, struct timespec * now), (clock, now))                \
	X(OTHER, void *, mmap, MAP_FAILED, true, (void *at, size_t size, int prot, int flags, int file, off_t offset), \
	  (at, size, prot, flags, file, offset))                                                                       \
	X(OTHER, int, mprotect, -1, true, (void *at, size_t size, int prot), (at, size, prot))                         \
	X(OTHER, int, munmap, -1, true, (void *at, size_t size), (at, size))                                           \
	X(LOADER, void *, dlopen, NULL, true, (const char *path, int mode), (path, mode))                              \
	X(LOADER, int, dlinfo, -1, true, (void *handle, int request, void *out), (handle, request, out))               \
	X(LOADER, int, dlclose, -1, true, (void *handle), (handle))                                                    \
	X(LOCK, int, fcntl, -1, true, (int file, int command, void *argument), (file, command, argument))              \
	X(STAT, int, fstatat, -1, !is_answer(path), (int at, const char *path, struct stat *found, int flags),         \
	  (at, path, found, flags))                                                                                    \
	X(STAT, int, statx, -1, !is_answer(path),                                                                      \
	  (int at, const char *path, int flags, unsigned mask, struct statx *found), (at, path, flags, mask, found))   \
	X(OTHER, off_t, lseek, -1, whence != SEEK_CUR, (int file, off_t offset, int whence), (file, offset, whence))   \
	X(OTHER, int, prctl, -1, true, (int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d), \
	  (what, a, b, c, d))                                                                                          \
	X(OTHER, long, syscall, -1, call != SYS_gettid && call != SYS_clock_gettime,                                   \
	  (long call, long a, long b, long c, long d, long e, long f), (call, a, b, c, d, e, f))                       \
	X(MEMORY, int, __cxa_atexit, -1, true, (void (*handler)(void *), void *argument, void *object),                \
	  (handler, argument, object))                                                                                 \
	X(MEMORY, int, __register_atfork, plan.error, true,                                                            \
	  (void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object),                            \
	  (prepare, parent, child, object))

/* clang-format packs them, otherwise each time */
/* clang-format off */
#define SPECIAL_CALLS(X)                 \
	X(OPEN, open)                    \
	X(OPEN, openat)                  \
	X(OPEN, __openat_2)              \
	X(READ, read)                    \
	X(READ, pread)                   \
	X(WRITE, write)                  \
	X(WRITE, pwrite)                 \
	X(CLOSE, close)                  \
	X(CLOSE, closedir)               \
	X(OTHER, nanosleep)
/* clang-format on */

enum call {
#define ENUM_PLAIN(kind, type, name, ...) CALL_##name,
#define ENUM_SPECIAL(kind, name)          CALL_##name,
	PLAIN_CALLS(ENUM_PLAIN) SPECIAL_CALLS(ENUM_SPECIAL) CALLS
};

#define WRAP(kind, type, name, failed, may, parameters, arguments) \
	static type wrap_##name parameters                         \
	{                                                          \
		unsigned number = begin(CALL_##name);              \
		type result;                                       \
                                                                   \
		if ((may) && fails(CALL_##name, number)) {         \
			return failed;                             \
		}                                                  \
		result = name arguments;                           \
		end(number);                                       \
		return result;                                     \
	}
PLAIN_CALLS(WRAP)

#define MODE(flags, mode)                                       \
	mode_t mode = 0;                                        \
	if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
		va_list rest;                                   \
		va_start(rest, flags);                          \
		mode = va_arg(rest, mode_t);                    \
		va_end(rest);                                   \
	}

static int wrap_open(const char *path, int flags, ...)
{
	MODE(flags, mode)
	unsigned number = begin(CALL_open);
	int file = fails(CALL_open, number) ? -1 : open(path, flags, mode);

	end(number);
	return file;
}

static int wrap_openat(int at, const char *path, int flags, ...)
{
	MODE(flags, mode)
	unsigned number = begin(CALL_openat);
	int file = fails(CALL_openat, number) ? -1 : openat(at, path, flags, mode);

	end(number);
	return file;
}

static int wrap___openat_2(int at, const char *path, int flags)
{
	unsigned number = begin(CALL___openat_2);
	int file = fails(CALL___openat_2, number) ? -1 : openat(at, path, flags, 0);

	end(number);
	return file;
}

#define WRAP_MOVE(name, type, more, arguments)                                               \
	static ssize_t wrap_##name(int file, type bytes, size_t size more)                   \
	{                                                                                    \
		unsigned number = begin(CALL_##name);                                        \
		size_t some = shortened(number, size);                                       \
		ssize_t moved = fails(CALL_##name, number) ? -1 : some ? name arguments : 0; \
                                                                                             \
		end(number);                                                                 \
		return moved;                                                                \
	}
#define COMMA ,
WRAP_MOVE(read, void *, , (file, bytes, some))
WRAP_MOVE(pread, void *, COMMA off_t offset, (file, bytes, some, offset))
WRAP_MOVE(write, const void *, , (file, bytes, some))
WRAP_MOVE(pwrite, const void *, COMMA off_t offset, (file, bytes, some, offset))

/* Linux closes the descriptor whatever it returns. */
static int wrap_close(int file)
{
	unsigned number = begin(CALL_close);
	int result = close(file);

	end(number);
	return fails(CALL_close, number) ? -1 : result;
}

static int wrap_closedir(DIR *names)
{
	unsigned number = begin(CALL_closedir);
	int result = closedir(names);

	end(number);
	return fails(CALL_closedir, number) ? -1 : result;
}

/* Where a lock is refused for ever, the time for which it is wanted passes at once. */
static int wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	unsigned number = begin(CALL_nanosleep);
	int result = plan.action == INJECT_ERROR && plan.on ? 0 : nanosleep(time, left);

	end(number);
	return result;
}

static const struct {
	const char *name;
	enum kind kind;
	void (*wrapper)(void);
} table[CALLS] = {
#define ROW_PLAIN(kind, type, name, ...) {#name, kind, (void (*)(void))wrap_##name},
#define ROW_SPECIAL(kind, name)          {#name, kind, (void (*)(void))wrap_##name},
    PLAIN_CALLS(ROW_PLAIN) SPECIAL_CALLS(ROW_SPECIAL)};

/* What cannot fail, or works on memory and this process alone, or prints what NVRTC prints. */
static const char harmless[] =
    " _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __asprintf_chk __ctype_b_loc __cxa_finalize _r_debug"
    " __environ __errno_location __explicit_bzero_chk __gmon_start__ __isoc23_strtol __memcpy_chk "
    "__pthread_register_cancel"
    " __pthread_unregister_cancel __pthread_unwind_next __sigsetjmp __snprintf_chk __stack_chk_fail __strcpy_chk"
    " __vfprintf_chk __vprintf_chk __vsnprintf_chk bsearch dirfd dl_iterate_phdr dlerror environ explicit_bzero"
    " __x86_get_cpuid_feature_leaf"
    " fileno free freelocale get_nprocs getauxval getegid getenv geteuid getpid getresuid gnu_get_libc_version"
    " memchr memcmp memcpy memmem memmove mempcpy memrchr memset newlocale nl_langinfo process_vm_readv"
    " mincore pthread_attr_destroy pthread_attr_getstack pthread_getattr_np"
    " pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_once pthread_self"
    " pthread_setcancelstate pthread_sigmask qsort qsort_r sched_getaffinity sched_yield secure_getenv setlocale "
    "sigaddset sigemptyset"
    " sigismember sigpending sigprocmask sigtimedwait snprintf stderr stdout stpcpy strcasecmp strchr strchrnul strcmp "
    "strcpy"
    " strcspn strerror strlen strncat strncmp strnlen strrchr strspn strstr strtok_r strtol strtoull sysconf tdestroy "
    "uselocale "
    "vfprintf"
    " vprintf vsnprintf ";

struct search {
	const char *wrong; /* NULL, or what is wrong */
	unsigned redirected;
};

static void redirect(const struct slot *slot, void *context)
{
	struct search *search = context;
	char word[64];

	for (size_t i = 0; i < CALLS && !slot->is_data; i++) {
		if (strcmp(table[i].name, slot->name) == 0) {
			search->redirected++;
			if (!slots_put(slot, (void *)table[i].wrapper)) {
				search->wrong = "the import slots cannot be written";
			}
			return;
		}
	}
	(void)snprintf(word, sizeof(word), " %s ", slot->name);
	if (!slot->is_data && !strstr(harmless, word)) {
		search->wrong = slot->name;
	}
}

const char *inject_install(void)
{
	void *handle = dlopen("libnvrtccache.so", RTLD_LAZY | RTLD_NOLOAD);
	struct search search = {.redirected = 0};
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
		return "the library is not preloaded";
	}
	slots_each(map->l_addr, map->l_ld, redirect, &search);
	return search.wrong ? search.wrong : search.redirected < 40 ? "too few imports were found" : NULL;
}

void inject_begin(const struct inject_plan *with, struct inject_report *into)
{
	plan = *with;
	calls = 0;
	report = into;
	memset(report, 0, offsetof(struct inject_report, call));
}

const char *inject_name(unsigned call)
{
	return call < CALLS ? table[call].name : "?";
}

const int *inject_errors(unsigned call)
{
	static const int none[] = {0};

	return call == CALL_nanosleep || call == CALL_clock_gettime ? none : errors_of[table[call].kind];
}

bool inject_admits(unsigned call, int error)
{
	const int *errors = inject_errors(call);

	for (; *errors != 0; errors++) {
		if (*errors == error) {
			return true;
		}
	}
	return false;
}

bool inject_moves_bytes(unsigned call)
{
	return table[call].kind == READ || table[call].kind == WRITE;
}
