/* SPDX-License-Identifier: MIT */
/* The same doors as in arch/x86_64/dlsym.S, where comments explain them and show them in C. */

	.text

	.macro TRAMPOLINE name, which, versioned
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
	br	x16
2:	stp	x29, x30, [sp, #-48]!
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	.if	\versioned == 0
	mov	x2, #0
	.endif
	mov	x3, x30
	mov	w4, #\which
	bl	dlsym_filter
	mov	x9, x0
	mov	x10, x1
	ldp	x0, x1, [sp, #16]
	ldr	x2, [sp, #32]
	ldp	x29, x30, [sp], #48
	.cfi_adjust_cfa_offset -48
	.cfi_restore x29
	.cfi_restore x30
	cbz	x10, 1b
	mov	x0, x9
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	TRAMPOLINE our_dlsym_old, 0, 0
	TRAMPOLINE our_dlsym_new, 1, 0
	TRAMPOLINE our_dlvsym_old, 2, 1
	TRAMPOLINE our_dlvsym_new, 3, 1

	.symver	our_dlsym_old, dlsym@GLIBC_2.17
	.symver	our_dlsym_new, dlsym@@GLIBC_2.34
	.symver	our_dlvsym_old, dlvsym@GLIBC_2.17
	.symver	our_dlvsym_new, dlvsym@@GLIBC_2.34

	.macro RESOLVER which
	.type	next_symbol_resolve_\which, %function
	.balign	16
next_symbol_resolve_\which:
	.cfi_startproc
	hint	#34			/* bti c; reached by br x16 */
	stp	x29, x30, [sp, #-48]!
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	mov	w0, #\which
	bl	next_symbol_bootstrap
	ldp	x0, x1, [sp, #16]
	ldr	x2, [sp, #32]
	ldp	x29, x30, [sp], #48
	.cfi_adjust_cfa_offset -48
	.cfi_restore x29
	.cfi_restore x30
	adrp	x16, next_symbol_functions
	add	x16, x16, :lo12:next_symbol_functions
	ldr	x16, [x16, #8*\which]
	br	x16
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
	.type	next_symbol_functions, %object
	.size	next_symbol_functions, 32
next_symbol_functions:
	.quad	next_symbol_resolve_0
	.quad	next_symbol_resolve_1
	.quad	next_symbol_resolve_2
	.quad	next_symbol_resolve_3

	.section .note.GNU-stack,"",%progbits
	.section .note.gnu.property,"a"
	.balign	8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI */
