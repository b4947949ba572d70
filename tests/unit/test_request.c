/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/runs.h"
#include "tests/unit/support.h"

/* One whole request: what nvrtcCreateProgram got and what nvrtcCompileProgram got. */
struct sample {
	const char *source;
	struct memory_header headers[2];
	size_t header_count;
	const char *options[8];
	const char *names[3];
	struct program program;
	struct call call;
	struct surroundings around;
};

static const struct environment_value no_environment[] = {{"NV_NVVM_VERSION", NULL}, {"TZ", NULL}};

static struct sample sample_make(const char *program_name, const char *first_option, const char *second_option)
{
	return (struct sample){
	    .source = "__global__ void k() {}",
	    .headers = {{"a.h", "int a;", 0}, {"b.h", "int b;", 0}},
	    .header_count = 2,
	    .options = {"-arch=sm_90", first_option, second_option},
	    .names = {"k<int>", "k<float>"},
	    .program = {.handle.name = (char *)(uintptr_t)program_name, .has_memory_headers = true, .name_count = 2},
	    .call.option_count = second_option  ? 3
	                         : first_option ? 2
	                                        : 1,
	    .around = {.identity = (const uint8_t *)"build-id",
	               .identity_size = 8,
	               .environment = no_environment,
	               .environment_count = COUNT(no_environment),
	               .cwd = "/home/one",
	               .pwd = "/home/one"},
	};
}

struct result {
	struct key key;
	struct fingerprint fingerprint;
	struct roots roots;
	struct options options;
};

static void result_free(struct result *result)
{
	roots_free(&result->roots);
	options_free(&result->options);
}

static struct result sample_run(struct sample *sample)
{
	struct stream creation = STREAM_EMPTY, call = STREAM_EMPTY;
	struct span spans[2];
	struct key headers, *large = NULL;
	struct secret secret;
	struct result result;

	digest_secret("test", 4, &secret);
	sample->call.options = sample->options;
	sample->program.names = (char **)(uintptr_t)sample->names;
	for (size_t i = 0; i < sample->header_count; i++) {
		sample->headers[i].size = strlen(sample->headers[i].text);
	}
	if (lent_digests_headers(sample->headers, sample->header_count)) {
		cr_assert_eq(lent_digest_headers(sample->headers, sample->header_count, &secret, &headers), 0);
		large = &headers;
	}
	runs_creation(sample->source, sample->program.handle.name, sample->headers, sample->header_count, large,
	              &creation);
	cr_assert_eq(options_read(sample->call.options, sample->call.option_count, &result.options), 0);
	cr_assert_eq(runs_call(&sample->program, &sample->call, &result.options, &sample->around, &call, &result.roots),
	             0);
	spans[0] = (struct span){creation.bytes, creation.size};
	spans[1] = (struct span){call.bytes, call.size};
	digest_key(spans, 2, &result.key);
	digest_fingerprint(&secret, spans, 2, &result.fingerprint);
	stream_free(&creation);
	stream_free(&call);
	return result;
}

static struct key key_of(struct sample sample)
{
	struct result result = sample_run(&sample);

	result_free(&result);
	return result.key;
}

static bool same(struct sample a, struct sample b)
{
	struct result left = sample_run(&a), right = sample_run(&b);
	bool keys = memcmp(&left.key, &right.key, sizeof(left.key)) == 0;

	cr_assert_eq(keys,
	             left.fingerprint.low == right.fingerprint.low && left.fingerprint.high == right.fingerprint.high);
	result_free(&left);
	result_free(&right);
	return keys;
}

static size_t root_count(struct sample sample)
{
	struct result result = sample_run(&sample);
	size_t count = result.roots.count;

	result_free(&result);
	return count;
}

static bool follows_cwd(struct sample sample)
{
	struct sample other = sample;

	other.around.cwd = "/home/two";
	other.around.pwd = "/home/two";
	return !same(sample, other);
}

