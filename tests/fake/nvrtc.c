/* SPDX-License-Identifier: MIT */
/* The entry points of the fake library: argument rules, getters, names, the number of compiles. */
#include "tests/fake/fake.h"

static int compiles;

int fakeNvrtcCompiles(void)
{
	return __atomic_load_n(&compiles, __ATOMIC_RELAXED);
}

/* What is wrong with the arguments of a call: functions do their work where nothing is, and return this. */
static nvrtcResult wrong(const void *program, const void *argument)
{
	return program == NULL ? NVRTC_INVALID_PROGRAM : argument == NULL ? NVRTC_INVALID_INPUT : NVRTC_SUCCESS;
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	if (major == NULL || minor == NULL) {
		return NVRTC_INVALID_INPUT;
	}
	*major = FAKE_MAJOR;
	*minor = FAKE_MINOR;
	return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
	static const char *const text[] = {"NVRTC_SUCCESS",
	                                   "NVRTC_ERROR_OUT_OF_MEMORY",
	                                   "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
	                                   "NVRTC_ERROR_INVALID_INPUT",
	                                   "NVRTC_ERROR_INVALID_PROGRAM",
	                                   "NVRTC_ERROR_INVALID_OPTION",
	                                   "NVRTC_ERROR_COMPILATION",
	                                   "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	                                   "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
	                                   "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
	                                   "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
	                                   "NVRTC_ERROR_INTERNAL_ERROR"};

	return result >= 0 && result <= NVRTC_INTERNAL_ERROR ? text[result] : "NVRTC_ERROR unknown";
}

static const int archs[] = {75, 80, 86, 89, 90, 100, 120};

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
	if (count == NULL) {
		return NVRTC_INVALID_INPUT;
	}
	*count = (int)(sizeof(archs) / sizeof(archs[0]));
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *out)
{
	if (out == NULL) {
		return NVRTC_INVALID_INPUT;
	}
	memcpy(out, archs, sizeof(archs));
	return NVRTC_SUCCESS;
}

static bool headers_valid(int count, const char *const *headers, const char *const *names)
{
	if (count < 0 || (count > 0 && (headers == NULL || names == NULL))) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (headers[i] == NULL || names[i] == NULL) {
			return false;
		}
		for (int j = 0; j < i; j++) {
			if (strcmp(names[i], names[j]) == 0) {
				return false;
			}
		}
	}
	return true;
}

static void program_free(struct _nvrtcProgram *program)
{
	for (int i = 0; i < program->header_count; i++) {
		free(program->headers[i].name);
		free(program->headers[i].text);
	}
	for (int i = 0; i < program->expression_count; i++) {
		free(program->expressions[i]);
	}
	fake_drop_lowered(program);
	for (int i = 0; i < ARTIFACTS; i++) {
		free(program->artifact[i].bytes);
	}
	free(program->headers);
	free(program->expressions);
	free(program->source);
	free(program->name);
	free(program);
}

/* With extensions the source is a blob: its length in four bytes, low first, then every byte with 0x5a flipped in. */
static char *decoded(const char *source)
{
	const unsigned char *blob = (const unsigned char *)source;
	size_t size = blob[0] | (size_t)blob[1] << 8 | (size_t)blob[2] << 16 | (size_t)blob[3] << 24;
	char *text = malloc(size + 1);

	for (size_t i = 0; text != NULL && i < size; i++) {
		text[i] = (char)(blob[4 + i] ^ 0x5a);
	}
	if (text != NULL) {
		text[size] = '\0';
	}
	return text;
}

/* The extensions of a callback that decodes: kinds 1 and 2 in any order; the last of a kind counts. */
static void read_extensions(struct _nvrtcProgram *program, int count, const int *kinds, void *const *values)
{
	for (int i = 0; i < count; i++) {
		if (kinds[i] == 1) {
			program->decode = (char *(*)(const char *, void *))values[i];
		} else {
			program->decode_payload = values[i];
		}
	}
}

/* Copies at once what the callback returns: the real one lets hosts overwrite it in the next call. */
static char *copy_text(struct _nvrtcProgram *program, const char *text)
{
	const char *result = program->decode != NULL ? program->decode(text, program->decode_payload) : text;

	return result != NULL ? strdup(result) : NULL;
}

nvrtcResult __nvrtcCPEx(nvrtcProgram *ret_program, const char *source, const char *name, int count,
                        const char *const *headers, const char *const *names, int extension_count, const int *kinds,
                        void *const *values)
{
	struct _nvrtcProgram *program;

	if (ret_program == NULL) {
		return NVRTC_INVALID_PROGRAM;
	}
	if (source == NULL || !headers_valid(count, headers, names)) {
		return NVRTC_INVALID_INPUT;
	}
	program = calloc(1, sizeof(*program));
	if (program == NULL) {
		return NVRTC_OUT_OF_MEMORY;
	}
	read_extensions(program, extension_count, kinds, values);
	program->name = strdup(name != NULL && *name != '\0' ? name : "default_program");
	program->headers = calloc((size_t)count + 1, sizeof(*program->headers));
	for (; program->headers != NULL && program->header_count < count; program->header_count++) {
		program->headers[program->header_count].name = strdup(names[program->header_count]);
		program->headers[program->header_count].text = copy_text(program, headers[program->header_count]);
		if (program->headers[program->header_count].text == NULL) {
			free(program->headers[program->header_count].name);
			program_free(program);
			return NVRTC_INVALID_INPUT;
		}
	}
	program->source = extension_count > 0 && program->decode == NULL ? decoded(source) : copy_text(program, source);
	if (program->source == NULL) {
		program_free(program);
		return NVRTC_INVALID_INPUT;
	}
	for (int i = 0; i < ARTIFACTS; i++) {
		program->artifact[i].bytes = calloc(1, 1);
		program->artifact[i].size = i == PTX || i == PROGRAM_LOG;
	}
	*ret_program = program;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int count,
                               const char *const *headers, const char *const *names)
{
	return __nvrtcCPEx(program, source, name, count, headers, names, 0, NULL, NULL);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	if (program == NULL || *program == NULL) {
		return NVRTC_INVALID_PROGRAM;
	}
	program_free(*program); /* the handle keeps its value, as with the real one */
	return NVRTC_SUCCESS;
}

