/* SPDX-License-Identifier: MIT */
#include "agent/bundle_once.h"

#include "agent/bundle_value.h"
#include "agent/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS    60000
#define PIECE_BYTES 65536

struct once {
	struct service service; /* the options alone */
	struct keyring *keyring;
	struct engine *engine;
	struct engine_name name;
};

static bool begin(struct once *once, const struct service_options *options, const char *name)
{
	char text[KEYRING_TEXT_MAX];

	*once = (struct once){.service.options = *options, .name.format = ENTRY_FORMAT};
	bundle_value_key(name, once->name.key);
	launch_ignore_writes(); /* to whoever reads us, or an engine */
	if (options->key_file != NULL && keyring_read(options->key_file, &once->keyring, text) != 0) {
		service_say("%s", text);
		return false;
	}
	return service_open_engine(&once->service, &once->engine);
}

static int end(struct once *once, int status)
{
	engine_close(once->engine);
	keyring_free(once->keyring);
	return status;
}

static const char *reason(int error)
{
	switch (error) {
	case -EBADMSG:
		return "no bundle of results, or not as it was written";
	case -EPROTONOSUPPORT:
		return "a bundle of another format";
	case -EFBIG:
		return "too large: 64 MB packed, or 4 GB unpacked, are the most; --used-since makes a smaller one";
	default:
		return strerror(-error);
	}
}

static bool put(struct once *once, const char *name, const struct bundle_made *made)
{
	struct engine_error error = {.text = ""};
	enum engine_answer answer = engine_put(once->engine, &once->name, made->value, made->size, LIMIT_MS, &error);

	if (answer != ENGINE_DONE) {
		service_say("bundle %s: %s", name, error.text);
		return false;
	}
	printf("Put %" PRIu64 " %s (%" PRIu64 " bytes) into the engine as bundle %s: %zu bytes\n", made->results,
	       made->results == 1 ? "result" : "results", made->raw_size, name, made->size);
	if (fflush(stdout) != 0) {
		service_say("standard output: %s", strerror(errno));
		return false;
	}
	return true;
}

int bundle_once_put(const struct service_options *options, const char *name)
{
	struct bundle_made made = {.value = NULL};
	struct once once;
	bool fine = begin(&once, options, name);
	int error;

	if (fine && isatty(STDIN_FILENO) == 1) {
		service_say("a bundle is not read from a terminal; try: nvrtccache export - | nvrtccache-agent ...");
		fine = false;
	}
	if (fine) {
		error = bundle_value_make(STDIN_FILENO, once.name.key, once.keyring, &made);
		if (error != 0) {
			service_say("standard input: %s", reason(error));
		}
		fine = error == 0 && put(&once, name, &made);
	}
	free(made.value);
	return end(&once, fine ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int write_all(const void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t wrote = write(STDOUT_FILENO, (const char *)bytes + done, size - done);

		if (wrote < 0 && errno != EINTR) {
			return -errno;
		}
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

static bool write_bundle(struct bundle_value *bundle, const char *name)
{
	static char piece[PIECE_BYTES];
	ssize_t got;

	while ((got = bundle_value_get(bundle, piece, sizeof(piece))) > 0) {
		int error = write_all(piece, (size_t)got);

		if (error != 0) {
			service_say("standard output: %s", strerror(-error));
			return false;
		}
	}
	if (got < 0) {
		service_say("bundle %s: it does not unpack to what it says", name);
	}
	return got == 0;
}

static bool get(struct once *once, const char *name)
{
	struct engine_error error = {.text = ""};
	struct bundle_value *bundle = NULL;
	enum envelope_found found;
	enum engine_answer answer;
	void *value = NULL;
	size_t size = 0;
	bool fine;

	answer = engine_get(once->engine, &once->name, LIMIT_MS, &value, &size, &error);
	if (answer != ENGINE_DONE) {
		service_say("bundle %s: %s", name,
		            answer == ENGINE_ABSENT ? "the engine has none of this name" : error.text);
		return false;
	}
	found = bundle_value_open(value, size, once->name.key, once->keyring, once->service.options.trust, &bundle);
	if (found != ENVELOPE_SOUND) {
		service_say("bundle %s: %s", name, envelope_words(found));
	}
	fine = found == ENVELOPE_SOUND && write_bundle(bundle, name);
	bundle_value_close(bundle);
	free(value);
	return fine;
}

int bundle_once_get(const struct service_options *options, const char *name)
{
	struct once once;
	bool fine = begin(&once, options, name);

	if (fine && isatty(STDOUT_FILENO) == 1) {
		service_say("a bundle is not written to a terminal; try: ... | nvrtccache import -");
		fine = false;
	}
	return end(&once, fine && get(&once, name) ? EXIT_SUCCESS : EXIT_FAILURE);
}
