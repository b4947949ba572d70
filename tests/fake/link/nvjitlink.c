/* SPDX-License-Identifier: MIT */
/*
 * The fake nvJitLink: FAKE_MAJOR, FAKE_MINOR and FAKE_FLAVOUR make a release of it. It does what nvJitLink was seen to do
 * where a host can see it: what is worked on when, whose memory is read when, return codes, logs that pile up, text on
 * stderr, variables that are asked for.
 */
#include "tests/fake/link/nvjitlink.h"
#include "tests/fake/text.h"

#include <stdatomic.h>
#include <sys/stat.h>

#define RELEASE (FAKE_MAJOR * 100 + FAKE_MINOR)

#define SUCCESS      0
#define UNRECOGNIZED 1
#define MISSING_ARCH 2
#define INVALID      3
#define NVVM_FAILS   5
#define INTERNAL     6
#define UNKNOWN_TYPE 8
#define NO_POINTER   (FAKE_MAJOR < 13 ? INVALID : 10)
#define WRONG_TYPE   (FAKE_MAJOR < 13 ? INVALID : 12)
#define NO_LTO       (FAKE_MAJOR < 13 ? INTERNAL : 18)

struct symbol {
	char name[32];
	const char *input; /* the host's: it is not copied */
};

#define SYMBOLS_MAX 16
#define MODULES_MAX 16

struct link_state {
	bool lto, ptx, timed, lingers;
	struct text head;                 /* the options, and what was read of the environment for them */
	struct text machine;              /* what was made of PTX, and cubins */
	struct text modules[MODULES_MAX]; /* LTO-IR, to be compiled */
	char *module_names[MODULES_MAX];
	size_t module_count;
	struct symbol symbols[SYMBOLS_MAX];
	size_t symbol_count;
	struct text error_log, info_log;
	struct text cubin, linked_ptx, ltoir;
	int end_code;
	char wanted[32];     /* a symbol that is nowhere */
	const char *wanting; /* the host's: it is not copied */
	bool completed;
};

static _Atomic int texts, links;
static _Atomic bool lingers;
char fakeLinkWhim[16];

static bool has_whim(const char *whim)
{
	return strcmp(fakeLinkWhim, whim) == 0;
}

void fakeLinkWork(int *ret_texts, int *ret_links)
{
	*ret_texts = texts;
	*ret_links = links;
}

static void put_variable(struct text *text, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL) {
		text_say(text, " %s=%s", name, value);
	}
}

static void add_symbol(struct link_state *link, const char *symbol, const char *name)
{
	for (size_t i = 0; i < link->symbol_count; i++) {
		if (strcmp(link->symbols[i].name, symbol) == 0) {
			fprintf(stderr, "%s is in %s and in %s\n", symbol, link->symbols[i].input, name);
			return;
		}
	}
	if (link->symbol_count < SYMBOLS_MAX) {
		struct symbol *added = &link->symbols[link->symbol_count++];

		snprintf(added->name, sizeof(added->name), "%s", symbol);
		added->input = name != NULL ? name : "(no name)";
	}
}

static double third(void)
{
	volatile double one = 1, three = 3;

	return one / three;
}

/* Does what a line says; what the call that works on it ends with. */
static int obey(struct link_state *link, const char *line, const char *name, struct text *made)
{
	char word[32] = "", text[200] = "";
	int code = 0;

	if (sscanf(line, "@fail %d %199[^\n]", &code, text) == 2) {
		text_say(&link->error_log, "ptxas         : %s: %s\n", name != NULL ? name : "input", text);
		return code;
	}
	if (sscanf(line, "@end %d %199[^\n]", &code, text) == 2) {
		link->end_code = code;
		text_say(&link->error_log, "%s\n", text);
	} else if (sscanf(line, "@warn %199[^\n]", text) == 1) {
		text_say(&link->info_log, "ptxas info    : %s, %s\n", name != NULL ? name : "input", text);
	} else if (sscanf(line, "@stderr %199[^\n]", text) == 1) {
		fprintf(stderr, "%s\n", text);
	} else if (strcmp(line, "@third") == 0) {
		text_say(made, " %a", third());
	} else if (sscanf(line, "@symbol %31s", word) == 1) {
		add_symbol(link, word, name);
	} else if (sscanf(line, "@wants %31s", link->wanted) == 1) {
		link->wanting = name != NULL ? name : "(no name)";
	}
	return SUCCESS;
}

