/* SPDX-License-Identifier: MIT */
/*
 * --status sends a request to the running agent. The two commands for bundles need no agent: they use an engine once,
 * and copy between the engine and a pipe.
 */
#include "agent/node/arguments.h"

#include "agent/node/launch.h"
#include "agent/node/listener.h"
#include "agent/wire/value.h"
#include "cache/agent_socket.h"
#include "cache/json.h"
#include "cache/tools/bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define LIMIT_MS    60000
#define PIECE_BYTES 65536

/* ---- --status */

/* These texts tell users what is wrong with the agent, unlike the texts of errno, which describe the socket. */
static const char *explain_status_error(int error)
{
	switch (error) {
	case -ENOENT:
		return "no agent is running";
	case -ECONNREFUSED:
		return "the agent is not running any more";
	case -EAGAIN:
		return "the agent is overloaded";
	case -ETIMEDOUT:
		return "the agent does not answer";
	case -EPROTO:
		return "the agent sent no answer: it has another version, or serves other users";
	case -EPERM:
		return "not used: it belongs to another user";
	case -EINVAL:
		return "not an absolute path";
	default:
		return strerror(-error);
	}
}

/* Has a timeout, so that a stopped agent (SIGSTOP) does not block the command. */
static int ask_status(int socket, char *ret_text, size_t size)
{
	struct agent_message message = {.magic = AGENT_MAGIC, .version = AGENT_VERSION, .kind = AGENT_STATUS};
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	ssize_t got;

	if (send(socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message)) {
		return errno == EPIPE || errno == ECONNRESET ? -EPROTO : -errno;
	}
	if (poll(&polled, 1, PATIENCE_MS) != 1) {
		return -ETIMEDOUT;
	}
	got = recv(socket, ret_text, size - 1, 0);
	if (got <= 0) {
		return -EPROTO;
	}
	ret_text[got] = '\0';
	return 0;
}

static void print_member(const char *name, int name_size, const char *value, int size)
{
	static const char *const times[] = {"since", "last_error_time"};
	char text[32];
	struct tm parts;
	time_t when = strtol(value, NULL, 10);

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (strncmp(name, times[i], (size_t)name_size) == 0 && times[i][name_size] == '\0' &&
		    localtime_r(&when, &parts) != NULL) {
			value = text;
			size = (int)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
		}
	}
	printf("%-16.*s %.*s\n", name_size, name, size, value);
}

/*
 * Prints "name value" for each member of the JSON text except zeros, false and empty strings. Strings are printed with
 * their JSON escapes, because the engine's last error text may contain control characters.
 */
static void print_status(const char *text)
{
	const char *name;

	while ((name = strchr(text, '"')) != NULL) {
		int name_size = (int)strcspn(++name, "\"");
		const char *value = name + name_size + strlen("\": ");
		int size = (int)strcspn(value, ",}\n");

		bool is_zero = *value == '0' || *value == '{' || strncmp(value, "false", 5) == 0;

		text = value;
		if (*value == '"') {
			for (size = 0; *++text != '"' && *text != '\0'; size++) {
				size += *text == '\\';
				text += *text == '\\';
			}
			value++;
			text++;
		}
		if (size > 0 && !is_zero) {
			print_member(name, name_size, value, size);
		}
	}
}

/* Prints an error on stderr, and with --json also as an object on stdout, because scripts then expect JSON. */
static void report_failure(const char *asked, int error, bool as_json)
{
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "%s: %s", asked, explain_status_error(error));
	service_say("%s", text);
	if (as_json) {
		struct json json = json_growing(JSON_BYTES_REPLACED, 0);

		json_begin_object(&json, NULL);
		json_string(&json, "error", text);
		json_end(&json);
		json_end_line(&json);
		fwrite(json.bytes, 1, json.size, stdout);
		json_free(&json);
	}
}

/* Checks the socket as programs do, because another user could have created it. */
int command_status(const struct settings *settings, const char *said, bool json)
{
	static char text[AGENT_STATUS_MAX + 1];
	struct directory directory = {.path = settings->directory,
	                              .shared = settings->shared && settings->directory != NULL};
	const char *asked = said != NULL ? said : "no cache directory";
	char path[PATH_MAX];
	int socket = -1;
	int error = listener_path(settings->directory, said, path);

	if (error == 0) {
		asked = path;
		error = agent_socket_connect(path, &socket);
	}
	if (error == 0 && !agent_socket_trusted(socket, path, &directory)) {
		error = -EPERM;
	}
	if (error == 0) {
		error = ask_status(socket, text, sizeof(text));
	}
	if (error != 0) {
		report_failure(asked, error, json);
	} else if (json) {
		fputs(text, stdout);
	} else {
		print_status(text);
	}
	if (socket >= 0) {
		close(socket);
	}
	return fflush(stdout) == 0 && error == 0 ? 0 : 1;
}

/* ---- bundles */

struct once {
	struct service service; /* only its options and keys are used */
	struct engine *engine;
	struct engine_name name;
};

/* Needs neither a directory nor settings, because a job that puts a bundle may run on a machine without a cache. */
static bool begin_once(struct once *once, const struct service_options *options, const char *name)
{
	*once = (struct once){.service.options = *options, .name.format = ENTRY_FORMAT};
	value_name_key(name, once->name.key);
	launch_ignore_writes(); /* the reader of our output, or the engine, may close the connection */
	return service_read_keys(&once->service) && service_open_engine(&once->service, &once->engine);
}

static int end_once(struct once *once, int status)
{
	engine_close(once->engine);
	keyring_free(once->service.keyring);
	return status;
}

