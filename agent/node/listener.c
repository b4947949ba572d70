/* SPDX-License-Identifier: MIT */
/*
 * The lock on the lock file decides which agent uses the socket. An agent that died leaves both files but no lock, so a
 * new agent that holds the lock may remove the socket file.
 */
#include "agent/node/listener.h"

#include "cache/lock.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG    128
#define LOCK_TRIES 8
#define GROUPS_MAX 1024

/* Uses the function that the processes use too, so that both get the same path. */
int listener_path(const char *directory, const char *said, char ret_path[PATH_MAX])
{
	return agent_socket_path(said != NULL ? said : "1", directory, ret_path);
}

static const char *name_of(const struct listener *listener)
{
	return strrchr(listener->path, '/') + 1;
}

/* Returns whether the socket is below the cache directory. The slash is compared too: /cache2 is not in /cache. */
static bool is_within(const struct listener *listener)
{
	size_t length = strlen(listener->directory.path);

	return strncmp(listener->path, listener->directory.path, length) == 0 && listener->path[length] == '/';
}

static bool is_shared(const struct listener *listener)
{
	return listener->directory.shared && is_within(listener);
}

/* Opens and checks the socket's directory before a file is created, because another user could replace the socket. */
static int open_place(struct listener *listener)
{
	char parent[PATH_MAX];
	struct stat found;
	int home;
	int error = directory_open(&listener->directory, DIRECTORY_MAKE, &home);

	if (error != 0) {
		return error;
	}
	close(home);
	memcpy(parent, listener->path, sizeof(parent));
	*strrchr(parent, '/') = '\0';
	listener->place = open(parent[0] != '\0' ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (listener->place < 0 || fstat(listener->place, &found) != 0) {
		return -errno;
	}
	return trust_found(is_shared(listener), AT_FDCWD, &found) ? 0 : -EPERM;
}

static bool is_there(const struct listener *listener, const char *name, dev_t device, ino_t inode)
{
	struct stat found;

	return fstatat(listener->place, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_dev == device &&
	       found.st_ino == inode;
}

/*
 * Returns whether the locked file is still the one with that name. The previous holder may have removed it between
 * openat() and the lock, and later another agent may have replaced it.
 */
static bool has_lock(const struct listener *listener, const char *name)
{
	struct stat held;

	return listener->lock >= 0 && fstat(listener->lock, &held) == 0 &&
	       is_there(listener, name, held.st_dev, held.st_ino);
}

/* Takes the lock. A lock on a file that was unlinked meanwhile is worthless, so the loop tries again. */
static int take_lock(struct listener *listener)
{
	char name[NAME_MAX + 1];

	if (snprintf(name, sizeof(name), "%s.lock", name_of(listener)) >= (int)sizeof(name)) {
		return -ENAMETOOLONG;
	}
	for (int i = 0; i < LOCK_TRIES; i++) {
		listener->lock =
		    openat(listener->place, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
		if (listener->lock < 0) {
			return -errno;
		}
		if (is_shared(listener)) {
			(void)trust_settle_file(true, listener->place, listener->lock);
		}
		switch (lock_bytes(listener->lock, LOCK_WHOLE, LOCK_ALONE, 0)) {
		case LOCK_TAKEN:
			break;
		case LOCK_HELD:
			return -EBUSY;
		default:
			return -ENOLCK;
		}
		if (has_lock(listener, name)) {
			return 0;
		}
		close(listener->lock);
		listener->lock = -1;
	}
	return -EBUSY;
}

/*
 * Removes the socket of an agent that has died. The caller holds the lock, so no agent uses the socket. Another type of
 * file is not removed, because its name was probably given by mistake.
 */
static int remove_dead(const struct listener *listener)
{
	struct stat found;

	if (fstatat(listener->place, name_of(listener), &found, AT_SYMLINK_NOFOLLOW) != 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISSOCK(found.st_mode)) {
		return -ENOTSOCK;
	}
	return unlinkat(listener->place, name_of(listener), 0) == 0 ? 0 : -errno;
}

/*
 * Makes the socket accessible to the group. Members of the group can replace the file at any moment, also with a link
 * to another file of this user. Therefore the file is opened and checked, and the changes are made through the
 * descriptor. If that fails, only the owner can connect.
 */
static void open_to_group(const struct listener *listener)
{
	int file = openat(listener->place, name_of(listener), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[32];
	struct stat above;
	struct stat found;

	if (file >= 0 && fstat(file, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == geteuid() &&
	    fstat(listener->place, &above) == 0 && fchownat(file, "", (uid_t)-1, above.st_gid, AT_EMPTY_PATH) == 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file); /* fchmod() rejects an O_PATH descriptor */
		(void)!chmod(path, 0660);
	}
	if (file >= 0) {
		close(file);
	}
}

/* The mode is set before bind(), so that other users cannot connect at any moment. */
static int listen_there(struct listener *listener)
{
	struct agent_address address;
	struct stat bound;
	int error = agent_socket_address(listener->path, &address);

	if (error != 0) {
		return error;
	}
	listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* bind() gives the file the mode of the socket (unix(7)); umask() would affect all threads */
	if (listener->socket < 0 || fchmod(listener->socket, 0600) != 0 ||
	    bind(listener->socket, (const struct sockaddr *)&address.name, address.size) != 0) {
		error = -errno;
	}
	agent_socket_forget(&address);
	if (error == 0 && fstatat(listener->place, name_of(listener), &bound, AT_SYMLINK_NOFOLLOW) == 0) {
		listener->device = bound.st_dev;
		listener->inode = bound.st_ino;
	}
	if (error == 0 && is_shared(listener)) {
		open_to_group(listener);
	}
	return error == 0 && listen(listener->socket, BACKLOG) != 0 ? -errno : error;
}

/* Returns the text of an error for the user who starts the agent. */
static const char *explain_error(int error)
{
	switch (error) {
	case -EBUSY:
		return "another agent is using this socket";
	case -EPERM:
		return "not used: others can write to the directory, or it belongs to another user";
	case -ENOTSOCK:
		return "exists and is not a socket";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

/* Closes all descriptors, which releases the lock. The files stay, because another agent may hold the lock. */
static void close_files(struct listener *listener)
{
	int *const files[] = {&listener->socket, &listener->lock, &listener->place};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (*files[i] >= 0) {
			close(*files[i]);
			*files[i] = -1;
		}
	}
}

/* After a failure, close_files() closes what the steps before it have opened. */
int listener_open(const struct directory *directory, const char *said, struct listener *ret_listener,
                  char ret_text[LISTENER_TEXT_MAX])
{
	struct listener listener = {.socket = -1, .lock = -1, .place = -1, .directory = *directory};
	int error = listener_path(directory->path, said, listener.path);

	if (error == 0) {
		error = open_place(&listener);
	}
	if (error == 0) {
		error = take_lock(&listener);
	}
	if (error == 0) {
		error = remove_dead(&listener);
	}
	if (error == 0) {
		error = listen_there(&listener);
	}
	if (error != 0) {
		snprintf(ret_text, LISTENER_TEXT_MAX, "%.384s: %s",
		         listener.path[0] != '\0' ? listener.path
		         : said != NULL           ? said
		                                  : directory->path,
		         explain_error(error));
		close_files(&listener);
		return error;
	}
	*ret_listener = listener;
	return 0;
}

/* listener_open() checks the new directory as it checked the first one. */
bool listener_renew(struct listener *listener)
{
	const struct directory directory = listener->directory;
	char path[PATH_MAX];
	char parent[PATH_MAX];
	char text[LISTENER_TEXT_MAX];
	struct listener renewed;
	struct stat found;

	/* after a failed renewal there is no socket, even if a file with the same inode exists */
	if (listener->socket >= 0 && stat(listener->path, &found) == 0 && found.st_dev == listener->device &&
	    found.st_ino == listener->inode) {
		return false;
	}
	memcpy(path, listener->path, sizeof(path));
	memcpy(parent, path, sizeof(parent));
	*strrchr(parent, '/') = '\0';
	if (stat(parent, &found) != 0) { /* the next process that stores an entry creates the directory */
		return false;
	}
	close_files(listener);
	if (listener_open(&directory, path, &renewed, text) != 0) {
		return false;
	}
	*listener = renewed;
	return true;
}

/* Returns whether the peer is in the group of the shared cache, whose members' entries are trusted too. */
static bool is_of_group(int peer, gid_t own, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);

	if (own == group) {
		return true;
	}
	if (getsockopt(peer, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
		return false;
	}
	for (size_t i = 0; i < size / sizeof(groups[0]); i++) {
		if (groups[i] == group) {
			return true;
		}
	}
	return false;
}

/* trust_owner() also accepts root, so that an administrator can use --status. */
bool listener_admits(const struct listener *listener, int peer)
{
	struct ucred who;
	struct stat owner = {.st_uid = 0};
	struct stat root;

	if (!agent_socket_peer(peer, &who)) {
		return false;
	}
	owner.st_uid = who.uid;
	if (trust_owner(&owner)) {
		return true;
	}
	return is_shared(listener) && stat(listener->directory.path, &root) == 0 && (root.st_mode & S_IWGRP) != 0 &&
	       is_of_group(peer, who.gid, root.st_gid);
}

void listener_tell(int peer, enum agent_kind kind)
{
	const struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};

	(void)send(peer, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Removes the socket before the lock file, because another agent may start between the two calls. */
void listener_close(struct listener *listener)
{
	char name[NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s.lock", name_of(listener));
	/* files that another agent has created meanwhile are not removed */
	if (has_lock(listener, name)) {
		if (is_there(listener, name_of(listener), listener->device, listener->inode)) {
			(void)unlinkat(listener->place, name_of(listener), 0);
		}
		(void)unlinkat(listener->place, name, 0);
	}
	close_files(listener);
}
