/* SPDX-License-Identifier: MIT */
/*
 * shim: what a compiler is told about the machine, the process and the moment, and what if it were told otherwise
 *
 * Preloaded by scripts/perturb. Calls that come from a compiler library (by the return address) are noted, each kind
 * once, in the file $PERTURB_LOG: "sysconf 84", "getenv HOME". Calls of the kind $PERTURB get another answer, the one
 * numbered $PERTURB_HOW; all other calls, and all other libraries' calls, get the real one.
 *
 * To add a function: one more CALL() below, with the number of its other answers, which scripts/perturb reads from this
 * file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define RANGES 16
#define NOTES  4096

static struct range {
	uintptr_t low, high;
} ranges[RANGES];
static unsigned range_count;
static unsigned long long loaded; /* dlpi_adds when the ranges were looked for */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char notes[NOTES][96];
static unsigned note_count;
static char log_path[512];
static _Thread_local bool inside;

static int find_range(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *base = strrchr(info->dlpi_name, '/');
	uintptr_t low = UINTPTR_MAX, high = 0;

	loaded = info->dlpi_adds;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libnvrtc", 8) != 0 && strncmp(base, "libnvJitLink", 12) != 0 &&
	    strncmp(base, "libnvvm", 7) != 0) {
		return 0;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD) {
			uintptr_t start = info->dlpi_addr + header->p_vaddr;

			low = start < low ? start : low;
			high = start + header->p_memsz > high ? start + header->p_memsz : high;
		}
	}
	if (range_count < RANGES) {
		ranges[range_count++] = (struct range){low, high};
	}
	return 0;
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	*(unsigned long long *)context = info->dlpi_adds;
	return 1;
}

static bool is_compiler(const void *from)
{
	unsigned long long now = 0;
	bool found = false;

	if (inside) {
		return false;
	}
	inside = true;
	dl_iterate_phdr(count_loaded, &now);
	pthread_mutex_lock(&lock);
	if (now != loaded) {
		range_count = 0;
		dl_iterate_phdr(find_range, NULL);
	}
	for (unsigned i = 0; i < range_count; i++) {
		found = found || ((uintptr_t)from >= ranges[i].low && (uintptr_t)from < ranges[i].high);
	}
	pthread_mutex_unlock(&lock);
	inside = false;
	return found;
}

static void write_note(const char *what)
{
	const char *path = getenv("PERTURB_LOG");
	char line[128];
	int size = snprintf(line, sizeof(line), "%s\n", what);
	int file;

	if (!path || strcmp(path, log_path) != 0) {
		note_count = 0;
		(void)snprintf(log_path, sizeof(log_path), "%s", path ? path : "");
	}
	for (unsigned i = 0; i < note_count; i++) {
		if (strcmp(notes[i], what) == 0) {
			return;
		}
	}
	if (note_count < NOTES) {
		(void)snprintf(notes[note_count++], sizeof(notes[0]), "%s", what);
	}
	file = path ? openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (file >= 0) {
		(void)!write(file, line, (size_t)size);
		(void)close(file);
	}
}

/* Which other answer this call is to get: 0 for the real one. */
static int otherwise(const void *from, const char *format, ...)
{
	const char *wanted, *how;
	int saved = errno;
	char what[96];
	va_list rest;
	bool same;

	if (!is_compiler(from)) {
		return 0;
	}
	inside = true;
	va_start(rest, format);
	(void)vsnprintf(what, sizeof(what), format, rest);
	va_end(rest);
	pthread_mutex_lock(&lock);
	write_note(what);
	pthread_mutex_unlock(&lock);
	wanted = getenv("PERTURB");
	how = getenv("PERTURB_HOW");
	same = wanted && strcmp(wanted, what) == 0;
	inside = false;
	errno = saved;
	return same ? (how ? atoi(how) : 1) : 0;
}

static void *next(const char *name, const char *version)
{
	bool was = inside;
	void *found;

	inside = true;
	found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	found = found ? found : dlsym(RTLD_NEXT, name);
	inside = was;
	return found;
}