static const char *explain_bundle_error(int error)
{
	switch (error) {
	case -EBADMSG:
		return "not a bundle, or damaged";
	case -EPROTONOSUPPORT:
		return "bundle of another format";
	case -EFBIG:
		return "larger than 64 MB compressed or 4 GB uncompressed; 'nvrtccache export --used-since' makes a "
		       "smaller one";
	default:
		return strerror(-error);
	}
}

/* ---- put */

static ssize_t read_and_pack(void *context, void *bytes, size_t size)
{
	size_t got = fread(bytes, 1, size, stdin);
	int error = ferror(stdin) ? -errno : value_write(context, bytes, got);

	return error != 0 ? error : (ssize_t)got;
}

/*
 * Compresses standard input and parses it as a bundle at the same time. A bundle with a damaged entry is rejected,
 * although nodes could still read its other entries.
 */
static int pack_bundle(struct value_writer *value, uint64_t *ret_results)
{
	struct bundle_reader reader;
	enum bundle_found found = BUNDLE_ENTRY;
	int error = bundle_read_begin(&reader, 0, read_and_pack, value);

	*ret_results = 0;
	while (error == 0 && found == BUNDLE_ENTRY) {
		struct entry *entry = NULL;

		found = bundle_read_next(&reader, &entry, &error);
		*ret_results += found == BUNDLE_ENTRY;
		entry_unref(entry);
	}
	if (error == 0 && found != BUNDLE_END) {
		error = -EBADMSG;
	}
	return error;
}

struct made {
	void *value;
	size_t size;
	uint64_t results, raw_size;
};

/* The value is signed only after the whole bundle has been checked. */
static int make_value(const struct once *once, struct made *ret_made)
{
	struct value_writer writer;
	int error = value_begin(&writer, VALUE_THOROUGH, 0, VALUE_BUNDLE_MAX);

	if (error != 0) {
		return error;
	}
	error = pack_bundle(&writer, &ret_made->results);
	if (error != 0) {
		value_abandon(&writer);
		return error;
	}
	ret_made->raw_size = writer.raw_size;
	return value_end(&writer, once->name.key, once->service.keyring, &ret_made->value, &ret_made->size);
}

/* Prints the number of entries and bytes on success, so that users can see whether it was the right bundle. */
static bool put_value(struct once *once, const char *name, const struct made *made)
{
	struct engine_error error = {.text = ""};
	enum engine_answer answer = engine_put(once->engine, &once->name, made->value, made->size, LIMIT_MS, &error);

	if (answer != ENGINE_DONE) {
		service_say("bundle %s: %s", name, error.text);
		return false;
	}
	printf("Put %" PRIu64 " %s (%" PRIu64 " bytes) into the engine as bundle %s: %zu bytes\n", made->results,
	       made->results == 1 ? "entry" : "entries", made->raw_size, name, made->size);
	if (fflush(stdout) != 0) {
		service_say("standard output: %s", strerror(errno));
		return false;
	}
	return true;
}

/* A terminal as standard input is rejected, because the command would wait forever. */
int command_put_bundle(const struct service_options *options, const char *name)
{
	struct made made = {.value = NULL};
	struct once once;
	bool fine = begin_once(&once, options, name);
	int error;

	if (fine && isatty(STDIN_FILENO) == 1) {
		service_say("standard input is a terminal; try: nvrtccache export - | nvrtccache-agent ...");
		fine = false;
	}
	if (fine) {
		error = make_value(&once, &made);
		if (error != 0) {
			service_say("standard input: %s", explain_bundle_error(error));
		}
		fine = error == 0 && put_value(&once, name, &made);
	}
	free(made.value);
	return end_once(&once, fine ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- get */

/* Decompresses piece by piece, because a bundle may be much larger than its value. */
static bool write_bundle(struct value_reader *bundle, const char *name)
{
	static char piece[PIECE_BYTES];
	ssize_t got;

	while ((got = value_read(bundle, piece, sizeof(piece))) > 0) {
		if (fwrite(piece, 1, (size_t)got, stdout) != (size_t)got || fflush(stdout) != 0) {
			service_say("standard output: %s", strerror(errno));
			return false;
		}
	}
	if (got < 0) {
		service_say("bundle %s: damaged: it does not have the size that it states", name);
	}
	return got == 0;
}

/* An absent bundle is an error, so that a job that needs it fails. */
static bool get_value(struct once *once, const char *name)
{
	struct engine_error error = {.text = ""};
	struct value_reader bundle;
	enum value_found found;
	enum engine_answer answer;
	void *value = NULL;
	size_t size = 0;
	bool fine;

	answer = engine_get(once->engine, &once->name, LIMIT_MS, &value, &size, &error);
	if (answer != ENGINE_DONE) {
		service_say("bundle %s: %s", name, answer == ENGINE_ABSENT ? "not found in the engine" : error.text);
		return false;
	}
	found = value_open(value, size, once->name.key, once->service.keyring, once->service.options.trust,
	                   VALUE_BUNDLE_MAX, &bundle);
	if (found != VALUE_SOUND) {
		service_say("bundle %s: %s", name, value_words(found));
	}
	fine = found == VALUE_SOUND && write_bundle(&bundle, name);
	if (found == VALUE_SOUND) {
		value_close(&bundle);
	}
	free(value);
	return fine;
}

/* A terminal as standard output is rejected, because a bundle is binary. */
int command_get_bundle(const struct service_options *options, const char *name)
{
	struct once once;
	bool fine = begin_once(&once, options, name);

	if (fine && isatty(STDOUT_FILENO) == 1) {
		service_say("standard output is a terminal; try: nvrtccache-agent ... | nvrtccache import -");
		fine = false;
	}
	return end_once(&once, fine && get_value(&once, name) ? EXIT_SUCCESS : EXIT_FAILURE);
}
