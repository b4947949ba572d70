/* SPDX-License-Identifier: MIT */
/*
 * Both ends find the socket by its path, and identify the directory by device and inode. Trust is based on the
 * credentials that the kernel recorded when a process bound the socket.
 */
#include "cache/agent_socket.h"

#include "cache/calls.h"
#include "cache/directory.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BOOT_ID      "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 36

/* The boot id makes the name unique per node, because nodes that share the directory see each other's files. */
int agent_socket_path(const char *said, const char *directory, char ret_path[PATH_MAX])
{
	char boot_id[BOOT_ID_SIZE + 2];
	int size;

	if (said[0] == '/') {
		size = snprintf(ret_path, PATH_MAX, "%s", said);
		return size < PATH_MAX ? 0 : -ENAMETOOLONG;
	}
	if (strcmp(said, "1") != 0 || !directory) {
		return -EINVAL;
	}
	/* read at each call, because a process may be frozen and continued on another node */
	if (call_read_file(BOOT_ID, boot_id, sizeof(boot_id)) < BOOT_ID_SIZE ||
	    strspn(boot_id, "0123456789abcdef-") != BOOT_ID_SIZE) {
		return -ENODATA;
	}
	size = snprintf(ret_path, PATH_MAX, "%s/v1/" AGENT_SOCKET_NAME "%.*s", directory, BOOT_ID_SIZE, boot_id);
	return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/*
 * A short path needs no descriptor and no /proc. A longer one becomes a name such as "/proc/thread-self/fd/3/agent",
 * which fits into sun_path whatever the length of the directory's path.
 */
int agent_socket_attach(int socket, const char *path, agent_attach *attach)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t room = sizeof(address.sun_path);
	char parent[PATH_MAX];
	const char *name = strrchr(path, '/');
	int place = -1;
	int rc = 0;

	if ((size_t)snprintf(address.sun_path, room, "%s", path) >= room) {
		(void)snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path);
		place = call_openat(AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		if (place < 0) {
			return -errno;
		}
		if ((size_t)snprintf(address.sun_path, room, "/proc/thread-self/fd/%d%s", place, name) >= room) {
			rc = -ENAMETOOLONG;
		}
	}
	if (rc == 0 && attach(socket, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		rc = -errno;
	}
	call_close(place);
	return rc;
}

/* The number is above the standard streams: a host that runs without them would write its output to the agent. */
int agent_socket_new(void)
{
	int made = call_move_away(call_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	return made < 0 ? -errno : made;
}

/* For callers that need the descriptor only after it is connected. */
int agent_socket_connect(const char *path, int *ret_socket)
{
	int made = agent_socket_new();
	int rc = made < 0 ? made : agent_socket_attach(made, path, call_connect);

	if (rc == 0) {
		*ret_socket = made;
	} else {
		call_close(made);
	}
	return rc;
}

/* The peer cannot choose these credentials: the kernel recorded them at bind() or connect(). */
bool agent_socket_peer(int socket, struct ucred *ret_peer)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (call_getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || size != sizeof(peer)) {
		return false;
	}
	*ret_peer = peer;
	return true;
}

/* Applies the rule for an entry of the shared directory: the file has its group, and this process is in that group. */
static bool file_is_trusted(const char *path, const struct directory *directory, uid_t owner)
{
	struct stat found;
	bool trusted = false;
	int home;
	int file;

	if (directory_open(directory, DIRECTORY_REACH, &home) < 0) {
		return false;
	}
	file = call_openat(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (file >= 0) {
		trusted = fstat(file, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == owner &&
		          trust_found(true, home, &found);
		close(file);
	}
	close(home);
	return trusted;
}

/* An agent whose entries this user would not trust must not get the keys of what the program compiles. */
bool agent_socket_trusted(int socket, const char *path, const struct directory *directory)
{
	struct ucred peer;
	struct stat owner = {0};

	if (!agent_socket_peer(socket, &peer)) {
		return false;
	}
	owner.st_uid = peer.uid;
	return trust_owner(&owner) || (directory->shared && file_is_trusted(path, directory, peer.uid));
}

/* Not the path: the agent and the process may know the directory by others, or be in other mount namespaces. */
int agent_socket_place(const struct directory *directory, uint64_t *ret_device, uint64_t *ret_inode)
{
	struct stat found;
	int home;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0) {
		return rc;
	}
	rc = fstat(home, &found) < 0 ? -errno : 0;
	close(home);
	if (rc == 0) {
		*ret_device = found.st_dev;
		*ret_inode = found.st_ino;
	}
	return rc;
}
