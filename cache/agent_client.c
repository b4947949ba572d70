/* SPDX-License-Identifier: MIT */
/*
 * Each question uses a connection of its own, so that no descriptor stays open between calls, which a host could close
 * or a forked child could share. The only state is the pause after a failure, and what was waited in vain. The clock
 * is read from the kernel directly, because a wait must also end under libfaketime.
 */
#include "cache/agent_client.h"

#include "cache/agent_socket.h"
#include "cache/calls.h"
#include "cache/pause.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define MS INT64_C(1000000)

static _Atomic int64_t wasted; /* nanoseconds of useless waits since the last useful one */
static struct pause after_failure = {.first_ns = 5000 * MS, .longest_ns = 300000 * MS};

const char *agent_outcome_words(enum agent_outcome outcome)
{
#define AGENT_WORDS(name, words) words,
	static const char *const all[] = {AGENT_OUTCOMES(AGENT_WORDS)};
#undef AGENT_WORDS

	return all[outcome];
}

/*
 * The socket of one question. Its identity is recorded, because hosts close descriptors that they do not know, and then
 * the number may belong to another file.
 */
struct question {
	int socket; /* descriptor; -1: none */
	dev_t device;
	ino_t inode;
};

/* Returns the limit for the first answer. A running agent sends STARTED at once, so a third of the time suffices. */
static int64_t first_limit(const struct agent_options *options)
{
	return options->wait_ms * MS / 3;
}

static bool is_ours(const struct question *question)
{
	struct stat found;

	return question->socket >= 0 && fstat(question->socket, &found) == 0 && found.st_dev == question->device &&
	       found.st_ino == question->inode;
}

/* Does not close a number that the host has reused for a file of its own. */
static void close_question(struct question *question)
{
	if (is_ours(question)) {
		close(question->socket);
	}
	question->socket = -1;
}

/* Makes a socket, and records its identity. */
static bool open_question(struct question *question)
{
	struct stat found;

	question->socket = agent_socket_new();
	if (question->socket < 0 || fstat(question->socket, &found) < 0) {
		return false;
	}
	question->device = found.st_dev;
	question->inode = found.st_ino;
	return true;
}

/*
 * Connects and sends a message. Returns AGENT_FETCH_FOUND if it was sent. The message identifies the directory by
 * device and inode, because the agent may know it by another path.
 */
static enum agent_outcome begin_question(struct question *question, const struct agent_options *options,
                                         enum agent_kind kind, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = (uint16_t)kind};
	struct iovec part = {&message, sizeof(message)};
	const struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	char path[PATH_MAX];
	ssize_t sent;

	_Static_assert(sizeof(message.key) == ENTRY_KEY_BYTES, "a message has room for a key");
	memcpy(message.key, key, sizeof(message.key));
	message.wait_ms = options->wait_ms;
	if (agent_socket_place(&options->directory, &message.device, &message.inode) < 0 ||
	    agent_socket_path(options->said, options->directory.path, path) < 0 || !open_question(question) ||
	    agent_socket_attach(question->socket, path, call_connect) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	if (!agent_socket_trusted(question->socket, path, &options->directory)) {
		return AGENT_FETCH_STRANGER;
	}
	if (!is_ours(question)) {
		return AGENT_FETCH_BROKEN;
	}
	sent = TEMP_FAILURE_RETRY(call_sendmsg(question->socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT));
	return sent == (ssize_t)sizeof(message) ? AGENT_FETCH_FOUND : AGENT_FETCH_BROKEN;
}

/*
 * Returns 1 if the socket is readable, 0 after the deadline, -1 on an error. It calls poll() at least once, so that an
 * answer is used that arrived in time while this thread was not running.
 */
static int wait_until(const struct question *question, int64_t deadline)
{
	short events;

	for (;;) {
		int64_t left = deadline - call_clock_straight();
		int ready = call_poll(question->socket, POLLIN, left > 0 ? left : 0, &events);

		if (ready >= 0) {
			return ready;
		}
		/* a profiler's timer may interrupt poll() repeatedly, so the deadline limits the retries */
		if (errno != EINTR || left <= 0) {
			return errno == EINTR ? 0 : -1;
		}
	}
}

