/* SPDX-License-Identifier: MIT */
/*
 * store_fixture: a private directory with a store in it, for each test
 *
 * Use: TestSuite(name, .init = fixture_open, .fini = fixture_close), then Store_test(suite, name) { ... }. At its end
 * the test fails if a descriptor or a temporary file was left (Criterion does not count what fails in .fini).
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "cache/store.h"
#include "cache/tools/prune.h"
#include "tests/unit/support.h"

#include <glob.h>

#define FIXTURE_MAX_SIZE (UINT64_C(64) << 20)

static struct fixture {
	char base[200];
	char root[220];
	char path[320]; /* the file of fixture_key's entry */
	struct store *store;
	struct store stores[32]; /* those of fixture_store() */
	char store_paths[32][500];
	size_t store_count;
	int descriptors;
} fixture;

static const uint8_t fixture_key[ENTRY_KEY_BYTES] = {0xab, 0xcd, [31] = 0x01};

static inline int prune_files(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned)
{
	return store_remove(store, &(struct store_removal){.unused_ns = unused_ns}, ret_pruned);
}

static inline int clear_files(struct store *store, struct store_pruned *ret_pruned)
{
	return store_remove(store, &(struct store_removal){.all = true, .unused_ns = INT64_MAX}, ret_pruned);
}

/* A path, until the fourth call after it. */
static inline const char *fixture_name(const char *parent, const char *below, const char *name)
{
	static char paths[4][500];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s%s", parent, below, name);
	return path;
}

static inline const char *beside(const char *name)
{
	return fixture_name(fixture.base, "", name);
}

static inline const char *inside(const char *name)
{
	return fixture_name(fixture.root, "", name);
}

static inline const char *in_home(const char *name)
{
	return fixture_name(fixture.root, "v1/", name);
}

/* The path is copied, and slashes at its end are removed. */
static inline struct store *fixture_store(struct store wanted)
{
	struct store *store = &fixture.stores[fixture.store_count];
	char *path = fixture.store_paths[fixture.store_count++];

	cr_assert_leq(fixture.store_count, COUNT(fixture.stores));
	(void)snprintf(path, sizeof(fixture.store_paths[0]), "%s",
	               wanted.directory.path ? wanted.directory.path : fixture.root);
	directory_strip(path);
	*store = wanted;
	store->directory.path = path;
	store->max_size = wanted.max_size ? wanted.max_size : FIXTURE_MAX_SIZE;
	return store;
}

static inline void fixture_open(void)
{
	int at;

	fixture.descriptors = descriptors_open();
	cr_assert(private_directory_make(fixture.base, sizeof(fixture.base), "store-test"));
	(void)snprintf(fixture.root, sizeof(fixture.root), "%s/cache", fixture.base);
	at = snprintf(fixture.path, sizeof(fixture.path), "%s/v1/ab/", fixture.root);
	for (size_t i = 1; i < ENTRY_KEY_BYTES; i++) {
		at += snprintf(fixture.path + at, sizeof(fixture.path) - (size_t)at, "%02x", fixture_key[i]);
	}
	fixture.store = fixture_store((struct store){0});
}

static inline void fixture_expect_nothing_left(void)
{
	char pattern[sizeof(fixture.root) + sizeof("/v1/*/tmp.[0-9]*")];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/v1/*/tmp.[0-9]*", fixture.root);
	cr_expect_eq(glob(pattern, GLOB_NOSORT, NULL, &found), GLOB_NOMATCH, "a temporary file was left");
	globfree(&found);
	cr_expect_eq(descriptors_open(), fixture.descriptors, "a descriptor was left open");
}

static inline void fixture_close(void)
{
	remove_tree(fixture.base);
}

#define Store_test(suite, name)                \
	static void suite##_##name(void);      \
	Test(suite, name)                      \
	{                                      \
		suite##_##name();              \
		fixture_expect_nothing_left(); \
	}                                      \
	static void suite##_##name(void)

#define STORE_ROW(suite, name, call) \
	Store_test(suite, name)      \
	{                            \
		call;                \
	}

/* An entry with one section of `size` bytes and a number as its dependencies (0: none). */
static inline struct entry *fixture_entry(const uint8_t key[ENTRY_KEY_BYTES], int dependency, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct section section = {.tag = 1, .value = dependency, .bytes = bytes, .size = size};
	struct entry *entry;

	memset(bytes, dependency, size);
	cr_assert_eq(entry_build(key, 1, &dependency, dependency ? sizeof(dependency) : 0, &section, 1, &entry), 0);
	free(bytes);
	return entry;
}

/* Puts an entry that nobody else needs. */
static inline int fixture_put_entry(struct store *store, struct entry *entry)
{
	int rc = store_put(store, entry);

	entry_unref(entry);
	return rc;
}

static inline int fixture_put_sized(struct store *store, int dependency, size_t size)
{
	return fixture_put_entry(store, fixture_entry(fixture_key, dependency, size));
}

static inline int fixture_put(struct store *store, int dependency)
{
	return fixture_put_sized(store, dependency, 100);
}

/* Accepts the dependency *context; 0 accepts any. */
static inline bool fixture_check(void *context, const void *dependencies, size_t size)
{
	const int *wanted = context;

	return size == sizeof(*wanted) && (*wanted == 0 || memcmp(dependencies, wanted, size) == 0);
}

/* Returns the dependency of the result that was found, or a negative errno. */
static inline int fixture_get(struct store *store, int wanted)
{
	struct entry *entry;
	struct section section;
	int rc = store_get(store, fixture_key, fixture_check, &wanted, &entry);

	if (rc < 0) {
		return rc;
	}
	cr_assert(entry_section(entry, 1, &section));
	cr_assert(section.size == 0 || *(const uint8_t *)section.bytes == (uint8_t)section.value);
	entry_unref(entry);
	return section.value;
}

/* Locks bytes of the lock file (0: all). The caller closes the descriptor. */
static inline int fixture_lock_range(off_t start, off_t length)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
	int lock = open(in_home("lock"), O_RDWR | O_CLOEXEC);

	cr_assert_eq(fcntl(lock, F_OFD_SETLK, &range), 0);
	return lock;
}

/* As another process that stores would. */
static inline int fixture_lock(void)
{
	return fixture_lock_range(0, 0);
}

static inline bool fixture_exists(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0;
}

static inline void fixture_write(const char *path, const void *bytes, size_t size)
{
	cr_assert(file_write(path, bytes, size));
}

/* malloc'ed */
static inline uint8_t *fixture_read(const char *path, size_t *ret_size)
{
	uint8_t *bytes = file_read(path, ret_size);

	cr_assert_not_null(bytes);
	return bytes;
}

#endif