Test(request, requests_that_differ_in_one_field_have_different_keys)
{
	static const struct environment_value other_value[] = {{"NV_NVVM_VERSION", ""}, {"TZ", NULL}};
	static const struct environment_value other_variable[] = {{"NV_NVVM_VERSION", NULL}, {"TZ", "UTC"}};
	static const struct key history[2] = {{{1}}, {{2}}}, swapped[2] = {{{2}}, {{1}}};
	struct sample samples[48];
	struct key keys[48];
	size_t count = 0;

#define VARIANT(change)                                              \
	do {                                                         \
		struct sample s = sample_make("k.cu", "-DA", "-DB"); \
		change;                                              \
		samples[count++] = s;                                \
	} while (0)

	VARIANT((void)0);
	VARIANT(s.source = "__global__ void k() {} ");
	VARIANT(s.source = "__global__ void j() {}");
	VARIANT(s.headers[0].name = "c.h");
	VARIANT(s.headers[0].text = "int c;");
	VARIANT(s.headers[0] = s.headers[1]; s.headers[1] = ((struct memory_header){"a.h", "int a;", 0}));
	VARIANT(s.header_count = 1);
	VARIANT(s.header_count = 0);
	VARIANT(s.program.handle.name = "j.cu");
	VARIANT(s.program.handle.name = NULL);
	VARIANT(s.program.handle.name = "sub/k.cu");
	VARIANT(s.program.handle.name = "/d/k.cu");
	VARIANT(s.around.identity = (const uint8_t *)"build-ie");
	VARIANT(s.around.identity_size = 7);
	VARIANT(s.around.namespace_name = "");
	VARIANT(s.around.namespace_name = "n");
	VARIANT(s.options[1] = "-DB"; s.options[2] = "-DA");
	VARIANT(s.options[1] = "-DAB"; s.options[2] = "-D");
	VARIANT(s.options[1] = "-D"; s.options[2] = "A");
	VARIANT(s.options[2] = "-DB ");
	VARIANT(s.call.option_count = 2);
	VARIANT(s.options[2] = "-I/d");
	VARIANT(s.options[2] = "-I/d/");
	VARIANT(s.options[2] = "-I/d/e"; s.options[1] = "-I/d");
	VARIANT(s.options[2] = "-I/d"; s.options[1] = "-I/d/e");
	VARIANT(s.options[2] = "-I /d");
	VARIANT(s.options[2] = "-Id");
	VARIANT(s.options[2] = "-G");
	VARIANT(s.names[0] = "k<int >");
	VARIANT(s.names[0] = "k<float>"; s.names[1] = "k<int>");
	VARIANT(s.program.name_count = 1);
	VARIANT(s.around.environment = other_value);
	VARIANT(s.around.environment = other_variable);
	VARIANT(s.around.environment_count = 1);
	VARIANT(s.around.history = history; s.around.history_count = 1);
	VARIANT(s.around.history = history; s.around.history_count = 2);
	VARIANT(s.around.history = swapped; s.around.history_count = 2);
	VARIANT(s.around.floating_point = 1);
	VARIANT(s.around.decimals = ",");
	VARIANT(s.around.decimals = ".\nde_DE.UTF-8");
	VARIANT(s.around.floating_point = UINT64_C(1) << 32);
	VARIANT(s.around.cwd = NULL);
#undef VARIANT
	for (size_t i = 0; i < count; i++) {
		keys[i] = key_of(samples[i]);
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			cr_assert_neq(memcmp(&keys[i], &keys[j], sizeof(keys[i])), 0, "variants %zu and %zu", i, j);
		}
	}
}

Test(request, no_name_an_empty_name_and_default_program_are_equal)
{
	cr_assert(same(sample_make(NULL, NULL, NULL), sample_make("", NULL, NULL)));
	cr_assert(same(sample_make(NULL, NULL, NULL), sample_make("default_program", NULL, NULL)));
	cr_assert(same(sample_make(NULL, "-G", NULL), sample_make("default_program", "-G", NULL)));
}

Test(request, the_same_program_under_another_directory_has_the_same_key)
{
	cr_assert(same(sample_make("/tmp/x1/k.cu", NULL, NULL), sample_make("/tmp/longer/path/k.cu", NULL, NULL)));
	cr_assert(!same(sample_make("/tmp/x1/k.cu", NULL, NULL), sample_make("/tmp/x1/j.cu", NULL, NULL)));
	cr_assert(!same(sample_make("/tmp/x1/k.cu", NULL, NULL), sample_make("k.cu", NULL, NULL)));
}

Test(request, the_same_includes_under_another_prefix_have_the_same_key)
{
	cr_assert(same(sample_make("k.cu", "-I/v1/inc", "-I/w1"), sample_make("k.cu", "-I/v2/other", "-I/w2")));
	cr_assert(same(sample_make("/t1/k.cu", "-I", "/v1/inc"), sample_make("/t2/k.cu", "-I", "/v2")));
	cr_assert(
	    same(sample_make("k.cu", "--include-path=/v1", "-w"), sample_make("k.cu", "--include-path=/v2", "-w")));
	cr_assert(!same(sample_make("k.cu", "-I/v1", "-w"), sample_make("k.cu", "-I /v1", "-w")));
}

Test(request, equal_and_different_directories_have_different_keys)
{
	cr_assert(!same(sample_make("k.cu", "-I/v", "-I/v"), sample_make("k.cu", "-I/v", "-I/w")));
	cr_assert(same(sample_make("k.cu", "-I/v", "-I/v"), sample_make("k.cu", "-I/w", "-I/w")));
	cr_assert(!same(sample_make("/v/k.cu", "-I/v", NULL), sample_make("/v/k.cu", "-I/w", NULL)));
	cr_assert_eq(root_count(sample_make("/v/k.cu", "-I/v", "-I/v/")), 1);
}

