# SPDX-License-Identifier: MIT
# make                 build/libnvrtccache.so and build/nvrtccache; build/nvrtccache-agent if its libraries are installed
# make quick           unit tests and the quickest of the integration tests
# make check           unit and integration tests (scripts/test installs what they need first)
# make soak            many processes on one small cache, for ten minutes
# make faults          an error at every call of the library, which takes hours
# make style           formats all C; make tidy runs clang-tidy, which takes minutes
# make layers          who includes whom, and in which layer each file is
# make install         DESTDIR= PREFIX= LIBDIR=; make uninstall takes the same
# make dist            archives for glibc 2.17 and later, for each architecture (packaging/portable.mk)
# make wheel, deb      packages in build/dist (packaging/packaging.mk)
# make SAN=address|undefined|thread    the same into build/<san>/; V=1 shows the commands
# make ARCH=aarch64    cross-builds with the compiler of packaging/toolchain, or CC=...; FLOOR=2.17: for glibc 2.17 and later
# CC, CFLAGS, CPPFLAGS and LDFLAGS are the caller's; B2 is libb2.a; WERROR= keeps warnings from being errors
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
HOST   := $(shell uname -m)
ARCH   ?= $(HOST)
SAN    ?=
FLOOR  ?= $(if $(filter-out $(HOST),$(ARCH)),$(if $(filter command,$(firstword $(origin CC))),,2.17))
BUILD  ?= build$(if $(SAN),/$(SAN))$(if $(FLOOR),/portable/$(ARCH)$(addprefix -,$(filter-out 2.17,$(FLOOR))))
$(if $(word 2,$(BUILD)),$(error BUILD is '$(BUILD)', and make takes no blank in it))

include packaging/portable.mk

CFLAGS   ?= -O2 -g
WERROR   ?= -Werror
WARNINGS := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
FORTIFY  := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-D_FORTIFY_SOURCE=2))
B2       ?= $(shell $(CC) -print-file-name=libb2.a)
# libb2 selects its code at the first call by CPUID, which traps in a virtual machine and took 33 us of a 100 us hit. Its
# portable code digests 64 MB only 5 % slower, so only that is linked, if the archive has the names.
B2_NAMES := $(if $(shell nm $(B2) 2>/dev/null | grep ' T blake2b_init_ref$$'),blake2b $(addprefix blake2b_,init init_key update final))
override CPPFLAGS := $(foreach name,$(B2_NAMES),-D$(name)=$(name)_ref) -I. -D_GNU_SOURCE $(FORTIFY) -DXXH_STATIC_LINKING_ONLY $(TARGET_CPPFLAGS) $(CPPFLAGS)
BRANCHES := $(if $(filter x86_64,$(ARCH)),-fcf-protection=full,-mbranch-protection=standard)
OURS     := -std=gnu11 $(WARNINGS) -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden \
	    -fno-semantic-interposition -ftls-model=initial-exec -fstack-protector-strong $(BRANCHES) \
	    $(TARGET_CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -U_FORTIFY_SOURCE)
# These override the caller's flags. -flto would lose what only asm names (exports, the report's page).
ALWAYS   := -fPIC -fno-lto
# These run before a sanitizer's runtime is initialised (interpose/elf/plain.h), so loops must not become calls of memset.
EARLY    := -fno-sanitize=all $(shell $(CC) -fno-tree-loop-distribute-patterns -Werror -x c -c /dev/null -o /dev/null \
	    2>/dev/null && echo -fno-tree-loop-distribute-patterns || echo -fno-builtin)
HARDEN   := -Wl,-z,relro,-z,now,-z,noexecstack $(if $(SAN),-fsanitize=$(SAN),-Wl,-z,defs)
# With these flags, GCC before 13 links an object that changes the processor's arithmetic for the whole process.
no_fast_math = $(filter-out -Ofast -ffast-math -funsafe-math-optimizations,$(1))
SYMBOLIC ?= -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL
# Functions that nothing calls are not linked (20-exports checks that every object of the library is used).
REACHED  := -Wl,--gc-sections
SHARED    = -shared $(REACHED) -Wl,-soname,libnvrtccache.so -Wl,--version-script=$(filter %.map,$^) -Wl,-z,nodelete $(SYMBOLIC)

quoted = '$(subst ','\'',$(1))'
CRITERION_LIBS ?= -lcriterion
# Criterion starts each test with memory at an address that ThreadSanitizer reserves.
ifeq ($(SAN),thread)
CRITERION := $(BUILD)/tests/emulated/criterion.o
CRITERION_LIBS := -pthread -ldl
endif

silent = $(findstring s,$(firstword -$(MAKEFLAGS)))
quiet  = $(if $(V),,@$(if $(silent),,printf '  %-7s %s\n' '$(1)' '$(2)';))