#define FROM __builtin_return_address(0)
#define REAL(name)                                          \
	static __typeof__(&name) real;                      \
	if (!real) {                                        \
		real = (__typeof__(real))next(#name, NULL); \
	}
/* A call of which the name is all; HOW others are numbered from 1. */
#define CALL(answers, type, name, params, args, ...) \
	type name params                             \
	{                                            \
		REAL(name)                           \
		int how = otherwise(FROM, #name);    \
		if (how) {                           \
			__VA_ARGS__                  \
		}                                    \
		return real args;                    \
	}
/* One that is told apart by an argument as well. */
#define CALL_OF(answers, type, name, params, args, format, argument, ...) \
	type name params                                                  \
	{                                                                 \
		REAL(name)                                                \
		int how = otherwise(FROM, #name " " format, argument);    \
		if (how) {                                                \
			__VA_ARGS__                                       \
		}                                                         \
		return real args;                                         \
	}
#define FAIL(error)            \
	{                      \
		errno = error; \
		return -1;     \
	}

/* The machine. */
CALL(3, int, get_nprocs, (void), (), return how == 1 ? 1 : how == 2 ? 5 : 64;)
CALL(3, int, get_nprocs_conf, (void), (), return how == 1 ? 1 : how == 2 ? 5 : 64;)
static long other_sysconf(int name, int how, long answer)
{
	switch (name) {
	case _SC_NPROCESSORS_ONLN:
	case _SC_NPROCESSORS_CONF:
		return how == 1 ? 1 : how == 2 ? 5 : 64;
	case _SC_PAGESIZE: /* a multiple, that what is aligned to it stays so */
		return how == 1 ? 16384 : how == 2 ? 65536 : 2 << 20;
	default:
		return how == 1 ? -1 : how == 2 ? answer / 3 : answer * 5 + 1;
	}
}
CALL_OF(3, long, sysconf, (int name), (name), "%d", name, return other_sysconf(name, how, real(name));)
CALL(2, int, getpagesize, (void), (), return how == 1 ? 16384 : 65536;)
static int other_affinity(size_t size, cpu_set_t *set, int how)
{
	memset(set, 0, size);
	for (int cpu = 0; cpu < (how == 1 ? 1 : 48); cpu++) {
		CPU_SET_S(how == 1 ? 3 : cpu, size, set);
	}
	return 0;
}
CALL(3, int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set),
     if (how == 3) FAIL(EINVAL) return other_affinity(size, set, how);)
CALL(2, int, sched_get_priority_max, (int policy), (policy), return how == 1 ? 7 : -1;)
CALL(2, int, sched_get_priority_min, (int policy), (policy), return how == 1 ? 5 : -1;)
CALL(2, int, uname, (struct utsname * name), (name), if (how == 2) FAIL(EFAULT) int result = real(name);
     strcpy(name->release, "2.6.1"); strcpy(name->machine, "mips"); strcpy(name->sysname, "Other"); return result;)
CALL(1, int, gethostname, (char *name, size_t size), (name, size), (void)snprintf(name, size, "other"); return 0;)
CALL(1, int, sysinfo, (struct sysinfo * info), (info), memset(info, 0, sizeof(*info)); info->mem_unit = 1;
     info->totalram = 1 << 20; return 0;)

/* The process. */
CALL(2, pid_t, getpid, (void), (), return how == 1 ? 1 : 4194303;)
CALL(1, uid_t, getuid, (void), (), return 54321;)
CALL(1, uid_t, geteuid, (void), (), return 54321;)
CALL(1, gid_t, getgid, (void), (), return 54321;)
CALL(1, gid_t, getegid, (void), (), return 54321;)
static int other_limit(struct rlimit *limit, int how)
{
	limit->rlim_cur = limit->rlim_max = how == 1 ? RLIM_INFINITY : how == 2 ? 16384 : 0;
	return 0;
}
CALL_OF(4, int, getrlimit, (__rlimit_resource_t what, struct rlimit *limit), (what, limit), "%d", (int)what,
        if (how == 4) FAIL(EPERM) return other_limit(limit, how);)
CALL_OF(2, int, setrlimit, (__rlimit_resource_t what, const struct rlimit *limit), (what, limit), "%d", (int)what,
        if (how == 1) FAIL(EPERM) return 0;)
CALL(2, int, getrusage, (__rusage_who_t who, struct rusage *usage), (who, usage),
     if (how == 2) FAIL(EINVAL) int result = real(who, usage);
     usage->ru_utime.tv_sec += 100000; usage->ru_maxrss *= 1000; return result;)
CALL(2, struct mallinfo, mallinfo, (void), (), struct mallinfo info; memset(&info, how == 1 ? 0 : 1, sizeof(info));
     return info;)
CALL(2, int, isatty, (int file), (file), if (how == 2) FAIL(ENOTTY) return 1;)
int ioctl(int file, unsigned long request, ...)
{
	REAL(ioctl)
	va_list rest;
	void *argument;
	int how;

	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	how = otherwise(FROM, "ioctl %lx", request); /* CALL_OF(2, int, ioctl, */
	if (how == 1 && request == TIOCGWINSZ) {
		*(struct winsize *)argument = (struct winsize){.ws_row = 9, .ws_col = 17};
		return 0;
	}
	if (how) {
		FAIL(ENOTTY)
	}
	return real(file, request, argument);
}
CALL(2, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     (thread, attributes, start, argument), if (how == 1) return EAGAIN;
     static int made; return made++ % 2 ? EAGAIN : real(thread, attributes, start, argument);)
CALL(1, int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t size), (attributes, size), return EINVAL;)
CALL(1, int, pthread_attr_setschedpolicy, (pthread_attr_t * attributes, int policy), (attributes, policy),
     return ENOTSUP;)
CALL(1, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), return EBUSY;)
CALL(1, int, posix_madvise, (void *at, size_t size, int advice), (at, size, advice), return EINVAL;)
CALL(1, int, mprotect, (void *at, size_t size, int protection), (at, size, protection), FAIL(EACCES))
CALL(1, int, mlock, (const void *at, size_t size), (at, size), FAIL(EPERM))
long other_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
long other_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	REAL(syscall)
	int how = otherwise(FROM, "syscall %ld", number); /* CALL_OF(3, long, syscall, */
	if (how == 3) {
		return 77777;
	}
	if (how) {
		FAIL(how == 1 ? ENOSYS : EPERM)
	}
	return real(number, a, b, c, d, e, f);
}

