/* SPDX-License-Identifier: MIT */
/*
 * settings: the environment variables that configure the cache (docs/DESIGN.md E1)
 *
 * Purpose: reads the variables NVRTCCACHE_*, for the library and the command. One list defines every variable. Sizes
 * accept K, M, G, T (powers of 1024, either case, optional B or iB), and with these up to three decimals (1.5G).
 * Booleans accept 1/0, yes/no, true/false, on/off. A moment is whole milliseconds or seconds (300ms, 2s). If a value is
 * invalid, the variable has its default, and its name is added to `complaints`.
 *
 * Calling sequence: settings_read() into a struct, use the fields, settings_free(); settings_each_unknown() for unknown
 * variables with our prefix. `lookup` works like getenv(): the library passes secure_getenv(), so that AT_SECURE
 * processes read no variables.
 * Errors: -ENOMEM. If there is no directory (neither HOME nor XDG_CACHE_HOME, or relative paths), `directory` is NULL;
 * that is not an error. Threads: any, if `lookup` is safe. Ownership: the struct owns its strings.
 */
#ifndef CACHE_SETTINGS_H
#define CACHE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(KIND, field, VARIABLE, default, help): the kind (below) says which values are accepted; a text has no default */
#define SETTINGS(X)                                                                                                    \
	X(PATH, directory, "NVRTCCACHE_DIR", 0, "cache directory ($XDG_CACHE_HOME/nvrtccache or ~/.cache/nvrtccache)") \
	X(SIZE, max_size, "NVRTCCACHE_MAX_SIZE", UINT64_C(5) << 30, "size limit of the directory; 0: none")            \
	X(SIZE, memory_size, "NVRTCCACHE_MEM_SIZE", UINT64_C(64) << 20, "size limit of the cache in memory; 0: off")   \
	X(BOOL, disable, "NVRTCCACHE_DISABLE", 0, "every call goes to the real compiler")                              \
	X(BOOL, read_only, "NVRTCCACHE_READONLY", 0, "the directory is never written")                                 \
	X(PATHS, lower, "NVRTCCACHE_LOWER", 0, "read-only caches searched after the directory, dir:dir")               \
	X(BOOL, recache, "NVRTCCACHE_RECACHE", 0, "every call is compiled, and its result stored again")               \
	X(BOOL, verify, "NVRTCCACHE_VERIFY", 0, "every hit is compiled as well, and compared")                         \
	X(BOOL, shared, "NVRTCCACHE_SHARED", 0, "the directory is shared by its group")                                \
	X(BOOL, fsync, "NVRTCCACHE_FSYNC", 0, "entries are synced to the disk before they appear")                     \
	X(SECONDS, wait, "NVRTCCACHE_WAIT", 120, "seconds to wait for another process that compiles the same key")     \
	X(TEXT, namespace_name, "NVRTCCACHE_NAMESPACE", 0, "part of every key")                                        \
	X(BOOL, record, "NVRTCCACHE_RECORD", 0, "requests are stored too, with their sources, for 'nvrtccache warm'")  \
	X(WORDS, sloppiness, "NVRTCCACHE_SLOPPINESS", 0, "differences to tolerate: time_macros, debug_paths")          \
	X(TEXT, log, "NVRTCCACHE_LOG", 0, "log file, or stderr")                                                       \
	X(LEVEL, log_level, "NVRTCCACHE_LOG_LEVEL", 2, "error, warning, info or debug (1 to 4)")                       \
	X(BOOL, stats, "NVRTCCACHE_STATS", 0, "one line of counts on stderr at exit")                                  \
	X(TEXT, trace, "NVRTCCACHE_TRACE", 0, "trace-event JSON file of every compile and hit")                        \
	X(AGENT, agent, "NVRTCCACHE_AGENT", 0, "socket of the node's nvrtccache-agent; 1: in the directory")           \
	X(MOMENT, agent_wait_ms, "NVRTCCACHE_AGENT_WAIT", 300, "how long to wait for what the agent fetches")