static int work_on(struct link_state *link, const char *bytes, size_t size, const char *name, struct text *made)
{
	const char *end = bytes + size;
	int code = SUCCESS;

	text_put(made, "{", 1);
	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t length = (size_t)((newline != NULL ? newline : end) - bytes);
		char line[256];

		if (*bytes == '@' && length < sizeof(line)) {
			int result;

			memcpy(line, bytes, length);
			line[length] = '\0';
			result = obey(link, line, name, made);
			code = result != SUCCESS ? result : code;
		} else {
			text_put(made, bytes, length);
		}
		bytes += length + (newline != NULL);
	}
	text_put(made, "}", 1);
	return code;
}

static bool begins(const void *bytes, size_t size, const char *head)
{
	return size >= strlen(head) && memcmp(bytes, head, strlen(head)) == 0;
}

/* From 12.4 on PTX is a C string whatever its size is said to be. */
static int length_of(const char *bytes, size_t size, size_t *ret_length)
{
	*ret_length = size;
	if (RELEASE < 1204) {
		return SUCCESS;
	}
	if (bytes[size - 1] != '\0' && bytes[size] != '\0') {
		return WRONG_TYPE;
	}
	*ret_length = strnlen(bytes, size);
	return SUCCESS;
}

static int compile_ptx(struct link_state *link, const char *bytes, size_t size, const char *name)
{
	struct text made = {0};
	int code;

	if (!memmem(bytes, size, LINK_HEAD_PTX, strlen(LINK_HEAD_PTX))) {
		text_say(&link->error_log, "ptxas error   : %s is no PTX\n", name != NULL ? name : "input");
		return WRONG_TYPE;
	}
	texts++;
	if (has_whim("refuse")) {
		return INTERNAL;
	}
	text_put(&made, FAKE_FLAVOUR, strlen(FAKE_FLAVOUR));
	put_variable(&made, "DUMP_KNOBS_TO_FILE");
	put_variable(&made, "CAN_FINALIZE_DEBUG");
	put_variable(&made, "FINALIZER_USE_LEGACY_ELF_BUILDER");
	code = work_on(link, bytes, size, name, &made);
	if (code == SUCCESS) {
		text_put(&link->machine, made.bytes, made.size);
	}
	free(made.bytes);
	return code;
}

static int add_module(struct link_state *link, const void *bytes, size_t size, const char *name)
{
	struct text *module = &link->modules[link->module_count];

	if (!link->lto) {
		text_say(&link->error_log, "error   : LTO-IR without -lto\n");
		return NO_LTO;
	}
	if (link->module_count == MODULES_MAX || has_whim("refuse")) {
		return INTERNAL;
	}
	text_put(module, bytes, size);
	put_variable(module, "LIBNVVM_NVVM_VERSION");
	link->module_names[link->module_count++] = strdup(name != NULL ? name : "module");
	return SUCCESS;
}

static int add_cubin(struct link_state *link, const char *bytes, size_t size, const char *name)
{
	size_t head = strlen(LINK_HEAD_CUBIN);

	return work_on(link, bytes + head, size - head, name, &link->machine);
}

