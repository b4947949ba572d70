/* SPDX-License-Identifier: MIT */
#include "cache/counters_file.h"

#include "cache/calls.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC        "NVCCOUNT"
#define FORMAT       2
#define LOCK_WAIT_US 10000
#define PLACE_NAME   "stats"
#define PLACE_PATH   DIRECTORY_HOME "/" PLACE_NAME
#define NAME_BYTES   sizeof("00")

/* Little-endian in the file. */
struct counters_file {
	char magic[8];
	uint32_t format;
	uint32_t count;
	uint64_t names;    /* XXH3 of all names in order, so that counts of another list are not used for wrong names */
	uint64_t checksum; /* XXH3 of all other members */
	int64_t since;     /* seconds since 1970 when it was begun */
	uint64_t values[COUNTER_COUNT];
};

static const char all_names[] =
#define COUNTER_TEXT(group, name) #group "." #name "\n"
    COUNTERS(COUNTER_TEXT);
#undef COUNTER_TEXT

/* Computes the checksum of the names once; it is the same in every file of this build. */
static uint64_t names_sum(void)
{
	static _Atomic uint64_t known;
	uint64_t sum = atomic_load_explicit(&known, memory_order_relaxed);

	if (sum == 0) {
		sum = XXH3_64bits(all_names, sizeof(all_names) - 1);
		atomic_store_explicit(&known, sum, memory_order_relaxed);
	}
	return sum;
}

static uint64_t checksum_of(const struct counters_file *file)
{
	uint64_t header = XXH3_64bits(file, offsetof(struct counters_file, checksum));

	return XXH3_64bits_withSeed(&file->since, sizeof(*file) - offsetof(struct counters_file, since), header);
}

static void seal_file(struct counters_file *file)
{
	memcpy(file->magic, MAGIC, sizeof(file->magic));
	file->format = htole32(FORMAT);
	file->count = htole32(COUNTER_COUNT);
	file->names = htole64(names_sum());
	file->checksum = htole64(checksum_of(file));
}

