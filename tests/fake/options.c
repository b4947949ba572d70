/* SPDX-License-Identifier: MIT */
/* The options that the fake compiler takes, in the spellings that the real one takes. */
#include "tests/fake/fake.h"

/* Options that take a value, glued, behind a '=' or a blank, or as the next string. */
static const char *const valued[] = {"--gpu-architecture", "-arch", "--include-path",   "-I",
                                     "--define-macro",     "-D",    "--undefine-macro", "-U"};
static const char prefixes[] =
    "-std= --std= --maxrregcount= -maxrregcount= --ftz= -ftz= --prec-div= -prec-div= --prec-sqrt= -prec-sqrt= "
    "--fmad= -fmad= -rdc= --relocatable-device-code= --diag-suppress= -diag-suppress= --split-compile= "
    "-frandom-seed= --pre-include= --fake-";
static const char plain[] =
    "-w --disable-warnings -dc -dw -default-device --device-as-default-execution-space -use_fast_math "
    "--use_fast_math -lineinfo --generate-line-info -G --device-debug -dlto --dlink-time-opt -optix-ir "
    "--optix-ir --no-cache -no-cache --minimal";

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

nvrtcResult fake_fail(struct _nvrtcProgram *program, nvrtcResult result, const char *log)
{
	text_set(&program->artifact[PROGRAM_LOG], log, strlen(log) + 1);
	return result;
}

static bool arch_valid(const char *arch)
{
	int number;

	return (sscanf(arch, "sm_%d", &number) == 1 || sscanf(arch, "compute_%d", &number) == 1) && number >= 50 &&
	       number <= 121;
}

static void take_value(struct options *options, const char *name, const char *value)
{
	if (strstr(name, "arch") != NULL) {
		options->arch = value;
		options->digest = front_end_mix(options->digest, value, strlen(value));
	} else if (strchr(name, 'I') != NULL || strstr(name, "include") != NULL) {
		options->directories[options->directory_count++] = value;
	} else {
		if (starts_with(value, "FAKE_SLEEP_MS=")) {
			options->sleep_ms = (int)strtol(value + 14, NULL, 10);
		}
		options->digest = front_end_mix(options->digest, name, strlen(name));
		options->digest = front_end_mix(options->digest, value, strlen(value));
	}
}

static void take_plain(struct options *options, const char *option)
{
	options->lto |= strcmp(option, "-dlto") == 0 || strcmp(option, "--dlink-time-opt") == 0;
	options->optix |= strstr(option, "optix-ir") != NULL;
	options->debug |=
	    strstr(option, "line") != NULL || strcmp(option, "-G") == 0 || strcmp(option, "--device-debug") == 0;
	options->no_warnings |= strcmp(option, "-w") == 0 || strcmp(option, "--disable-warnings") == 0;
	options->silent |= strcmp(option, "--fake-silent") == 0;
	options->fork |= strcmp(option, "--fake-fork") == 0;
	options->wants_time |= strcmp(option, "--fake-time") == 0;
	if (starts_with(option, "--fake-rc=")) {
		options->result = (int)strtol(option + 10, NULL, 10);
	}
	if (starts_with(option, "--fake-sleep-ms=")) {
		options->sleep_ms = (int)strtol(option + 16, NULL, 10);
	}
	if (starts_with(option, "--fake-pad=")) {
		options->pad = (size_t)strtol(option + 11, NULL, 10);
	}
	options->digest = front_end_mix(options->digest, option, strlen(option));
}

/* Reads one option (two strings at most); how many strings it took, 0 where it is not known. */
static int take(struct options *options, const char *option, const char *next)
{
	option += *option == ' ';
	if (is_among(option, plain, WORDS_WHOLE) || is_among(option, prefixes, WORDS_BEGIN)) {
		take_plain(options, option);
		return 1;
	}
	for (size_t i = 0; i < COUNT(valued); i++) {
		const char *value = option + strlen(valued[i]);

		if (!starts_with(option, valued[i])) {
			continue;
		}
		if (*value == '\0') {
			if (next == NULL) {
				return 0;
			}
			take_value(options, valued[i], next);
			return 2;
		}
		if (*value == '=' || (strlen(valued[i]) == 2 && *value != '\0')) {
			value += *value == '=';
			take_value(options, valued[i], value + strspn(value, " "));
			return 1;
		}
	}
	return 0;
}

nvrtcResult fake_options(struct _nvrtcProgram *program, struct options *options, int count, const char *const *strings)
{
	char log[512];

	options->arch = "compute_75";
	for (int i = 0; i < count;) {
		const char *option = strings != NULL ? strings[i] : NULL;
		int taken;

		if (option == NULL) {
			return fake_fail(program, NVRTC_INVALID_OPTION, "nvrtc: error: an option is a null pointer\n");
		}
		taken = i < FAKE_OPTIONS_MAX ? take(options, option, i + 1 < count ? strings[i + 1] : NULL) : 0;
		if (taken == 0) {
			snprintf(log, sizeof(log), "nvrtc: error: unrecognized option %s found\n", option);
			return fake_fail(program, NVRTC_INVALID_OPTION, log);
		}
		i += taken;
	}
	if (!arch_valid(options->arch)) {
		return fake_fail(program, NVRTC_INVALID_OPTION,
		                 "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
	}
	if (options->lto && options->optix) {
		return fake_fail(program, NVRTC_INVALID_OPTION,
		                 "nvrtc: error: -optix-ir and -dlto exclude each other\n");
	}
	return NVRTC_SUCCESS;
}
