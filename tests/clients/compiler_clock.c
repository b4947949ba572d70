/* SPDX-License-Identifier: MIT */
/*
 * compiler_clock: CPU time that a program spends inside the functions of NVRTC, nvJitLink and libNVVM
 *
 *     COMPILER_CLOCK=FILE LD_PRELOAD=compiler_clock.so[:libnvrtccache.so] program
 *
 * When a process ends it appends lines "<function> <calls> <nanoseconds>" to FILE. Everything behind the call counts,
 * also a cache that stands there, of the calling thread alone. A call from inside another is a part of that one.
 *
 * What dlsym gives out is replaced on its way to the program. What objects are linked with is replaced in their slots,
 * by looking at the objects that have come whenever somebody calls dlsym, which Python does after each import, and once
 * before main(). A slot that is still to be bound is left alone and told as "unclocked <object>": run such programs
 * with LD_BIND_NOW=1.
 */
#include "tests/slots.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCKS  256
#define OBJECTS 1024

#ifdef __x86_64__
#define LIBC_NODE "GLIBC_2.2.5"
#else
#define LIBC_NODE "GLIBC_2.17"
#endif

typedef long any_function(long, long, long, long, long, long, long, long, long);
typedef void *dlsym_function(void *, const char *);

struct clock {
	char name[64];
	any_function *real;
	long long calls, ns;
};

static struct clock clocks[CLOCKS];
static int clock_count;
static ElfW(Addr) seen[OBJECTS];
static size_t seen_count;
static unsigned long long seen_adds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth;

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long clocked(struct clock *clock, long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	long long start = now();
	long result;

	depth++;
	result = clock->real(a, b, c, d, e, f, g, h, i);
	if (--depth == 0) {
		__atomic_fetch_add(&clock->ns, now() - start, __ATOMIC_RELAXED);
		__atomic_fetch_add(&clock->calls, 1, __ATOMIC_RELAXED);
	}
	return result;
}