/* The members lie where the working directory says, also where the archive itself came from memory. */
static int add_thin(struct link_state *link, const char *bytes, size_t size)
{
	const size_t head = strlen(LINK_HEAD_THIN) + 60;
	char *list = strndup(bytes + head, size - head), *rest = NULL;
	int code = SUCCESS;

	for (char *path = strtok_r(list, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
		struct text member = {0};

		if (!text_read(&member, path)) {
			fprintf(stderr, "no member %s\n", path);
			code = INTERNAL;
		} else if (member.size > 0) {
			int result = compile_ptx(link, member.bytes, member.size, path);

			code = result != SUCCESS ? result : code;
		}
		free(member.bytes);
	}
	free(list);
	return code;
}

static bool is_fatbin(const char *bytes, size_t size)
{
	const struct link_fatbin head = LINK_FATBIN_HEAD(0, 0);

	return size >= sizeof(head) && memcmp(bytes, &head, offsetof(struct link_fatbin, size)) == 0;
}

static int add_any(struct link_state *link, int type, const char *bytes, size_t size, const char *name)
{
	size_t length;

	if (type == LINK_FATBIN && is_fatbin(bytes, size)) {
		struct link_fatbin head;

		memcpy(&head, bytes, sizeof(head));
		return compile_ptx(link, bytes + sizeof(head), head.size - head.member_head_size, name);
	}
	if (type == LINK_CUBIN && begins(bytes, size, LINK_HEAD_CUBIN)) {
		return add_cubin(link, bytes, size, name);
	}
	if (type == LINK_LTOIR && begins(bytes, size, LINK_HEAD_LTOIR) && size >= LINK_LTOIR_HEAD_SIZE) {
		return add_module(link, bytes + LINK_LTOIR_HEAD_SIZE, size - LINK_LTOIR_HEAD_SIZE, name);
	}
	if ((type == LINK_OBJECT || type == LINK_LIBRARY) && begins(bytes, size, LINK_HEAD_THIN)) {
		return add_thin(link, bytes, size);
	}
	if (type != LINK_PTX) {
		text_say(&link->error_log, "error   : this is not of type %d\n", type);
		return WRONG_TYPE;
	}
	return length_of(bytes, size, &length) != SUCCESS ? WRONG_TYPE : compile_ptx(link, bytes, length, name);
}

static int type_of(const char *bytes, size_t size)
{
	return is_fatbin(bytes, size)                 ? LINK_FATBIN
	       : begins(bytes, size, LINK_HEAD_CUBIN) ? LINK_CUBIN
	       : begins(bytes, size, LINK_HEAD_LTOIR) ? LINK_LTOIR
	       : begins(bytes, size, LINK_HEAD_THIN)  ? LINK_LIBRARY
	       : begins(bytes, size, LINK_HEAD_PTX)   ? LINK_PTX
	                                              : UNKNOWN_TYPE;
}

int nvJitLinkAddData(nvJitLinkHandle handle, int type, const void *data, size_t size, const char *name)
{
	if (handle == NULL) {
		return NO_POINTER;
	}
	if (size == 0 || data == NULL) {
		return INVALID;
	}
	if (handle->completed) {
		text_say(&handle->info_log, "info    : this comes late\n");
		return SUCCESS;
	}
	type = type == LINK_ANY && RELEASE >= 1203 ? type_of(data, size) : type;
	return type >= LINK_CUBIN && type <= LINK_LIBRARY ? add_any(handle, type, data, size, name) : UNKNOWN_TYPE;
}

int nvJitLinkAddFile(nvJitLinkHandle handle, int type, const char *path)
{
	struct text text = {0};
	struct stat status;
	int code;

	if (handle == NULL || path == NULL) {
		return NO_POINTER;
	}
	if (stat(path, &status) != 0 || S_ISDIR(status.st_mode) || !text_read(&text, path)) {
		text_say(&handle->error_log, "error   : cannot read %s\n", path);
		return INVALID;
	}
	code = nvJitLinkAddData(handle, type, text.bytes, text.size, path);
	free(text.bytes);
	return code;
}

static const char known_options[] =
    "-arch= -lto -ptx -O -g -ftz= -Xptxas= -Xnvvm= -time -no-cache -future -maxrregcount=";

static int take_option(struct link_state *link, const char *option)
{
	if (!is_among(option, known_options, WORDS_BEGIN)) {
		text_say(&link->error_log, "error   : unrecognized option %s\n", option);
		return UNRECOGNIZED;
	}
	link->lto |= strncmp(option, "-lto", 4) == 0;
	link->ptx |= strcmp(option, "-ptx") == 0;
	link->timed |= strcmp(option, "-time") == 0;
	link->lingers |= strcmp(option, "-Xnvvm=-inline-info") == 0;
	text_say(&link->head, " %s", option);
	return SUCCESS;
}

/* What fails leaves a handle all the same, of which the log can be asked. */
int nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count, const char **options)
{
	struct link_state *link;
	bool has_arch = false;

	if (handle == NULL || (count > 0 && options == NULL)) {
		return NO_POINTER;
	}
	link = calloc(1, sizeof(*link));
	*handle = link;
	text_put(&link->head, FAKE_FLAVOUR, strlen(FAKE_FLAVOUR));
	for (uint32_t i = 0; i < count; i++) {
		if (take_option(link, options[i]) != SUCCESS) {
			return UNRECOGNIZED;
		}
		has_arch |= strncmp(options[i], "-arch=", 6) == 0;
	}
	put_variable(&link->head, "NV_NVVM_VERSION");
	if (getenv("NVJITLINK_TRACE_MESSAGES") != NULL) {
		text_say(&link->info_log, "no driver cache\n");
	}
	return has_arch ? SUCCESS : MISSING_ARCH;
}

