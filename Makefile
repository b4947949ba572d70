# SPDX-License-Identifier: MIT
# make                 build/libnvrtccache.so and build/nvrtccache; build/nvrtccache-agent where its libraries are there
# make quick           unit tests and the quickest of the integration tests
# make check           unit and integration tests (scripts/test installs what they need first)
# make soak            tests that take minutes
# make faults          every fault at every call of the library, which takes longer
# make style           formats all C; make tidy asks clang-tidy, which takes minutes
# make layers          who includes whom, and on which floor each noun stands
# make install         DESTDIR= PREFIX= LIBDIR=; make uninstall takes the same
# make dist            what loads on any machine, packed for each architecture (packaging/portable.mk)
# make wheel, deb      packages in build/dist (packaging/packaging.mk)
# make SAN=address|undefined|thread    the same into build/<san>/; V=1 shows the commands
# make ARCH=aarch64    for that, with the compiler of packaging/toolchain, or CC=...; FLOOR=2.17 for that glibc and later
# CC, CFLAGS, CPPFLAGS and LDFLAGS are the caller's; B2 is the archive of libb2, WERROR= lets warnings be warnings
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
# libb2 picks its code at the first call by CPUID, which traps in a virtual machine and took 33 us of a 100 us hit. Its
# portable code digests 64 MB but 5 % slower, so that is used, and the rest of libb2 is not linked, where it has the names.
B2_NAMES := $(if $(shell nm $(B2) 2>/dev/null | grep ' T blake2b_init_ref$$'),blake2b $(addprefix blake2b_,init init_key update final))
override CPPFLAGS := $(foreach name,$(B2_NAMES),-D$(name)=$(name)_ref) -I. -D_GNU_SOURCE $(FORTIFY) -DXXH_INLINE_ALL $(TARGET_CPPFLAGS) $(CPPFLAGS)
BRANCHES := $(if $(filter x86_64,$(ARCH)),-fcf-protection=full,-mbranch-protection=standard)
OURS     := -std=gnu11 $(WARNINGS) -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden \
	    -fno-semantic-interposition -ftls-model=initial-exec -fstack-protector-strong $(BRANCHES) \
	    $(TARGET_CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -U_FORTIFY_SOURCE)
# Whatever the caller says. What asm names (exports, the page) is lost to -flto.
ALWAYS   := -fPIC -fno-lto
# These run before a sanitizer's own runtime is ready (interpose/elf/plain.h). Loops shall not become calls of memset.
EARLY    := -fno-sanitize=all $(shell $(CC) -fno-tree-loop-distribute-patterns -Werror -x c -c /dev/null -o /dev/null \
	    2>/dev/null && echo -fno-tree-loop-distribute-patterns || echo -fno-builtin)
HARDEN   := -Wl,-z,relro,-z,now,-z,noexecstack $(if $(SAN),-fsanitize=$(SAN),-Wl,-z,defs)
# With these GCC before 13 links what sets the processor to another arithmetic when it is loaded, for the whole process.
no_fast_math = $(filter-out -Ofast -ffast-math -funsafe-math-optimizations,$(1))
SYMBOLIC ?= -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL
# What nothing calls is not linked (20-exports checks that no whole object of the library is among it).
REACHED  := -Wl,--gc-sections
SHARED    = -shared $(REACHED) -Wl,-soname,libnvrtccache.so -Wl,--version-script=$(filter %.map,$^) -Wl,-z,nodelete $(SYMBOLIC)

quoted = '$(subst ','\'',$(1))'
CRITERION_LIBS ?= -lcriterion
# Its library starts each test with memory at an address that ThreadSanitizer keeps for itself.
ifeq ($(SAN),thread)
CRITERION := $(BUILD)/tests/emulated/criterion.o
CRITERION_LIBS := -pthread -ldl
endif

silent = $(findstring s,$(firstword -$(MAKEFLAGS)))
quiet  = $(if $(V),,@$(if $(silent),,printf '  %-7s %s\n' '$(1)' '$(2)';))

CORE_SRC := $(wildcard cache/*.c cache/upkeep/*.c keygen/*.c)
# What people and agents do to a whole cache, and no host process.
TOOL_SRC := $(wildcard cache/tools/*.c)
DOOR_SRC := $(wildcard interpose/*.c interpose/*/*.c interpose/door/arch/$(ARCH)/*.S)
NODES    := $(wildcard interpose/*/nodes.h)
CLI_SRC  := $(wildcard cli/*.c cli/*/*.c)
UNIT_SRC := $(wildcard tests/unit/*.c)
AGENT_SRC := $(wildcard agent/*/*.c)
# The agent is built where these and their headers are: a program of its own, so that nothing else comes to need them.
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
link_library = $(call quiet,LD,$@)$(CC) $(call no_fast_math,$(CFLAGS) $(LDFLAGS)) $(SHARED) $(HARDEN) -o $@ $(filter %.o,$^) $(B2)

all: $(BUILD)/libnvrtccache.so $(BUILD)/nvrtccache $(if $(AGENT),$(BUILD)/nvrtccache-agent,$(if $(FLOOR),,no-agent))
	$(if $(silent),,@packaging/needs $(filter %.so %/nvrtccache %/nvrtccache-agent,$^))

no-agent:
	$(call quiet,WITHOUT,nvrtccache-agent: missing are $(foreach need,$(AGENT_NEEDS),$(if \
		$(call AGENT_HAS,$(need)),,$(word 2,$(subst =, ,$(need))))) (scripts/setup --test installs them)):

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(OURS) $(CFLAGS) $(ALWAYS) -MMD -MP -c -o $@ $<

