/* SPDX-License-Identifier: MIT */
#include "agent/node/listener.h"

#include "agent/node/service.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 128

static const char *name_of(const struct listener *listener)
{
	return strrchr(listener->path, '/') + 1;
}

/* Returns whether the socket is in a shared cache. The slash is compared too, because /cache2 is not in /cache. */
static bool is_shared(const struct listener *listener)
{
	size_t length = strlen(listener->directory.path);

	return listener->directory.shared && strncmp(listener->path, listener->directory.path, length) == 0 &&
	       listener->path[length] == '/';
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

/*
 * Returns 0 if the name is free, or is that of a socket to which nobody listens. Another type of file is not replaced,
 * because its name was probably given by mistake.
 */
static int look_for_agent(const struct listener *listener)
{
	struct stat found;
	int socket;
	int error;

	if (fstatat(listener->place, name_of(listener), &found, AT_SYMLINK_NOFOLLOW) != 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISSOCK(found.st_mode)) {
		return -ENOTSOCK;
	}
	error = agent_socket_connect(listener->path, &socket);
	if (error == 0) {
		close(socket);
	}
	return error == 0 || error == -EAGAIN ? -EBUSY : 0;
}

static int bind_address(int socket, const struct sockaddr *address, socklen_t size)
{
	return bind(socket, address, size);
}

/*
 * Binds the socket with its final mode, so that no other user can connect at any moment. bind() gives the file the mode
 * of the socket, less the umask, which no other thread needs: there is none yet.
 */
static int bind_there(struct listener *listener, const char *path)
{
	mode_t mode = trust_first_mode(is_shared(listener), listener->place, 0660);
	mode_t mask = umask(0);
	int error;

	listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (listener->socket < 0 || fchmod(listener->socket, mode) != 0) {
		error = -errno;
	} else {
		error = agent_socket_attach(listener->socket, path, bind_address);
	}
	(void)umask(mask);
	return error;
}

/*
 * Replaces the socket of an agent that has died. It gets its name when it listens, because a process that finds it
 * earlier would count the agent as dead. Of two agents that do so at once, one finds its socket replaced.
 */
static int listen_there(struct listener *listener)
{
	char path[PATH_MAX + 16];
	const char *name = path + (name_of(listener) - listener->path);
	struct stat bound;
	int error;

	(void)snprintf(path, sizeof(path), "%s.%d", listener->path, (int)getpid());
	error = bind_there(listener, path);
	if (error == 0 && (listen(listener->socket, BACKLOG) != 0 ||
	                   fstatat(listener->place, name, &bound, AT_SYMLINK_NOFOLLOW) != 0 ||
	                   renameat(listener->place, name, listener->place, name_of(listener)) != 0)) {
		error = -errno;
	}
	if (error != 0) {
		(void)unlinkat(listener->place, name, 0);
		return error;
	}
	listener->device = bound.st_dev;
	listener->inode = bound.st_ino;
	return 0;
}

const char *listener_explain(int error)
{
	switch (error) {
	case -EBUSY:
		return "another agent is using this socket";
	case -ECONNREFUSED:
		return "the agent is not running any more";
	case -EAGAIN:
		return "the agent is overloaded";
	case -ETIMEDOUT:
		return "the agent does not answer";
	case -EPROTO:
		return "the agent sent no answer: it has another version, or serves other users";
	case -EPERM:
		return "not used: it belongs to another user, or others can write to its directory";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

int listener_open(const struct directory *directory, const char *said, struct listener *ret_listener)
{
	struct listener listener = {.socket = -1, .place = -1, .directory = *directory};
	int error = agent_socket_path(said != NULL ? said : "1", directory->path, listener.path);

	error = error != 0 ? error : open_place(&listener);
	error = error != 0 ? error : look_for_agent(&listener);
	error = error != 0 ? error : listen_there(&listener);
	*ret_listener = listener;
	if (error != 0) {
		service_say("%s: %s", said != NULL ? said : directory->path, listener_explain(error));
	}
	return error;
}

bool listener_stands(const struct listener *listener)
{
	struct stat found;

	return stat(listener->path, &found) == 0 && found.st_dev == listener->device && found.st_ino == listener->inode;
}

/*
 * trust_owner() also accepts root, so that an administrator can use --status. In a shared cache the mode of the socket
 * decides: only members of its group can connect.
 */
bool listener_admits(const struct listener *listener, int peer)
{
	struct stat owner = {.st_uid = 0};
	struct ucred who;

	if (!agent_socket_peer(peer, &who)) {
		return false;
	}
	owner.st_uid = who.uid;
	return trust_owner(&owner) || is_shared(listener);
}

/* Removes no file that another agent has made meanwhile. The socket is not closed, because threads use its number. */
void listener_close(struct listener *listener)
{
	if (listener_stands(listener)) {
		(void)unlinkat(listener->place, name_of(listener), 0);
	}
	(void)shutdown(listener->socket, SHUT_RDWR);
}