/* A function for each clock: none of those it stands for takes more than nine words, or anything else. */
#define WRAPPER(number)                                                                                      \
	static long wrapper_##number(long a, long b, long c, long d, long e, long f, long g, long h, long i) \
	{                                                                                                    \
		return clocked(&clocks[0x##number], a, b, c, d, e, f, g, h, i);                              \
	}
#define NAME(number)     wrapper_##number,
#define LOW(X, high)     X(high##0) X(high##1) X(high##2) X(high##3) X(high##4) X(high##5) X(high##6) X(high##7)
#define HIGH(X, high)    X(high##8) X(high##9) X(high##a) X(high##b) X(high##c) X(high##d) X(high##e) X(high##f)
#define SIXTEEN(X, high) LOW(X, high) HIGH(X, high)
#define FROM_0(X)        SIXTEEN(X, 0) SIXTEEN(X, 1) SIXTEEN(X, 2) SIXTEEN(X, 3) SIXTEEN(X, 4) SIXTEEN(X, 5)
#define FROM_6(X)        SIXTEEN(X, 6) SIXTEEN(X, 7) SIXTEEN(X, 8) SIXTEEN(X, 9) SIXTEEN(X, a)
#define FROM_B(X)        SIXTEEN(X, b) SIXTEEN(X, c) SIXTEEN(X, d) SIXTEEN(X, e) SIXTEEN(X, f)
#define ALL(X)           FROM_0(X) FROM_6(X) FROM_B(X)
ALL(WRAPPER)
static any_function *const wrappers[] = {ALL(NAME)};

_Static_assert(sizeof(wrappers) / sizeof(wrappers[0]) == CLOCKS, "a wrapper for each clock");

static bool is_compilers(const char *name)
{
	name += strspn(name, "_");
	return strncmp(name, "nvrtc", 5) == 0 || strncmp(name, "nvJitLink", 9) == 0 || strncmp(name, "nvvm", 4) == 0;
}

/* The clock that stands before a function; the function itself where there is none left. */
static void *clock_of(const char *name, void *function)
{
	void *found = function;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < clock_count && found == function; i++) {
		if ((void *)clocks[i].real == function || (void *)wrappers[i] == function) {
			found = (void *)wrappers[i];
		}
	}
	if (found == function && clock_count < CLOCKS) {
		(void)snprintf(clocks[clock_count].name, sizeof(clocks[clock_count].name), "%s", name);
		clocks[clock_count].real = (any_function *)function;
		found = (void *)wrappers[clock_count++];
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void report_line(const char *text)
{
	const char *path = getenv("COMPILER_CLOCK");
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (file >= 0) {
		(void)!write(file, text, strlen(text));
		close(file);
	}
}

/* ---- slots of linked objects ---- */

static bool lies_in(const struct dl_phdr_info *object, ElfW(Addr) address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
			return true;
		}
	}
	return false;
}

static void replace_import(const struct slot *slot, void *context)
{
	const struct dl_phdr_info *object = context;
	char line[PATH_MAX];

	if (!slot->is_imported || !is_compilers(slot->name) || !*slot->at) {
		return;
	}
	if (lies_in(object, (ElfW(Addr))*slot->at)) {
		(void)snprintf(line, sizeof(line), "unclocked %s %s\n", object->dlpi_name, slot->name);
		report_line(line);
	} else {
		(void)slots_put(slot, clock_of(slot->name, *slot->at));
	}
}

static bool seen_before(ElfW(Addr) base)
{
	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i] == base) {
			return true;
		}
	}
	if (seen_count < OBJECTS) {
		seen[seen_count++] = base;
	}
	return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *context)
{
	if (object->dlpi_adds == seen_adds) {
		return 1;
	}
	for (int i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC && !strstr(object->dlpi_name, "linux-vdso") &&
		    !strstr(object->dlpi_name, "libnvrtccache") && !seen_before(object->dlpi_addr)) {
			const ElfW(Dyn) *dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);

			slots_each(object->dlpi_addr, dynamic, replace_import, object);
		}
	}
	return 0;
}

static int count_adds(struct dl_phdr_info *object, size_t size, void *context)
{
	*(unsigned long long *)context = object->dlpi_adds;
	return 1;
}

static void look_at_objects(void)
{
	unsigned long long adds = 0;

	dl_iterate_phdr(look_at, NULL);
	dl_iterate_phdr(count_adds, &adds);
	seen_adds = adds;
}

/* ---- dlsym ---- */

static dlsym_function *next_dlsym(void)
{
	static dlsym_function *next;
	dlsym_function *libcs;

	if (!next) {
		/* libc's first: through it, that of a cache that stands between the program and libc */
		libcs = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
		libcs = libcs ? libcs : (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", LIBC_NODE);
		next = libcs(RTLD_NEXT, "dlsym");
	}
	return next;
}

static void *clocked_dlsym(void *handle, const char *name)
{
	void *function = next_dlsym()(handle, name);

	return function ? clock_of(name, function) : NULL;
}

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
	if (handle != RTLD_DEFAULT && handle != RTLD_NEXT) {
		(void)next_dlsym()(handle,
		                   name); /* a cache writes slots now, and its functions are those that take time */
	}
	look_at_objects();
	/* the tail call leaves the caller's return address where the loader looks for it */
	return is_compilers(name) ? clocked_dlsym(handle, name) : next_dlsym()(handle, name);
}

/* ---- the process ---- */

static void forget(void)
{
	for (int i = 0; i < clock_count; i++) {
		clocks[i].calls = clocks[i].ns = 0;
	}
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, forget);
	look_at_objects();
}

__attribute__((destructor)) static void end(void)
{
	char line[128];

	for (int i = 0; i < clock_count; i++) {
		if (clocks[i].calls) {
			(void)snprintf(line, sizeof(line), "%.63s %lld %lld\n", clocks[i].name, clocks[i].calls,
			               clocks[i].ns);
			report_line(line);
		}
	}
}
