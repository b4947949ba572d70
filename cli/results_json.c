/* SPDX-License-Identifier: MIT */
#include "cli/results_json.h"

#include "cli/console.h"
#include "cli/key.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_string(const struct about_fact *fact)
{
	char *text = strndup(fact->text, fact->size);

	console_json_string(stdout, text);
	free(text);
}

static void print_fact(const char *name, const struct listed_result *result, enum about_kind kind)
{
	struct about_fact fact;

	printf(", \"%s\": ", name);
	if (results_fact(result, kind, &fact)) {
		print_string(&fact);
	} else {
		fputs("null", stdout);
	}
}

struct printing {
	enum about_kind kind;
	const struct listed_result *result;
	const char *separator;
};

static int print_member(const struct about_fact *fact, void *context)
{
	struct printing *printing = context;

	if (fact->kind != printing->kind) {
		return 0;
	}
	fputs(printing->separator, stdout);
	print_string(fact);
	if (fact->kind == ABOUT_ARTIFACT) {
		printf(": %" PRIu64, results_artifact_size(printing->result, fact));
	}
	printing->separator = ", ";
	return 0;
}

static void print_members(const char *name, const struct listed_result *result, enum about_kind kind,
                          const char *brackets)
{
	struct printing printing = {kind, result, ""};

	printf(", \"%s\": %c", name, brackets[0]);
	if (result->about) {
		(void)about_read(result->about, result->about_size, print_member, &printing);
	}
	putchar(brackets[1]);
}

void results_json(const struct listed_result *result)
{
	char key[KEY_TEXT_BYTES];
	struct about_fact arch;

	key_spell(result->key, key);
	printf("\"key\": \"%s\"", key);
	print_fact("program", result, ABOUT_PROGRAM);
	print_fact("compiler", result, ABOUT_COMPILER);
	print_fact("version", result, ABOUT_RELEASE);
	print_fact("step", result, ABOUT_STEP);
	fputs(", \"arch\": ", stdout);
	if (results_arch(result, &arch)) {
		print_string(&arch);
	} else {
		fputs("null", stdout);
	}
	print_members("options", result, ABOUT_OPTION, "[]");
	print_members("expressions", result, ABOUT_EXPRESSION, "[]");
	print_members("artifacts", result, ABOUT_ARTIFACT, "{}");
	printf(", \"bytes\": %" PRIu64 ", \"cost_ns\": %" PRIu64 ", \"made\": %" PRIu64 ", \"used\": %" PRId64,
	       result->bytes, result->cost_ns, result->created_ns / 1000000000, result->used_ns / 1000000000);
	printf(", \"returned\": %d", result->return_code);
	print_fact("made_by", result, ABOUT_COMMAND);
	print_members("bound", result, ABOUT_BOUND, "[]");
}