static int compile_modules(struct link_state *link, struct text *made)
{
	int code = SUCCESS;

	if (link->module_count == 0) {
		text_say(&link->error_log, "error   : NVVM_ERROR_NO_MODULE_IN_PROGRAM\n");
		return NVVM_FAILS;
	}
	links++;
	put_variable(made, "NVVM_IR_VER_CHK");
	if (lingers) {
		text_say(&link->error_log, "remark  : inlined\n");
	}
	for (size_t i = 0; i < link->module_count; i++) {
		const struct text *module = &link->modules[i];
		int result = work_on(link, module->bytes, module->size, link->module_names[i], made);

		code = result != SUCCESS ? result : code;
	}
	if (RELEASE >= 1302) {
		text_say(&link->info_log, "INFO: NVVM70 LTOIR Container created (%zu bytes)\n", made->size);
		text_put(&link->ltoir, made->bytes, made->size);
	}
	return code;
}

int nvJitLinkComplete(nvJitLinkHandle handle)
{
	struct text made = {0};
	int code = SUCCESS;

	if (handle == NULL) {
		return NO_POINTER;
	}
	if (handle->completed) {
		return INTERNAL;
	}
	handle->completed = true;
	text_put(&made, handle->head.bytes, handle->head.size);
	if (handle->lto) {
		code = compile_modules(handle, &made);
	}
	lingers = lingers || handle->lingers;
	if (handle->timed) {
		text_say(&handle->info_log, "time    : a while\n");
	}
	text_put(&made, ":", 1);
	text_put(&made, handle->machine.bytes != NULL ? handle->machine.bytes : "", handle->machine.size);
	text_put(&made, fakeLinkWhim, strlen(fakeLinkWhim));
	if (handle->wanting != NULL) {
		text_say(&handle->error_log, "error   : Undefined reference to '%s' in '%s'\n", handle->wanted,
		         handle->wanting);
		handle->end_code = INTERNAL;
	}
	code = code == SUCCESS ? handle->end_code : code;
	/* Where a symbol is missing there is a cubin all the same. */
	if (code == SUCCESS || (code == INTERNAL && !handle->lto)) {
		*(handle->ptx ? &handle->linked_ptx : &handle->cubin) = made;
	} else {
		free(made.bytes);
	}
	return code;
}

static int size_of(const struct text *text, int code, size_t *size)
{
	if (size == NULL) {
		return NO_POINTER;
	}
	if (text->bytes == NULL) {
		return code;
	}
	*size = text->size;
	return SUCCESS;
}

static int bytes_of(const struct text *text, int code, void *bytes)
{
	if (bytes == NULL) {
		return NO_POINTER;
	}
	if (text->bytes == NULL) {
		return code;
	}
	memcpy(bytes, text->bytes, text->size);
	return SUCCESS;
}

static int log_size_of(const struct text *log, size_t *size)
{
	if (size == NULL) {
		return NO_POINTER;
	}
	*size = log->size > 0 ? log->size + 1 : 0;
	return SUCCESS;
}

/* 12.0 leaves the NUL out, and writes nothing of an empty log; others write a NUL then. */
static int log_of(const struct text *log, char *bytes)
{
	if (bytes == NULL) {
		return NO_POINTER;
	}
	memcpy(bytes, log->size > 0 ? log->bytes : "", log->size + (RELEASE > 1200));
	return SUCCESS;
}

