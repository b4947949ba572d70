# SPDX-License-Identifier: MIT
# Builds of the fake NVRTC: one directory per build under $(BUILD)/tests/fake, each with its libnvrtc-builtins beside it.
#   11 12 13      sonames libnvrtc.so.11.2, .12 and .13, with the functions of 11.8, 12.9 and 13.0
#   135           13.5, which reads relative paths by absolute names
#   13b           another 13.0: same soname, other build-id, other answers
#   13now noplt   bound at load with full RELRO; called through GLOB_DAT slots in RELRO
#   renamed       12.9 as auditwheel leaves it: other file name and soname, version node as before
#   future        13.4 with a function that nobody knows
#   unwatchable   imports nftw
#   nobuiltins    13.0 without libnvrtc-builtins
#   private.o     13.0 for linking into something else, unversioned
#   stub          libnvrtc.so.13 for linking only, unversioned
comma := ,
FAKE := $(BUILD)/tests/fake
FAKE_HEADERS := $(wildcard tests/fake/*.h) tests/slots.h tests/fake/fake.mk
FAKE_SOURCES := $(addprefix tests/fake/,nvrtc.c compile.c options.c frontend.c rehook.c)
FAKE_CC := $(CC) -I. -D_GNU_SOURCE -std=gnu11 $(TEST_WARNINGS) -O1 -g -fPIC -fvisibility=hidden -U_FORTIFY_SOURCE \
	-Wno-unknown-warning-option -Wno-format-truncation

# $(1) directory, $(2) file, $(3) soname, $(4) version node, $(5) major, $(6) minor, $(7) flavour, $(8) more flags
define fake_library
$(FAKE)/$(1)/fake.map: tests/fake/fake.mk
	@mkdir -p $$(@D)
	@printf '%s {\n\tglobal: nvrtc*; __nvrtcCPEx; fakeNvrtc*;\n\tlocal: *;\n};\n' '$(4)' >$$@
$(FAKE)/$(1)/$(2): $(FAKE_SOURCES) $(FAKE_HEADERS) $(FAKE)/$(1)/fake.map
	$$(call quiet,FAKE,$$@)$(FAKE_CC) -DFAKE_MAJOR=$(5) -DFAKE_MINOR=$(6) '-DFAKE_FLAVOUR="$(7)"' -shared -o $$@ \
		$(FAKE_SOURCES) -Wl,-soname,$(3) -Wl,--version-script=$(FAKE)/$(1)/fake.map -Wl,--build-id -Wl,-Bsymbolic \
		-Wl,--enable-new-dtags '-Wl,-rpath,$$$$ORIGIN' -Wl,-z,lazy $(8)
	@ln -sf $(2) $$(@D)/libnvrtc.so
TEST_TARGETS += $(FAKE)/$(1)/$(2)
endef

# $(1) directory, $(2) major, $(3) minor
define fake_builtins
$(FAKE)/$(1)/libnvrtc-builtins.so.$(2).$(3): tests/fake/builtins.c
	@mkdir -p $$(@D)
	$$(call quiet,FAKE,$$@)$(FAKE_CC) -DFAKE_MAJOR=$(2) -DFAKE_MINOR=$(3) -shared -o $$@ $$< -Wl,--build-id \
		-Wl,-soname,libnvrtc-builtins.so.$(2).$(3)
TEST_TARGETS += $(FAKE)/$(1)/libnvrtc-builtins.so.$(2).$(3)
endef

$(eval $(call fake_library,11,libnvrtc.so.11.2,libnvrtc.so.11.2,libnvrtc.so.11.2,11,8,plain,))
$(eval $(call fake_library,12,libnvrtc.so.12,libnvrtc.so.12,libnvrtc.so.12,12,9,plain,$(if $(filter x86_64,$(ARCH)),-DFAKE_OLD_STAT)))
$(eval $(call fake_library,13,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,plain,))
$(eval $(call fake_library,135,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,5,plain,))
$(eval $(call fake_library,13b,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,second,))
$(eval $(call fake_library,13now,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,now,-Wl$(comma)-z$(comma)now$(comma)-z$(comma)relro))
$(eval $(call fake_library,noplt,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,noplt,-fno-plt -Wl$(comma)-z$(comma)now$(comma)-z$(comma)relro))
$(eval $(call fake_library,renamed,libnvrtc-abc123.so.12,libnvrtc-abc123.so.12,libnvrtc.so.12,12,9,renamed,))
$(eval $(call fake_library,future,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,4,future,-DFAKE_FUTURE))
$(eval $(call fake_library,unwatchable,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,unwatchable,-DFAKE_FORBIDDEN))
$(eval $(call fake_library,nobuiltins,libnvrtc.so.13,libnvrtc.so.13,libnvrtc.so.13,13,0,nobuiltins,))
$(eval $(call fake_builtins,11,11,8))
$(eval $(call fake_builtins,12,12,9))
$(eval $(call fake_builtins,renamed,12,9))
$(eval $(call fake_builtins,135,13,5))
$(eval $(call fake_builtins,future,13,4))
$(foreach directory,13 13b 13now noplt unwatchable private,$(eval $(call fake_builtins,$(directory),13,0)))

$(FAKE)/private/private.o: $(FAKE_SOURCES) $(FAKE_HEADERS)
	@mkdir -p $(@D)
	$(call quiet,FAKE,$@)for s in $(FAKE_SOURCES); do $(FAKE_CC) -DFAKE_MAJOR=13 -DFAKE_MINOR=0 \
		'-DFAKE_FLAVOUR="private"' -c -o $(@D)/$$(basename $$s .c).o $$s || exit 1; done; \
	$(CC) -nostdlib -r -o $@ $(patsubst tests/fake/%.c,$(@D)/%.o,$(FAKE_SOURCES))

$(FAKE)/stub/libnvrtc.so: $(FAKE_SOURCES) $(FAKE_HEADERS)
	@mkdir -p $(@D)
	$(call quiet,FAKE,$@)$(FAKE_CC) -DFAKE_MAJOR=13 -DFAKE_MINOR=0 '-DFAKE_FLAVOUR="stub"' -shared -o $@ \
		$(FAKE_SOURCES) -Wl,-soname,libnvrtc.so.13
