# SPDX-License-Identifier: MIT
"""hashcat: two hash modes on a pretended device, with a kernel cache of its own that is new in each run. NVRTC reads its kernels
and their computed includes from files. What it links and loads is PTX."""
import os
import subprocess

import device
import report

ROOT = os.environ["CLIENT_SOURCE"]
device.pretend("libcuda.so.1", libraries=[os.path.join(ROOT, "usr", "lib", "x86_64-linux-gnu")])
PLACE = os.path.join(os.environ["HOME"], "hashcat")
HASHES = {"0": "8743b52063cd84097a65d1633f5c74f5", "1400": "127e6fbfe24a750e72930c220a8e138275656b8e5d8f48a98c3c92df2caba935"}

# A hashcat outside of /usr/bin takes everything from its own directory, and writes there.
os.makedirs(PLACE)
share = os.path.join(ROOT, "usr", "share", "hashcat")
for name in set(os.listdir(share)) - {"modules"}:
    os.symlink(os.path.join(share, name), os.path.join(PLACE, name))
os.symlink(os.path.join(ROOT, "usr", "lib", "hashcat", "modules"), os.path.join(PLACE, "modules"))
program = os.path.join(PLACE, "hashcat")
with open(os.path.join(ROOT, "usr", "bin", "hashcat"), "rb") as source, open(program, "wb") as copy:
    copy.write(source.read())
os.chmod(program, 0o755)

version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
report.begin("hashcat", version, any_kept=True)
for mode, digest in HASHES.items():
    with report.compiling():
        done = subprocess.run([program, "-m", mode, "-a", "3", "--self-test-disable", "--force", "--potfile-disable", digest, "?d"],
                              cwd=PLACE, stdin=subprocess.DEVNULL, capture_output=True)
    device.products(f"mode {mode}")
    report.text(f"mode {mode} exit code", str(done.returncode))
report.end()
