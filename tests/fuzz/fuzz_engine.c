/* SPDX-License-Identifier: MIT */
/*
 * What engines say, and what is said about them. The first byte, by 3:
 *
 * 0: the rest is an address: whatever is taken can be told again, with nothing in it that leads elsewhere.
 * else: the rest is what Redis says, on a socket: every call ends, with a value that lies in what came.
 */
#include "agent/engine/address.h"
#include "agent/engine/kind.h"

#include "tests/fuzz/fuzz.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un place = {.sun_family = AF_UNIX};
static int listener = -1;

static void read_address(struct input *input)
{
	char *text = text_of(input->at, input->left);
	struct engine_address address;
	const char *words = NULL;
	char told[ADDRESS_HOST_MAX + 16];

	if (engine_address_parse(text, &address, &words) == 0) {
		require(address.socket[0] == '/' || (address.socket[0] == '\0' && address.host[0] != '\0'));
		require(strpbrk(address.host, "@/?# \r\n") == NULL && strpbrk(address.path, "@?# %\r\n") == NULL);
		require(strstr(address.path, "/../") == NULL && address.port <= 65535);
		require(address.path[0] == '\0' || address.path[0] == '/');
		engine_address_place(&address, told, sizeof(told));
		require(told[0] != '\0');
	} else {
		require(words != NULL);
	}
	free(text);
}

struct speech {
	const uint8_t *bytes;
	size_t size;
};

/* Says it all and goes, to one after the other. */
static void *speak(void *context)
{
	const struct speech *speech = context;
	int peer = accept(listener, NULL, NULL);

	require(peer >= 0);
	(void)send(peer, speech->bytes, speech->size, MSG_NOSIGNAL);
	(void)shutdown(peer, SHUT_WR);
	for (char bytes[4096]; read(peer, bytes, sizeof(bytes)) > 0;) {
	}
	close(peer);
	return NULL;
}

static void listen_to(struct input *input)
{
	struct speech speech = {.bytes = input->at, .size = input->left};
	const struct engine_name name = {.format = 1};
	char address[sizeof(place.sun_path) + 16];
	struct engine_options options = {.address = address};
	struct engine_error error = {""};
	struct engine *engine;
	pthread_t speaker;
	void *value = NULL;
	size_t size = 0;
	enum engine_answer answer;

	(void)snprintf(address, sizeof(address), "redis+unix://%s", place.sun_path);
	require(engine_open(&options, &engine, &error) == 0);
	require(pthread_create(&speaker, NULL, speak, &speech) == 0);
	answer = engine_get(engine, &name, 5000, &value, &size, &error);
	require(answer != ENGINE_SLOW && answer != ENGINE_UNREACHABLE);
	if (answer == ENGINE_DONE) {
		require(size < speech.size && memmem(speech.bytes, speech.size, value, size) != NULL);
		free(value);
	} else {
		require(answer == ENGINE_ABSENT || error.text[0] != '\0');
	}
	engine_close(engine);
	pthread_join(speaker, NULL);
}

FUZZ_SET_UP()
{
	(void)snprintf(place.sun_path, sizeof(place.sun_path), "%.90s/socket", fuzz_directory());
	signal(SIGPIPE, SIG_IGN);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(listener >= 0 && bind(listener, (struct sockaddr *)&place, sizeof(place)) == 0 &&
	        listen(listener, 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (take_number(&input, 1) % 3 == 0) {
		read_address(&input);
	} else {
		listen_to(&input);
	}
	return 0;
}
