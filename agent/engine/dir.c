/* SPDX-License-Identifier: MIT */
/*
 * dir: a directory as the engine, usually a share that every node mounts (dir:///path)
 *
 * Values are plain files, <path>/<prefix>/2-<format>/ab/<62 hex>. Each is written under a temporary name and renamed,
 * so that readers on any node see a complete file or none. The engine removes only its own temporary files; the
 * operator's cron job has to remove old values. A system call on a hung share cannot be interrupted, so time limits are
 * not enforced here. A worker then blocks until the share answers, but a process that waits for the agent does not: it
 * has a time limit of its own (cache/agent_socket.h).
 */
#include "agent/engine/kind.h"
#include "cache/calls.h"
#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct engine_dir {
	struct engine engine;
	const char *root;
};

/* The directory is not opened here, because each request opens it; the share need not be mounted yet. */
static int dir_open(struct engine *engine, const struct engine_address *address, struct engine_error *ret_error)
{
	struct engine_dir *dir = (struct engine_dir *)engine;
	const char *prefix = engine->prefix;

	(void)address;
	if (prefix[0] == '\0' || prefix[0] == '.' || strchr(prefix, '/') != NULL || strlen(prefix) > NAME_MAX) {
		return engine_refuse(ret_error, "--prefix: with dir:// it must not contain '/' or begin with '.'");
	}
	dir->root = engine->options->address + strlen("dir://");
	engine_say(engine, "directory %s, prefix %s", dir->root, prefix);
	return 0;
}

static void dir_close(struct engine *engine)
{
	(void)engine;
}

/* For the breaker a full disk is an answer, but a stale handle is a failure. */
static const struct {
	int error;
	enum engine_answer answer;
} answers[] = {
    {EACCES, ENGINE_REFUSED},        {EPERM, ENGINE_REFUSED},        {EROFS, ENGINE_REFUSED},
    {ENOSPC, ENGINE_FULL},           {EDQUOT, ENGINE_FULL},          {EFBIG, ENGINE_TOO_LARGE},
    {ENOTDIR, ENGINE_UNSUITED},      {EISDIR, ENGINE_UNSUITED},      {ELOOP, ENGINE_UNSUITED},
    {ENAMETOOLONG, ENGINE_UNSUITED}, {ETIMEDOUT, ENGINE_SLOW},       {ESTALE, ENGINE_UNREACHABLE},
    {EHOSTDOWN, ENGINE_UNREACHABLE}, {ENOTCONN, ENGINE_UNREACHABLE},
};

/* Returns the answer for an errno value, and writes its text unless the value is absent. */
static enum engine_answer tell_errno(const struct engine_dir *dir, int error, struct engine_error *ret_error)
{
	enum engine_answer answer = ENGINE_BROKEN;

	if (error == ENOENT) {
		return ENGINE_ABSENT;
	}
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		answer = answers[i].error == error ? answers[i].answer : answer;
	}
	engine_tell(ret_error, "%s: %s", dir->root, strerror(error));
	return answer;
}

/* A missing root is an error and not an absent value, because the share may not be mounted. */
static enum engine_answer open_root(const struct engine_dir *dir, int *ret_root, struct engine_error *ret_error)
{
	int root = open(dir->root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root >= 0) {
		*ret_root = root;
		return ENGINE_DONE;
	}
	if (errno == ENOENT) {
		engine_tell(ret_error, "%s: %s", dir->root, strerror(errno));
		return ENGINE_UNREACHABLE;
	}
	return tell_errno(dir, errno, ret_error);
}

/* Reads a value. Type and size are checked before the allocation, because a FIFO or a directory is not a value. */
static enum engine_answer take_value(const struct engine_dir *dir, int file, void **ret_value, size_t *ret_size,
                                     struct engine_error *ret_error)
{
	struct stat found;
	void *value;
	ssize_t got;

	if (fstat(file, &found) != 0) {
		return tell_errno(dir, errno, ret_error);
	}
	if (!S_ISREG(found.st_mode)) {
		return tell_errno(dir, EISDIR, ret_error);
	}
	if (found.st_size < 0 || found.st_size > ENGINE_VALUE_MAX) {
		return tell_errno(dir, EFBIG, ret_error);
	}
	value = malloc((size_t)found.st_size + 1);
	got = value == NULL ? -1 : call_pread(file, value, (size_t)found.st_size, 0);
	if (got != found.st_size) { /* an error, or the file became shorter during the read */
		int error = value == NULL ? ENOMEM : got < 0 ? errno : EIO;

		free(value);
		return tell_errno(dir, error, ret_error);
	}
	*ret_value = value;
	*ret_size = (size_t)found.st_size;
	return ENGINE_DONE;
}

