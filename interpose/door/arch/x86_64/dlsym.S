/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym: trampolines that preserve the caller's return address.
 *
 * glibc resolves RTLD_NEXT and RTLD_DEFAULT by its caller's return address. So a call that this library does not answer
 * must reach the next dlsym in load order by a jump, with all registers unchanged. In C, for dlsym@GLIBC_2.34:
 *
 *	if (!next_symbol_functions[which] || name begins with 'n', '_' or 'd', or
 *	    handle is an object's and *loaded_counter != modules_seen)
 *		goto *door_prepare(DOORS_UNKNOWN_MAX + which, arguments, return_address);
 *	goto *next_symbol_functions[which];
 */
#if __has_include(<cet.h>)
#include <cet.h>
#else
#define _CET_ENDBR /* as in doors.S */
#endif

	.text

	.macro TRAMPOLINE name, which
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	_CET_ENDBR
	test	%rsi, %rsi
	jz	1f
	lea	1(%rdi), %r11 /* RTLD_NEXT, RTLD_DEFAULT: 0, 1 */
	cmp	$1, %r11
	jbe	3f
	mov	loaded_counter(%rip), %r11
	mov	(%r11), %r11
	cmp	modules_seen(%rip), %r11
	jne	2f
3:
	cmpb	$'n', (%rsi)
	je	2f
	cmpb	$'_', (%rsi)
	je	2f
	cmpb	$'d', (%rsi)
	je	2f
1:	mov	next_symbol_functions+8*\which(%rip), %r11
	test	%r11, %r11
	jz	2f
	jmp	*%r11
2:	mov	$32+\which, %r11d
	jmp	door_common
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE our_dlsym_old, 0
	TRAMPOLINE our_dlsym_new, 1
	TRAMPOLINE our_dlvsym_old, 2
	TRAMPOLINE our_dlvsym_new, 3

	.symver	our_dlsym_old, dlsym@GLIBC_2.2.5
	.symver	our_dlsym_new, dlsym@@GLIBC_2.34
	.symver	our_dlvsym_old, dlvsym@GLIBC_2.2.5
	.symver	our_dlvsym_new, dlvsym@@GLIBC_2.34

	.section .note.GNU-stack,"",@progbits
