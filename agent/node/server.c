/* SPDX-License-Identifier: MIT */
#include "agent/node/server.h"

#include "cache/agent_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEERS_MAX 256                       /* connections without a request */
#define OTHERS    2                         /* listener, signals */
#define RENEW_NS  (INT64_C(2) * 1000000000) /* interval of checks whether the socket's file exists */

/* Connections without a request, oldest first. */
struct peers {
	const struct server *server;
	int sockets[PEERS_MAX];
	int64_t until_ns[PEERS_MAX];
	size_t count, most; /* `most` leaves descriptors for the store, the engine and those that wait for a fetch */
	bool is_exhausted;  /* no descriptor is free for a pending connection */
};

static void remove_peer(struct peers *peers, size_t at)
{
	size_t after = --peers->count - at;

	memmove(peers->sockets + at, peers->sockets + at + 1, after * sizeof(peers->sockets[0]));
	memmove(peers->until_ns + at, peers->until_ns + at + 1, after * sizeof(peers->until_ns[0]));
}

static void refuse_peer(struct peers *peers, size_t at)
{
	service_count(peers->server->service, SERVICE_COUNT_messages_refused, 1);
	close(peers->sockets[at]);
	remove_peer(peers, at);
}

/* Returns true if the process uses the directory that this agent serves, under any path. */
static bool is_here(const struct server *server, const struct agent_message *message)
{
	uint64_t device;
	uint64_t inode;
	bool is_same = agent_socket_place(&server->service->directory, &device, &inode) == 0 &&
	               device == message->device && inode == message->inode;

	service_count(server->service, SERVICE_COUNT_elsewhere, !is_same);
	return is_same;
}

/* STARTED is sent before anything that could take time, because the process waits only 100 ms for it by default. */
static void start_fetch(const struct server *server, int socket, const struct agent_message *message)
{
	service_count(server->service, SERVICE_COUNT_asked, 1);
	listener_tell(socket, AGENT_STARTED);
	if (is_here(server, message)) {
		fetch_ask(server->fetch, message->key, socket);
		return;
	}
	listener_tell(socket, AGENT_ELSEWHERE);
	close(socket);
}

/* Handles a request. A connection is for one request; the connection of a fetch belongs to fetch.h from then on. */
static bool take_request(const struct server *server, int socket, const struct agent_message *message)
{
	switch (message->kind) {
	case AGENT_FETCH:
		start_fetch(server, socket, message);
		return true;
	case AGENT_STATUS:
	case AGENT_STATUS_LINES:
		fetch_status(server->fetch, (enum agent_kind)message->kind, socket);
		return true;
	case AGENT_STORED:
		if (is_here(server, message)) {
			upload_stored(server->upload, message->key);
		}
		close(socket);
		return true;
	default:
		return false;
	}
}

/* Receives a request, if there is one. The peer is removed unless it has to be waited for. */
static void hear_peer(struct peers *peers, size_t at)
{
	int socket = peers->sockets[at];
	struct agent_message message;
	ssize_t size = recv(socket, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (size == (ssize_t)sizeof(message) && message.magic == AGENT_MAGIC && message.version == AGENT_VERSION &&
	    take_request(peers->server, socket, &message)) {
		remove_peer(peers, at);
	} else if (size == 0) { /* it has closed the connection */
		close(socket);
		remove_peer(peers, at);
	} else {
		refuse_peer(peers, at);
	}
}

/* Accepts pending connections. Most peers have sent their request before accept(), so it is read at once. */
static void let_in(struct peers *peers)
{
	const struct server *server = peers->server;

	for (int i = 0; i < PEERS_MAX; i++) { /* limited, so that other events are handled too */
		int socket = accept4(server->listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (socket < 0) {
			peers->is_exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
			if (peers->is_exhausted && peers->count > 0) {
				refuse_peer(peers, 0);
			}
			return;
		}
		if (!listener_admits(server->listener, socket)) {
			service_count(server->service, SERVICE_COUNT_peers_refused, 1);
			close(socket);
			continue;
		}
		if (peers->count == peers->most) {
			refuse_peer(peers, 0);
		}
		peers->sockets[peers->count] = socket;
		peers->until_ns[peers->count++] = service_now_ns() + SERVER_PATIENCE_MS * INT64_C(1000000);
		hear_peer(peers, peers->count - 1);
	}
}

/* Handles all pending signals; each read of a signalfd returns one. Returns true if the agent has to end. */
static bool hear_signals(const struct server *server)
{
	struct signalfd_siginfo signal;

	while (read(server->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal)) {
		if (launch_signal(server->launch, &signal)) {
			return true;
		}
	}
	return false;
}

/* Waits at most a second, and 0.1 s if descriptors are exhausted, because other threads may close some. */
static int take_turn(struct peers *peers, bool *ret_ends)
{
	const struct server *server = peers->server;
	struct pollfd polled[OTHERS + PEERS_MAX] = {
	    {.fd = peers->is_exhausted ? -1 : server->listener->socket, .events = POLLIN},
	    {.fd = server->signals, .events = POLLIN},
	};
	size_t count = peers->count;

	for (size_t i = 0; i < count; i++) {
		polled[OTHERS + i] = (struct pollfd){.fd = peers->sockets[i], .events = POLLIN};
	}
	if (poll(polled, OTHERS + count, peers->is_exhausted ? 100 : 1000) < 0 && errno != EINTR) {
		return -errno;
	}
	peers->is_exhausted = false;
	/* from last to first, because the peers after a removed one move */
	for (size_t i = count; i > 0; i--) {
		if (polled[OTHERS + i - 1].revents != 0) {
			hear_peer(peers, i - 1);
		}
	}
	if (polled[0].revents != 0) {
		let_in(peers);
	}
	while (peers->count > 0 && peers->until_ns[0] <= service_now_ns()) {
		refuse_peer(peers, 0);
	}
	*ret_ends = polled[1].revents != 0 && hear_signals(server);
	return 0;
}

/* The socket is created again if a user has deleted the cache directory, so that processes find the agent again. */
int server_run(const struct server *server)
{
	struct peers peers = {.server = server, .most = PEERS_MAX};
	int64_t renewed_ns = service_now_ns();
	bool ends = false;
	struct rlimit limit;
	int error = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < PEERS_MAX) {
		peers.most = limit.rlim_cur / 4 + 1;
	}
	while (error == 0 && !ends) {
		error = take_turn(&peers, &ends);
		if (service_now_ns() - renewed_ns >= RENEW_NS) {
			renewed_ns = service_now_ns();
			if (listener_renew(server->listener)) {
				service_say("the socket was removed; created %s again", server->listener->path);
			}
		}
	}
	while (peers.count > 0) {
		close(peers.sockets[--peers.count]);
	}
	return error;
}
