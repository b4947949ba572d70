/* SPDX-License-Identifier: MIT */
/*
 * Each row of the table names the field that an option sets, and how its value is checked. A new option needs only a
 * row.
 */
#include "agent/node/arguments.h"

#include "cache/version.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an option does with its value, or which mode it chooses. */
enum option_kind {
	OPTION_TEXT, /* stored in the field unchanged */
	OPTION_PATH, /* an absolute path */
	OPTION_FLAG, /* `value` is stored in the field, which is an enum */
	OPTION_SHOW  /* `value` is the letter for the same */
};

#define LINE(kind, name, takes, field, value, help) {name, takes, help, kind, offsetof(struct arguments, field), value}
#define TEXT(name, takes, field, help)              LINE(OPTION_TEXT, name, takes, field, 0, help)
#define PATH(name, field, help)                     LINE(OPTION_PATH, name, "FILE", field, 0, help)
#define FLAG(name, field, value, help)              LINE(OPTION_FLAG, name, NULL, field, value, help)

static const struct line {
	const char *name, *takes, *help;
	enum option_kind kind;
	size_t field;
	int value;
} lines[] = {
    TEXT("engine", "URL", service.engine.address, "engine to exchange entries with, see below (required)"),
    LINE(OPTION_PATH, "dir", "DIR", directory, 0, "cache directory (NVRTCCACHE_DIR)"),
    LINE(OPTION_PATH, "socket", "PATH", service.socket, 0, "socket of the agent (default: DIR/v1/agent.<boot id>)"),
    FLAG("write", service.writes, SERVICE_WRITES, "also upload entries; needs --key-file or --trust-engine"),
    PATH("key-file", service.key_file, "keys, one \"id hex\" per line: the first one signs, all are accepted"),
    FLAG("trust-engine", service.trust, VALUE_TRUST_ENGINE, "accept unsigned values"),
    TEXT("prefix", "TEXT", service.engine.prefix, "prefix of all names in the engine (default: nvrtccache)"),
    TEXT("user", "NAME", service.engine.user, "user of Redis or HTTP; access key of S3"),
    PATH("password-file", service.engine.password_file,
         "file with the password, or the secret key of S3, in its first line"),
    PATH("ca-file", service.engine.ca_file, "CA certificates to use instead of the system's (PEM)"),
    TEXT("layout", "plain|bazel", service.engine.layout,
         "names in an HTTP store (default: plain); bazel: for bazel-remote"),
    TEXT("s3-endpoint", "URL", service.engine.s3_endpoint, "endpoint of an S3 service other than Amazon's"),
    TEXT("s3-region", "NAME", service.engine.s3_region, "region of S3"),
    FLAG("status", mode, ARGUMENTS_STATUS, "show the status of the running agent, and exit"),
    FLAG("json", form, STATUS_JSON, "with --status: print JSON"),
    LINE(OPTION_SHOW, "help", NULL, mode, 'h', "show this text"),
    LINE(OPTION_SHOW, "version", NULL, mode, 'V', "show the version"),
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

/* The manual page has the same texts as the table. */
static void show_help(void)
{
	printf(
	    "Usage: nvrtccache-agent --engine URL [option...] [-- program [argument...]]\n"
	    "       nvrtccache-agent --status [--json] [--dir DIR] [--socket PATH]\n\n"
	    "Moves entries between this node's cache directory and an engine that all nodes reach.\n"
	    "Programs ask it if NVRTCCACHE_AGENT=1 is set. If a program is given, the agent runs until that ends.\n\n"
	    "Options:\n");
	for (size_t i = 0; i < LINES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "--%s%s%s", lines[i].name, lines[i].takes != NULL ? " " : "",
		         lines[i].takes != NULL ? lines[i].takes : "");
		printf("  %-24s %s\n", name, lines[i].help);
	}
	printf("If a program is not given, runs until SIGTERM. -h is --help, -V is --version.\n\n"
	       "Engines:\n"
	       "  redis+unix:///path[?db=N]       redis://host:port[?db=N]        rediss://host:port[?db=N]\n"
	       "  http+unix:///socket:/prefix     http://host/prefix              https://host/prefix\n"
	       "  s3://bucket/prefix\n\n"
	       "NVRTCCACHE_MAX_SIZE, NVRTCCACHE_SHARED and the other settings of the directory are read from the "
	       "environment.\n");
}

static bool take_option(const struct line *line, struct arguments *options)
{
	void *field = (char *)options + line->field;

	if (line->kind == OPTION_FLAG) {
		memcpy(field, &line->value, sizeof(line->value));
		return true;
	}
	/* a relative path would have another meaning once the agent has changed its working directory */
	if (line->kind == OPTION_PATH && optarg[0] != '/') {
		service_say("--%s %s: it takes an absolute path", line->name, optarg);
		return false;
	}
	*(const char **)field = optarg;
	return true;
}

/* getopt's own message has the value too, which may be an address with a password. */
static void say_wrong(const char *word)
{
	service_say("unrecognized option, or one without its value: '%.*s'; see 'nvrtccache-agent --help'",
	            word[0] == '-' ? (int)strcspn(word, "=") : 0, word);
}

/* Rejects combinations of options that would not do what the user meant. */
static bool judge_options(const struct arguments *options)
{
	const struct service_options *service = &options->service;

	if (options->mode == ARGUMENTS_STATUS) {
		if (options->program == NULL) {
			return true;
		}
		service_say("--status: unexpected argument '%s'", options->program[0]);
	} else if (options->form == STATUS_JSON) {
		service_say("--json: requires --status");
	} else if (service->engine.address == NULL) {
		service_say("--engine is missing; see 'nvrtccache-agent --help'");
	} else if (service->key_file == NULL && service->trust == VALUE_TRUST_KEYS) {
		service_say("--key-file is missing: without it no value can be verified; --trust-engine accepts "
		            "unsigned values");
	} else {
		return true;
	}
	return false;
}

/* Returns false after a message. */
static bool take_options(int argc, char **argv, struct arguments *options)
{
	struct option long_options[LINES + 1] = {{NULL, 0, NULL, 0}};
	int letter, number;

	for (size_t i = 0; i < LINES; i++) {
		long_options[i].name = lines[i].name;
		long_options[i].has_arg = lines[i].takes != NULL ? required_argument : no_argument;
		long_options[i].val = lines[i].kind == OPTION_SHOW ? lines[i].value : 0;
	}
	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+:hV", long_options, &number)) >= 0) {
		if (letter == '?' || letter == ':') {
			say_wrong(argv[optind - 1]);
			return false;
		}
		if (letter == 'h' || letter == 'V') {
			letter == 'h' ? show_help() : (void)puts("nvrtccache-agent " NVRTCCACHE_VERSION);
			exit(fflush(stdout) == 0 ? 0 : 1);
		}
		if (!take_option(&lines[number], options)) {
			return false;
		}
	}
	return true;
}

bool arguments_read(int argc, char **argv, struct arguments *ret_arguments)
{
	struct arguments options = {.mode = ARGUMENTS_SERVE, .service.engine.prefix = "nvrtccache"};

	if (!take_options(argc, argv, &options)) {
		return false;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0) {
		service_say("unexpected argument; a program must follow '--'");
		return false;
	}
	if (optind == argc && strcmp(argv[argc - 1], "--") == 0) { /* for example, a variable in a script was empty */
		service_say("the program after '--' is missing");
		return false;
	}
	options.program = optind < argc ? argv + optind : NULL;
	*ret_arguments = options;
	return judge_options(&options);
}