/* Where there is none, the size and the bytes may be refused with codes of their own. */
#define GETTERS(artifact, member, size_code, code)                                              \
	int nvJitLinkGet##artifact##Size(nvJitLinkHandle handle, size_t *size)                  \
	{                                                                                       \
		return handle == NULL ? NO_POINTER : size_of(&handle->member, size_code, size); \
	}                                                                                       \
	int nvJitLinkGet##artifact(nvJitLinkHandle handle, CHARS_OF_##artifact *bytes)          \
	{                                                                                       \
		return handle == NULL ? NO_POINTER : bytes_of(&handle->member, code, bytes);    \
	}
#define CHARS_OF_LinkedCubin void
#define CHARS_OF_LinkedPtx   char
#define CHARS_OF_LinkedLTOIR void
GETTERS(LinkedCubin, cubin, INTERNAL, INTERNAL)
GETTERS(LinkedPtx, linked_ptx, INVALID, INTERNAL)
#if FAKE_MAJOR * 100 + FAKE_MINOR >= 1302
GETTERS(LinkedLTOIR, ltoir, INTERNAL, INTERNAL)

int nvJitLinkInspect(nvJitLinkHandle handle, int *ret_output)
{
	*ret_output = handle->cubin.bytes != NULL;
	return SUCCESS;
}
#endif

#define LOGS(which, member)                                                              \
	int nvJitLinkGet##which##Size(nvJitLinkHandle handle, size_t *size)              \
	{                                                                                \
		return handle == NULL ? NO_POINTER : log_size_of(&handle->member, size); \
	}                                                                                \
	int nvJitLinkGet##which(nvJitLinkHandle handle, char *bytes)                     \
	{                                                                                \
		return handle == NULL ? NO_POINTER : log_of(&handle->member, bytes);     \
	}
LOGS(ErrorLog, error_log)
LOGS(InfoLog, info_log)

int nvJitLinkDestroy(nvJitLinkHandle *handle)
{
	struct link_state *link = handle != NULL ? *handle : NULL;

	if (link == NULL) {
		return NO_POINTER;
	}
	for (size_t i = 0; i < link->module_count; i++) {
		free(link->modules[i].bytes);
		free(link->module_names[i]);
	}
	free(link->head.bytes);
	free(link->machine.bytes);
	free(link->error_log.bytes);
	free(link->info_log.bytes);
	free(link->cubin.bytes);
	free(link->linked_ptx.bytes);
	free(link->ltoir.bytes);
	free(link);
	*handle = NULL;
	return SUCCESS;
}

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	if (major == NULL || minor == NULL) {
		return NO_POINTER;
	}
	*major = FAKE_MAJOR;
	*minor = FAKE_MINOR;
	return SUCCESS;
}

void *__nvJitLinkAPI(int which)
{
	int (*add)(nvJitLinkHandle handle, const void *bytes, size_t size, const char *name) = add_module;

	return which == LINK_API_ADD ? (void *)add : NULL;
}

/* A function has a name for every release that the library can stand for. */
#define TEXT_OF_(value)             #value
#define TEXT_OF(value)              TEXT_OF_(value)
#define ALIASED(alias, name)        ".globl " alias "\n.type " alias ", %function\n.set " alias ", nvJitLink" name "\n"
#define ALIAS(name, minor)          __asm__(ALIASED("__nvJitLink" #name "_" TEXT_OF(FAKE_MAJOR) "_" #minor, #name));
#define ALIASES_0(name, parameters) ALIAS(name, 0)
#define ALIASES_2(name, parameters) ALIAS(name, 1) ALIAS(name, 2)
#define ALIASES_9(name, parameters) \
	ALIAS(name, 3) ALIAS(name, 4) ALIAS(name, 5) ALIAS(name, 6) ALIAS(name, 7) ALIAS(name, 8) ALIAS(name, 9)
LINK_FUNCTIONS(ALIASES_0)
#if FAKE_MINOR >= 2
LINK_FUNCTIONS(ALIASES_2)
#endif
#if FAKE_MINOR >= 9
LINK_FUNCTIONS(ALIASES_9)
#endif
#if FAKE_MAJOR * 100 + FAKE_MINOR >= 1302
LINK_LATER(ALIASES_0)
LINK_LATER(ALIASES_2)
#endif
