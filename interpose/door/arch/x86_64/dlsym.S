/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym: trampolines that preserve the caller's return address.
 *
 * glibc resolves RTLD_NEXT and RTLD_DEFAULT by its caller's return address. So a call that this library does not answer
 * must reach the next dlsym in load order by a jump, with all registers unchanged. In C, for dlsym@GLIBC_2.34:
 *
 *	if (name begins with 'n', '_' or 'd', or handle is an object's and *loaded_counter != modules_seen) {
 *		struct dlsym_answer answer = dlsym_filter(handle, name, version or NULL, return_address, which);
 *		if (answer.handled)
 *			return answer.address;
 *	}
 *	goto *next_symbol_functions[which];
 *
 * next_symbol_functions[] initially has the address of next_symbol_resolve, which fills it by next_symbol_bootstrap()
 * and then jumps to the function that it found.
 */
#if __has_include(<cet.h>)
#include <cet.h>
#else
#define _CET_ENDBR /* clang before 11: the library is not marked as having landing pads, so none are required */
#endif

	.text

	.macro TRAMPOLINE name, which, versioned
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
1:	jmp	*next_symbol_functions+8*\which(%rip)
2:	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	.if	\versioned == 0
	xor	%edx, %edx
	.endif
	mov	24(%rsp), %rcx
	mov	$\which, %r8d
	call	dlsym_filter
	test	%rdx, %rdx
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jz	1b
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE our_dlsym_old, 0, 0
	TRAMPOLINE our_dlsym_new, 1, 0
	TRAMPOLINE our_dlvsym_old, 2, 1
	TRAMPOLINE our_dlvsym_new, 3, 1

	.symver	our_dlsym_old, dlsym@GLIBC_2.2.5
	.symver	our_dlsym_new, dlsym@@GLIBC_2.34
	.symver	our_dlvsym_old, dlvsym@GLIBC_2.2.5
	.symver	our_dlvsym_new, dlvsym@@GLIBC_2.34

	/* One resolver per pointer, because each has to know which of the four functions to jump to. */
	.macro RESOLVER which
	.type	next_symbol_resolve_\which, @function
	.balign	16
next_symbol_resolve_\which:
	.cfi_startproc
	_CET_ENDBR
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	mov	$\which, %edi
	call	next_symbol_bootstrap
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*next_symbol_functions+8*\which(%rip)
	.cfi_endproc
	.size	next_symbol_resolve_\which, . - next_symbol_resolve_\which
	.endm

	RESOLVER 0
	RESOLVER 1
	RESOLVER 2
	RESOLVER 3

	.data
	.balign	8
	.globl	next_symbol_functions
	.hidden	next_symbol_functions
	.type	next_symbol_functions, @object
	.size	next_symbol_functions, 32
next_symbol_functions:
	.quad	next_symbol_resolve_0
	.quad	next_symbol_resolve_1
	.quad	next_symbol_resolve_2
	.quad	next_symbol_resolve_3

	.section .note.GNU-stack,"",@progbits
