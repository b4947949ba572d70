/* SPDX-License-Identifier: MIT */
/*
 * Both ends find the directory by device and inode and the socket by its path. Trust is the kernel's: the
 * credentials of the process that bound the socket, recorded when it did.
 */
#include "cache/agent_socket.h"

#include "cache/agent_message.h"
#include "cache/calls.h"
#include "cache/directory.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BOOT_ID      "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 36

/* Asked each time: a process that was frozen may go on on another node. */
static int read_boot_id(char ret_id[BOOT_ID_SIZE + 1])
{
	int file = call_openat(AT_FDCWD, BOOT_ID, O_RDONLY | O_CLOEXEC, 0);
	ssize_t size;

	if (file < 0) {
		return -errno;
	}
	size = call_pread(file, ret_id, BOOT_ID_SIZE, 0);
	call_close(file);
	ret_id[BOOT_ID_SIZE] = '\0';
	return size == BOOT_ID_SIZE && strspn(ret_id, "0123456789abcdef-") == BOOT_ID_SIZE ? 0 : -ENODATA;
}

/* The boot id makes the name unique for each node, although a shared directory shows the files of all. */
int agent_socket_path(const char *said, const char *directory, char ret_path[PATH_MAX])
{
	char boot_id[BOOT_ID_SIZE + 1];
	int size;
	int rc;

	if (said[0] == '/') {
		size = snprintf(ret_path, PATH_MAX, "%s", said);
		return size < PATH_MAX ? 0 : -ENAMETOOLONG;
	}
	if (strcmp(said, "1") != 0 || !directory) {
		return -EINVAL;
	}
	rc = read_boot_id(boot_id);
	if (rc < 0) {
		return rc;
	}
	size = snprintf(ret_path, PATH_MAX, "%s/v1/" AGENT_SOCKET_NAME "%s", directory, boot_id);
	return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* "/proc/self/fd/3/agent" fits into sun_path for a directory path of any length. */
static int shorten_path(const char *path, struct agent_address *address)
{
	const char *name = strrchr(path, '/');
	char parent[PATH_MAX];
	int size;

	if (!name || name == path || (size_t)(name - path) >= sizeof(parent)) {
		return -ENAMETOOLONG;
	}
	memcpy(parent, path, (size_t)(name - path));
	parent[name - path] = '\0';
	address->place = call_openat(AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (address->place < 0) {
		return -errno;
	}
	size = snprintf(address->name.sun_path, sizeof(address->name.sun_path), "/proc/self/fd/%d%s", address->place,
	                name);
	if ((size_t)size >= sizeof(address->name.sun_path)) {
		agent_socket_forget(address);
		return -ENAMETOOLONG;
	}
	return 0;
}

/* A short path needs no descriptor and no /proc. */
int agent_socket_address(const char *path, struct agent_address *ret_address)
{
	struct agent_address address = {.name.sun_family = AF_UNIX, .size = sizeof(address.name), .place = -1};
	size_t size = strlen(path);

	if (size < sizeof(address.name.sun_path)) {
		memcpy(address.name.sun_path, path, size + 1);
	} else {
		int rc = shorten_path(path, &address);

		if (rc < 0) {
			return rc;
		}
	}
	*ret_address = address;
	return 0;
}

/* May be called twice. */
void agent_socket_forget(struct agent_address *address)
{
	if (address->place >= 0) {
		call_close(address->place);
	}
	address->place = -1;
}

/* A host that runs without its standard streams must not write to the agent as to one of them. */
int agent_socket_new(void)
{
	int made = call_leave_streams(call_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	return made < 0 ? -errno : made;
}

/* The descriptor of a long path's directory is needed during connect() only. */
int agent_socket_reach(int socket, const char *path)
{
	struct agent_address address;
	int rc = agent_socket_address(path, &address);

	if (rc < 0) {
		return rc;
	}
	if (call_connect(socket, (const struct sockaddr *)&address.name, address.size) < 0) {
		rc = -errno;
	}
	agent_socket_forget(&address);
	return rc;
}

/* For callers that do not care which number the descriptor has until it is connected. */
int agent_socket_connect(const char *path, int *ret_socket)
{
	int made = agent_socket_new();
	int rc = made < 0 ? made : agent_socket_reach(made, path);

	if (rc == 0) {
		*ret_socket = made;
	} else if (made >= 0) {
		call_close(made);
	}
	return rc;
}

/* The kernel recorded these credentials at bind or connect; the peer cannot choose them. */
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

/* As an entry of the shared directory: of its group, and that one of ours. */
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
		trusted = call_fstat(file, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == owner &&
		          trust_found(true, home, &found);
		call_close(file);
	}
	call_close(home);
	return trusted;
}

/* An agent whose entries this user would not trust must not learn which kernels the program compiles. */
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

/*
 * Device and inode, because the agent and the process may know the directory by different paths, or in different
 * mount namespaces.
 */
int agent_socket_place(const struct directory *directory, uint64_t *ret_device, uint64_t *ret_inode)
{
	struct stat found;
	int home;
	int root;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0) {
		return rc;
	}
	root = call_openat(home, "..", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	call_close(home);
	if (root < 0) {
		return -errno;
	}
	rc = call_fstat(root, &found) < 0 ? -errno : 0;
	call_close(root);
	if (rc == 0) {
		*ret_device = found.st_dev;
		*ret_inode = found.st_ino;
	}
	return rc;
}
