# SPDX-License-Identifier: MIT
# What `make check` needs besides the library, the command and the unit tests: each part adds to TEST_TARGETS.
TEST_TARGETS :=
# A function that somebody else calls gets what it is given: callbacks, stubs, preloads.
TEST_WARNINGS := $(WARNINGS) -Wno-unused-parameter
$(BUILD)/tests/%.o: OURS += -Wno-unused-parameter

-include tests/fake/fake.mk
-include tests/nvvm/nvvm.mk
-include tests/fixtures/loader/loader.mk
-include tests/fixtures/copies/copies.mk
-include tests/fixtures/pairs/pairs.mk
-include tests/fixtures/gated/gated.mk
-include tests/fixtures/fixtures.mk
-include tests/apps/apps.mk
-include tests/hosts/hosts.mk
-include tests/fake/link/link.mk
-include tests/fixtures/modules/modules.mk
-include tests/faults/faults.mk
-include tests/soak/soak.mk
-include tests/network/network.mk
-include tests/fuzz/fuzz.mk
-include tests/mutants/mutants.mk

TEST_CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE

$(BUILD)/tests/player: $(foreach noun,calls texts answers inputs complaints loans,tests/cases/$(noun).c tests/cases/$(noun).h) \
		$(addprefix tests/cases/,player.c calls_library.c calls_linker.c calls_nvvm.c) interpose/nvrtc/versions.h tests/files.h
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) -I. $(TEST_CFLAGS) -o $@ $(filter %.c,$^) -ldl -lpthread -lm

# What scripts/sticky asks the library itself; what compares two caches for tests/cases/stored.py.
$(addprefix $(BUILD)/tests/,verdict stored): $(BUILD)/tests/%: tests/cases/%.c $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(TEST_CFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -o $@ $^ $(B2) -ldl -lm

$(addprefix $(BUILD)/tests/,life start): $(BUILD)/tests/%: tests/bench/%.c tests/bench/timing.h tests/files.h
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) -I. $(TEST_CFLAGS) -O2 -pthread -o $@ $< -ldl

# Preloaded into the clients of scripts/clients, and so built plainly.
$(BUILD)/tests/compiler_clock.so: tests/clients/compiler_clock.c tests/slots.h
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) -I. $(TEST_CFLAGS) -O2 -shared -fPIC -fvisibility=hidden -o $@ $< -ldl

# Preloaded by scripts/cleared-options.
$(BUILD)/tests/option_tap.so: tests/cases/option_tap.c
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) -I. $(TEST_CFLAGS) -O2 -shared -fPIC -o $@ $< -ldl

TEST_TARGETS += $(BUILD)/tests/player $(BUILD)/tests/verdict $(BUILD)/tests/stored $(BUILD)/tests/life $(BUILD)/tests/scale $(BUILD)/tests/compiler_clock.so

# What takes minutes, and is no part of check: 16 processes for SOAK_SECONDS, killed and edited under, every answer checked.
SOAK_SECONDS ?= 600
soak: all $(WORKER) $(FAKE)/13/libnvrtc.so.13 $(FAKE)/13/libnvrtc-builtins.so.13.0
	python3 tests/soak/soak.py $(BUILD) --seconds $(SOAK_SECONDS)
	@if [ -x $(BUILD)/nvrtccache-agent ] && command -v redis-server >/dev/null; then \
		echo 'And with agents and an engine that die:'; python3 tests/soak/soak.py $(BUILD) --agents --seconds $(SOAK_SECONDS); \
	else echo 'No soak with agents: they were not built, or there is no redis-server.'; fi
.PHONY: soak

# Long runs of tests/cases/random_tests.py: make edits ROUNDS=5000 SEED=7; the others likewise.
ROUNDS ?= 5000
SEED   ?= 1
edits calls links pch texts: all $(BUILD)/tests/player $(BUILD)/tests/fixtures/libwall_clock.so
	eval "$$(scripts/nvrtc-env)" && NVJITLINK_LIB=$$NVJITLINK_LIB NVVM_LIB=$$NVVM_LIB NVRTC_LIB=$$NVRTC_LIB/$$NVRTC_SONAME ROUNDS=$(ROUNDS) SEED=$(SEED) \
		python3 tests/cases/random_tests.py $@ $(BUILD)
.PHONY: edits calls links pch texts

# When each compiler reads each argument, by all case files and the toolkit that was found, or releases of scripts/setup:
# make memory RELEASES='12.4 13' CASES=unresolved MEMORY=name
memory: all $(BUILD)/tests/player
	for release in $(or $(RELEASES),found); do \
		[ $$release = found ] || export NVRTCCACHE_TOOLKIT=wheel:$$release; \
		(eval "$$(scripts/nvrtc-env)" && export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$$NVRTC_LIB/$$NVRTC_SONAME \
			CASES="$(CASES)" MEMORY="$(MEMORY)" && echo "# $$release" && python3 tests/cases/memory.py $(BUILD)) || exit; \
	done
