"""Names the processor of this machine for reports on measurements."""

import os
import platform
from pathlib import Path


def processor() -> str:
    """The model of the processor and the number of its cores, such as `EPYC 7763, 2 cores`."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    return f"{model}, {os.cpu_count()} cores"
