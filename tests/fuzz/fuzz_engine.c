/* SPDX-License-Identifier: MIT */
/*
 * What engines say, and what is said about them. The first byte, by 3:
 *
 * 0: the rest is an address: whatever is taken can be told again, with nothing in it that leads elsewhere.
 * else: the rest is what Redis says, on a socket: every call ends, with a value that lies in what came.
 */
#include "agent/engine/address.h"
#include "agent/engine/kind.h"
#include "cache/calls.h"

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

/* Says it all to one question, and goes. */
static void *speak(void *context)
{
	const struct speech *speech = context;
	int peer = accept(listener, NULL, NULL);
	char question[4096];

	require(peer >= 0 && read(peer, question, sizeof(question)) > 0);
	(void)send(peer, speech->bytes, speech->size, MSG_NOSIGNAL);
	close(peer);
	return NULL;
}

/* With one engine, which connects anew for each, because the last peer has gone. */
static void listen_to(struct input *input)
{
	static struct engine *engine;
	static char address[sizeof(place.sun_path) + 16];
	static struct engine_options options = {.address = address, .prefix = "nvrtccache"};
	struct speech speech = {.bytes = input->at, .size = input->left};
	static const uint8_t key[ENTRY_KEY_BYTES];
	struct engine_request request = {.key = key, .until_ns = call_clock_straight() + INT64_C(5000000000)};
	pthread_t speaker;
	enum engine_answer answer;

	(void)snprintf(address, sizeof(address), "redis+unix://%s", place.sun_path);
	require(engine != NULL || engine_open(&options, &engine, &request.error) == 0);
	require(pthread_create(&speaker, NULL, speak, &speech) == 0);
	answer = engine_ask(engine, &request);
	require(answer != ENGINE_SLOW && answer != ENGINE_UNREACHABLE);
	if (answer == ENGINE_DONE) {
		require(request.size < speech.size &&
		        memmem(speech.bytes, speech.size, request.value, request.size) != NULL);
		free(request.value);
	} else {
		require(answer == ENGINE_ABSENT || request.error.text[0] != '\0');
	}
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