.PHONY: memory

# Which options change what later compiles give: make sticky, make sticky RELEASES='11.8 12.9 13'; and at random.
RELEASES ?=
sticky: $(BUILD)/tests/verdict
	scripts/sticky $(RELEASES)
spoilers: $(BUILD)/tests/verdict
	scripts/sticky --random $(ROUNDS) --seed $(SEED) $(RELEASES)
.PHONY: sticky spoilers

# Is all that is stored a function of the key? All case files: make stored
stored: all $(addprefix $(BUILD)/,tests/player tests/stored tests/fixtures/libother_clock.so)
	eval "$$(scripts/nvrtc-env)" && export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$$NVRTC_LIB/$$NVRTC_SONAME && \
		LD_LIBRARY_PATH=$$RUN_PATH python3 tests/cases/stored.py $(BUILD)
.PHONY: stored

# Of tests/integration/39-races.sh: make races ROUNDS=5000 SEED=7.
races: all
	CUDA_CACHE_DISABLE=1 RACES_SEED=$(SEED) RACES_SEEDS=$$((($(ROUNDS) + 99) / 100)) RACES_COUNT=100 \
		bash tests/integration/39-races.sh $(BUILD)
.PHONY: races

bench: all $(BUILD)/tests/life
	eval "$$(scripts/nvrtc-env)" && CUDA_INCLUDE=$$CUDA_INCLUDE NVRTC_LIB=$$NVRTC_LIB/$$NVRTC_SONAME \
		python3 tests/bench/bench.py $(BUILD)
.PHONY: bench

# What hits cost in instructions and system calls, against what tests/bench/counts.txt has; WRITE=1 keeps it there.
bench-check: all $(BUILD)/tests/life $(FAKE)/13/libnvrtc.so.13 $(FAKE)/13/libnvrtc-builtins.so.13.0
	tests/bench/counts.py $(BUILD) $(if $(WRITE),--write)
.PHONY: bench-check

# The same hits under cuda.core's own caches, and ccache's of nvcc; cuda.core comes from PyPI.
peers: all
	eval "$$(scripts/nvrtc-env)" && CUDA_INCLUDE=$$CUDA_INCLUDE NVRTC_LIB=$$NVRTC_LIB tests/bench/peers.py $(BUILD)
.PHONY: peers

# The start of programs with 50 kernels, in C and in Python: without a cache, with an empty one and a full one.
start: all $(BUILD)/tests/start
	eval "$$(scripts/nvrtc-env)" && CUDA_INCLUDE=$$CUDA_INCLUDE NVRTC_LIB=$$NVRTC_LIB NVRTC_SONAME=$$NVRTC_SONAME \
		tests/bench/start.py $(BUILD)
.PHONY: start

# What a large cache costs, against one of a thousand entries: make scale ENTRIES=1000000
ENTRIES ?= 1000000
$(BUILD)/tests/scale: tests/bench/scale.c tests/bench/timing.h tests/files.h tests/unit/syscalls.h $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(TEST_CFLAGS) -O2 -o $@ $< $(BUILD)/core.a $(B2)

scale: all $(BUILD)/tests/scale
	$(BUILD)/tests/scale $(BUILD)/nvrtccache $(ENTRIES)
.PHONY: scale

matrix: all $(BUILD)/tests/player
	scripts/matrix $(BUILD)
.PHONY: matrix

# In a minute, what tells most of what could be wrong.
QUICK := unit-tests 07-includes 10-loader 15-traps 20-exports 31-versions 33-sticky 34-arithmetic 35-compile-lock 36-own 55-layers 60-apps
quick: all $(BUILD)/unit-tests $(filter-out $(BUILD)/tests/hosts/% $(BUILD)/tests/faults/%,$(TEST_TARGETS))
	TESTS="$(QUICK)" tests/run $(BUILD)
.PHONY: quick

# What scripts need that take a build of another machine: make ARCH=aarch64 fixtures
fixtures: $(BUILD)/libnvrtccache.so $(BUILD)/nvrtccache $(filter $(FAKE)/% $(BUILD)/tests/fixtures/% $(NVVM_HOSTS)/% \
	$(HOSTS)/linker% $(HOSTS)/forks $(HOSTS)/pair $(HOSTS)/reopen,$(TEST_TARGETS))
.PHONY: fixtures

# Who includes whom, and on which floor each noun stands.
layers:
	scripts/layers
style:
	scripts/style --fix
tidy:
	scripts/style --tidy
.PHONY: layers style tidy

# Bare roots of other distributions, as root: scripts/roots says more.
roots:
	scripts/roots
# The same with what `make packages` packs, installed there: scripts/packages-roots says more.
packages-roots:
	scripts/packages-roots
.PHONY: roots packages-roots
