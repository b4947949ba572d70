# SPDX-License-Identifier: MIT
# make mutants     COUNT=100 SEED=1 JOBS=2 FILES="interpose/nvrtc/scan.c": so many changes of the code, drawn by place, each of which
#                  a test must notice; PLANTED=only or PLANTED=no: the rules that are taken out by name, or not these; PLANTED=found: are they there?
# ONLY="precompiled": of these those whose names match; BUDGET=60: seconds of tests for one that was drawn; REACH=new
# A mutant that lives, and that equivalent.txt does not explain, is a failure.
COUNT ?= 100
JOBS  ?= 2
MUTANTS := $(BUILD)/mutants
MUTANT_FLAGS := -O2 -g0 -w
mutants: export MUTANT_COMPILE = $(CC) $(CPPFLAGS) $(filter-out $(WARNINGS),$(OURS)) $(MUTANT_FLAGS)
mutants: export MUTANT_LIBRARY = $(CC) $(SHARED) $(HARDEN) -Wl,--strip-debug -o OUTPUT $(call object,$(CORE_SRC) $(DOOR_SRC)) $(B2)
# Objects, so that each has a name in whose place the changed one stands; the archive's are exchanged in a copy of it.
MUTANT_LINK    = $(CC) $(HARDEN) -Wl,--strip-debug -o OUTPUT
MUTANT_AGENT_OBJECTS = $(if $(AGENT),$(call object,$(filter-out agent/node/main.c,$(AGENT_SRC))))
mutants: export MUTANT_UNITS = $(MUTANT_LINK) $(call object,$(UNIT_SRC)) $(CLI_NOUNS) $(MUTANT_AGENT_OBJECTS) $(BUILD)/core.a $(B2) \
	$(if $(AGENT),$(AGENT_LIBS)) -lcriterion -lm
mutants: export MUTANT_COMMAND = $(MUTANT_LINK) -pie -pthread $(call object,$(CLI_SRC)) $(BUILD)/core.a $(B2) -ldl -lm
mutants: export MUTANT_AGENT = $(if $(AGENT),$(MUTANT_LINK) -pie -pthread $(BUILD)/agent/node/main.o $(MUTANT_AGENT_OBJECTS) $(BUILD)/core.a \
	$(B2) $(AGENT_LIBS) -ldl -lm)
mutants: export COUNT := $(COUNT)
mutants: export SEED := $(SEED)
mutants: export JOBS := $(JOBS)
mutants: export FILES := $(FILES)
mutants: export PLANTED := $(PLANTED)
mutants: export REACH := $(REACH)
mutants: export BUDGET := $(BUDGET)
mutants: export ONLY := $(ONLY)

mutants: export MUTANT_COVERAGE = $(MAKE) --no-print-directory BUILD=$(BUILD) mutants-coverage
MUTANTS_NEED := $(BUILD)/tests/player $(BUILD)/tests/life $(filter $(BUILD)/tests/fake/% $(BUILD)/tests/fixtures/% $(LOADER)/% \
	$(NVVM_HOSTS)/% %/collide %/linker $(HOSTS)/linker-%,$(TEST_TARGETS))

mutants: all $(BUILD)/unit-tests $(BUILD)/interpose/door/libnvrtccache.map $(MUTANTS_NEED)
	eval "$$(scripts/nvrtc-env)" && CUDA_INCLUDE=$$CUDA_INCLUDE NVRTC_LIB=$${NVRTC_LIB:+$$NVRTC_LIB/$$NVRTC_SONAME} \
		python3 tests/mutants/mutants.py $(BUILD)

# The same library and tests, with gcov's counters: which test reaches what.
COVERED := $(MUTANTS)/coverage
mutants-coverage:
	@$(MAKE) --no-print-directory -s BUILD=$(COVERED) SAN= \
		CFLAGS='-O1 -g -U_FORTIFY_SOURCE --coverage -fprofile-update=atomic -Wno-error' \
		$(addprefix $(COVERED)/,unit-tests libnvrtccache.so nvrtccache $(if $(AGENT),nvrtccache-agent))
	@cd $(BUILD) && for each in tests/* tests/fixtures/*; do \
		[ -e mutants/coverage/$$each ] || ln -sfn $(abspath $(BUILD))/$$each mutants/coverage/$$each; done
.PHONY: mutants mutants-coverage
