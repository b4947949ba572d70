# SPDX-License-Identifier: MIT
"""OpenMM: a molecular simulation on a pretended device: its context compiles kernels, and its first step some more. The plugin
is linked with NVRTC. What it loads is PTX."""
import device
import report

device.pretend("libcuda.so.1")
import openmm  # noqa: E402

PARTICLES = 64


def simulation():
    system, forces, bonds, angles = openmm.System(), openmm.NonbondedForce(), openmm.HarmonicBondForce(), openmm.HarmonicAngleForce()
    system.setDefaultPeriodicBoxVectors((3, 0, 0), (0, 3, 0), (0, 0, 3))
    forces.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    for i in range(PARTICLES):
        system.addParticle(16)
        forces.addParticle(0.1 if i % 2 else -0.1, 0.3, 0.5)
    for i in range(0, PARTICLES - 2, 3):
        bonds.addBond(i, i + 1, 0.1, 1000)
        angles.addAngle(i, i + 1, i + 2, 1.9, 100)
        system.addConstraint(i + 1, i + 2, 0.1)
    for force in (forces, bonds, angles, openmm.CMMotionRemover(), openmm.MonteCarloBarostat(1, 300)):
        system.addForce(force)
    integrator = openmm.LangevinMiddleIntegrator(300, 1, 0.002)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName("CUDA"))
    context.setPositions([(0.3 * (i % 8), 0.3 * (i // 8), 0.1) for i in range(PARTICLES)])
    integrator.step(1)


report.begin("OpenMM", openmm.__version__, any_kept=True)
with report.compiling():
    simulation()
device.products("kernels")
report.end()
