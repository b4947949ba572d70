/* SPDX-License-Identifier: MIT */
#include "cache/counters_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC           "NVCCOUNT"
#define FORMAT          1
#define LOCK_PAUSE_NS   200000
#define LOCK_TRIES_READ 50
#define NAME_BYTES      sizeof("v1/stats/00")

/* Little-endian in the file. */
struct counters_file {
	char magic[8];
	uint32_t format;
	uint32_t count;
	uint64_t names;    /* XXH3 of all names in order: counters that moved are not taken for one another */
	uint64_t checksum; /* XXH3 of the rest of the header and all values */
	uint64_t values[COUNTER_COUNT];
};

static const char all_names[] =
#define COUNTER_TEXT(group, name) #group "." #name "\n"
    COUNTERS(COUNTER_TEXT);
#undef COUNTER_TEXT

static uint64_t checksum_of(const struct counters_file *file)
{
	uint64_t header = XXH3_64bits(file, offsetof(struct counters_file, checksum));

	return XXH3_64bits_withSeed(file->values, sizeof(file->values), header);
}

static void seal(struct counters_file *file)
{
	memcpy(file->magic, MAGIC, sizeof(file->magic));
	file->format = htole32(FORMAT);
	file->count = htole32(COUNTER_COUNT);
	file->names = htole64(XXH3_64bits(all_names, sizeof(all_names) - 1));
	file->checksum = htole64(checksum_of(file));
}

static bool is_sound(const struct counters_file *file, size_t size)
{
	return size >= sizeof(*file) && memcmp(file->magic, MAGIC, sizeof(file->magic)) == 0 &&
	       le32toh(file->format) == FORMAT && le32toh(file->count) == COUNTER_COUNT &&
	       le64toh(file->names) == XXH3_64bits(all_names, sizeof(all_names) - 1) &&
	       le64toh(file->checksum) == checksum_of(file);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static ssize_t read_all(int fd, void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = TEMP_FAILURE_RETRY(pread(fd, (char *)bytes + done, size - done, (off_t)done));

		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static int write_all(int fd, const void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t put = TEMP_FAILURE_RETRY(pwrite(fd, (const char *)bytes + done, size - done, (off_t)done));

		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		done += (size_t)put;
	}
	return 0;
}

/* Writing past RLIMIT_FSIZE would raise SIGXFSZ, and that ends a host. */
static int check_file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(struct counters_file) ? -EFBIG : 0;
}

/* -EAGAIN: somebody has it for long. Whatever else goes wrong: go on without (no locks on that file system). */
static int lock_file(int fd, short type, int tries)
{
	struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (;;) {
		struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

		if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES && errno != EINTR))
			return 0;
		if (--tries <= 0)
			return -EAGAIN;
		nanosleep(&pause, NULL);
	}
}

/* Said aloud: a child forked meanwhile holds the descriptor too, and closing ours would not release the lock. */
static void unlock_file(int fd)
{
	struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	(void)fcntl(fd, F_OFD_SETLK, &whole);
}

/* chmod undoes the umask; through /proc because fchmod refuses O_PATH, and the umask may have taken our own bits. */
static int make_directory(const struct directory *directory, int root, const char *path)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct stat found;
	int made;

	if (mkdirat(root, path, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	made = TEMP_FAILURE_RETRY(openat(root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (made < 0)
		return -errno;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", made);
	if (fstat(made, &found) == 0 && found.st_uid == geteuid())
		(void)chmod(link, directory->shared ? S_ISGID | 0770 : 0700);
	close(made);
	return 0;
}

static void name_file(unsigned number, char ret_path[NAME_BYTES])
{
	(void)snprintf(ret_path, NAME_BYTES, "v1/stats/%02x", number % COUNTERS_FILES);
}

static int open_file(const struct directory *directory, int root, const char *path, int flags, int *ret_fd)
{
	mode_t mode = directory->shared ? 0660 : 0600;
	int fd = TEMP_FAILURE_RETRY(openat(root, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
	struct stat found;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &found) < 0)
		error = -errno;
	else if (!S_ISREG(found.st_mode) || !directory_trusts(directory, &found))
		error = -EPERM;
	else if ((flags & O_CREAT) && (found.st_mode & 0777) != mode && found.st_uid == geteuid())
		(void)fchmod(fd, mode);
	if (error != 0) {
		close(fd);
		return error;
	}
	*ret_fd = fd;
	return 0;
}

static int open_or_make_file(const struct directory *directory, int root, const char *path, int *ret_fd)
{
	int error = open_file(directory, root, path, O_RDWR, ret_fd);

	if (error != -ENOENT)
		return error;
	error = make_directory(directory, root, "v1");
	if (error == 0)
		error = make_directory(directory, root, "v1/stats");
	return error != 0 ? error : open_file(directory, root, path, O_RDWR | O_CREAT, ret_fd);
}

static int add_to_file(int fd, const uint64_t amounts[COUNTER_COUNT], int lock_tries)
{
	struct counters_file file;
	ssize_t got;
	int error = lock_file(fd, F_WRLCK, lock_tries);

	if (error != 0)
		return error;
	got = read_all(fd, &file, sizeof(file));
	if (got < 0) {
		error = (int)got;
		goto out;
	}
	if (!is_sound(&file, (size_t)got))
		memset(&file, 0, sizeof(file));
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		file.values[i] = htole64(add_saturated(le64toh(file.values[i]), amounts[i]));
	seal(&file);
	error = write_all(fd, &file, sizeof(file));
out:
	unlock_file(fd);
	return error;
}

int counters_file_add(const struct directory *directory, unsigned number, const uint64_t amounts[COUNTER_COUNT],
                      int lock_tries)
{
	char name[NAME_BYTES];
	int fd = -1;
	int root;
	int error = check_file_limit();

	if (error != 0)
		return error;
	error = directory_open(directory, true, &root);
	if (error != 0)
		return error;
	name_file(number, name);
	error = open_or_make_file(directory, root, name, &fd);
	close(root);
	if (error != 0)
		return error;
	error = add_to_file(fd, amounts, lock_tries);
	close(fd);
	return error;
}

int counters_file_read(const struct directory *directory, int root, unsigned number, uint64_t values[COUNTER_COUNT])
{
	struct counters_file file;
	char name[NAME_BYTES];
	bool locked;
	ssize_t got;
	int fd = -1;
	int error;

	name_file(number, name);
	error = open_file(directory, root, name, O_RDONLY, &fd);
	if (error != 0)
		return error == -ENOENT ? 0 : error;
	locked = lock_file(fd, F_RDLCK, LOCK_TRIES_READ) == 0;
	got = read_all(fd, &file, sizeof(file));
	if (locked)
		unlock_file(fd);
	close(fd);
	if (got < 0)
		return (int)got;
	if (!is_sound(&file, (size_t)got))
		return 0;
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		values[i] = add_saturated(values[i], le64toh(file.values[i]));
	return 0;
}

int counters_file_remove(int root, unsigned number)
{
	char name[NAME_BYTES];

	name_file(number, name);
	return unlinkat(root, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
