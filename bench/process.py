"""CPU and memory of the measured process."""

import resource


def read_cpu_ms() -> float:
    """Return the CPU time of all threads since the process began, in user and kernel mode."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def read_rss_kb() -> float:
    """Return the present resident memory, as Linux reports it."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(float(line.split()[1]) for line in file if line.startswith("VmRSS:"))
