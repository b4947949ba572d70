/* SPDX-License-Identifier: MIT */
#include "interpose/elf/loaded.h"

#include "cache/calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* The beginning of glibc's pthread_mutex_t. */
struct loader_mutex {
	_Atomic int lock;
	unsigned count;
	_Atomic int owner; /* thread id; 0 for a moment after `lock` was set */
	unsigned users;
	int kind;
};
#define MUTEX_IS_RECURSIVE 1 /* PTHREAD_MUTEX_RECURSIVE_NP */

/* Only locks and other words of 8 bytes are between the write lock and the counter. */
#define COUNTER_DISTANCE_MAX (4 * sizeof(pthread_mutex_t))
#define GLOBAL_SIZE_MAX      4096

#define MOMENT       1000000    /* nanoseconds between two looks */
#define SUBS_UNKNOWN UINT64_MAX /* dlpi_subs where the list is read without the lock */

/* Written before `loaded_counter`, and never changed afterwards. */
static const struct loader_mutex *_Atomic load_lock, *_Atomic write_lock;
static const volatile struct r_debug *_Atomic debug;
static const _Atomic uint64_t unknown_adds = 1; /* stands for the counter while that is not found */
const _Atomic uint64_t *_Atomic loaded_counter = &unknown_adds;
static struct elf_object loader; /* which is never unloaded */
static _Atomic bool loader_known;

/*
 * Views of objects, which are valid until one is unloaded; the valid ones come first. Read and written by the thread
 * that has set `viewing`.
 */
static atomic_flag viewing = ATOMIC_FLAG_INIT;
#define VIEWS 64
static struct view {
	uint64_t subs; /* dlpi_subs at that time, and 1 */
	struct elf_object object;
} views[VIEWS];

static _Atomic int scans, forks; /* threads in dl_iterate_phdr(), and in fork() */
static _Atomic int patience;     /* how many milliseconds scans still wait for these forks */
static _Thread_local int walks;  /* of this thread, one inside the other */

static const _Atomic uint64_t *known_counter(void)
{
	const _Atomic uint64_t *counter = atomic_load_explicit(&loaded_counter, memory_order_acquire);

	return counter != &unknown_adds ? counter : NULL;
}

/* ---- finding the loader's words ---- */

static const _Atomic uint64_t *find_counter(const struct loader_mutex *lock, uintptr_t end, uint64_t value)
{
	uintptr_t at = (uintptr_t)lock + sizeof(pthread_mutex_t);

	for (uintptr_t last = at + COUNTER_DISTANCE_MAX; at < last && at + sizeof(value) <= end; at += sizeof(value)) {
		if (*(const uint64_t *)at == value) {
			return (const _Atomic uint64_t *)at;
		}
	}
	return NULL;
}

static pid_t thread_id(void)
{
	return (pid_t)call_kernel(SYS_gettid, 0, 0, 0, 0, 0);
}

/*
 * The write lock is the last of the loader's mutexes that this thread owns; the lock of dlopen() is before it. The
 * thread's own id is not asked for unless several are owned.
 */
static void find_words(uintptr_t global, uintptr_t end, uint64_t value)
{
	int self = 0;
	const struct loader_mutex *lock = NULL;
	const struct loader_mutex *before;
	const _Atomic uint64_t *counter;

	for (uintptr_t at = global; at + sizeof(pthread_mutex_t) <= end; at += sizeof(uint64_t)) {
		const struct loader_mutex *candidate = (const struct loader_mutex *)at;

		if (candidate->kind != MUTEX_IS_RECURSIVE || candidate->owner == 0 || candidate->count == 0) {
			continue;
		}
		self = lock && !self ? thread_id() : self;
		if (!self || candidate->owner == self) {
			lock = candidate;
		}
	}
	counter = lock ? find_counter(lock, end, value) : NULL;
	before = (const struct loader_mutex *)((uintptr_t)lock - sizeof(pthread_mutex_t));
	if (counter && (uintptr_t)before >= global && before->kind == MUTEX_IS_RECURSIVE) {
		atomic_store(&load_lock, before);
		atomic_store(&write_lock, lock);
		atomic_store(&loaded_counter, counter);
	}
}

