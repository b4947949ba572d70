/* SPDX-License-Identifier: MIT */
/*
 * unknown_entry[n]: doors for functions that no compiler's table lists. In C:
 *
 *	goto *unknown_prepare(n, { rdi, rsi, rdx, rcx, r8, r9 });
 *
 * with every argument register unchanged.
 */
#if __has_include(<cet.h>)
#include <cet.h>
#else
#define _CET_ENDBR /* as in dlsym.S */
#endif

	.text
	.globl	unknown_entries
	.hidden	unknown_entries
	.type	unknown_entries, @function
	.balign	16
unknown_entries:
	.set	index, 0
	.rept	32
	.balign	16
	_CET_ENDBR
	mov	$index, %r11d
	jmp	unknown_common
	.set	index, index + 1
	.endr
	.size	unknown_entries, . - unknown_entries

	.type	unknown_common, @function
	.balign	16
unknown_common:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$192, %rsp
	mov	%rdi, 0(%rsp)
	mov	%rsi, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rcx, 24(%rsp)
	mov	%r8, 32(%rsp)
	mov	%r9, 40(%rsp)
	mov	%rax, 48(%rsp)
	movaps	%xmm0, 64(%rsp)
	movaps	%xmm1, 80(%rsp)
	movaps	%xmm2, 96(%rsp)
	movaps	%xmm3, 112(%rsp)
	movaps	%xmm4, 128(%rsp)
	movaps	%xmm5, 144(%rsp)
	movaps	%xmm6, 160(%rsp)
	movaps	%xmm7, 176(%rsp)
	mov	%r11d, %edi
	mov	%rsp, %rsi
	call	unknown_prepare
	mov	%rax, %r11
	mov	0(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rcx
	mov	32(%rsp), %r8
	mov	40(%rsp), %r9
	mov	48(%rsp), %rax
	movaps	64(%rsp), %xmm0
	movaps	80(%rsp), %xmm1
	movaps	96(%rsp), %xmm2
	movaps	112(%rsp), %xmm3
	movaps	128(%rsp), %xmm4
	movaps	144(%rsp), %xmm5
	movaps	160(%rsp), %xmm6
	movaps	176(%rsp), %xmm7
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	unknown_common, . - unknown_common

	.section .note.GNU-stack,"",@progbits