Test(request, a_directory_inside_another_moves_with_it)
{
	struct sample sample = sample_make("/t/k.cu", "-I/v/inc/cccl", "-I/v/inc");
	struct result result = sample_run(&sample);

	cr_assert_eq(result.roots.count, 2);
	cr_assert_str_eq(result.roots.root[0].text, "/t");
	cr_assert_str_eq(result.roots.root[1].text, "/v/inc");
	cr_assert_eq(result.roots.root[1].size, strlen("/v/inc"));
	result_free(&result);
	cr_assert(same(sample, sample_make("/u/k.cu", "-I/w/cccl", "-I/w")));
	cr_assert(!same(sample, sample_make("/u/k.cu", "-I/w/cub", "-I/w")));
	cr_assert(!same(sample, sample_make("/u/k.cu", "-I/x/cccl", "-I/w")));
	cr_assert(!same(sample, sample_make("/w/k.cu", "-I/w/cccl", "-I/w")));
}

Test(request, a_directory_whose_name_only_begins_like_another_is_not_inside_it)
{
	cr_assert_eq(root_count(sample_make("k.cu", "-I/v/inc", "-I/v/include")), 2);
	cr_assert(same(sample_make("k.cu", "-I/v/inc", "-I/v/include"), sample_make("k.cu", "-I/a", "-I/b")));
}

Test(request, no_root_is_inside_another)
{
	static const char *const pool[] = {"-I/a", "-I/a/b", "-I/a/b/c", "-I/ab", "-I/b", "-I/b/a/", "-Irel", "-I/a/"};

	for (unsigned choice = 0; choice < 8 * 8 * 8; choice++) {
		struct sample sample = sample_make("/a/b/k.cu", pool[choice % 8], pool[choice / 8 % 8]);
		struct result result;

		sample.options[3] = pool[choice / 64];
		sample.call.option_count = 4;
		result = sample_run(&sample);
		cr_assert_gt(result.roots.count, 0);
		for (size_t i = 0; i < result.roots.count; i++) {
			for (size_t j = 0; j < result.roots.count; j++) {
				const struct root *a = &result.roots.root[i], *b = &result.roots.root[j];

				cr_assert(i == j || strncmp(a->text, b->text, b->size) != 0 ||
				          (a->text[b->size] != '/' && a->text[b->size] != '\0'));
			}
		}
		result_free(&result);
	}
}

Test(request, path_neutral_requests_do_not_follow_the_working_directory)
{
	cr_assert(!follows_cwd(sample_make(NULL, "-DX", "-w")));
	cr_assert(!follows_cwd(sample_make("/t/k.cu", "-I/v", "-Irelative")));
	cr_assert(!follows_cwd(sample_make("sub/k.cu", NULL, NULL)));
}

Test(request, bound_requests_follow_the_working_directory_and_have_no_roots)
{
	static const char *const binding[] = {
	    "-G",         "-lineinfo", "-dlto",         "-optix-ir",  "--unknown",   "-pch",
	    "-Xptxas=-g", "-I/",       "-I//v",         "-I/v//",     "-I/v/.",      "-I/v/../w",
	    "-I/./v",     "-I/v ",     "-include=/v/a", "-DP=/v/inc", "-I/v/inc/..", "--use-pch=/v/x.pch",
	    "-I/.",       "-I/v//inc", "-DA=1/2"};

	for (size_t i = 0; i < COUNT(binding); i++) {
		struct sample sample = sample_make("/t/k.cu", "-I/v", binding[i]);

		cr_assert(follows_cwd(sample), "%s", binding[i]);
		cr_assert_eq(root_count(sample), 0, "%s", binding[i]);
		cr_assert(!same(sample, sample_make("/u/k.cu", "-I/v", binding[i])), "%s", binding[i]);
		cr_assert(!same(sample, sample_make("/t/k.cu", "-I/w", binding[i])), "%s", binding[i]);
	}
}

Test(request, the_working_directory_changes_the_key_of_bound_requests_regardless_of_pwd)
{
	struct sample here = sample_make("k.cu", "-G", NULL), there = here;

	there.around.cwd = "/home/two";
	cr_assert(!same(here, there));
	here.around.pwd = there.around.pwd = NULL;
	cr_assert(!same(here, there));
}

Test(request, headers_in_memory_change_the_key_without_the_creation_run)
{
	struct sample without = sample_make("k.cu", NULL, NULL), with = without;

	with.program.has_memory_headers = !without.program.has_memory_headers;
	cr_assert(!same(without, with));
}

static void assert_bound(const char *name)
{
	cr_assert(follows_cwd(sample_make(name, NULL, NULL)), "%s", name);
	cr_assert_eq(root_count(sample_make(name, NULL, NULL)), 0, "%s", name);
}

