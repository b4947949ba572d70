/* SPDX-License-Identifier: MIT */
#include "agent/listener.h"

#include "cache/agent_socket.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG    128
#define LOCK_TRIES 8
#define GROUPS_MAX 1024

int listener_path(const char *directory, const char *said, char ret_path[PATH_MAX])
{
	return agent_socket_path(said != NULL ? said : "1", directory, ret_path);
}

static const char *name_of(const struct listener *listener)
{
	return strrchr(listener->path, '/') + 1;
}

/* Is the socket in the cache directory itself? */
static bool is_within(const struct listener *listener)
{
	size_t length = strlen(listener->directory.path);

	return strncmp(listener->path, listener->directory.path, length) == 0 && listener->path[length] == '/';
}

static bool is_shared(const struct listener *listener)
{
	return listener->directory.shared && is_within(listener);
}

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

/* The lock's file may have been removed by its last holder between open and lock: then it is another one by now. */
static bool is_still_there(const struct listener *listener, const char *name)
{
	struct stat held;
	struct stat found;

	return fstat(listener->lock, &held) == 0 && fstatat(listener->place, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

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
		if (flock(listener->lock, LOCK_EX | LOCK_NB) != 0) {
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		}
		if (is_still_there(listener, name)) {
			return 0;
		}
		close(listener->lock);
		listener->lock = -1;
	}
	return -EBUSY;
}

/* Under the lock nobody lives behind a socket that is there; what is no socket is somebody's, and stays. */
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

static void open_to_group(const struct listener *listener)
{
	struct stat above;

	/* where it cannot be had, the socket stays ours alone */
	if (fstat(listener->place, &above) == 0 &&
	    fchownat(listener->place, name_of(listener), (uid_t)-1, above.st_gid, AT_SYMLINK_NOFOLLOW) == 0) {
		(void)!fchmodat(listener->place, name_of(listener), 0660, 0);
	}
}

static int listen_there(struct listener *listener)
{
	struct agent_address address;
	mode_t mask;
	int error = agent_socket_address(listener->path, &address);

	if (error != 0) {
		return error;
	}
	listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177); /* before there are threads */
	if (listener->socket < 0 || bind(listener->socket, (const struct sockaddr *)&address.name, address.size) != 0) {
		error = -errno;
	}
	(void)umask(mask);
	agent_socket_forget(&address);
	if (error == 0 && is_shared(listener)) {
		open_to_group(listener);
	}
	return error == 0 && listen(listener->socket, BACKLOG) != 0 ? -errno : error;
}

static const char *reason(int error)
{
	switch (error) {
	case -EBUSY:
		return "another agent serves there";
	case -EPERM:
		return "not used, because others can write to the directory, or it is somebody else's";
	case -ENOTSOCK:
		return "there already, and no socket";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

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
		         reason(error));
		if (listener.socket >= 0) {
			close(listener.socket);
		}
		if (listener.lock >= 0) {
			close(listener.lock); /* its file stays: somebody may have it */
		}
		if (listener.place >= 0) {
			close(listener.place);
		}
		return error;
	}
	*ret_listener = listener;
	return 0;
}

/* One of the group that the cache is shared with: as an entry that such a user wrote would be trusted. */
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

void listener_close(struct listener *listener)
{
	char name[NAME_MAX + 1];

	(void)unlinkat(listener->place, name_of(listener), 0);
	close(listener->socket);
	snprintf(name, sizeof(name), "%s.lock", name_of(listener));
	(void)unlinkat(listener->place, name, 0);
	close(listener->lock);
	close(listener->place);
}
