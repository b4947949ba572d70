/* SPDX-License-Identifier: MIT */
/*
 * engine_crsh: a storage helper of ccache's, by its protocol CRSH 1: whatever ccache's helpers reach, we reach
 *
 * The helper listens at a Unix socket, which is the only permission there is; who may use the socket may use the helper. It is
 * started by others: nothing is spawned here. It greets with its version and what it can do; then
 *     get     00 key                   ->  00 u64 bytes | 01 | 02 text
 *     put     01 key flags u64 bytes   ->  00 | 01 | 02 text
 *     exists  05 key                   ->  00 | 01 | 02 text        where it says that it can
 * with a key as a byte of length and so many bytes, integers as the machine has them.
 * A value's key is 32 bytes (engine_name_digest()), which helpers for Bazel's layout need.
 */
#include "agent/engine_connection.h"
#include "agent/engine_kind.h"
#include "agent/engine_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CRSH_VERSION  1
#define CAN_STORE     0
#define CAN_EXISTS    2
#define REQUEST_MAX   (2 + ENGINE_NAME_DIGEST + 1 + 8)
#define PUT_OVERWRITE 1

enum crsh_request {
	CRSH_GET = 0,
	CRSH_PUT = 1,
	CRSH_EXISTS = 5,
};

enum crsh_answer {
	CRSH_OK = 0,
	CRSH_NOOP = 1,
	CRSH_ERROR = 2,
};

struct engine_crsh {
	struct engine engine;
	struct transport transport;
	char *prefix;
	struct connection *connection; /* NULL: none */
	bool can_exists;
};

struct request {
	enum crsh_request kind;
	uint8_t bytes[REQUEST_MAX];
	size_t size;
	const void *value; /* of a put */
	size_t value_size;
	void *got; /* of a get */
	size_t got_size;
};

struct exchange {
	const struct timespec *deadline;
	struct engine_error *error;
	bool heard;
};

static enum engine_answer receive(struct engine_crsh *crsh, void *bytes, size_t size, struct exchange *exchange)
{
	enum engine_answer answer =
	    connection_receive_all(crsh->connection, bytes, size, exchange->deadline, exchange->error);

	exchange->heard |= answer == ENGINE_DONE;
	return answer;
}

static void drop(struct engine_crsh *crsh)
{
	connection_close(crsh->connection);
	crsh->connection = NULL;
}

static enum engine_answer greet(struct engine_crsh *crsh, struct exchange *exchange)
{
	uint8_t head[2];
	uint8_t can[255];
	enum engine_answer answer = receive(crsh, head, sizeof(head), exchange);

	if (answer == ENGINE_DONE && head[0] != CRSH_VERSION) {
		transport_words(&crsh->transport, exchange->error, "it does not speak ccache's helper protocol 1");
		return ENGINE_UNSUITED;
	}
	if (answer == ENGINE_DONE && head[1] > 0) {
		answer = receive(crsh, can, head[1], exchange);
	}
	if (answer != ENGINE_DONE) {
		return answer;
	}
	crsh->can_exists = memchr(can, CAN_EXISTS, head[1]) != NULL;
	if (memchr(can, CAN_STORE, head[1]) == NULL) {
		transport_words(&crsh->transport, exchange->error, "a helper that can neither get nor put");
		return ENGINE_UNSUITED;
	}
	return ENGINE_DONE;
}

static enum engine_answer connect_to(struct engine_crsh *crsh, const struct exchange *of)
{
	struct exchange exchange = {.deadline = of->deadline, .error = of->error};
	enum engine_answer answer =
	    connection_open(&crsh->transport, exchange.deadline, &crsh->connection, exchange.error);

	if (answer == ENGINE_DONE) {
		answer = greet(crsh, &exchange);
		if (answer != ENGINE_DONE) {
			drop(crsh);
		}
	}
	return answer;
}

