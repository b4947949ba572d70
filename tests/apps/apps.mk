# SPDX-License-Identifier: MIT
# The sample programs: built with whatever NVRTC scripts/nvrtc-env finds; without one they are left out, and the tests
# that need them skip with that reason. They are built plainly (no sanitizer, none of our flags): they play the host.
APP_CFLAGS ?= -O2 -g -Wall -Wextra -Werror
APPS       := $(addprefix $(BUILD)/apps/,saxpy template_kernel static_cxx lto dynamic)
# static_nvrtc: only where the toolkit has NVRTC to link in (scripts/smoke asks for it then)
APPS_TOO   := $(BUILD)/apps/static_nvrtc
# jit_lto: only where there is an nvJitLink to link with (tests/clients/jit_lto.py asks for it then)
APPS_TOO   += $(BUILD)/apps/jit_lto
APP_STUB   := $(BUILD)/apps/stub/libcuda.so.1

TEST_TARGETS += $(APPS)

# saxpy binds lazily through its PLT, template_kernel at start through its GOT: both ways in must work
$(BUILD)/apps/saxpy: APP_FLAGS = -Wl,-z,lazy -lnvrtc -lcuda -lm
$(BUILD)/apps/template_kernel: APP_FLAGS = -fno-plt -Wl,-z,now -lnvrtc -lcuda -lm
# as C++ programs are shipped to run anywhere: the C++ runtime is inside
$(BUILD)/apps/static_cxx: APP_FLAGS = -static-libstdc++ -static-libgcc -Wl,-z,lazy -lnvrtc -lcuda -lm
# libnvrtc_static.a is C++ inside
$(BUILD)/apps/static_nvrtc: APP_FLAGS = -lnvrtc_static -lnvrtc-builtins_static -lnvptxcompiler_static -lcuda -lm \
	-Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -lpthread -ldl
# bound at start, for tests/clients/compiler_clock.c
$(BUILD)/apps/jit_lto: APP_FLAGS = -Wl,-z,now -lnvrtc -lnvJitLink
$(BUILD)/apps/lto: APP_FLAGS = -lnvrtc -ldl -lm
$(BUILD)/apps/dynamic: APP_FLAGS = -ldl -lm

$(addprefix $(BUILD)/apps/,template_kernel static_cxx): APP_CC = $(CXX) -std=c++17
$(addprefix $(BUILD)/apps/,template_kernel static_cxx): tests/apps/template_kernel.cpp
$(addprefix $(BUILD)/apps/,saxpy static_nvrtc): tests/apps/saxpy.c
$(BUILD)/apps/lto: tests/apps/lto.c
$(BUILD)/apps/jit_lto: tests/apps/jit_lto.c
$(BUILD)/apps/dynamic: tests/apps/dynamic.c

APP_CC = $(CC) -std=gnu11
$(APPS) $(APPS_TOO): $(wildcard tests/apps/*.h) $(APP_STUB) tests/apps/apps.mk
	@mkdir -p $(@D)
	$(call quiet,APP,$@)if env=$$(scripts/nvrtc-env); then eval "$$env" && \
	$(APP_CC) $(APP_CFLAGS) -isystem $$CUDA_INCLUDE -DNVRTC_SONAME="\"$$NVRTC_SONAME\"" \
		-DNVJITLINK_SONAME="\"libnvJitLink.so.$${NVRTC_SONAME##*.}\"" -o $@ $(filter %.c %.cpp,$^) \
		-L$$NVRTC_LIB -L$(BUILD)/apps/stub $(APP_FLAGS); else rm -f $@; fi

# A toolkit brings a stub driver to link with; wheels do not, then it is ours. Both let the programs start.
$(APP_STUB): tests/apps/stub_driver.c tests/apps/apps.mk
	@mkdir -p $(@D)
	$(call quiet,STUB,$@)eval "$$(scripts/nvrtc-env 2>/dev/null)"; if [ -n "$$CUDA_STUB" ]; then cp "$$CUDA_STUB" $@; else \
	$(CC) -O2 -shared -fPIC -Wl,-soname,libcuda.so.1 -o $@ $<; fi && ln -sf libcuda.so.1 $(@D)/libcuda.so
