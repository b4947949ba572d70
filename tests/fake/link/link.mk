# SPDX-License-Identifier: MIT
# Builds of the fake nvJitLink, one directory each under $(BUILD)/tests/fake/link, and of a host of it (tests/hosts/linker.c)
# that is linked with the names that headers of some releases make it call, or that looks functions up:
#   12.0          names of its release alone, which it cannot tell
#   12.9 13.0     every name up to its own release, and plain ones
#   13.2          with LTO-IR, and with a function that nobody knows; 13.2b is another build of it
LINKED_FAKE := $(FAKE)/link

# $(1) directory, $(2) major, $(3) minor, $(4) flavour, $(5) what is exported
define fake_link
$(LINKED_FAKE)/$(1)/fake.map: tests/fake/link/link.mk
	@mkdir -p $$(@D)
	@printf 'libnvJitLink.so.%s {\n\tglobal: %s fakeLink*;\n\tlocal: *;\n};\n' '$(2)' '$(5)' >$$@
$(LINKED_FAKE)/$(1)/libnvJitLink.so.$(2): tests/fake/link/nvjitlink.c tests/fake/link/nvjitlink.h tests/fake/text.h $(LINKED_FAKE)/$(1)/fake.map
	$$(call quiet,FAKE,$$@)$(FAKE_CC) -DFAKE_MAJOR=$(2) -DFAKE_MINOR=$(3) '-DFAKE_FLAVOUR="$(4)"' -shared -o $$@ $$< \
		-Wl,-soname,libnvJitLink.so.$(2) -Wl,--version-script=$(LINKED_FAKE)/$(1)/fake.map -Wl,--build-id \
		-Wl,-Bsymbolic -Wl,-z,lazy
TEST_TARGETS += $(LINKED_FAKE)/$(1)/libnvJitLink.so.$(2)
endef

$(eval $(call fake_link,12.0,12,0,plain,__nvJitLink*_12_0;))
$(eval $(call fake_link,12.9,12,9,plain,nvJitLink*; __nvJitLink*;))
$(eval $(call fake_link,13.0,13,0,plain,nvJitLink*; __nvJitLink*;))
$(eval $(call fake_link,13.2,13,2,plain,nvJitLink*; __nvJitLink*;))
$(eval $(call fake_link,13.2b,13,2,other,nvJitLink*; __nvJitLink*;))

# $(1) which, $(2) prefix, $(3) suffix, $(4) the library that it is linked against
define linker_host
$(HOSTS)/linker-$(1): tests/hosts/linker.c $(LINKED_FAKE)/$(4)
	$$(HOST_CC) $$< -DPREFIX=$(2) -DSUFFIX=$(3) -Wl,-z,lazy -Wl,--no-as-needed $(LINKED_FAKE)/$(4) \
		-Wl,--enable-new-dtags -Wl,-rpath,$(abspath $(LINKED_FAKE)/$(dir $(4))) -ldl -lm
$(HOSTS)/linker-$(1): tests/files.h tests/hosts/host.h tests/fake/nvrtc.h tests/fake/link/nvjitlink.h
TEST_TARGETS += $(HOSTS)/linker-$(1)
endef

$(eval $(call linker_host,12_0,__nvJitLink,_12_0,12.9/libnvJitLink.so.12))
$(eval $(call linker_host,12_8,__nvJitLink,_12_8,12.9/libnvJitLink.so.12))
$(eval $(call linker_host,13,nvJitLink,,13.0/libnvJitLink.so.13))
$(eval $(call linker_host,13_0,__nvJitLink,_13_0,13.0/libnvJitLink.so.13))
$(HOSTS)/linker: tests/hosts/linker.c tests/files.h tests/hosts/host.h tests/fake/nvrtc.h tests/fake/link/nvjitlink.h
	$(HOST_CC) $< -ldl -lm
TEST_TARGETS += $(HOSTS)/linker
