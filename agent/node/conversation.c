/* SPDX-License-Identifier: MIT */
/*
 * conversation: the states of a connection
 *
 *   NEW --FETCH--> WAITING --fetched--> answered, closed
 *    |     `--answer is known--> answered, closed
 *    `--STORED: noted; STATUS: answered; anything else; no message--> closed
 */
#include "agent/node/conversation.h"

#include "cache/agent_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEERS_MAX 512
#define OWN_FILES 64 /* descriptors reserved for the agent itself */
#define OTHERS    3  /* listener, signals, finished fetches */
#define WAIT_NS   (INT64_C(60) * 1000000000)
#define RENEW_NS  (INT64_C(2) * 1000000000) /* interval of checks whether the socket's file exists */

enum peer_state { PEER_NEW, PEER_WAITING };

struct peer {
	int socket;
	enum peer_state state;
	int64_t until_ns; /* when the connection is closed at the latest */
	uint8_t key[ENTRY_KEY_BYTES];
};

struct talk {
	const struct conversation *with;
	struct peer peers[PEERS_MAX];
	size_t count;
	size_t seats; /* limit of `count`, at most PEERS_MAX */
	int64_t renewed_ns;
	bool exhausted; /* no descriptor or no slot is free for a pending connection */
};

/* Sends an answer without blocking, because a peer that does not read must not delay the others. */
static void tell_peer(const struct peer *peer, enum agent_kind kind)
{
	struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};

	memcpy(message.key, peer->key, sizeof(message.key));
	/* errors are ignored, because a peer without an answer compiles */
	(void)send(peer->socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Closes a connection, which frees a slot and a descriptor, so that pending connections can be accepted. */
static void drop_peer(struct talk *talk, size_t at)
{
	close(talk->peers[at].socket);
	talk->peers[at] = talk->peers[--talk->count];
	talk->exhausted = false;
}

/* Sends the status, unless it does not fit into a message; the client then reports that there is no answer. */
static void tell_status(const struct talk *talk, const struct peer *peer)
{
	const struct conversation *with = talk->with;
	struct status_waiting waiting = {.fetches = fetch_waiting(with->fetch),
	                                 .uploads = upload_waiting(with->upload)};
	char *text = status_json(with->service, with->listener->path, waiting);

	if (text != NULL && strlen(text) <= AGENT_STATUS_MAX) {
		(void)send(peer->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	free(text);
}

/* Returns true if the process uses the directory that this agent serves, under any path. */
static bool is_here(const struct talk *talk, const struct agent_message *message)
{
	uint64_t device;
	uint64_t inode;

	return agent_socket_place(&talk->with->service->directory, &device, &inode) == 0 && device == message->device &&
	       inode == message->inode;
}

enum peer_fate { PEER_STAYS, PEER_GOES };

/* STARTED is sent before anything that could take time, because the process waits only 100 ms for it by default. */
static enum peer_fate start_fetch(struct talk *talk, struct peer *peer, const struct agent_message *message)
{
	struct tally *tally = &talk->with->service->tally;
	enum agent_kind answer;

	memcpy(peer->key, message->key, sizeof(peer->key));
	tally_add(tally, TALLY_asked, 1);
	tell_peer(peer, AGENT_STARTED);
	if (!is_here(talk, message)) {
		tally_add(tally, TALLY_elsewhere, 1);
		answer = AGENT_ELSEWHERE;
	} else {
		answer = fetch_ask(talk->with->fetch, message->key);
	}
	if (answer != AGENT_STARTED) {
		tell_peer(peer, answer);
		return PEER_GOES;
	}
	peer->state = PEER_WAITING;
	peer->until_ns = service_now_ns() + WAIT_NS;
	return PEER_STAYS;
}

/* Handles a request. A connection is for one request, so every kind except a fetch ends it. */
static enum peer_fate answer_peer(struct talk *talk, struct peer *peer, const struct agent_message *message)
{
	switch ((enum agent_kind)message->kind) {
	case AGENT_FETCH:
		return start_fetch(talk, peer, message);
	case AGENT_STORED:
		if (is_here(talk, message)) {
			upload_stored(talk->with->upload, message->key);
		} else {
			tally_add(&talk->with->service->tally, TALLY_elsewhere, 1);
		}
		return PEER_GOES;
	case AGENT_STATUS:
		tell_status(talk, peer);
		return PEER_GOES;
	default:
		tally_add(&talk->with->service->tally, TALLY_messages_refused, 1);
		return PEER_GOES;
	}
}

/* Receives a request. A second message, while the peer waits for the answer, ends the connection. */
static enum peer_fate hear_peer(struct talk *talk, struct peer *peer)
{
	struct agent_message message;
	ssize_t size = recv(peer->socket, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return PEER_STAYS;
	}
	if (size <= 0) {
		/* the peer has closed; its fetch continues, because other processes can use the result */
		return PEER_GOES;
	}
	if (peer->state != PEER_NEW || size != (ssize_t)sizeof(message) || message.magic != AGENT_MAGIC ||
	    message.version != AGENT_VERSION) {
		tally_add(&talk->with->service->tally, TALLY_messages_refused, 1);
		return PEER_GOES;
	}
	return answer_peer(talk, peer, &message);
}

/* Frees a slot if all are in use: closes the connection that has been without a request for the longest time. */
static bool make_room(struct talk *talk)
{
	size_t oldest = PEERS_MAX;

	if (talk->count < talk->seats) {
		return true;
	}
	for (size_t i = 0; i < talk->count; i++) {
		if (talk->peers[i].state == PEER_NEW &&
		    (oldest == PEERS_MAX || talk->peers[i].until_ns < talk->peers[oldest].until_ns)) {
			oldest = i;
		}
	}
	if (oldest == PEERS_MAX) {
		talk->exhausted = true;
		return false;
	}
	tally_add(&talk->with->service->tally, TALLY_messages_refused, 1);
	drop_peer(talk, oldest);
	return true;
}

/* Accepts pending connections. */
static void let_in(struct talk *talk)
{
	struct service *service = talk->with->service;

	for (int i = 0; i < PEERS_MAX && make_room(talk); i++) { /* limited, so that other events are handled too */
		struct peer *peer = &talk->peers[talk->count];
		int socket = accept4(talk->with->listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (socket < 0) {
			talk->exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
			return;
		}
		if (!listener_admits(talk->with->listener, socket)) {
			tally_add(&service->tally, TALLY_peers_refused, 1);
			close(socket);
			continue;
		}
		*peer = (struct peer){.socket = socket,
		                      .until_ns = service_now_ns() + CONVERSATION_PATIENCE_MS * INT64_C(1000000)};
		/* read at once, because most peers have sent their request before accept() */
		if (hear_peer(talk, peer) == PEER_STAYS) {
			talk->count++;
		} else {
			close(socket);
		}
	}
}

/* Sends the answers of finished fetches to all peers that wait for these keys. */
static void tell_fetched(struct talk *talk)
{
	uint64_t count;
	struct fetched fetched;

	(void)!read(fetch_done_fd(talk->with->fetch), &count, sizeof(count));
	while (fetch_take(talk->with->fetch, &fetched)) {
		for (size_t i = talk->count; i > 0; i--) {
			struct peer *peer = &talk->peers[i - 1];

			if (peer->state == PEER_WAITING && memcmp(peer->key, fetched.key, sizeof(peer->key)) == 0) {
				tell_peer(peer, fetched.answer);
				drop_peer(talk, i - 1);
			}
		}
	}
}

/* Closes overdue connections, from last to first, because drop_peer() moves the last peer into the gap. */
static void drop_silent(struct talk *talk)
{
	int64_t now = service_now_ns();

	for (size_t i = talk->count; i > 0; i--) {
		if (talk->peers[i - 1].until_ns <= now) {
			tally_add(&talk->with->service->tally, TALLY_messages_refused,
			          talk->peers[i - 1].state == PEER_NEW);
			drop_peer(talk, i - 1);
		}
	}
}

/*
 * Returns how long poll() may wait: until the time of a peer has passed or a probe is due, and at most 1 s; at most
 * 0.1 s if descriptors are exhausted, because other threads may close some.
 */
static int wait_ms(struct talk *talk)
{
	int64_t now = service_now_ns();
	int64_t wait = service_probe_wait_ns(talk->with->service);

	for (size_t i = 0; i < talk->count; i++) {
		int64_t left = talk->peers[i].until_ns - now;

		wait = wait < 0 || left < wait ? (left > 0 ? left : 0) : wait;
	}
	if (talk->exhausted && (wait < 0 || wait > INT64_C(100000000))) {
		wait = INT64_C(100000000);
	}
	/* at most a second, because another thread may open the breaker meanwhile */
	return wait < 0 || wait > INT64_C(1000000000) ? 1000 : (int)(wait / 1000000) + 1;
}

/* Handles all pending signals; each read of a signalfd returns one. Returns true if the agent has to end. */
static bool hear_signals(const struct conversation *with)
{
	struct signalfd_siginfo signal;

	while (read(with->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal)) {
		if (launch_signal(with->launch, &signal)) {
			return true;
		}
	}
	return false;
}

/* Receives from all readable peers, from last to first, because drop_peer() moves the last peer into the gap. */
static void hear_peers(struct talk *talk, const struct pollfd *polled, size_t count)
{
	for (size_t i = count; i > 0; i--) {
		if (polled[i - 1].revents != 0 && hear_peer(talk, &talk->peers[i - 1]) == PEER_GOES) {
			drop_peer(talk, i - 1);
		}
	}
}

/* Creates the socket again if a user has deleted the cache directory, so that processes find the agent again. */
static void look_after_socket(struct talk *talk)
{
	int64_t now = service_now_ns();

	if (now - talk->renewed_ns < RENEW_NS) {
		return;
	}
	talk->renewed_ns = now;
	if (listener_renew(talk->with->listener)) {
		service_say("the socket was removed; created %s again", talk->with->listener->path);
	}
}

static int take_turn(struct talk *talk, bool *ret_ends)
{
	const struct conversation *with = talk->with;
	struct pollfd polled[OTHERS + PEERS_MAX] = {
	    {.fd = talk->exhausted ? -1 : with->listener->socket, .events = POLLIN},
	    {.fd = with->signals, .events = POLLIN},
	    {.fd = fetch_done_fd(with->fetch), .events = POLLIN},
	};
	size_t count = talk->count;

	for (size_t i = 0; i < count; i++) {
		polled[OTHERS + i] = (struct pollfd){.fd = talk->peers[i].socket, .events = POLLIN};
	}
	if (poll(polled, OTHERS + count, wait_ms(talk)) < 0 && errno != EINTR) {
		return -errno;
	}
	talk->exhausted = false;
	/* first, because the indexes of `polled` are those of the peers until a peer is added or dropped */
	hear_peers(talk, polled + OTHERS, count);
	if (polled[2].revents != 0) {
		tell_fetched(talk);
	}
	if (polled[0].revents != 0) {
		let_in(talk);
	}
	drop_silent(talk);
	look_after_socket(talk);
	fetch_tick(with->fetch);
	*ret_ends = polled[1].revents != 0 && hear_signals(with);
	return 0;
}

/* Returns the limit of connections, which leaves descriptors for the store and the engine. */
static size_t count_seats(void)
{
	struct rlimit limit;
	rlim_t most = PEERS_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		most = limit.rlim_cur > 2 * OWN_FILES ? limit.rlim_cur - OWN_FILES : limit.rlim_cur / 4;
	}
	return most == 0 ? 1 : most < PEERS_MAX ? (size_t)most : PEERS_MAX;
}

/* Peers that still wait at the end get no answer: the connection is closed, and they compile. */
int conversation_run(const struct conversation *conversation)
{
	struct talk *talk = calloc(1, sizeof(*talk));
	bool ends = false;
	int error = talk == NULL ? -ENOMEM : 0;

	if (talk != NULL) {
		talk->with = conversation;
		talk->seats = count_seats();
	}
	while (error == 0 && !ends) {
		error = take_turn(talk, &ends);
	}
	while (talk != NULL && talk->count > 0) {
		drop_peer(talk, talk->count - 1);
	}
	free(talk);
	return error;
}