/* A loader that was started by hand is the program itself, and the kernel names none. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t *ret_adds = context;
	uintptr_t started = getauxval(AT_BASE), global, ours;
	struct elf_object object;
	size_t readable;

	(void)size;
	*ret_adds = info->dlpi_adds;
	if (loaded_view(info, &object) < 0 || (started && !elf_contains(&object, started)) ||
	    !elf_finds(&object, "_rtld_global", NULL, &global)) {
		return 0;
	}
	if (!atomic_load(&loader_known)) {
		loader = object;
		atomic_store(&loader_known, true);
	}
	if (elf_finds(&object, "_r_debug", NULL, &ours)) {
		atomic_store(&debug, (const volatile struct r_debug *)ours);
	}
	readable = elf_readable(&object, global);
	find_words(global, global + (readable < GLOBAL_SIZE_MAX ? readable : GLOBAL_SIZE_MAX), info->dlpi_adds);
	return 1;
}

uint64_t loaded_generation(void)
{
	const _Atomic uint64_t *counter = known_counter();
	uint64_t generation = counter ? atomic_load_explicit(counter, memory_order_acquire) : 0;

	if (!counter) {
		(void)loaded_each(find_loader, &generation);
	}
	return generation;
}

const struct elf_object *loaded_loader(void)
{
	return atomic_load(&loader_known) ? &loader : NULL;
}

uint64_t loaded_counter_value(uint64_t generation)
{
	return known_counter() ? generation : atomic_load(&unknown_adds);
}

/* ---- the list ---- */

/*
 * Returns true if the write lock is held by a thread that does not exist in this process: it was held by another thread
 * at the fork, or by the thread that forked.
 */
static bool is_frozen(void)
{
	const struct loader_mutex *lock = atomic_load(&write_lock);
	int owner = 0;
	long error;

	for (int i = 0; i < LOADED_WAIT_MS && owner == 0; i++) {
		if (!lock || atomic_load(&lock->lock) == 0) {
			return false;
		}
		owner = atomic_load(&lock->owner);
		if (owner == 0) {
			call_pause(MOMENT);
		}
	}
	error = call_kernel(SYS_tgkill, getpid(), owner, 0, 0, 0);
	return error != 0 && error != -EPERM;
}

static bool has_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			return info->dlpi_addr + info->dlpi_phdr[i].p_vaddr == (uintptr_t)dynamic;
		}
	}
	return false;
}

static bool is_mapped(uintptr_t address)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char resident;

	return mincore((void *)(address & ~(page - 1)), page, &resident) == 0;
}

/* Reads the ELF header, which most objects have at their base. */
static bool read_header(const struct link_map *map, struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;

	if (map->l_addr == 0 || !is_mapped(map->l_addr) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phoff != sizeof(*header)) {
		return false;
	}
	info->dlpi_phdr = (const ElfW(Phdr) *)(header + 1);
	info->dlpi_phnum = header->e_phnum;
	return has_dynamic(info, map->l_ld);
}

/* The kernel passes the program headers of the main program, which need not have its ELF header at its base. */
static bool view_map(const struct link_map *map, struct dl_phdr_info *info)
{
	*info = (struct dl_phdr_info){.dlpi_addr = map->l_addr,
	                              .dlpi_subs = SUBS_UNKNOWN,
	                              .dlpi_name = map->l_name,
	                              .dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR),
	                              .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM)};
	return (!map->l_prev && has_dynamic(info, map->l_ld)) || read_header(map, info);
}

/* Finds the object's view among the valid ones, or adds it to them. Returns 0 or -ENOEXEC. */
static int view_kept(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	const uint64_t now = info->dlpi_subs + 1;
	struct view *view = views;

	while (view < views + VIEWS && view->subs == now && view->object.phdr != info->dlpi_phdr) {
		view++;
	}
	if (view == views + VIEWS) {
		return elf_view(info, ret_object);
	}
	if (view->subs != now) {
		view->subs = 0;
		if (elf_view(info, &view->object) < 0) {
			return -ENOEXEC;
		}
		view->subs = now;
	}
	*ret_object = view->object;
	return 0;
}

