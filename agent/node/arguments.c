/* SPDX-License-Identifier: MIT */
#include "agent/node/arguments.h"

#include "agent/wire/value.h"
#include "cache/tools/age.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(ID, name, what it takes or NULL, help) */
#define OPTIONS(X)                                                                                       \
	X(ENGINE, "engine", "URL", "the store to move results to and from, see below")                   \
	X(DIR, "dir", "DIR", "the cache directory (NVRTCCACHE_DIR)")                                     \
	X(SOCKET, "socket", "PATH", "where processes find the agent (DIR/v1/agent.<boot id>)")           \
	X(WRITE, "write", NULL, "upload what is compiled here, too; takes --key-file or --trust-engine") \
	X(KEY_FILE, "key-file", "FILE", "keys, \"id hex\" a line: the first signs, all are believed")    \
	X(TRUST, "trust-engine", NULL, "believe values that nobody has signed")                          \
	X(NEUTRAL, "neutral-only", NULL, "upload no result that is bound to literal paths")              \
	X(MIN_COST, "min-cost", "MS", "upload no result whose compilation took less")                    \
	X(PREFIX, "prefix", "TEXT", "what every name in the engine begins with (nvrtccache)")            \
	X(EXPIRE, "expire", "AGE", "Redis: how long a value stays that nobody reads, such as 2w")        \
	X(USER, "user", "NAME", "of Redis or HTTP; the access key of S3")                                \
	X(PASSWORD, "password-file", "FILE", "its first line is the password, or the secret key of S3")  \
	X(TOKEN, "token-file", "FILE", "its first line is a bearer token for HTTP")                      \
	X(CA, "ca-file", "FILE", "certificates of authorities to believe instead of the system's")       \
	X(CERTIFICATE, "certificate", "FILE", "a client's certificate, PEM")                             \
	X(CERTIFICATE_KEY, "certificate-key", "FILE", "the key to it")                                   \
	X(LAYOUT, "layout", "plain|bazel", "names of an HTTP store; bazel: what bazel-remote takes")     \
	X(S3_ENDPOINT, "s3-endpoint", "URL", "of an S3 that is not Amazon's")                            \
	X(S3_REGION, "s3-region", "NAME", "of S3")                                                       \
	X(BUNDLE, "bundle", "NAME", "put the results of this bundle into the directory at the start")    \
	X(PUT_BUNDLE, "put-bundle", "NAME", "put what comes on standard input into the engine, and end") \
	X(GET_BUNDLE, "get-bundle", "NAME", "write a bundle to standard output, and end")                \
	X(STATUS, "status", NULL, "ask the agent that runs how it fares, and end")                       \
	X(JSON, "json", NULL, "with --status: as JSON")                                                  \
	X(HELP, "help", NULL, "show this text")                                                          \
	X(VERSION, "version", NULL, "show the version")

#define OPTION_ENUM(id, name, takes, help) OPTION_##id,
enum { OPTION_FIRST = 255, OPTIONS(OPTION_ENUM) };
#undef OPTION_ENUM

#define OPTION_LINE(id, name, takes, help) {name, takes, help},
static const struct {
	const char *name, *takes, *help;
} lines[] = {OPTIONS(OPTION_LINE)};
#undef OPTION_LINE

#define OPTION_LONG(id, name, takes, help) {name, (takes) != NULL ? required_argument : no_argument, NULL, OPTION_##id},
static const struct option long_options[] = {OPTIONS(OPTION_LONG){NULL, 0, NULL, 0}};
#undef OPTION_LONG

