/* SPDX-License-Identifier: MIT */
#include "agent/node/server.h"

#include "cache/calls.h"
#include "cache/version.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define EXHAUSTED_US 100000 /* until another thread may have closed a descriptor */
#define SETTLE_US    10000
#define THREAD_FILES 8 /* descriptors for a connection, and for what is done for it */

static const enum service_count refused_counts[] = {
    [VALUE_FORGED] = SERVICE_COUNT_mac_refused, [VALUE_FOREIGN] = SERVICE_COUNT_format_refused,
    [VALUE_OTHER_KEY] = SERVICE_COUNT_damaged,  [VALUE_LARGE] = SERVICE_COUNT_damaged,
    [VALUE_DAMAGED] = SERVICE_COUNT_damaged,
};

/*
 * Stores the results of a value. A value that is refused is as good as absent: the process compiles, and an agent with
 * --write replaces the value. A value that is not signed with the present key is signed anew.
 */
static enum agent_kind land_value(struct server *server, const uint8_t *key, const void *value, size_t size)
{
	struct service *service = server->service;
	struct results results = {.count = 0};
	enum value_found found = value_open(value, size, key, &service->rules, &results);
	size_t landed;

	if (found != VALUE_SOUND && found != VALUE_AGED) {
		service_count(service, refused_counts[found], 1);
		return AGENT_ABSENT;
	}
	landed = service_land(service, &results);
	results_free(&results);
	if (found == VALUE_AGED) {
		upload_stored(&server->upload, key);
	}
	service_count(service, SERVICE_COUNT_found, landed > 0);
	return landed > 0 ? AGENT_FOUND : AGENT_ABSENT;
}

static enum agent_kind fetch_value(struct server *server, const uint8_t *key)
{
	struct service *service = server->service;
	struct engine_request request = {.key = key, .until_ns = call_clock_straight() + SERVICE_LIMIT_NS};
	enum engine_answer answer;
	enum agent_kind kind;

	if (!service_ask_pause(service)) {
		service_count(service, SERVICE_COUNT_down, 1);
		return AGENT_DOWN;
	}
	service_count(service, SERVICE_COUNT_fetches, 1);
	answer = service_ask(service, &request);
	if (answer != ENGINE_DONE) {
		service_count(service, SERVICE_COUNT_absent, answer == ENGINE_ABSENT);
		return answer == ENGINE_ABSENT || answer == ENGINE_TOO_LARGE ? AGENT_ABSENT : AGENT_DOWN;
	}
	service_count(service, SERVICE_COUNT_fetched_bytes, request.size);
	kind = land_value(server, key, request.value, request.size);
	free(request.value);
	return kind;
}

/* The answer to a fetch that ended after this thread asked for the same key is the answer to this question too. */
static enum agent_kind join_fetch(struct server *server, const uint8_t *key)
{
	struct lane *lane = &server->lanes[key[0] % SERVER_LANES];
	int64_t asked_ns = call_clock_straight();
	enum agent_kind answer;

	pthread_mutex_lock(&lane->lock);
	if (lane->ended_ns > asked_ns && memcmp(lane->key, key, sizeof(lane->key)) == 0) {
		service_count(server->service, SERVICE_COUNT_joined, 1);
	} else {
		lane->answer = fetch_value(server, key);
		memcpy(lane->key, key, sizeof(lane->key));
		lane->ended_ns = call_clock_straight();
	}
	answer = lane->answer;
	pthread_mutex_unlock(&lane->lock);
	return answer;
}

