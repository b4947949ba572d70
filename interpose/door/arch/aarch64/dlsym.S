/* SPDX-License-Identifier: MIT */
/* The same doors as in arch/x86_64/dlsym.S, where comments explain them and show them in C. */

	.text

	.macro TRAMPOLINE name, which
	.globl	\name
	.type	\name, %function
	.balign	16
\name:
	.cfi_startproc
	hint	#34			/* bti c */
	cbz	x1, 1f
	add	x9, x0, #1		/* RTLD_NEXT, RTLD_DEFAULT: 0, 1 */
	cmp	x9, #1
	b.ls	3f
	adrp	x9, loaded_counter
	ldr	x9, [x9, :lo12:loaded_counter]
	ldr	x9, [x9]
	adrp	x10, modules_seen
	ldr	x10, [x10, :lo12:modules_seen]
	cmp	x9, x10
	b.ne	2f
3:
	ldrb	w9, [x1]
	cmp	w9, #'n'
	b.eq	2f
	cmp	w9, #'_'
	b.eq	2f
	cmp	w9, #'d'
	b.eq	2f
1:	adrp	x16, next_symbol_functions
	add	x16, x16, :lo12:next_symbol_functions
	ldr	x16, [x16, #8*\which]
	cbz	x16, 2f
	br	x16
2:	mov	w16, #32+\which
	b	door_common
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE our_dlsym_old, 0
	TRAMPOLINE our_dlsym_new, 1
	TRAMPOLINE our_dlvsym_old, 2
	TRAMPOLINE our_dlvsym_new, 3

	.symver	our_dlsym_old, dlsym@GLIBC_2.17
	.symver	our_dlsym_new, dlsym@@GLIBC_2.34
	.symver	our_dlvsym_old, dlvsym@GLIBC_2.17
	.symver	our_dlvsym_new, dlvsym@@GLIBC_2.34

	.section .note.GNU-stack,"",%progbits
	.section .note.gnu.property,"a"
	.balign	8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI */
