/* SPDX-License-Identifier: MIT */
/*
 * door_entries[n]: doors for functions that no compiler's table lists, and, with larger numbers, dlsym.S. In C:
 *
 *	goto *door_prepare(n, arguments = { rdi, rsi, rdx, rcx, r8, r9 }, return_address);
 *
 * with every argument register unchanged, except those that door_prepare() changes in `arguments`.
 */
#if __has_include(<cet.h>)
#include <cet.h>
#else
#define _CET_ENDBR /* clang before 11: the library is not marked as having landing pads, so none are required */
#endif

	.text
	.globl	door_entries
	.hidden	door_entries
	.type	door_entries, @function
	.balign	16
door_entries:
	.set	index, 0
	.rept	32
	.balign	16
	_CET_ENDBR
	mov	$index, %r11d
	jmp	door_common
	.set	index, index + 1
	.endr
	.size	door_entries, . - door_entries

	/* Its number is in r11. */
	.globl	door_common
	.hidden	door_common
	.type	door_common, @function
	.balign	16
door_common:
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
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movaps	%xmm\n, 64+16*\n(%rsp)
	.endr
	mov	%r11d, %edi
	mov	%rsp, %rsi
	mov	8(%rbp), %rdx
	call	door_prepare
	mov	%rax, %r11
	mov	0(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rcx
	mov	32(%rsp), %r8
	mov	40(%rsp), %r9
	mov	48(%rsp), %rax
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movaps	64+16*\n(%rsp), %xmm\n
	.endr
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	door_common, . - door_common

	.section .note.GNU-stack,"",@progbits