/* The moment. */
CALL(2, time_t, time, (time_t *at), (at), time_t then = how == 1 ? 0 : 4102444800; if (at) *at = then; return then;)
CALL(2, int, gettimeofday, (struct timeval *restrict at, void *restrict zone), (at, zone),
     *at = (struct timeval){how == 1 ? 1 : 4102444800, 7};
     return 0;)
CALL(2, clock_t, clock, (void), (), return how == 1 ? -1 : 1 << 30;)
CALL(2, int, clock_gettime, (clockid_t id, struct timespec *at), (id, at), (void)id;
     *at = (struct timespec){how == 1 ? 1 : 4102444800, 7}; return 0;)
CALL(1, struct tm *, localtime_r, (const time_t *at, struct tm *ret), (at, ret), time_t then = *at + 87654321;
     return real(&then, ret);)
CALL(1, struct tm *, gmtime, (const time_t *at), (at), time_t then = *at + 87654321; return real(&then);)
CALL(1, struct tm *, gmtime_r, (const time_t *at, struct tm *ret), (at, ret), time_t then = *at + 87654321;
     return real(&then, ret);)
CALL(1, char *, ctime, (const time_t *at), (at), time_t then = *at + 87654321; return real(&then);)
CALL(2, int, rand, (void), (), return how == 1 ? 0 : RAND_MAX;)
CALL(2, int, rand_r, (unsigned *seed), (seed), return how == 1 ? 0 : RAND_MAX;)
CALL(2, int, getentropy, (void *at, size_t size), (at, size), if (how == 2) FAIL(ENOSYS) memset(at, 7, size); return 0;)

/* Floating point, whose modes are in the key, and the locale. */
CALL(2, int, fetestexcept, (int which), (which), return how == 1 ? 0 : which;)
CALL(1, int, feclearexcept, (int which), (which), return 1;)
CALL(2, struct lconv *, localeconv, (void), (), static struct lconv other; other = *real();
     other.decimal_point = how == 1 ? "," : ""; return &other;)
CALL_OF(1, char *, __nl_langinfo_l, (int item, locale_t locale), (item, locale), "%x", item, return "Other";)
CALL(1, size_t, __ctype_get_mb_cur_max, (void), (), return 6;)

/* Descriptors, of whatever they are. */
CALL(2, int, fstatfs, (int file, struct statfs *status), (file, status),
     if (how == 2) FAIL(EIO) int result = real(file, status);
     status->f_type = 0x6969; status->f_bsize = 1 << 20; return result;)
int fcntl(int file, int command, ...)
{
	REAL(fcntl)
	va_list rest;
	void *argument;
	int how;

	va_start(rest, command);
	argument = va_arg(rest, void *);
	va_end(rest);
	how = otherwise(FROM, "fcntl %d", command); /* CALL_OF(2, int, fcntl, */
	if (how) {
		FAIL(how == 1 ? EBADF : EINVAL)
	}
	return real(file, command, argument);
}
CALL(1, int, flock, (int file, int operation), (file, operation), FAIL(EWOULDBLOCK))
CALL(1, int, dup, (int file), (file), FAIL(EMFILE))
CALL(1, int, pipe, (int ends[2]), (ends), FAIL(EMFILE))
CALL(1, int, poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout), FAIL(EINTR))

/* What is asked by name. "Not there" is the other answer. */
CALL_OF(2, char *, getenv, (const char *name), (name), "%s", name, return how == 1 ? NULL : "1";)
CALL_OF(2, char *, secure_getenv, (const char *name), (name), "%s", name, return how == 1 ? NULL : "1";)
static bool is_of_system(const char *path)
{
	return path &&
	       (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/etc/", 5) == 0);
}
#define OPENS(type, name, params, args, none)                                   \
	type name params                                                        \
	{                                                                       \
		REAL(name)                                                      \
		if (is_of_system(path) && otherwise(FROM, #name " %s", path)) { \
			errno = ENOENT;                                         \
			return none;                                            \
		}                                                               \
		return real args;                                               \
	}
OPENS(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
OPENS(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL)
OPENS(int, open, (const char *path, int flags, ...), (path, flags, 0600), -1)
OPENS(int, open64, (const char *path, int flags, ...), (path, flags, 0600), -1)
