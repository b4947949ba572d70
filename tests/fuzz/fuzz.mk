# SPDX-License-Identifier: MIT
# make fuzz                    every harness of tests/fuzz in turn, FUZZ_SECONDS (60) in all; FUZZ="entry bundle": only these
# make fuzz-corpus             what runs found is merged into tests/fuzz/corpus, as little of it as covers the same
# make fuzz-coverage           what the corpus reaches, file by file (llvm-profdata, llvm-cov)
#
# Needs clang with its libFuzzer. All of cache/, keygen/ and interpose/, and what reads bytes of others in cli/ and agent/, is built with
# AddressSanitizer and UndefinedBehaviorSanitizer, those parts too that the library builds without.
FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 60
FUZZ_SRC     := $(filter-out $(if $(AGENT),,%_value.c %_engine.c),$(wildcard tests/fuzz/fuzz_*.c))
FUZZ         ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC))
FUZZ_BUILD   := $(BUILD)/fuzz
FUZZ_FLAGS   := -std=gnu11 -O1 -g -fPIC -fno-omit-frame-pointer -U_FORTIFY_SOURCE $(WARNINGS) \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_LIB     := $(addprefix $(FUZZ_BUILD)/,$(addsuffix .o,$(basename $(CORE_SRC) $(TOOL_SRC) $(filter-out %/dlsym.S,$(DOOR_SRC)))))
# and what the command reads files of others with
FUZZ_CLI     := $(addprefix $(FUZZ_BUILD)/cli/,console/request.o)
# and what the agent reads of engines
FUZZ_AGENT   := $(if $(AGENT),$(patsubst %.c,$(FUZZ_BUILD)/%.o,$(wildcard agent/engine/*.c agent/wire/*.c)))
FUZZ_BIN     := $(addprefix $(FUZZ_BUILD)/,$(FUZZ))
OBJECTS      += $(FUZZ_LIB) $(FUZZ_CLI) $(FUZZ_AGENT) $(patsubst %.c,$(FUZZ_BUILD)/%.o,$(FUZZ_SRC))

$(FUZZ_BUILD)/tests/%.o: FUZZ_FLAGS += -Wno-unused-parameter
$(FUZZ_BUILD)/%.o: %.c Makefile tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(call quiet,FUZZ,$@)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_BUILD)/%.o: %.S
	@mkdir -p $(@D)
	$(call quiet,FUZZ,$@)$(FUZZ_CC) $(CPPFLAGS) -c -o $@ $<

$(FUZZ_BUILD)/keygen/digest_wide.o: keygen/digest.c Makefile tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(call quiet,FUZZ,$@)$(FUZZ_CC) $(CPPFLAGS) -DDIGEST_WIDE $(FUZZ_FLAGS) -mavx2 -MMD -MP -c -o $@ $<

$(FUZZ_BUILD)/core.a: $(FUZZ_LIB) $(FUZZ_CLI) $(FUZZ_AGENT)
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

$(FUZZ_BIN): $(FUZZ_BUILD)/%: $(FUZZ_BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_BUILD)/core.a
	$(call quiet,LD,$@)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(B2) $(if $(AGENT),$(AGENT_LIBS)) -ldl -lm

fuzz: $(FUZZ_BIN)
	tests/fuzz/run $(FUZZ_BUILD) $(FUZZ_SECONDS) $(FUZZ)

fuzz-corpus: $(FUZZ_BIN)
	tests/fuzz/run --merge $(FUZZ_BUILD) $(FUZZ)

fuzz-coverage:
	tests/fuzz/coverage $(FUZZ_BUILD)/coverage $(FUZZ)
.PHONY: fuzz fuzz-corpus fuzz-coverage
