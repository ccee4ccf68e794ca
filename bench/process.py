"""What the process that is being measured has used."""

import resource


def read_cpu_ms() -> float:
    """CPU time of all threads since the process began, in user and kernel mode."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def read_rss_kb() -> float:
    """The resident memory now, as Linux tells it."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(float(line.split()[1]) for line in file if line.startswith("VmRSS:"))