/* Returns the kind of the answer; 0: not an answer; -1: nothing could be read. */
static int read_answer(const struct question *question)
{
	struct agent_message message;
	struct iovec part = {&message, sizeof(message)};
	struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t size;

	if (!is_ours(question)) {
		return 0;
	}
	size = call_recvmsg(question->socket, &whole, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return -1;
	}
	if (size != (ssize_t)sizeof(message) || (whole.msg_flags & MSG_TRUNC) || message.magic != AGENT_MAGIC ||
	    message.version != AGENT_VERSION) {
		return 0;
	}
	return message.kind;
}

static enum agent_outcome await_answer(const struct question *question, const struct agent_options *options,
                                       int64_t began)
{
	int64_t deadline = began + first_limit(options);
	bool started = false;

	for (;;) {
		int ready = wait_until(question, deadline);
		int kind = ready > 0 ? read_answer(question) : 0;

		if (ready == 0) {
			return AGENT_FETCH_TIMEOUT;
		}
		if (kind >= AGENT_FOUND && kind <= AGENT_ELSEWHERE) { /* both enums have the same order */
			return (enum agent_outcome)(AGENT_FETCH_FOUND + kind - AGENT_FOUND);
		}
		/* an agent that repeats STARTED must not prolong the wait */
		if (kind != -1 && (kind != AGENT_STARTED || started)) {
			return AGENT_FETCH_BROKEN;
		}
		started = started || kind == AGENT_STARTED;
		deadline = started ? began + options->wait_ms * MS : deadline;
	}
}

void agent_weigh(const struct agent_options *options, enum agent_wait whose, int64_t waited, uint64_t spared)
{
	int64_t lost = spared < (uint64_t)waited ? waited - (int64_t)spared : 0;
	int64_t now = call_clock_straight();

	/* the question of another process counts only if this one could ask */
	if (!options->said || options->wait_ms == 0 ||
	    (whose == AGENT_OVERHEARD && (lost == 0 || !pause_is_over(&after_failure, now)))) {
		return;
	}
	if (lost == 0) {
		atomic_store(&wasted, 0);
	} else if (lost > first_limit(options) || atomic_fetch_add(&wasted, lost) + lost > options->wait_ms * MS) {
		atomic_store(&wasted, 0);
		pause_begin(&after_failure, now);
		return;
	}
	if (whose == AGENT_ASKED) {
		pause_end(&after_failure, now - waited);
	}
}

/* Measures from before the connection is made, because a slow connect() is part of the time that the process waits. */
enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct question question = {.socket = -1};
	int saved = errno;
	enum agent_outcome outcome;
	int64_t began;

	if (!options->said || !options->directory.path || options->wait_ms == 0) {
		return AGENT_FETCH_NOT_ASKED;
	}
	began = call_clock_straight();
	if (!pause_ask(&after_failure, began)) {
		return AGENT_FETCH_SKIPPED;
	}
	outcome = begin_question(&question, options, AGENT_FETCH, key);
	if (outcome == AGENT_FETCH_FOUND) {
		outcome = await_answer(&question, options, began);
	}
	close_question(&question);
	if (outcome == AGENT_FETCH_ABSENT || outcome == AGENT_FETCH_DOWN) {
		agent_weigh(options, AGENT_ASKED, call_clock_straight() - began, 0);
	} else if (outcome != AGENT_FETCH_FOUND) {
		pause_begin(&after_failure, call_clock_straight());
	}
	errno = saved;
	return outcome;
}

/* Also during a pause: an agent that answers too slowly works, and sending waits for none. */
void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct question question = {.socket = -1};
	int saved = errno;

	if (options->said && options->directory.path) {
		(void)begin_question(&question, options, AGENT_STORED, key);
		close_question(&question);
		errno = saved;
	}
}