void arguments_help(void)
{
	printf("Usage: nvrtccache-agent --engine URL [option...] [-- program [argument...]]\n"
	       "       nvrtccache-agent --engine URL [option...] --put-bundle NAME <FILE\n"
	       "       nvrtccache-agent --engine URL [option...] --get-bundle NAME >FILE\n"
	       "       nvrtccache-agent --status [--json] [--dir DIR] [--socket PATH]\n\n"
	       "Moves results between this node's cache directory and an engine that all nodes reach.\n"
	       "Processes ask it where NVRTCCACHE_AGENT=1 is set. With a program: serves while that runs.\n\n"
	       "Options:\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "--%s%s%s", lines[i].name, lines[i].takes != NULL ? " " : "",
		         lines[i].takes != NULL ? lines[i].takes : "");
		printf("  %-24s %s\n", name, lines[i].help);
	}
	printf("  -h, -V                   the last two\n\n"
	       "Engines:\n"
	       "  redis+unix:///path[?db=N]       redis://host:port[?db=N]        rediss://host:port[?db=N]\n"
	       "  http+unix:///socket:/prefix     http://host/prefix              https://host/prefix\n"
	       "  s3://bucket/prefix              dir:///path\n\n"
	       "The size cap, NVRTCCACHE_SHARED and the like are taken from the environment, as by nvrtccache.\n");
}

static int say_bad(const char *name, const char *wanted)
{
	service_say("--%s %s: it takes %s", name, optarg, wanted);
	return -1;
}

/* "/here/keys" of "keys"; NULL: said why. */
static const char *make_absolute(const char *path)
{
	char *here;
	char *whole = NULL;

	if (path[0] == '/') {
		return path;
	}
	here = getcwd(NULL, 0);
	if (here == NULL || asprintf(&whole, "%s/%s", here, path) < 0) {
		service_say("%s: %s", path, strerror(here == NULL ? errno : ENOMEM));
		whole = NULL;
	}
	free(here);
	return whole;
}

static int take_path(const char **ret_path)
{
	*ret_path = make_absolute(optarg);
	return *ret_path != NULL ? 0 : -1;
}

static int take_least_cost(struct service_options *service)
{
	char *end;
	unsigned long ms;

	errno = 0;
	ms = strtoul(optarg, &end, 10);
	if (optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || errno != 0 || ms > INT_MAX) {
		return say_bad("min-cost", "milliseconds, such as 100");
	}
	service->least_cost_ns = ms * UINT64_C(1000000);
	return 0;
}

static int take_expiry(struct service_options *service)
{
	int64_t ns;

	if (!age_parse(optarg, &ns) || ns < INT64_C(1000000000) || ns / 1000000000 > INT_MAX) {
		return say_bad("expire", AGE_WANTED);
	}
	service->engine.expire_s = (unsigned)(ns / 1000000000);
	return 0;
}

static int take_bundle(const char *name, const char **ret_bundle)
{
	if (!value_name_allowed(optarg)) {
		return say_bad(name, "a name of letters, digits and ._-+@:/, at most 128 of them");
	}
	*ret_bundle = optarg;
	return 0;
}

static int take_verb(struct arguments *options, enum arguments_mode mode, const char *name)
{
	if (options->mode != ARGUMENTS_SERVE) {
		service_say("--%s goes with no other such: --put-bundle, --get-bundle, --status", name);
		return -1;
	}
	options->mode = mode;
	return mode == ARGUMENTS_STATUS ? 0 : take_bundle(name, &options->bundle);
}

static int take_engine_option(int option, struct engine_options *engine)
{
	switch (option) {
	case OPTION_PREFIX:
		engine->prefix = optarg;
		return 0;
	case OPTION_USER:
		engine->user = optarg;
		return 0;
	case OPTION_PASSWORD:
		return take_path(&engine->password_file);
	case OPTION_TOKEN:
		return take_path(&engine->token_file);
	case OPTION_CA:
		return take_path(&engine->ca_file);
	case OPTION_CERTIFICATE:
		return take_path(&engine->certificate);
	case OPTION_CERTIFICATE_KEY:
		return take_path(&engine->certificate_key);
	case OPTION_LAYOUT:
		engine->layout = optarg;
		return strcmp(optarg, "plain") == 0 || strcmp(optarg, "bazel") == 0
		           ? 0
		           : say_bad("layout", "plain or bazel");
	case OPTION_S3_ENDPOINT:
		engine->s3_endpoint = optarg;
		return 0;
	case OPTION_S3_REGION:
		engine->s3_region = optarg;
		return 0;
	default:
		service_say("see 'nvrtccache-agent --help'");
		return -1;
	}
}