static bool is_sound(const struct counters_file *file, size_t size)
{
	return size >= sizeof(*file) && memcmp(file->magic, MAGIC, sizeof(file->magic)) == 0 &&
	       le32toh(file->format) == FORMAT && le32toh(file->count) == COUNTER_COUNT &&
	       le64toh(file->names) == names_sum() && le64toh(file->checksum) == checksum_of(file);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static void name_file(unsigned number, char ret_name[NAME_BYTES])
{
	ret_name[0] = '0';
	ret_name[1] = "0123456789abcdef"[number % COUNTERS_FILES];
	ret_name[2] = '\0';
}

/* Returns whether the file is a link, a pipe, or not trusted. It is not used, but another one of the files may be. */
static bool is_anothers(int error)
{
	return error == -EPERM || error == -ELOOP || error == -ENXIO || error == -EISDIR;
}

static int64_t time_now(void)
{
	struct timespec now = {0};

	call_clock(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec;
}

static int add_to_file(int fd, const struct counters_amounts *amounts)
{
	struct counters_file file;
	ssize_t got = call_pread(fd, &file, sizeof(file), 0);

	if (got < 0) {
		return -errno;
	}
	if (!is_sound(&file, (size_t)got)) {
		if (!directory_is_ours(fd, MAGIC)) {
			return -EPERM;
		}
		memset(&file, 0, sizeof(file));
		file.since = (int64_t)htole64((uint64_t)time_now());
	}
	for (size_t i = 0; i < amounts->count; i++) {
		uint64_t *value = &file.values[amounts->list[i].counter];

		*value = htole64(add_saturated(le64toh(*value), amounts->list[i].amount));
	}
	seal_file(&file);
	return output_at(fd, 0, &file, sizeof(file));
}

static bool is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

/* The file to which this process added last, after it was opened through trusted directories. */
static struct {
	_Atomic uint64_t device, inode;
	_Atomic unsigned number;
} known;

static void note_known(const struct stat *found, unsigned number)
{
	atomic_store_explicit(&known.device, found->st_dev, memory_order_relaxed);
	atomic_store_explicit(&known.inode, found->st_ino, memory_order_relaxed);
	atomic_store_explicit(&known.number, number, memory_order_relaxed);
}

static bool is_known(const struct stat *found)
{
	return found->st_dev == atomic_load_explicit(&known.device, memory_order_relaxed) &&
	       found->st_ino == atomic_load_explicit(&known.inode, memory_order_relaxed);
}

static int add_locked(int fd, const struct counters_amounts *amounts, unsigned wait_us)
{
	int error = -EAGAIN;

	if (lock_bytes(fd, LOCK_WHOLE, LOCK_ALONE, wait_us) != LOCK_HELD) {
		error = add_to_file(fd, amounts);
		lock_release_bytes(fd, LOCK_WHOLE);
	}
	return error;
}

static int add_to_path(const struct directory *directory, int at, const char *path, unsigned number, int flags,
                       const struct counters_amounts *amounts, unsigned wait_us)
{
	struct stat found;
	int fd = -1;
	int error = directory_open_seen(directory, at, path, flags, &fd, &found);

	if (error != 0) {
		return error;
	}
	error = add_locked(fd, amounts, wait_us);
	if (error == 0) {
		note_known(&found, number);
	}
	call_close(fd);
	return error;
}

static int add_to_number(const struct directory *directory, int place, unsigned number, int flags,
                         const struct counters_amounts *amounts, unsigned wait_us)
{
	char name[NAME_BYTES];

	name_file(number, name);
	return add_to_path(directory, place, name, number, flags, amounts, wait_us);
}

/*
 * Opens the known file by its whole path, with half the system calls. That is safe because the file is checked and must
 * be the same (device and inode) as before. -EAGAIN: it is another file or locked; the caller then takes the long way.
 */
static int add_to_known(const struct directory *directory, const struct counters_amounts *amounts)
{
	char path[PATH_MAX], name[NAME_BYTES];
	struct stat found;
	int error;
	int fd;

	name_file(atomic_load_explicit(&known.number, memory_order_relaxed), name);
	if (snprintf(path, sizeof(path), "%s/" PLACE_PATH "/%s", directory->path, name) >= (int)sizeof(path)) {
		return -ENAMETOOLONG;
	}
	error = directory_open_seen(directory, AT_FDCWD, path, O_RDWR, &fd, &found);
	if (error != 0) {
		return error;
	}
	error = is_known(&found) ? add_locked(fd, amounts, 0) : -EAGAIN;
	call_close(fd);
	return error;
}

/* Adds to an existing file of a private cache by its path from the root, with few system calls. */
static int add_from_root(const struct directory *directory, unsigned number, const struct counters_amounts *amounts)
{
	char path[] = PLACE_PATH "/00";
	int root;
	int error = directory_open_root(directory, PLACE_PATH, &root);

	if (error == 0) {
		name_file(number, path + sizeof(PLACE_PATH));
		error = add_to_path(directory, root, path, number, O_RDWR, amounts, 0);
		call_close(root);
	}
	return error;
}

/*
 * Adds to the first file that is usable; any will do, because readers sum all files. If the disk is full, only existing
 * files are tried, because they do not grow.
 */
static int add_to_any(const struct directory *directory, int place, unsigned number,
                      const struct counters_amounts *amounts)
{
	int error = add_to_number(directory, place, number, O_RDWR | O_CREAT, amounts, 0);
	int full = is_full(error) ? error : 0;

	for (unsigned i = 1; i < COUNTERS_FILES; i++) {
		if (error != -EAGAIN && error != -ENOENT && !is_full(error) && !is_anothers(error)) {
			return error;
		}
		error = add_to_number(directory, place, number + i, full ? O_RDWR : O_RDWR | O_CREAT, amounts, 0);
		full = is_full(error) ? error : full;
	}
	return error != 0 && full ? full : error;
}

int counters_file_add(const struct directory *directory, unsigned number, const struct counters_amounts *amounts,
                      enum counters_file_patience patience, enum counters_file_want want)
{
	int place = -1;
	int home;
	int error = atomic_load_explicit(&known.inode, memory_order_relaxed) != 0
	                ? add_to_known(directory, amounts)
	                : add_from_root(directory, number, amounts);

	if (error == 0) {
		return 0;
	}
	error = directory_open(directory, want == COUNTERS_FILE_MAKE ? DIRECTORY_MAKE : DIRECTORY_REACH, &home);
	if (error != 0) {
		return error;
	}
	error = directory_open_place(directory, home, PLACE_NAME, DIRECTORY_REACH, &place);
	if (error == -ENOENT) {
		error = directory_open_place(directory, home, PLACE_NAME, DIRECTORY_MAKE, &place);
	}
	call_close(home);
	if (error != 0) {
		return error;
	}
	error = add_to_any(directory, place, number, amounts);
	if (error == -EAGAIN && patience == COUNTERS_FILE_WAIT) {
		error = add_to_number(directory, place, number, O_RDWR | O_CREAT, amounts, LOCK_WAIT_US);
	}
	call_close(place);
	return error;
}

struct counted {
	uint64_t *values;
	int64_t since;
};

static int read_file(const struct directory *directory, int place, unsigned number, struct counted *counted)
{
	struct counters_file file;
	char name[NAME_BYTES];
	int64_t since;
	ssize_t got;
	int fd = -1;
	int error;

	name_file(number, name);
	error = directory_open_file(directory, place, name, O_RDONLY, &fd);
	if (error != 0) {
		return is_anothers(error) || error == -ENOENT ? 0 : error;
	}
	/* if the lock is held too long, reads without it: the checksum detects a torn read */
	(void)lock_bytes(fd, LOCK_WHOLE, LOCK_SHARED, LOCK_WAIT_US);
	got = call_pread(fd, &file, sizeof(file), 0);
	error = got < 0 ? -errno : 0;
	lock_release_bytes(fd, LOCK_WHOLE);
	call_close(fd);
	if (error != 0 || !is_sound(&file, (size_t)got)) {
		return error;
	}
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		counted->values[i] = add_saturated(counted->values[i], le64toh(file.values[i]));
	}
	since = (int64_t)le64toh((uint64_t)file.since);
	if (counted->since == 0 || since < counted->since) {
		counted->since = since;
	}
	return 0;
}

static int remove_file(const struct directory *directory, int place, unsigned number)
{
	char name[NAME_BYTES];
	int fd = -1;
	int error;

	name_file(number, name);
	error = directory_open_file(directory, place, name, O_RDONLY, &fd);
	if (error != 0) {
		return is_anothers(error) || error == -ENOENT ? 0 : error;
	}
	if (!directory_is_ours(fd, MAGIC)) {
		call_close(fd);
		return 0;
	}
	call_close(fd);
	return call_unlinkat(place, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* Reads all files, or removes them if `counted` is NULL. Continues after an error and returns the first one. */
static int for_all_files(const struct directory *directory, struct counted *counted)
{
	int place = -1;
	int home = -1;
	int error = directory_open(directory, DIRECTORY_REACH, &home);

	if (error != 0) {
		return error == -ENOENT ? 0 : error;
	}
	error = directory_open_place(directory, home, PLACE_NAME, DIRECTORY_REACH, &place);
	call_close(home);
	if (error != 0) {
		return error == -ENOENT ? 0 : error;
	}
	for (unsigned i = 0; i < COUNTERS_FILES; i++) {
		int done = counted ? read_file(directory, place, i, counted) : remove_file(directory, place, i);

		error = error != 0 ? error : done;
	}
	call_close(place);
	return error;
}

int counters_file_read(const struct directory *directory, uint64_t values[COUNTER_COUNT], int64_t *ret_since)
{
	struct counted counted = {.values = values};
	int error = for_all_files(directory, &counted);

	*ret_since = counted.since;
	return error;
}

int counters_file_remove(const struct directory *directory)
{
	return for_all_files(directory, NULL);
}
