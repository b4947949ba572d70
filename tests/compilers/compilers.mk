# SPDX-License-Identifier: MIT
# The library once more, of the very same objects, with a compiler that is made up: its folder (tests/compilers/npiece)
# and its line in the list (LISTED) are all that is new. And what the made-up compiler compiles with (tests/fake/piece),
# and a host of it, linked and not.
THIRD       := $(BUILD)/tests/compilers
THIRD_OURS  := $(wildcard tests/compilers/npiece/*.c)
THIRD_NODES := $(NODES) tests/compilers/npiece/nodes.h
OBJECTS     += $(THIRD)/compilers.o $(call object,$(THIRD_OURS))

$(THIRD)/compilers.o $(THIRD)/libnvrtccache.map: LISTED := -D'COMPILERS_OF_TESTS(X)=X(npiece, NPIECE)'
$(THIRD)/compilers.o $(THIRD)/npiece/functions.o: OURS += $(EARLY)

$(THIRD)/compilers.o: interpose/compilers.c tests/compilers/compilers.mk Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(LISTED) $(OURS) $(CFLAGS) $(ALWAYS) -MMD -MP -c -o $@ $<
$(THIRD)/libnvrtccache.map: interpose/door/libnvrtccache.map.in tests/compilers/compilers.mk interpose/compilers.h $(THIRD_NODES)
	@mkdir -p $(@D)
	$(make_map)
$(THIRD)/libnvrtccache.so: $(call object,$(CORE_SRC) $(filter-out interpose/compilers.c,$(DOOR_SRC)) $(THIRD_OURS)) \
		$(THIRD)/compilers.o $(THIRD)/libnvrtccache.map
	$(link_library)

$(FAKE)/piece/fake.map: tests/compilers/compilers.mk
	@mkdir -p $(@D)
	@printf '%s {\n\tglobal: npiece*; fakeNpiece*;\n\tlocal: *;\n};\n' libnpiece.so.1 >$@
$(FAKE)/piece/libnpiece.so.1: tests/fake/piece/npiece.c tests/fake/piece/npiece.h $(FAKE)/piece/fake.map
	$(call quiet,FAKE,$@)$(FAKE_CC) '-DNPIECE_FLAVOUR="npiece"' -shared -o $@ $< -Wl,-soname,libnpiece.so.1 \
		-Wl,--version-script=$(FAKE)/piece/fake.map -Wl,--build-id -Wl,-Bsymbolic -Wl,-z,lazy

THIRD_HOST = $(call quiet,HOST,$@)$(CC) -I. -D_GNU_SOURCE -std=gnu11 $(WARNINGS) -O1 -g -U_FORTIFY_SOURCE -o $@ $(filter %.c,$^)
$(THIRD)/linked $(THIRD)/lookup: tests/compilers/host.c tests/fake/piece/npiece.h tests/hosts/host.h tests/fake/nvrtc.h
$(THIRD)/linked: $(FAKE)/piece/libnpiece.so.1
	@mkdir -p $(@D)
	$(THIRD_HOST) -DLINKED -Wl,-z,lazy -Wl,--no-as-needed -L$(FAKE)/piece -l:libnpiece.so.1 \
		-Wl,-rpath,$(abspath $(FAKE)/piece) -ldl
$(THIRD)/lookup:
	@mkdir -p $(@D)
	$(THIRD_HOST) -ldl

TEST_TARGETS += $(THIRD)/libnvrtccache.so $(FAKE)/piece/libnpiece.so.1 $(THIRD)/linked $(THIRD)/lookup
