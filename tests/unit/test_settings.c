/* SPDX-License-Identifier: MIT */
#include "cache/settings.h"
#include "tests/unit/support.h"

/* A tiny environment: pairs of name and value, ended by NULL. */
static const char *const *environment;

static char *look_up(const char *name)
{
	for (const char *const *pair = environment; pair[0] != NULL; pair += 2) {
		if (strcmp(pair[0], name) == 0) {
			return (char *)pair[1];
		}
	}
	return NULL;
}

static struct settings settings;

static void read_from(const char *const *pairs)
{
	settings_free(&settings);
	memset(&settings, 0xa5, sizeof(settings));
	environment = pairs;
	cr_assert_eq(settings_read(look_up, &settings), 0);
}

#define READ(...) read_from((const char *const[]){__VA_ARGS__, NULL})

static bool complained(const char *name)
{
	for (int i = 0; i < settings.complaint_count; i++) {
		if (strcmp(settings.complaints[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static void forget(void)
{
	settings_free(&settings);
}

TestSuite(settings, .fini = forget);

Test(settings, size_units_are_powers_of_1024_in_either_case)
{
	static const struct {
		const char *text;
		uint64_t size;
	} good[] = {{"0", 0},
	            {"1", 1},
	            {"007", 7},
	            {"4096", 4096},
	            {"12B", 12},
	            {"1k", 1024},
	            {"64M", 67108864},
	            {"64m", 67108864},
	            {"64MB", 67108864},
	            {"64MiB", 67108864},
	            {"64mib", 67108864},
	            {"5G", UINT64_C(5) << 30},
	            {"2T", UINT64_C(2) << 40},
	            {"0G", 0},
	            {"1.5G", UINT64_C(1536) << 20},
	            {"0.5k", 512},
	            {"1.25MiB", 1310720},
	            {"2.0T", UINT64_C(2) << 40},
	            {"1.001K", 1025},
	            {"0.0G", 0},
	            {"0.001K", 1},
	            {"0.999K", 1022},
	            {"0.1G", 107374182},
	            {"8388607.999T", INT64_MAX - UINT64_C(1099511627)},
	            {"9223372036854775807", INT64_MAX},
	            {"8388607T", UINT64_C(8388607) << 40}};

	for (size_t i = 0; i < COUNT(good); i++) {
		uint64_t size = 12345;

		cr_expect_eq(settings_parse_size(good[i].text, &size), 0, "%s", good[i].text);
		cr_expect_eq(size, good[i].size, "%s gave %llu", good[i].text, (unsigned long long)size);
	}
}

static void expect_no_size(const char *text)
{
	uint64_t size = 12345;

	cr_expect_eq(settings_parse_size(text, &size), -EINVAL, "'%s'", text);
	cr_expect_eq(size, 12345, "'%s'", text);
}

Test(settings, a_malformed_size_is_rejected_and_leaves_the_result_unchanged)
{
	EACH_STRING(text, expect_no_size(text), "", " ", " 5", "5 ", "5X", "X", "G", "B", "iB", "-1", "+1", "1.5",
	            "1.5B", "1.0", "1.G", ".5G", "1..5G", "1.5.5G", "1,5G", "1.5GG", "1.-5G", "8388608.0T", "0.0001K",
	            "0.0000000000001t", "1.0009G", "5GG", "5GiBs", "5iB", "5Gi", "0x10", "1e3", "9223372036854775808",
	            "18446744073709551616", "18446744073709551617", "99999999999999999999999999", "8388608T",
	            "9007199254740992K", "5P", "\xff", "5\xc7", "5\x87");
}

/* Each of the bad values is reported, and the preset used. */
#define EXPECT_DEFAULT(variable, field, preset, ...)                                              \
	EACH_STRING(text, READ(variable, text); cr_expect_eq(settings.field, preset, "%s", text); \
	            cr_expect_eq(settings.complaint_count, 1, "%s=%s", variable, text);           \
	            cr_expect(complained(variable), "%s=%s", variable, text), __VA_ARGS__)

static void expect_read(const char *text, bool disabled)
{
	READ("NVRTCCACHE_DISABLE", text);
	cr_expect_eq(settings.disable, disabled, "%s", text);
	cr_expect_eq(settings.complaint_count, 0);
}

Test(settings, every_word_for_yes_and_no_is_accepted)
{
	EACH_STRING(text, expect_read(text, true), "1", "yes", "true", "on", "YES", "True", "oN");
	EACH_STRING(text, expect_read(text, false), "0", "no", "false", "off", "NO", "False", "oFF");
}

Test(settings, a_bad_boolean_is_reported_and_the_default_used)
{
	EXPECT_DEFAULT("NVRTCCACHE_VERIFY", verify, false, "2", "y", "ja", "yes ", "01", "-1", "disable");
}

Test(settings, an_empty_variable_counts_as_unset)
{
	READ("NVRTCCACHE_MAX_SIZE", "", "NVRTCCACHE_DISABLE", "", "NVRTCCACHE_DIR", "", "NVRTCCACHE_LOG", "", "HOME",
	     "/h");
	cr_expect_eq(settings.max_size, UINT64_C(5) << 30);
	cr_expect_str_eq(settings.directory, "/h/.cache/nvrtccache");
	cr_expect_null(settings.log);
	cr_expect_eq(settings.complaint_count, 0);
}

Test(settings, seconds_are_whole_numbers)
{
	READ("NVRTCCACHE_WAIT", "0");

	cr_expect_eq(settings.wait, 0);
	READ("NVRTCCACHE_WAIT", "4294967295");
	cr_expect_eq(settings.wait, 4294967295u);
	EXPECT_DEFAULT("NVRTCCACHE_WAIT", wait, 120, "-1", "1s", "1.5", "4294967296", " 1", "forever");
}

Test(settings, levels_have_names_and_digits)
{
	static const struct {
		const char *text;
		int level;
	} good[] = {{"error", 1}, {"warning", 2}, {"info", 3}, {"debug", 4}, {"DEBUG", 4},
	            {"1", 1},     {"2", 2},       {"3", 3},    {"4", 4}};
	for (size_t i = 0; i < COUNT(good); i++) {
		READ("NVRTCCACHE_LOG_LEVEL", good[i].text);
		cr_expect_eq(settings.log_level, good[i].level, "%s", good[i].text);
		cr_expect_eq(settings.complaint_count, 0);
	}
	EXPECT_DEFAULT("NVRTCCACHE_LOG_LEVEL", log_level, 2, "0", "5", "44", "warn", "verbose");
}

Test(settings, the_directory_comes_from_the_first_absolute_path)
{
	static const struct {
		const char *directory, *xdg, *home, *result;
		int complaints;
	} cases[] = {{"/d", "/x", "/h", "/d", 0},
	             {"/d/", "/x", "/h", "/d", 0},
	             {"/d///", NULL, NULL, "/d", 0},
	             {"/", NULL, NULL, "/", 0},
	             {NULL, "/x", "/h", "/x/nvrtccache", 0},
	             {NULL, "/x/", "/h", "/x/nvrtccache", 0},
	             {NULL, "x", "/h", "/h/.cache/nvrtccache", 0},
	             {NULL, "", "/h/", "/h/.cache/nvrtccache", 0},
	             {NULL, NULL, "/", "/.cache/nvrtccache", 0},
	             {"d", "/x", "/h", "/x/nvrtccache", 1},
	             {"~/d", NULL, "/h", "/h/.cache/nvrtccache", 1},
	             {"d", NULL, NULL, NULL, 1},
	             {NULL, NULL, NULL, NULL, 0},
	             {NULL, "x", "h", NULL, 0},
	             {NULL, NULL, "", NULL, 0}};

	for (size_t i = 0; i < COUNT(cases); i++) {
		READ("NVRTCCACHE_DIR", cases[i].directory, "XDG_CACHE_HOME", cases[i].xdg, "HOME", cases[i].home);
		if (cases[i].result == NULL) {
			cr_expect_null(settings.directory, "case %zu", i);
		} else {
			cr_expect_str_eq(settings.directory, cases[i].result, "case %zu", i);
		}
		bool below_home = settings.directory && strncmp(settings.directory, "/h/", 3) == 0;
		bool below_xdg = settings.directory && strncmp(settings.directory, "/x/", 3) == 0;

		cr_expect_eq(settings.base_length, below_home || below_xdg ? 2 : 0, "case %zu", i);
		cr_expect(below_home ? settings.base_is_home : !below_xdg || !settings.base_is_home, "case %zu", i);
		cr_expect_eq(settings.complaint_count, cases[i].complaints, "case %zu", i);
		cr_expect_eq(complained("NVRTCCACHE_DIR"), cases[i].complaints == 1, "case %zu", i);
	}
}

Test(settings, lower_caches_have_absolute_paths)
{
	READ("NVRTCCACHE_LOWER", "/a:/b/c::/d:");

	cr_expect_str_eq(settings.lower, "/a:/b/c::/d:");
	cr_expect_eq(settings.complaint_count, 0);
	EXPECT_DEFAULT("NVRTCCACHE_LOWER", lower, NULL, "a", "/a:b", "b:/a", "./a", "/a:~/b");
}

Test(settings, sloppiness_is_a_list_of_known_words)
{
	static const struct {
		const char *text;
		bool time_macros;
		int complaints;
	} cases[] = {{"time_macros", true, 0},
	             {"time_macros,time_macros", true, 0},
	             {", time_macros ", true, 0},
	             {"debug_paths", false, 0},
	             {"debug_paths,time_macros", true, 0},
	             {"time_macros,locale", false, 1},
	             {"locale", false, 1},
	             {"time_macro", false, 1},
	             {"time_macrosx", false, 1},
	             {"TIME_MACROS", false, 1},
	             {",", false, 0}};

	for (size_t i = 0; i < COUNT(cases); i++) {
		READ("NVRTCCACHE_SLOPPINESS", cases[i].text);
		cr_expect_eq((settings.tolerated & SLOPPINESS_TIME_MACROS) != 0, cases[i].time_macros, "%s",
		             cases[i].text);
		cr_expect_eq((settings.tolerated & SLOPPINESS_DEBUG_PATHS) != 0,
		             strncmp(cases[i].text, "debug_paths", 11) == 0);
		cr_expect_eq(settings.complaint_count, cases[i].complaints, "%s", cases[i].text);
		cr_expect_eq(settings.sloppiness == NULL, cases[i].complaints == 1, "%s", cases[i].text);
	}
}

static void fail(const char *name, size_t size, const char *suggestion, void *context)
{
	cr_expect_fail("%.*s is unknown", (int)size, name);
}

Test(settings, every_listed_variable_is_known)
{
#define SETTING_SET(kind, field, variable, preset, help) variable "=x",
	static const char *const variables[] = {SETTINGS(SETTING_SET) NULL};
#undef SETTING_SET

	settings_each_unknown((char *const *)variables, fail, NULL);
}

Test(settings, an_agent_is_an_absolute_path_or_1_or_0)
{
	READ("NVRTCCACHE_AGENT", "/run/agent");

	cr_expect_str_eq(settings.agent, "/run/agent");
	READ("NVRTCCACHE_AGENT", "1");
	cr_expect_str_eq(settings.agent, "1");
	cr_expect_eq(settings.agent_wait_ms, 300);
	READ("NVRTCCACHE_AGENT", "0");
	cr_expect_null(settings.agent);
	cr_expect_eq(settings.complaint_count, 0);
	EXPECT_DEFAULT("NVRTCCACHE_AGENT", agent, NULL, "agent.sock", "yes", "2", "01", "1 ", " /run/agent");
}

Test(settings, a_duration_needs_a_unit)
{
	static const struct {
		const char *text;
		unsigned ms;
	} good[] = {{"0ms", 0}, {"50ms", 50}, {"50MS", 50}, {"2s", 2000}, {"2S", 2000}, {"4294967s", 4294967000u}};
	for (size_t i = 0; i < COUNT(good); i++) {
		READ("NVRTCCACHE_AGENT_WAIT", good[i].text);
		cr_expect_eq(settings.agent_wait_ms, good[i].ms, "%s", good[i].text);
		cr_expect_eq(settings.complaint_count, 0, "%s", good[i].text);
	}
	EXPECT_DEFAULT("NVRTCCACHE_AGENT_WAIT", agent_wait_ms, 300, "300", "0", "ms", "s", "1.5s", "-1s", "2m", "2 s",
	               "2ss", "4294968s");
}