/* Some programs replace dl_iterate_phdr() by a function without the lock. */
int loaded_view(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	int rc;

	if (info->dlpi_subs == SUBS_UNKNOWN || atomic_flag_test_and_set_explicit(&viewing, memory_order_acquire)) {
		return elf_view(info, ret_object);
	}
	rc = view_kept(info, ret_object);
	atomic_flag_clear_explicit(&viewing, memory_order_release);
	return rc;
}

/* An object that is not mapped was being unloaded at the fork. */
static int walk_frozen(int (*each)(struct dl_phdr_info *info, size_t size, void *context), void *context)
{
	int result = 0;

	for (const struct link_map *map = loaded_list(); map && result == 0; map = map->l_next) {
		struct dl_phdr_info info;

		if (is_mapped((uintptr_t)map->l_ld)) {
			result = view_map(map, &info) ? each(&info, sizeof(info), context) : -EAGAIN;
		}
	}
	return result;
}

struct walk {
	int (*each)(struct dl_phdr_info *info, size_t size, void *context);
	void *context;
};

/* The loader's lock is held here, so the counter must have the value that the loader reports. */
static int walk_one(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct walk *walk = context;
	const _Atomic uint64_t *counter = known_counter();

	if (counter && atomic_load_explicit(counter, memory_order_relaxed) != info->dlpi_adds) {
		atomic_store(&loaded_counter, &unknown_adds);
	}
	return walk->each(info, size, walk->context);
}

/* A walk inside a walk of the same thread must not wait for a fork, which waits for the outer one. */
static void begin_scan(void)
{
	if (walks++ > 0) {
		return;
	}
	atomic_fetch_add(&scans, 1);
	while (atomic_load(&forks) > 0 && atomic_fetch_sub(&patience, 1) > 0) {
		atomic_fetch_sub(&scans, 1);
		call_pause(MOMENT);
		atomic_fetch_add(&scans, 1);
	}
}

static void end_scan(void)
{
	if (--walks == 0 && atomic_fetch_sub(&scans, 1) <= 0) {
		atomic_store(&scans, 0); /* a signal handler forked during the scan, and this is the child */
	}
}

int loaded_each(int (*each)(struct dl_phdr_info *info, size_t size, void *context), void *context)
{
	struct walk walk = {each, context};
	int saved_errno = errno;
	int result;

	if (is_frozen()) {
		result = walk_frozen(each, context);
	} else {
		begin_scan();
		result = dl_iterate_phdr(walk_one, &walk);
		end_scan();
	}
	errno = saved_errno;
	return result;
}

/* Weak, because another C library has none. A program may contain a copy of it, in which `r_map` is the same. */
#pragma weak _r_debug

const struct link_map *loaded_list(void)
{
	return &_r_debug ? _r_debug.r_map : NULL;
}

/* ---- calls into the loader ---- */

static bool is_held(const struct loader_mutex *lock)
{
	return lock && atomic_load(&lock->lock) != 0 && atomic_load(&lock->owner) != thread_id();
}

static bool is_busy(void)
{
	const volatile struct r_debug *known = atomic_load(&debug);

	return (known && known->r_state != RT_CONSISTENT) || is_held(atomic_load(&load_lock)) ||
	       is_held(atomic_load(&write_lock));
}

/* Looks often: a thread that loads and unloads without a pause leaves the loader for some microseconds only. */
bool loaded_may_call(void)
{
	bool busy = is_busy();

	for (int i = 0; i < LOADED_LOOKS && busy; i++) {
		call_pause(20000);
		busy = is_busy();
	}
	return !busy;
}

bool loaded_is_changing(void)
{
	return is_held(atomic_load(&load_lock));
}

/* ---- fork ---- */

void loaded_fork_prepare(void)
{
	atomic_store(&patience, LOADED_WAIT_MS);
	atomic_fetch_add(&forks, 1);
	for (int i = 0; i < LOADED_WAIT_MS && atomic_load(&scans) > 0; i++) {
		call_pause(MOMENT);
	}
}

void loaded_fork_parent(void)
{
	atomic_fetch_sub(&forks, 1);
}

void loaded_fork_child(void)
{
	if (atomic_flag_test_and_set(&viewing)) {
		memset(views, 0, sizeof(views)); /* one may be half written */
	}
	atomic_flag_clear(&viewing);
	atomic_store(&forks, 0);
	atomic_store(&scans, 0);
}
