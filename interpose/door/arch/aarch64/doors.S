/* SPDX-License-Identifier: MIT */
/* The same doors as in arch/x86_64/doors.S, which shows them in C. The number is in w16. */

	.text
	.globl	door_entries
	.hidden	door_entries
	.type	door_entries, %function
	.balign	16
door_entries:
	.set	index, 0
	.rept	32
	.balign	16
	hint	#34			/* bti c */
	mov	w16, #index
	b	door_common
	.set	index, index + 1
	.endr
	.size	door_entries, . - door_entries

	.globl	door_common
	.hidden	door_common
	.type	door_common, %function
	.balign	16
door_common:
	.cfi_startproc
	stp	x29, x30, [sp, #-224]!
	.cfi_adjust_cfa_offset 224
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	w0, w16
	add	x1, sp, #16
	mov	x2, x30
	bl	door_prepare
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #224
	.cfi_adjust_cfa_offset -224
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	door_common, . - door_common

	.section .note.GNU-stack,"",%progbits
	.section .note.gnu.property,"a"
	.balign	8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI */
