"""What a measurement ran on: processor, memory, clocks, GPUs, and the file system of its files."""

import os
import pathlib
import subprocess

GPU_FACTS = ("name", "uuid", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.memory")
CPUS = pathlib.Path("/sys/devices/system/cpu")


def text_of(path):
    """A file's text; nothing where it can't be read."""
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return ""


def output_of(*words):
    """What a command prints; nothing where it can't be run or fails."""
    try:
        ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                               timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def fields_of(name):
    """All values of a field of /proc/cpuinfo, or of /proc/meminfo."""
    lines = (text_of("/proc/cpuinfo") + "\n" + text_of("/proc/meminfo")).splitlines()
    return [value.strip() for field, _, value in (line.partition(":") for line in lines)
            if field.strip() == name]  # fmt: skip


def core_count():
    """Cores that this process may use; two hardware threads of a core count once."""
    usable = os.sched_getaffinity(0)
    siblings = {text_of(CPUS / f"cpu{cpu}/topology/thread_siblings_list") or cpu for cpu in usable}
    return len(siblings)


def file_system_of(folder):
    """The kind of file system that a folder is on, and where that is mounted."""
    found = output_of("stat", "-f", "-c", "%T", str(folder))
    mount = output_of("stat", "-c", "%m", str(folder))
    return f"{found} at {mount}" if found else ""


def gpus():
    """A line for each GPU: model, UUID, driver, memory, and its highest clocks."""
    return output_of("nvidia-smi", f"--query-gpu={','.join(GPU_FACTS)}",
                     "--format=csv,noheader").splitlines()  # fmt: skip


def processor_clocks():
    """The highest clock of the cores now and the most they may have, and who chooses, as known."""
    now = fields_of("cpu MHz")
    most = text_of(CPUS / "cpu0/cpufreq/cpuinfo_max_freq")
    governor = text_of(CPUS / "cpu0/cpufreq/scaling_governor")
    parts = [f"{max(map(float, now)):.0f} MHz" if now else "",
             f"{int(most) // 1000} MHz at most" if most else "", governor]  # fmt: skip
    return ", ".join(filter(None, parts))


def facts(folder="/dev/shm"):
    """Those of this host, and of the folder that its files lie in."""
    memory = fields_of("MemTotal")
    return {
        "host": os.uname().nodename,
        "system": f"{os.uname().sysname} {os.uname().release}",
        "processor": (fields_of("model name") or ["unknown"])[0],
        "processor_clocks": processor_clocks(),
        "cores": core_count(),
        "memory_bytes": int(memory[0].split()[0]) * 1024 if memory else None,
        "file_system": file_system_of(folder),
        "gpus": gpus(),
    }