$(BUILD)/cli/report/page.o: $(wildcard cli/report/page/*)
# The command looks beside itself, so it is told LIBDIR only where that is none of these: make install after make with
# another PREFIX makes nothing anew, and with such a LIBDIR it does.
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

$(BUILD)/interpose/elf/%.o $(BUILD)/interpose/door/dlsym_filter.o $(BUILD)/interpose/compilers.o \
$(addsuffix /functions.o,$(addprefix $(BUILD)/,$(patsubst %/,%,$(dir $(NODES))))): OURS += $(EARLY)

$(BUILD)/%.o: %.S Makefile
	@mkdir -p $(@D)
	$(call quiet,AS,$@)$(CC) $(CPPFLAGS) $(BRANCHES) $(filter -g% -f%-prefix-map=%,$(CFLAGS) $(TARGET_CFLAGS)) -MMD -MP -c -o $@ $<

$(BUILD)/interpose/door/libnvrtccache.map: interpose/door/libnvrtccache.map.in Makefile interpose/compilers.h $(NODES)
	@mkdir -p $(@D)
	$(make_map)

$(BUILD)/libnvrtccache.so: $(call object,$(CORE_SRC) $(DOOR_SRC)) $(BUILD)/interpose/door/libnvrtccache.map | $(B2_MADE)
	$(link_library)

$(BUILD)/nvrtccache: $(call object,$(CLI_SRC)) $(BUILD)/cache.a
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -pie -pthread $(REACHED) $(HARDEN) -o $@ $^ $(B2) -ldl -lm

$(BUILD)/nvrtccache-agent: $(BUILD)/agent/node/main.o $(BUILD)/agent.a $(BUILD)/cache.a
	$(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -pie -pthread $(REACHED) $(HARDEN) -o $@ $^ $(B2) $(AGENT_LIBS) -ldl -lm

# Of which the unit tests are made too.
$(BUILD)/agent.a: $(call object,$(filter-out agent/node/main.c,$(AGENT_SRC)))
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

# What the command and the agent are linked with, which have nothing of the interposer in them.
$(BUILD)/cache.a: $(call object,$(CORE_SRC) $(TOOL_SRC)) | $(B2_MADE)
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

# Without the dlsym of ours: a test asks for libc's.
$(BUILD)/core.a: $(call object,$(CORE_SRC) $(TOOL_SRC) $(filter %.c,$(DOOR_SRC))) | $(B2_MADE)
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

$(if $(TARGET_CPPFLAGS),$(call object,$(UNIT_SRC)) $(CRITERION): | $(BUILD)/include/criterion)
# What the command alone has of nouns that are worth a test of their own.
CLI_NOUNS := $(addprefix $(BUILD)/cli/,$(addprefix explain/,request.o similarity.o differences.o differences_options.o difference_words.o))
link_units = $(call quiet,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(HARDEN) -o $@ $^ $(B2) $(if $(AGENT),$(AGENT_LIBS)) $(CRITERION_LIBS) -lm
$(BUILD)/unit-tests: $(call object,$(UNIT_SRC)) $(CLI_NOUNS) $(AGENT) $(BUILD)/core.a $(CRITERION)
	$(link_units)
# Those of what is of one machine and not of another, which a second machine shall be tried with.
$(BUILD)/unit-slice: $(call object,$(wildcard $(addprefix tests/unit/test_,elf*.c watch*.c fork*.c handle.c))) $(BUILD)/core.a $(CRITERION)
	$(link_units)

-include tests/tests.mk
include packaging/packaging.mk

check: all $(BUILD)/unit-tests $(TEST_TARGETS)
	tests/run $(BUILD)

# A place to install to, as the shell takes it: a blank or a quote in DESTDIR, PREFIX or LIBDIR is a part of the path.
at        = $(call quoted,$(DESTDIR)$(1))
at_prefix = $(foreach one,$(1),$(call at,$(PREFIX)/$(one)))
# What runs is there at every moment, the old or the new one and whole: a program that starts with half a library ends.
put       = install -m 755 $(1) $(call at,$(2).new) && mv -f $(call at,$(2).new) $(call at,$(2)) || { rm -f $(call at,$(2).new); exit 1; }
install: all
	install -d $(call at,$(LIBDIR)) $(call at_prefix,bin share/man/man1 share/bash-completion/completions share/zsh/site-functions)
	$(call put,$(BUILD)/libnvrtccache.so,$(LIBDIR)/libnvrtccache.so)
	$(call put,$(BUILD)/nvrtccache,$(PREFIX)/bin/nvrtccache)
	$(if $(AGENT),$(call put,$(BUILD)/nvrtccache-agent,$(PREFIX)/bin/nvrtccache-agent))
	install -m 644 docs/nvrtccache.1 $(if $(AGENT),docs/nvrtccache-agent.1) $(call at_prefix,share/man/man1/)
	install -m 644 completions/nvrtccache.bash $(call at_prefix,share/bash-completion/completions/nvrtccache)
	install -m 644 completions/_nvrtccache $(call at_prefix,share/zsh/site-functions/)

# What install has put there, with the same DESTDIR, PREFIX and LIBDIR.
INSTALLED = $(call at,$(LIBDIR)/libnvrtccache.so) $(call at_prefix,bin/nvrtccache share/man/man1/nvrtccache.1 \
	    bin/nvrtccache-agent share/man/man1/nvrtccache-agent.1 \
	    share/bash-completion/completions/nvrtccache share/zsh/site-functions/_nvrtccache)
uninstall:
	rm -f -- $(INSTALLED)

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d)
.PHONY: all check install uninstall clean no-agent
