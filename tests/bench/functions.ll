target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare double @__nv_sin(double)
declare double @__nv_exp(double)
declare double @__nv_log(double)
declare double @__nv_pow(double, double)

define void @functions(double* %x)
{
	%thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
	%place = getelementptr double, double* %x, i32 %thread
	%value = load double, double* %place
	%sine = call double @__nv_sin(double %value)
	%power = call double @__nv_pow(double %value, double %sine)
	%exponential = call double @__nv_exp(double %power)
	%logarithm = call double @__nv_log(double %value)
	%sum = fadd double %exponential, %logarithm
	store double %sum, double* %place
	ret void
}

!nvvm.annotations = !{!0}
!0 = !{void (double*)* @functions, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