static int take_option(int option, struct arguments *options)
{
	struct service_options *service = &options->service;

	switch (option) {
	case OPTION_ENGINE:
		service->engine.address = optarg;
		return 0;
	case OPTION_DIR:
		return take_path(&options->directory);
	case OPTION_SOCKET:
		return take_path(&service->socket);
	case OPTION_WRITE:
		service->writes = SERVICE_WRITES;
		return 0;
	case OPTION_KEY_FILE:
		return take_path(&service->key_file);
	case OPTION_TRUST:
		service->trust = VALUE_TRUST_ENGINE;
		return 0;
	case OPTION_NEUTRAL:
		service->results = SERVICE_NEUTRAL_RESULTS;
		return 0;
	case OPTION_MIN_COST:
		return take_least_cost(service);
	case OPTION_EXPIRE:
		return take_expiry(service);
	case OPTION_BUNDLE:
		return take_bundle("bundle", &service->bundle);
	case OPTION_PUT_BUNDLE:
		return take_verb(options, ARGUMENTS_PUT_BUNDLE, "put-bundle");
	case OPTION_GET_BUNDLE:
		return take_verb(options, ARGUMENTS_GET_BUNDLE, "get-bundle");
	case OPTION_STATUS:
		return take_verb(options, ARGUMENTS_STATUS, "status");
	case OPTION_JSON:
		options->json = true;
		return 0;
	case 'h':
	case OPTION_HELP:
		options->mode = ARGUMENTS_HELP;
		return 0;
	case 'V':
	case OPTION_VERSION:
		options->mode = ARGUMENTS_VERSION;
		return 0;
	default:
		return take_engine_option(option, &service->engine);
	}
}

static enum arguments_read judge_options(const struct arguments *options)
{
	const struct service_options *service = &options->service;

	if (options->mode == ARGUMENTS_HELP || options->mode == ARGUMENTS_VERSION) {
		return ARGUMENTS_FINE;
	}
	if (options->mode == ARGUMENTS_STATUS) {
		if (options->program == NULL) {
			return ARGUMENTS_FINE;
		}
		service_say("--status takes no program: '%s'", options->program[0]);
	} else if (options->json) {
		service_say("--json goes with --status");
	} else if (options->bundle != NULL && (options->program != NULL || service->bundle != NULL)) {
		service_say("--%s-bundle takes no program and no --bundle",
		            options->mode == ARGUMENTS_PUT_BUNDLE ? "put" : "get");
	} else if (service->engine.address == NULL) {
		service_say("no --engine; see 'nvrtccache-agent --help'");
	} else if (service->key_file == NULL && service->trust == VALUE_TRUST_KEYS) {
		service_say(
		    "no --key-file: nothing of the engine could be believed; --trust-engine believes all of it");
	} else {
		return ARGUMENTS_FINE;
	}
	return ARGUMENTS_WRONG;
}

enum arguments_read arguments_read(int argc, char **argv, struct arguments *ret_arguments)
{
	struct arguments options = {.mode = ARGUMENTS_SERVE};
	int option;

	while ((option = getopt_long(argc, argv, "+hV", long_options, NULL)) != -1) {
		if (take_option(option, &options) != 0) {
			return ARGUMENTS_WRONG;
		}
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0) {
		service_say("'%s': a program stands behind '--'", argv[optind]);
		return ARGUMENTS_WRONG;
	}
	if (optind < argc) {
		options.program = argv + optind;
	} else if (strcmp(argv[argc - 1], "--") == 0) { /* a script's variable that is empty, say */
		service_say("no program behind '--'");
		return ARGUMENTS_WRONG;
	}
	if (judge_options(&options) != ARGUMENTS_FINE) {
		return ARGUMENTS_WRONG;
	}
	*ret_arguments = options;
	return ARGUMENTS_FINE;
}