/* X(KIND, type of the field, values that are accepted) */
#define SETTINGS_KINDS(X)                                                                              \
	X(SIZE, uint64_t, "a size such as 4096, 500M or 1.5G, with K, M, G or T")                      \
	X(BOOL, bool, "1 or 0, yes or no, true or false, on or off")                                   \
	X(SECONDS, unsigned, "whole seconds")                                                          \
	X(MOMENT, unsigned, "milliseconds or seconds, such as 300ms or 2s") /* kept in milliseconds */ \
	X(LEVEL, unsigned, "error, warning, info or debug")                                            \
	X(TEXT, char *, "any text") /* this and all that follow are texts */                           \
	X(PATH, char *, "an absolute path")                                                            \
	X(PATHS, char *, "absolute paths with colons between them")                                    \
	X(WORDS, char *, "the words time_macros and debug_paths")                                      \
	X(AGENT, char *, "an absolute path, 1 for the socket in the cache directory, or 0 for none")

#define SETTINGS_KIND(kind, type, wanted) SETTING_##kind,
enum setting_kind { SETTINGS_KINDS(SETTINGS_KIND) };
#define SETTINGS_TYPE(kind, type, wanted) typedef type setting_##kind;
SETTINGS_KINDS(SETTINGS_TYPE)
#define SETTINGS_ONE(kind, field, variable, preset, help) +1
enum { SETTINGS_COUNT = 0 SETTINGS(SETTINGS_ONE) };

/* Bits: the differences that the user tolerates. */
enum sloppiness { SLOPPINESS_TIME_MACROS = 1, SLOPPINESS_DEBUG_PATHS = 2 };

struct settings {
#define SETTINGS_FIELD(kind, field, variable, preset, help) setting_##kind field;
	SETTINGS(SETTINGS_FIELD)
#undef SETTINGS_FIELD
	size_t base_length; /* length of $XDG_CACHE_HOME or $HOME in `directory`, if that is the default; otherwise 0 */
	bool base_is_home;  /* $HOME */
	unsigned tolerated; /* enum sloppiness, from `sloppiness` */
	const char *complaints[SETTINGS_COUNT]; /* names of variables with invalid values */
	int complaint_count;
};

/* A row of the list, for code that treats all settings alike. */
struct setting {
	const char *variable, *help;
	enum setting_kind kind;
	size_t at, size; /* of the field in struct settings */
	uint64_t preset;
};
extern const struct setting settings_table[SETTINGS_COUNT];

/* Return the value of a field: a text may be NULL. */
const char *settings_text(const struct settings *settings, const struct setting *setting);
uint64_t settings_number(const struct settings *settings, const struct setting *setting);

typedef char *settings_lookup(const char *name);

/* Reads all variables. The caller frees *ret_settings with settings_free(). */
int settings_read(settings_lookup *lookup, struct settings *ret_settings);
void settings_free(struct settings *settings);

/* Variables that only the command and scripts/ read. */
#define SETTINGS_OF_OTHERS "NVRTCCACHE_LIBRARY", "NVRTCCACHE_TOOLKIT", "NVRTCCACHE_MIRRORS"

/*
 * nearest: suggests the known word that is closest to a mistyped word
 *
 * The distance of two words is what remains of the longer one without their common beginning and their common end. So
 * one mistake is found wherever it is: a letter that is missing, too many or wrong, or two that changed places. A word
 * is close if the distance is at most a third of the longer word's length, rounded up.
 *
 * Writes for example " (did you mean 'prune'?)" to `ret_text`, or "" if none of the `count` words is close to
 * `text`. Returns `ret_text`. The first `skip` bytes of each word are a common prefix, which `text` does not have and
 * which is not compared.
 */
#define NEAREST_TEXT_BYTES 256
const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES]);

/*
 * `name` is `size` bytes long. `suggestion` comes from nearest_suggest(), to be put after a message.
 */
typedef void settings_unknown(const char *name, size_t size, const char *suggestion, void *context);
/*
 * Calls `each` for every variable of `environment` ("NAME=value" strings, then NULL) that begins with NVRTCCACHE_, is
 * unknown, and is not empty. Allocates no memory. The caller checks AT_SECURE.
 */
void settings_each_unknown(char *const *environment, settings_unknown *each, void *context);
/* Parses a size: "64M" is 67108864, "1.5K" is 1536. -EINVAL: not a size, or larger than 2^63-1 bytes. */
int settings_parse_size(const char *text, uint64_t *ret_size);
/* Returns a description of the values that a variable accepts; for an unknown name, that of a size. */
const char *settings_wanted(const char *variable);

#endif