Test(request, program_names_whose_directory_has_more_than_one_spelling_bind)
{
	EACH_STRING(name, assert_bound(name), "/t/", "/t//k.cu", "//t/k.cu", "/t/./k.cu", "/t/../k.cu", "/k.cu",
	            "/t/..", "sub/", "s//k.cu", "s/./k.cu", "s/../k.cu", "/", "/t/k/.", "//k.cu");
}

Test(request, a_path_in_another_option_is_harmless_without_a_root)
{
	cr_assert(!follows_cwd(sample_make("k.cu", "-DA=1/2", NULL)));
}

Test(request, pwd_changes_the_key_only_in_bound_requests)
{
	struct sample bound = sample_make("k.cu", "-G", NULL), other = bound;
	struct sample neutral = sample_make("k.cu", "-w", NULL), same_neutral = neutral;

	other.around.pwd = NULL;
	same_neutral.around.pwd = "/link/to/one";
	cr_assert(!same(bound, other));
	cr_assert(same(neutral, same_neutral));
}

Test(request, without_a_working_directory_nothing_is_path_neutral)
{
	struct sample sample = sample_make("/t/k.cu", "-I/v", NULL), other = sample_make("/u/k.cu", "-I/v", NULL);
	struct sample bound = sample_make("/t/k.cu", "-I/v", "-G"), nowhere = bound;

	sample.around.cwd = other.around.cwd = nowhere.around.cwd = NULL;
	cr_assert(!same(sample, other));
	cr_assert_eq(root_count(sample), 0);
	cr_assert(!same(bound, nowhere));
}

/* The call run of one test. */
static struct {
	struct stream stream;
	struct roots roots;
	struct options options;
} called;

static void drop_call(void)
{
	stream_free(&called.stream);
	roots_free(&called.roots);
	options_free(&called.options);
}

static void describe_call(struct sample *sample, const char *const *options, int count)
{
	sample->call.options = options;
	sample->call.option_count = count;
	sample->program.name_count = 0;
	cr_assert_eq(options_read(options, count, &called.options), 0);
	cr_assert_eq(
	    runs_call(&sample->program, &sample->call, &called.options, &sample->around, &called.stream, &called.roots),
	    0);
}

Test(request, very_many_directories_bind_and_avoid_quadratic_time, .fini = drop_call)
{
	enum { MANY = 20000 };
	const char **options = calloc(MANY, sizeof(*options));
	struct sample sample = sample_make("/t/k.cu", NULL, NULL);

	for (int i = 0; i < MANY; i++) {
		options[i] = "-I/v";
	}
	describe_call(&sample, options, MANY);
	cr_assert_eq(called.roots.count, 0);
	cr_assert_not_null(options_directory(&called.options, MANY - 1));
	free(options);
}

Test(request, a_missing_option_array_is_tolerated, .fini = drop_call)
{
	struct sample sample = sample_make(NULL, NULL, NULL);

	describe_call(&sample, NULL, 2);
	cr_assert(options_do(&called.options, OPTION_BINDS));
}

/* Large headers, which are digested. `number` is the last byte, `first` the length of the first header. */
static struct sample with_large_headers(size_t first, char number)
{
	static char text[HEADERS_WHOLE_MAX + 3];
	static char texts[4][2][HEADERS_WHOLE_MAX + 3];
	static unsigned next;
	char(*mine)[HEADERS_WHOLE_MAX + 3] = texts[next++ % 4];
	struct sample sample = sample_make(NULL, NULL, NULL);

	memset(text, 'x', sizeof(text) - 2);
	text[sizeof(text) - 2] = number;
	memcpy(mine[0], text, first);
	mine[0][first] = '\0';
	memcpy(mine[1], text + first, sizeof(text) - first);
	sample.headers[0] = (struct memory_header){"a.h", mine[0], 0};
	sample.headers[1] = (struct memory_header){"b.h", mine[1], 0};
	sample.header_count = 2;
	return sample;
}

Test(request, large_headers_in_memory_are_distinguished)
{
	cr_assert(same(with_large_headers(1000, '1'), with_large_headers(1000, '1')));
	cr_assert_not(same(with_large_headers(1000, '1'), with_large_headers(1000, '2')));
	cr_assert_not(same(with_large_headers(1000, '1'), with_large_headers(1001, '1')));
}

Test(request, a_creation_run_and_a_call_run_begin_differently, .fini = drop_call)
{
	struct sample sample = sample_make(NULL, NULL, NULL);
	struct stream creation = STREAM_EMPTY;

	runs_creation("", NULL, NULL, 0, NULL, &creation);
	describe_call(&sample, sample.options, 1);
	cr_assert_neq(creation.bytes[0], called.stream.bytes[0]);
	stream_free(&creation);
}