/* All options are decoded before the first is read. */
static const char **decode_options(struct _nvrtcProgram *program, int count, const char *const *options)
{
	const char **texts = calloc((size_t)count + 1, sizeof(*texts));

	for (int i = 0; texts != NULL && i < count; i++) {
		texts[i] = options[i] != NULL ? program->decode(options[i], program->decode_payload) : NULL;
		if (texts[i] == NULL) {
			free(texts);
			return NULL;
		}
	}
	return texts;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
	if (program == NULL) {
		return NVRTC_INVALID_PROGRAM;
	}
	if (count < 0) {
		return NVRTC_INVALID_INPUT;
	}
	__atomic_add_fetch(&compiles, 1, __ATOMIC_RELAXED);
	program->compiles++;
	if (program->decode != NULL) {
		const char **texts = decode_options(program, count, options);
		nvrtcResult result = texts != NULL ? fake_compile(program, count, texts) : NVRTC_INVALID_OPTION;

		free(texts);
		return result;
	}
	return fake_compile(program, count, options);
}

static nvrtcResult size_of(struct _nvrtcProgram *program, enum artifact kind, size_t *size)
{
	if (program != NULL && size != NULL) {
		*size = program->artifact[kind].size;
	}
	return wrong(program, size);
}

static nvrtcResult bytes_of(struct _nvrtcProgram *program, enum artifact kind, char *out)
{
	if (program != NULL && out != NULL) {
		memcpy(out, program->artifact[kind].bytes, program->artifact[kind].size);
	}
	return wrong(program, out);
}

#define ARTIFACT(function, kind)                                       \
	nvrtcResult function##Size(nvrtcProgram program, size_t *size) \
	{                                                              \
		return size_of(program, kind, size);                   \
	}                                                              \
	nvrtcResult function(nvrtcProgram program, char *out)          \
	{                                                              \
		return bytes_of(program, kind, out);                   \
	}

ARTIFACT(nvrtcGetPTX, PTX)
ARTIFACT(nvrtcGetCUBIN, CUBIN)
ARTIFACT(nvrtcGetProgramLog, PROGRAM_LOG)
#if FAKE_MAJOR < 13
ARTIFACT(nvrtcGetNVVM, NVVM)
#endif
#if FAKE_MAJOR >= 12
ARTIFACT(nvrtcGetLTOIR, LTOIR)
ARTIFACT(nvrtcGetOptiXIR, OPTIX)
#endif
#if FAKE_MAJOR > 13 || (FAKE_MAJOR == 13 && FAKE_MINOR >= 2)
ARTIFACT(nvrtcGetTileIR, TILE)
#endif

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
	char **more;

	if (program == NULL || expression == NULL) {
		return wrong(program, expression);
	}
	if (program->reached_front_end) {
		return NVRTC_NO_NAMES_AFTER_COMPILATION;
	}
	more = realloc(program->expressions, ((size_t)program->expression_count + 1) * sizeof(*more));
	if (more == NULL) {
		return NVRTC_OUT_OF_MEMORY;
	}
	program->expressions = more;
	more[program->expression_count++] = strdup(expression);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **lowered)
{
	if (program == NULL || expression == NULL || lowered == NULL) {
		return wrong(program, expression != NULL ? (const void *)lowered : NULL);
	}
	*lowered = NULL;
	if (!program->succeeded) {
		return NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	}
	for (int i = 0; i < program->lowered_count; i++) {
		if (strcmp(program->lowered[i].expression, expression) == 0) {
			*lowered = program->lowered[i].name;
			return NVRTC_SUCCESS;
		}
	}
	return NVRTC_NAME_NOT_VALID;
}

#if FAKE_MAJOR >= 13 || (FAKE_MAJOR == 12 && FAKE_MINOR >= 8)
static size_t heap_size = 268435456;

nvrtcResult nvrtcGetPCHHeapSize(size_t *size)
{
	if (size == NULL) {
		return NVRTC_INVALID_INPUT;
	}
	*size = heap_size;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcSetPCHHeapSize(size_t size)
{
	heap_size = size;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram program)
{
	return program == NULL ? NVRTC_INVALID_PROGRAM : NVRTC_NO_PCH_CREATE_ATTEMPTED;
}

nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram program, size_t *size)
{
	if (program != NULL && size != NULL) {
		*size = 0;
	}
	return wrong(program, size);
}

nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program, nvrtcFlow *callback, void *payload)
{
	if (program != NULL && callback != NULL) {
		program->flow = callback;
		program->flow_payload = payload;
	}
	return wrong(program, callback);
}
#endif

#ifdef FAKE_FUTURE
nvrtcResult nvrtcFutureThing(nvrtcProgram program, int *ret_compiles)
{
	if (program == NULL) {
		return NVRTC_INVALID_PROGRAM;
	}
	*ret_compiles = program->compiles;
	return NVRTC_SUCCESS;
}
#endif