static enum engine_answer receive_value(struct engine_crsh *crsh, struct request *request, struct exchange *exchange)
{
	uint64_t size;
	enum engine_answer answer = receive(crsh, &size, sizeof(size), exchange);
	char *value;

	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (size > ENGINE_VALUE_MAX) {
		transport_words(&crsh->transport, exchange->error, "a value of more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	}
	value = malloc((size_t)size + 1);
	answer = value != NULL ? receive(crsh, value, (size_t)size, exchange) : ENGINE_BROKEN;
	if (answer != ENGINE_DONE) {
		free(value);
		return answer;
	}
	request->got = value;
	request->got_size = (size_t)size;
	return ENGINE_DONE;
}

static enum engine_answer receive_words(struct engine_crsh *crsh, struct exchange *exchange)
{
	uint8_t length;
	char words[256] = "";
	enum engine_answer answer = receive(crsh, &length, 1, exchange);

	if (answer == ENGINE_DONE && length > 0) {
		answer = receive(crsh, words, length, exchange);
	}
	if (answer == ENGINE_DONE) {
		transport_words(&crsh->transport, exchange->error, "the helper says: %s", words);
		answer = ENGINE_BROKEN;
	}
	return answer;
}

static enum engine_answer ask_once(struct engine_crsh *crsh, struct request *request, struct exchange *exchange)
{
	uint8_t code;
	enum engine_answer answer =
	    connection_send(crsh->connection, request->bytes, request->size, exchange->deadline, exchange->error);

	if (answer == ENGINE_DONE && request->value_size > 0) {
		answer = connection_send(crsh->connection, request->value, request->value_size, exchange->deadline,
		                         exchange->error);
	}
	if (answer == ENGINE_DONE) {
		answer = receive(crsh, &code, 1, exchange);
	}
	if (answer != ENGINE_DONE) {
		return answer;
	}
	switch (code) {
	case CRSH_OK:
		return request->kind == CRSH_GET ? receive_value(crsh, request, exchange) : ENGINE_DONE;
	case CRSH_NOOP:
		return ENGINE_ABSENT;
	case CRSH_ERROR:
		return receive_words(crsh, exchange);
	default:
		transport_words(&crsh->transport, exchange->error,
		                "what answers there does not speak as ccache's helpers do");
		return ENGINE_BROKEN;
	}
}

static enum engine_answer ask(struct engine_crsh *crsh, struct request *request, const struct timespec *deadline,
                              struct engine_error *error)
{
	bool stood = crsh->connection != NULL && !connection_is_stale(crsh->connection);

	if (!stood) {
		drop(crsh);
	}
	for (;;) {
		struct exchange exchange = {.deadline = deadline, .error = error};
		enum engine_answer answer = ENGINE_DONE;

		if (crsh->connection == NULL) {
			answer = connect_to(crsh, &exchange);
			if (answer != ENGINE_DONE) {
				return answer;
			}
		}
		answer = ask_once(crsh, request, &exchange);
		if (answer != ENGINE_DONE && answer != ENGINE_ABSENT) {
			drop(crsh);
		}
		if (answer != ENGINE_BROKEN || !stood || exchange.heard) {
			return answer;
		}
		stood = false;
		error->text[0] = '\0';
	}
}

static void begin(const struct engine_crsh *crsh, struct request *request, enum crsh_request kind,
                  const struct engine_name *name)
{
	*request = (struct request){.kind = kind, .size = 2 + ENGINE_NAME_DIGEST};
	request->bytes[0] = (uint8_t)kind;
	request->bytes[1] = ENGINE_NAME_DIGEST;
	engine_name_digest(crsh->prefix, name, request->bytes + 2);
}

static enum engine_answer crsh_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                   void **ret_value, size_t *ret_size, struct engine_error *ret_error)
{
	struct engine_crsh *crsh = (struct engine_crsh *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	struct request request;
	enum engine_answer answer;

	begin(crsh, &request, CRSH_GET, name);
	answer = ask(crsh, &request, &deadline, ret_error);
	if (answer == ENGINE_DONE) {
		*ret_value = request.got;
		*ret_size = request.got_size;
	}
	return answer;
}

/* What it can do is known once it has greeted; a helper that cannot tell whether something is there is asked for all of it. */
static enum engine_answer crsh_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                   struct engine_error *ret_error)
{
	struct engine_crsh *crsh = (struct engine_crsh *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	const struct exchange exchange = {.deadline = &deadline, .error = ret_error};
	struct request request;
	enum engine_answer answer = crsh->connection != NULL ? ENGINE_DONE : connect_to(crsh, &exchange);

	if (answer == ENGINE_DONE) {
		begin(crsh, &request, crsh->can_exists ? CRSH_EXISTS : CRSH_GET, name);
		answer = ask(crsh, &request, &deadline, ret_error);
	}
	if (answer == ENGINE_DONE) {
		free(request.got);
	}
	return answer;
}

static enum engine_answer crsh_put(struct engine *engine, const struct engine_name *name, const void *value,
                                   size_t size, unsigned limit_ms, struct engine_error *ret_error)
{
	struct engine_crsh *crsh = (struct engine_crsh *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	const uint64_t length = size;
	struct request request;
	enum engine_answer answer;

	begin(crsh, &request, CRSH_PUT, name);
	request.bytes[request.size++] = PUT_OVERWRITE;
	memcpy(request.bytes + request.size, &length, sizeof(length));
	request.size += sizeof(length);
	request.value = value;
	request.value_size = size;
	answer = ask(crsh, &request, &deadline, ret_error);
	if (answer == ENGINE_ABSENT) {
		transport_words(&crsh->transport, ret_error, "the helper does not store");
		return ENGINE_REFUSED;
	}
	return answer;
}

static enum engine_answer crsh_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	struct engine_crsh *crsh = (struct engine_crsh *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	const struct exchange exchange = {.deadline = &deadline, .error = ret_error};

	drop(crsh);
	return connect_to(crsh, &exchange);
}

static void crsh_close(struct engine *engine)
{
	struct engine_crsh *crsh = (struct engine_crsh *)engine;

	drop(crsh);
	transport_close(&crsh->transport);
	free(crsh->prefix);
}

static int crsh_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine_crsh *crsh;
	int error;

	if (options->user != NULL || options->password_file != NULL || options->token_file != NULL) {
		engine_tell(ret_error,
		            "a helper of ccache's takes no user, password or token: its socket is the permission");
		return -EINVAL;
	}
	crsh = (struct engine_crsh *)engine_new(&engine_kind_crsh, sizeof(*crsh));
	error = crsh != NULL ? transport_open(options, &crsh->transport, ret_error) : -ENOMEM;
	if (error != 0) {
		free(crsh);
		return error;
	}
	crsh->prefix = strdup(engine_prefix(options));
	if (crsh->prefix == NULL) {
		crsh_close(&crsh->engine);
		free(crsh);
		return -ENOMEM;
	}
	engine_say(&crsh->engine, "ccache's helper at unix:%s, prefix %s (in the digests that are its keys)",
	           crsh->transport.address.socket, crsh->prefix);
	*ret_engine = &crsh->engine;
	return 0;
}

static const char *const schemes[] = {"crsh:", NULL};

const struct engine_kind engine_kind_crsh = {
    .schemes = schemes,
    .open = crsh_open,
    .close = crsh_close,
    .get = crsh_get,
    .has = crsh_has,
    .put = crsh_put,
    .probe = crsh_probe,
};