/* Sends an answer without blocking. Errors are ignored, because a process without an answer compiles. */
static void tell(int peer, enum agent_kind kind)
{
	const struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};

	(void)send(peer, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Returns whether the process uses the directory that this agent serves, under any path. Counts those that do not. */
static bool check_place(const struct server *server, const struct agent_message *message)
{
	uint64_t device;
	uint64_t inode;
	bool is_same = agent_socket_place(&server->service->directory, &device, &inode) == 0 &&
	               device == message->device && inode == message->inode;

	service_count(server->service, SERVICE_COUNT_elsewhere, !is_same);
	return is_same;
}

/* STARTED is sent before anything that could take time, because the process waits only 100 ms for it by default. */
static void answer_fetch(struct server *server, int peer, const struct agent_message *message)
{
	service_count(server->service, SERVICE_COUNT_asked, 1);
	tell(peer, AGENT_STARTED);
	tell(peer, check_place(server, message) ? join_fetch(server, message->key) : AGENT_ELSEWHERE);
}

/* ---- the state of the agent */

/* Writes a name and a value, with a NUL at the end. A value that is a text begins with a quote. */
__attribute__((format(printf, 2, 3))) static void put(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(out, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	fputc('\0', out);
}

static void put_all(FILE *out, struct server *server)
{
	struct service *service = server->service;
	const struct service_options *options = &service->options;

	put(out, "version \"" NVRTCCACHE_VERSION);
	put(out, "pid %d", (int)getpid());
	put(out, "since %lld", (long long)service->since);
	put(out, "dir \"%s", service->settings.directory);
	put(out, "socket \"%s", server->listener->path);
	put(out, "engine \"%s", options->engine.address);
	put(out, "prefix \"%s", options->engine.prefix);
	pthread_mutex_lock(&service->lock);
	put(out, "state \"%s", service_state_name(service->state));
	put(out, "why \"%s", service->why);
	put(out, "state_since %lld", (long long)service->state_since);
	pthread_mutex_unlock(&service->lock);
	put(out, "writes %s", options->writes == SERVICE_WRITES ? "true" : "false");
	put(out, "trusts_engine %s", options->trust == VALUE_TRUST_ENGINE ? "true" : "false");
	put(out, "signs_with \"%s", service->keyring.keys[0].id);
#define PUT_COUNT(name) put(out, #name " %" PRIu64, atomic_load(&service->counts[SERVICE_COUNT_##name]));
	SERVICE_COUNTS(PUT_COUNT)
#undef PUT_COUNT
#define PUT_ANSWER(name, word, state)                                                      \
	if (word[0] != '\0') { /* an error */                                              \
		put(out, word " %" PRIu64, atomic_load(&service->answers[ENGINE_##name])); \
	}
	ENGINE_ANSWERS(PUT_ANSWER)
#undef PUT_ANSWER
	put(out, "uploads_waiting %zu", upload_waiting(&server->upload));
}

static void answer_status(struct server *server, int peer)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	service_probe(server->service);
	if (out != NULL) {
		put_all(out, server);
		fclose(out);
		(void)send(peer, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	free(text);
}

/* ---- requests */

/* Returns false if the message is no request. */
static bool answer_request(struct server *server, int peer, const struct agent_message *message)
{
	if (message->magic != AGENT_MAGIC || message->version != AGENT_VERSION) {
		return false;
	}
	switch (message->kind) {
	case AGENT_FETCH:
		answer_fetch(server, peer, message);
		return true;
	case AGENT_STATUS:
		answer_status(server, peer);
		return true;
	case AGENT_STORED:
		if (check_place(server, message)) {
			upload_stored(&server->upload, message->key);
		}
		return true;
	default:
		return false;
	}
}

static void serve_peer(struct server *server, int peer)
{
	const struct timeval patience = {.tv_usec = SERVER_PATIENCE_US};
	struct agent_message message;
	ssize_t size;

	if (!listener_admits(server->listener, peer)) {
		service_count(server->service, SERVICE_COUNT_peers_refused, 1);
		return;
	}
	(void)setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	size = recv(peer, &message, sizeof(message), MSG_TRUNC);
	/* size 0: the peer has closed the connection */
	if (size != 0 && (size != (ssize_t)sizeof(message) || !answer_request(server, peer, &message))) {
		service_count(server->service, SERVICE_COUNT_messages_refused, 1);
	}
}

/* Ends when the socket is shut down. */
static void *run_thread(void *context)
{
	struct server *server = context;

	for (;;) {
		int peer = accept4(server->listener->socket, NULL, NULL, SOCK_CLOEXEC);

		if (peer >= 0) {
			server->peers++;
			serve_peer(server, peer);
			close(peer);
			server->peers--;
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			(void)usleep(EXHAUSTED_US);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return NULL;
		}
	}
}

/* The threads are not joined, because they wait for processes that may have ended. */
bool server_begin(struct server *server)
{
	rlim_t count = SERVER_THREADS;
	struct rlimit files;
	pthread_t thread;

	for (size_t i = 0; i < SERVER_LANES; i++) {
		pthread_mutex_init(&server->lanes[i].lock, NULL);
	}
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / THREAD_FILES < count) {
		count = files.rlim_cur / THREAD_FILES;
	}
	for (rlim_t i = 0; i < count || i == 0; i++) {
		int error = pthread_create(&thread, NULL, run_thread, server);

		if (error != 0) {
			service_say("no thread: %s", strerror(error));
			return i > 0;
		}
		(void)pthread_detach(thread);
	}
	return true;
}

/*
 * A program that has ended may have told of its last results just before. Two looks, because a connection is in neither
 * place for the moment between accept4() and the count.
 */
void server_settle(struct server *server, int64_t until_ns)
{
	struct pollfd pending = {.fd = server->listener->socket, .events = POLLIN};

	for (unsigned quiet = 0; quiet < 2 && call_clock_straight() < until_ns;) {
		quiet = poll(&pending, 1, 0) == 0 && server->peers == 0 ? quiet + 1 : 0;
		(void)usleep(SETTLE_US);
	}
}
