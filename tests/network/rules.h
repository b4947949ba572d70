/* SPDX-License-Identifier: MIT */
/*
 * rules: how a pretended network file system behaves, in words
 *
 * A text of rules separated by commas:
 *     OPERATION=ERROR       every call fails so         (open=ESTALE)
 *     OPERATION=ERROR/N     every Nth call does         (read=EIO/5)
 *     silly  noatime  coarse  cache=SECONDS  delay=US  type=HEX      see the users of this header
 * Operations are the names that the users pass to rules_error().
 */
#ifndef TESTS_NETWORK_RULES_H
#define TESTS_NETWORK_RULES_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 24

struct rule {
	char name[16];
	int error;
	unsigned every;
	const char *value;
	atomic_uint calls;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;

static inline int rules_number_of(const char *name, size_t size)
{
	static const struct {
		const char *name;
		int number;
	} errors[] = {
	    {"ESTALE", ESTALE},         {"EIO", EIO},
	    {"EBUSY", EBUSY},           {"ENOLCK", ENOLCK},
	    {"EOPNOTSUPP", EOPNOTSUPP}, {"EACCES", EACCES},
	    {"EDQUOT", EDQUOT},         {"ENOSPC", ENOSPC},
	    {"EINVAL", EINVAL},         {"ETIMEDOUT", ETIMEDOUT},
	    {"ENOSYS", ENOSYS},         {"EREMOTEIO", EREMOTEIO},
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strlen(errors[i].name) == size && strncmp(errors[i].name, name, size) == 0) {
			return errors[i].number;
		}
	}
	return 0;
}

/* `text` must live on. False: a rule is not understood. */
static inline bool rules_read(const char *text)
{
	while (text && *text && rule_count < RULES_MAX) {
		struct rule *rule = &rules[rule_count++];
		size_t size = strcspn(text, ",=");

		if (size == 0 || size >= sizeof(rule->name)) {
			return false;
		}
		memcpy(rule->name, text, size);
		text += size;
		rule->every = 1;
		if (*text == '=') {
			rule->value = ++text;
			size = strcspn(text, ",/");
			rule->error = rules_number_of(text, size);
			text += size;
			if (*text == '/') {
				rule->every = (unsigned)strtoul(text + 1, NULL, 10);
				text += strcspn(text, ",");
			}
			if ((*rule->value >= 'A' && *rule->value <= 'Z' && rule->error == 0) || rule->every == 0) {
				return false;
			}
		}
		text += *text == ',';
	}
	return !text || !*text;
}

static inline struct rule *rules_find(const char *name)
{
	for (size_t i = 0; i < rule_count; i++) {
		if (strcmp(rules[i].name, name) == 0) {
			return &rules[i];
		}
	}
	return NULL;
}

/* The error that this call has to fail with, or 0. */
static inline int rules_error(const char *operation)
{
	struct rule *rule = rules_find(operation);

	return rule && rule->error && (atomic_fetch_add(&rule->calls, 1) + 1) % rule->every == 0 ? rule->error : 0;
}

/* The number of `name=NUMBER`, or `preset`. */
static inline unsigned long rules_value(const char *name, unsigned long preset)
{
	const struct rule *rule = rules_find(name);

	return rule && rule->value ? strtoul(rule->value, NULL, 0) : preset;
}

#endif