/* O_NONBLOCK: a FIFO must not block the agent. O_NOCTTY: a terminal must not become its controlling terminal. */
static enum engine_answer open_value(const struct engine_dir *dir, const struct engine_name *name, int *ret_file,
                                     struct engine_error *ret_error)
{
	char path[ENGINE_NAME_MAX];
	int root;
	enum engine_answer answer = open_root(dir, &root, ret_error);

	if (answer != ENGINE_DONE) {
		return answer;
	}
	engine_name_path(dir->engine.prefix, name, path);
	*ret_file = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (*ret_file < 0) {
		answer = tell_errno(dir, errno, ret_error);
	}
	close(root);
	return answer;
}

/* The time limit is not enforced here, because a read from a hung share does not return. */
static enum engine_answer dir_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                  void **ret_value, size_t *ret_size, struct engine_error *ret_error)
{
	const struct engine_dir *dir = (const struct engine_dir *)engine;
	int file;
	enum engine_answer answer = open_value(dir, name, &file, ret_error);

	(void)limit_ms;
	if (answer == ENGINE_DONE) {
		answer = take_value(dir, file, ret_value, ret_size, ret_error);
		close(file);
	}
	return answer;
}

static enum engine_answer dir_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                  struct engine_error *ret_error)
{
	int file;
	enum engine_answer answer = open_value((const struct engine_dir *)engine, name, &file, ret_error);

	(void)limit_ms;
	if (answer == ENGINE_DONE) {
		close(file);
	}
	return answer;
}

/*
 * Creates the directories of a value below the root, and opens the last one. The path ends there afterwards, and the
 * file's name is behind the NUL. The operator has to create the root.
 */
static int make_place(int root, char *path, int *ret_place)
{
	for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root, path, 0777) != 0 && errno != EEXIST) {
			return errno;
		}
		*slash = '/';
	}
	*strrchr(path, '/') = '\0';
	*ret_place = openat(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret_place < 0 ? errno : 0;
}

/* The temporary file is renamed within its directory, so that no reader sees an incomplete file, also on NFS. */
static int put_value(int place, const char *name, const void *value, size_t size)
{
	unsigned long long random; /* processes on two nodes may have the same process id */
	char temporary[48];
	int error;
	int file;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
		return EAGAIN;
	}
	snprintf(temporary, sizeof(temporary), "tmp.%d.%016llx", getpid(), random);
	file = openat(place, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (file < 0) {
		return errno;
	}
	error = -output_at(file, 0, value, size);
	/* NFS may report a full disk only at close() */
	if (close(file) != 0 && error == 0) {
		error = errno;
	}
	if (error == 0 && renameat(place, temporary, place, name) != 0) {
		error = errno;
	}
	if (error != 0) {
		unlinkat(place, temporary, 0);
	}
	return error;
}

/* Directories are created when a value needs them, with the permissions that the umask allows. */
static enum engine_answer dir_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                                  unsigned limit_ms, struct engine_error *ret_error)
{
	const struct engine_dir *dir = (const struct engine_dir *)engine;
	char path[ENGINE_NAME_MAX];
	enum engine_answer answer;
	int place = -1;
	int root;
	int error;

	(void)limit_ms;
	answer = open_root(dir, &root, ret_error);
	if (answer != ENGINE_DONE) {
		return answer;
	}
	engine_name_path(engine->prefix, name, path);
	error = make_place(root, path, &place);
	close(root);
	if (error == 0) {
		error = put_value(place, path + strlen(path) + 1, value, size);
		close(place);
	}
	if (error == ENOENT) { /* another process removed a directory meanwhile; ABSENT is not an answer to a put */
		error = ESTALE;
	}
	return error == 0 ? ENGINE_DONE : tell_errno(dir, error, ret_error);
}

/* Checks permissions of the effective user, because requests are made with these. */
static enum engine_answer dir_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	const struct engine_dir *dir = (const struct engine_dir *)engine;
	enum engine_answer answer;
	int root;

	(void)limit_ms;
	answer = open_root(dir, &root, ret_error);
	if (answer == ENGINE_DONE) {
		if (faccessat(root, ".", R_OK | X_OK, AT_EACCESS) != 0) {
			answer = tell_errno(dir, errno, ret_error);
		}
		close(root);
	}
	return answer;
}

const struct engine_kind engine_kind_dir = {
    .size = sizeof(struct engine_dir),
    .open = dir_open,
    .close = dir_close,
    .get = dir_get,
    .has = dir_has,
    .put = dir_put,
    .probe = dir_probe,
};
