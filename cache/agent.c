/* SPDX-License-Identifier: MIT */
#include "cache/agent.h"

#include "cache/agent_breaker.h"
#include "cache/agent_message.h"
#include "cache/agent_socket.h"
#include "cache/calls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MS             INT64_C(1000000)
#define FIRST_SIGN     3  /* a third of the time is for that: 100 of 300 ms */
#define QUESTIONS_MAX  64 /* of one process at once; more are not asked */
#define SEAT_FREE      (-1)
#define SEAT_NO_SOCKET (-2)

static const struct {
	const char *name;
	const char *words;
} outcomes[] = {
#define AGENT_ROW(name, word, words) {word, words},
    AGENT_OUTCOMES(AGENT_ROW)
#undef AGENT_ROW
};

const char *agent_outcome_name(enum agent_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *agent_outcome_words(enum agent_outcome outcome)
{
	return outcomes[outcome].words;
}

static struct agent_breaker breaker;

/*
 * A question on its way, or one that was. A child must know which descriptors it was given without wanting them, and it
 * is given those of the moment when fork() begins and the memory of a later one: a socket may be closed between.
 */
static struct question {
	_Atomic int socket;
	_Atomic int last; /* what it was, where the seat is free; -1: nothing */
	_Atomic(pthread_t) thread;
	dev_t device;        /* of the socket: is the number still ours? */
	_Atomic ino_t inode; /* 0: made a moment ago, and not looked at */
} questions[QUESTIONS_MAX] = {[0 ... QUESTIONS_MAX - 1] = {.socket = SEAT_FREE, .last = -1}};

static int64_t clock_now(void)
{
	struct timespec now = {0};

	call_clock_straight(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* By turns, so that what was is known for a while. */
static struct question *take_seat(void)
{
	static _Atomic unsigned turn;
	unsigned first = atomic_fetch_add(&turn, 1);

	for (unsigned i = 0; i < QUESTIONS_MAX; i++) {
		struct question *question = &questions[(first + i) % QUESTIONS_MAX];
		int free_seat = SEAT_FREE;

		if (atomic_compare_exchange_strong(&question->socket, &free_seat, SEAT_NO_SOCKET)) {
			atomic_store(&question->last, -1);
			atomic_store(&question->inode, 0);
			atomic_store(&question->thread, pthread_self());
			return question;
		}
	}
	return NULL;
}

/* Of a child that was forked before its parent could look at the number: is it what it had made? */
static bool is_of_our_kind(int socket)
{
	int domain = 0;
	int type = 0;
	socklen_t size = sizeof(domain);

	return call_getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
	       call_getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/* The host may have closed the number meanwhile, and what it stands for now is the host's: not to be read nor closed. */
static bool is_ours(const struct question *question, int socket)
{
	ino_t inode = atomic_load(&question->inode);
	struct stat found;

	if (socket >= 0 && inode == 0) {
		return is_of_our_kind(socket);
	}
	return socket >= 0 && call_fstat(socket, &found) == 0 && found.st_dev == question->device &&
	       found.st_ino == inode;
}

static void leave_seat(struct question *question)
{
	int socket = atomic_load(&question->socket);

	if (is_ours(question, socket)) {
		call_close(socket);
	}
	atomic_store(&question->last, atomic_load(&question->inode) != 0 ? socket : -1);
	atomic_store(&question->socket, SEAT_FREE);
}

static void close_last(struct question *question)
{
	int last = atomic_exchange(&question->last, -1);

	if (is_ours(question, last)) {
		call_close(last);
	}
}

void agent_fork_child(void)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++) {
		if (atomic_load(&questions[i].socket) == SEAT_FREE) {
			close_last(&questions[i]);
			continue;
		}
		/* who forks in a signal handler in the middle of a question goes on with it */
		if (!pthread_equal(atomic_load(&questions[i].thread), pthread_self())) {
			leave_seat(&questions[i]);
		}
	}
}

static enum agent_outcome connect_to(const struct agent_options *options, struct question *question)
{
	char path[PATH_MAX];
	struct stat found;
	int socket;

	if (agent_socket_path(options->said, options->directory.path, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	socket = agent_socket_new();
	if (socket < 0) {
		return AGENT_FETCH_NOBODY;
	}
	/* at once: a child that is forked from now on knows it */
	atomic_store(&question->socket, socket);
	if (call_fstat(socket, &found) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	question->device = found.st_dev;
	atomic_store(&question->inode, found.st_ino);
	if (agent_socket_reach(socket, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	return agent_socket_trusted(socket, path, &options->directory) ? AGENT_FETCH_FOUND : AGENT_FETCH_STRANGER;
}

static enum agent_outcome make_message(const struct agent_options *options, enum agent_kind kind,
                                       const uint8_t key[ENTRY_KEY_BYTES], struct agent_message *ret_message)
{
	*ret_message = (struct agent_message){
	    .magic = AGENT_MAGIC,
	    .version = AGENT_VERSION,
	    .kind = (uint16_t)kind,
	    .wait_ms = options->wait_ms,
	};
	_Static_assert(sizeof(ret_message->key) == ENTRY_KEY_BYTES, "a message has room for a key");
	memcpy(ret_message->key, key, sizeof(ret_message->key));
	return agent_socket_place(&options->directory, &ret_message->device, &ret_message->inode) < 0
	           ? AGENT_FETCH_NOBODY
	           : AGENT_FETCH_FOUND;
}

static enum agent_outcome send_message(const struct question *question, struct agent_message *message)
{
	struct iovec part = {message, sizeof(*message)};
	const struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	int socket = atomic_load(&question->socket);
	ssize_t sent;

	if (!is_ours(question, socket)) {
		return AGENT_FETCH_BROKEN;
	}
	do {
		sent = call_sendmsg(socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*message) ? AGENT_FETCH_FOUND : AGENT_FETCH_BROKEN;
}

/* FOUND: the message is on its way. */
static enum agent_outcome say(struct question *question, const struct agent_options *options, enum agent_kind kind,
                              const uint8_t key[ENTRY_KEY_BYTES])
{
	struct agent_message message;
	enum agent_outcome outcome = make_message(options, kind, key, &message);

	if (outcome == AGENT_FETCH_FOUND) {
		outcome = connect_to(options, question);
	}
	return outcome == AGENT_FETCH_FOUND ? send_message(question, &message) : outcome;
}

/* 1: something came; 0: the time is over; -1: nothing can come. What came while we slept is taken, however late. */
static int wait_until(const struct question *question, int64_t deadline)
{
	short events;

	for (;;) {
		int64_t left = deadline - clock_now();
		int ready = call_poll(atomic_load(&question->socket), POLLIN, left > 0 ? left : 0, &events);

		if (ready >= 0) {
			return ready;
		}
		/* a profiler's timer, say; where it leaves no time for the question either, that is over */
		if (errno != EINTR || left <= 0) {
			return errno == EINTR ? 0 : -1;
		}
	}
}

/* The kind of an answer, 0 for what is none, -1 where there was nothing to be read. */
static int hear(const struct question *question)
{
	struct agent_message message;
	struct iovec part = {&message, sizeof(message)};
	struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	int socket = atomic_load(&question->socket);
	ssize_t size;

	if (!is_ours(question, socket)) {
		return 0;
	}
	size = call_recvmsg(socket, &whole, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return -1;
	}
	if (size != (ssize_t)sizeof(message) || (whole.msg_flags & MSG_TRUNC) || message.magic != AGENT_MAGIC ||
	    message.version != AGENT_VERSION) {
		return 0;
	}
	return message.kind;
}

static enum agent_outcome await_answer(const struct question *question, int64_t began, unsigned wait_ms)
{
	const int64_t in_all = began + wait_ms * MS;
	int64_t deadline = began + wait_ms * MS / FIRST_SIGN;
	bool started = false;

	for (;;) {
		int ready = wait_until(question, deadline);

		if (ready <= 0) {
			return ready == 0 ? AGENT_FETCH_TIMEOUT : AGENT_FETCH_BROKEN;
		}
		switch (hear(question)) {
		case -1:
			break;
		case AGENT_STARTED:
			if (started) { /* one that says nothing else would hold us up for ever */
				return AGENT_FETCH_BROKEN;
			}
			started = true;
			deadline = in_all;
			break;
		case AGENT_FOUND:
			return AGENT_FETCH_FOUND;
		case AGENT_ABSENT:
			return AGENT_FETCH_ABSENT;
		case AGENT_DOWN:
			return AGENT_FETCH_DOWN;
		case AGENT_ELSEWHERE:
			return AGENT_FETCH_ELSEWHERE;
		default:
			return AGENT_FETCH_BROKEN;
		}
	}
}

/* Whether what was found helps is seen when the directory is looked into. */
static void judge_answer(enum agent_outcome outcome, const struct agent_question *asked)
{
	switch (outcome) {
	case AGENT_FETCH_FOUND:
		break;
	case AGENT_FETCH_ABSENT:
	case AGENT_FETCH_DOWN:
		agent_judge(asked, 0);
		break;
	default:
		agent_breaker_failed(&breaker, asked->seen, clock_now());
	}
}

static enum agent_outcome ask(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                              struct agent_question *ret_question)
{
	struct agent_question asked = {.allowed = options->wait_ms * MS};
	int64_t began = clock_now();
	struct question *question;
	enum agent_outcome outcome;

	if (!agent_breaker_ask(&breaker, began, &asked.seen)) {
		return AGENT_FETCH_CLOSED;
	}
	question = take_seat();
	if (!question) {
		return AGENT_FETCH_CLOSED;
	}
	outcome = say(question, options, AGENT_FETCH, key);
	if (outcome == AGENT_FETCH_FOUND) {
		outcome = await_answer(question, began, options->wait_ms);
	}
	leave_seat(question);
	asked.waited = clock_now() - began;
	judge_answer(outcome, &asked);
	if (outcome == AGENT_FETCH_FOUND) {
		*ret_question = asked;
	}
	return outcome;
}

void agent_judge(const struct agent_question *question, uint64_t spared)
{
	const struct agent_answer answer = {.waited = question->waited, .spared = spared, .allowed = question->allowed};

	agent_breaker_answered(&breaker, question->seen, &answer, clock_now());
}

void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared)
{
	const struct agent_answer answer = {.waited = waited, .spared = spared, .allowed = options->wait_ms * MS};

	if (options->said && options->wait_ms > 0) {
		agent_breaker_overheard(&breaker, &answer, clock_now());
	}
}

enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                               struct agent_question *ret_question)
{
	int saved = errno;
	enum agent_outcome outcome = AGENT_FETCH_NOT_ASKED;

	if (options->said && options->directory.path && options->wait_ms > 0) {
		outcome = ask(options, key, ret_question);
		errno = saved;
	}
	return outcome;
}

static void tell(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct question *question;
	int64_t seen;

	if (!agent_breaker_tell(&breaker, clock_now(), &seen)) {
		return;
	}
	question = take_seat();
	if (!question) {
		return;
	}
	if (say(question, options, AGENT_STORED, key) != AGENT_FETCH_FOUND) {
		agent_breaker_failed(&breaker, seen, clock_now());
	}
	leave_seat(question);
}

void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	int saved = errno;

	if (options->said && options->directory.path) {
		tell(options, key);
		errno = saved;
	}
}