CORE_SRC := $(wildcard cache/*.c cache/upkeep/*.c keygen/*.c) $(if $(filter x86_64,$(ARCH)),keygen/digest_wide.c)
# For the command and the agent, not for host processes.
TOOL_SRC := $(wildcard cache/tools/*.c)
DOOR_SRC := $(wildcard interpose/*.c interpose/*/*.c interpose/door/arch/$(ARCH)/*.S)
NODES    := $(wildcard interpose/*/nodes.h)
CLI_SRC  := $(wildcard cli/*.c cli/*/*.c)
UNIT_SRC := $(wildcard tests/unit/*.c)
AGENT_SRC := $(wildcard agent/*/*.c)
# The agent is built if these libraries and their headers are installed. Nothing else needs them.
AGENT_HAS  = $(shell $(CC) -shared -fPIC $(foreach one,$(1),-include $(word 2,$(subst =, ,$(one)))) -x c /dev/null -x none \
	     $(foreach one,$(1),$(word 1,$(subst =, ,$(one)))) -o /dev/null 2>/dev/null && echo yes)
AGENT_NEEDS := -lhiredis=hiredis/hiredis.h -lcurl=curl/curl.h -lzstd=zstd.h
AGENT_LIBS := $(foreach need,$(AGENT_NEEDS),$(word 1,$(subst =, ,$(need))))
AGENT      := $(if $(FLOOR),,$(if $(call AGENT_HAS,$(AGENT_NEEDS)),$(BUILD)/agent.a))
UNIT_SRC   += $(if $(AGENT),$(wildcard tests/unit/agent/*.c))

object    = $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(1))))
OBJECTS  := $(call object,$(CORE_SRC) $(TOOL_SRC) $(DOOR_SRC) $(CLI_SRC) $(AGENT_SRC) $(UNIT_SRC))

make_map     = $(call quiet,MAP,$@)$(CC) -E -P -x c -I. -DSCRIPT -DARCH_$(ARCH) \
	       $(addprefix -include ,$(filter %/nodes.h,$^)) -o $@ $(filter %.in,$^)
# Programs that run or load the old file meanwhile must not find half of the new one.
into_place = && mv -f $@.new $@
link_library = $(call quiet,LD,$@)$(CC) $(call no_fast_math,$(CFLAGS) $(LDFLAGS)) $(SHARED) $(HARDEN) -o $@.new $(filter %.o,$^) $(B2) $(into_place)

all: $(BUILD)/libnvrtccache.so $(BUILD)/nvrtccache $(if $(AGENT),$(BUILD)/nvrtccache-agent,$(if $(FLOOR),,no-agent))
	$(if $(silent),,@packaging/needs $(filter %.so %/nvrtccache %/nvrtccache-agent,$^))

no-agent:
	$(call quiet,WITHOUT,nvrtccache-agent: missing are $(foreach need,$(AGENT_NEEDS),$(if \
		$(call AGENT_HAS,$(need)),,$(word 2,$(subst =, ,$(need))))) (packages libhiredis-dev libcurl4-openssl-dev libzstd-dev)):

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(OURS) $(CFLAGS) $(ALWAYS) -MMD -MP -c -o $@ $<

$(BUILD)/keygen/digest_wide.o: keygen/digest.c Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) -DDIGEST_WIDE $(OURS) $(CFLAGS) $(ALWAYS) -mavx2 -MMD -MP -c -o $@ $<

$(BUILD)/cli/report/report.o: $(wildcard cli/report/page/*)
# The command searches beside itself, so LIBDIR is compiled in only if it is another directory: make install with another
# PREFIX than make then builds nothing again, and with such a LIBDIR it does.
HASH        := \#
BESIDE      := lib lib64 lib/$(ARCH)-linux-gnu
TOLD         = $(if $(strip $(foreach one,$(BESIDE),$(findstring <$(PREFIX)/$(one)>,<$(LIBDIR)>))),,$(HASH)define LIBDIR \
	       "$(subst ",\",$(subst \,\\,$(LIBDIR)))")
TOLD_FILE   := $(BUILD)/cli/libdir.h
$(BUILD)/cli/console/library.o: override CPPFLAGS += -include $(TOLD_FILE)
$(BUILD)/cli/console/library.o: $(TOLD_FILE)
ifneq (<$(TOLD)>,<$(shell cat $(TOLD_FILE) 2>/dev/null)>)
.PHONY: $(TOLD_FILE)
endif
$(TOLD_FILE):
	@mkdir -p $(@D) && printf '%s\n' $(call quoted,$(TOLD)) >$@

$(BUILD)/interpose/elf/%.o $(addprefix $(BUILD)/interpose/,door/dlsym_filter.o door/modules.o compilers.o): OURS += $(EARLY)

$(BUILD)/%.o: %.S Makefile
	@mkdir -p $(@D)
	$(call quiet,AS,$@)$(CC) $(CPPFLAGS) $(BRANCHES) $(filter -g% -f%-prefix-map=%,$(CFLAGS) $(TARGET_CFLAGS)) -MMD -MP -c -o $@ $<

$(BUILD)/interpose/door/libnvrtccache.map: interpose/door/libnvrtccache.map.in Makefile interpose/compilers.h $(NODES)
	@mkdir -p $(@D)
	$(make_map)

$(BUILD)/libnvrtccache.so: $(call object,$(CORE_SRC) $(DOOR_SRC)) $(BUILD)/interpose/door/libnvrtccache.map | $(B2_MADE)
	$(link_library)

$(BUILD)/nvrtccache: $(call object,$(CLI_SRC)) $(BUILD)/cache.a
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -pie -pthread $(REACHED) $(HARDEN) -o $@.new $^ $(B2) -ldl -lm $(into_place)

$(BUILD)/nvrtccache-agent: $(BUILD)/agent/node/main.o $(BUILD)/agent.a $(BUILD)/cache.a
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -pie -pthread $(REACHED) $(HARDEN) -o $@.new $^ $(B2) $(AGENT_LIBS) -ldl -lm $(into_place)

# The unit tests are built from these too.
$(BUILD)/agent.a: $(call object,$(filter-out agent/node/main.c,$(AGENT_SRC)))
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

# The command and the agent are linked with these, without the interposer.
$(BUILD)/cache.a: $(call object,$(CORE_SRC) $(TOOL_SRC)) | $(B2_MADE)
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

# Without the library's dlsym: a test needs libc's.
$(BUILD)/core.a: $(call object,$(CORE_SRC) $(TOOL_SRC) $(filter-out %/dlsym.S,$(DOOR_SRC))) | $(B2_MADE)
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

$(if $(TARGET_CPPFLAGS),$(call object,$(UNIT_SRC)) $(CRITERION): | $(BUILD)/include/criterion)
# Files of the command that have unit tests.
CLI_NOUNS := $(addprefix $(BUILD)/cli/,console/request.o explain/differences.o)
link_units = $(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(HARDEN) -o $@ $^ $(B2) $(if $(AGENT),$(AGENT_LIBS)) $(CRITERION_LIBS) -lm
$(BUILD)/unit-tests: $(call object,$(UNIT_SRC)) $(CLI_NOUNS) $(AGENT) $(BUILD)/core.a $(CRITERION)
	$(link_units)
# Unit tests of code that depends on the machine, which the aarch64 build runs.
$(BUILD)/unit-slice: $(call object,$(wildcard $(addprefix tests/unit/test_,elf*.c watch*.c fork*.c handle.c))) $(BUILD)/core.a $(CRITERION)
	$(link_units)

-include tests/tests.mk
include packaging/packaging.mk

check: all $(BUILD)/unit-tests $(TEST_TARGETS)
	tests/run $(BUILD)

# A directory to install to, quoted for the shell: DESTDIR, PREFIX and LIBDIR may contain blanks and quotes.
at        = $(call quoted,$(DESTDIR)$(1))
at_prefix = $(foreach one,$(1),$(call at,$(PREFIX)/$(one)))
# Files are replaced by rename, because a program that starts while a library is written would be killed.
put       = install -m 755 $(1) $(call at,$(2).new) && mv -f $(call at,$(2).new) $(call at,$(2)) || { rm -f $(call at,$(2).new); exit 1; }
install: all
	install -d $(call at,$(LIBDIR)) $(call at_prefix,bin share/man/man1 share/bash-completion/completions share/zsh/site-functions)
	$(call put,$(BUILD)/libnvrtccache.so,$(LIBDIR)/libnvrtccache.so)
	$(call put,$(BUILD)/nvrtccache,$(PREFIX)/bin/nvrtccache)
	$(if $(AGENT),$(call put,$(BUILD)/nvrtccache-agent,$(PREFIX)/bin/nvrtccache-agent))
	install -m 644 docs/nvrtccache.1 $(if $(AGENT),docs/nvrtccache-agent.1) $(call at_prefix,share/man/man1/)
	install -m 644 completions/nvrtccache.bash $(call at_prefix,share/bash-completion/completions/nvrtccache)
	install -m 644 completions/_nvrtccache $(call at_prefix,share/zsh/site-functions/)

# Removes what install with the same DESTDIR, PREFIX and LIBDIR has put there.
INSTALLED = $(call at,$(LIBDIR)/libnvrtccache.so) $(call at_prefix,bin/nvrtccache share/man/man1/nvrtccache.1 \
	    bin/nvrtccache-agent share/man/man1/nvrtccache-agent.1 \
	    share/bash-completion/completions/nvrtccache share/zsh/site-functions/_nvrtccache)
uninstall:
	rm -f -- $(INSTALLED)

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d)
.PHONY: all check install uninstall clean no-agent
