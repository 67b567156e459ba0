"""A Slurm cluster of two nodes within one machine: munge, slurmctld and two slurmd on loopback."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NODES = ("n1", "n2")
GPUS = 4
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "setpriv", "mknod")
SECONDS_TO_START = 60

CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ReturnToService=2
KillWait=15
JobRequeue=1
MinJobAge=3600
EnforcePartLimits=ALL
GresTypes=gpu
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports[1]},{ports[2]}] CPUs=8 \
Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:fake:{gpus} \
State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=120 State=UP
"""
GPU_CONFIGURATION = """
AutoDetect=off
NodeName=n[1-2] Name=gpu Type=fake File={folder}/nvidia[0-{last}]
"""


def missing():
    """Why no cluster can be started here; None where it can."""
    if os.getuid() != 0:
        return "starting Slurm's daemons takes root"
    search = os.environ["PATH"] + ":/usr/sbin:/sbin"
    for name in PROGRAMS:
        if shutil.which(name, path=search) is None:
            return f"{name} is not installed"
    return None


class CannotStart(Exception):
    """This machine does not let a cluster start."""


def free_ports(count):
    with contextlib.ExitStack() as open_sockets:
        taken = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in taken:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in taken]


class Cluster:
    """Starts on construction; `close` ends everything that was started, jobs included."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {
            **os.environ,
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
            "SLURM_CONF": str(self.folder / "slurm.conf"),
        }
        self.daemons = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        self._configure()
        files = ("key-file", "socket", "pid-file", "log-file", "seed-file")
        munge = [f"--{name}={self.folder}/munge.{name.split('-')[0]}" for name in files]
        self._start_daemon("munged", "--foreground", *munge)
        self._wait_until((self.folder / "munge.socket").exists, "munged to open its socket")
        self._start_daemon("slurmctld", "-D", "-i", "-c")
        for node in NODES:
            self._start_daemon("slurmd", "-D", "-N", node)
        self._wait_until(self._is_idle, "the nodes to become idle")

    def _configure(self):
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        # Slurm hands out GPUs by their device files: ones that exist, and are character devices.
        for gpu in range(GPUS):
            words = ["mknod", self.folder / f"nvidia{gpu}", "c", "1", "3"]
            made = subprocess.run(words, capture_output=True, text=True)
            if made.returncode != 0:
                raise CannotStart(made.stderr.strip())
        settings = {"folder": self.folder, "gpus": GPUS, "last": GPUS - 1, "ports": free_ports(3)}
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**settings))
        (self.folder / "gres.conf").write_text(GPU_CONFIGURATION.format(**settings))

    def _start_daemon(self, *words):
        # In sessions of their own, as scancel and the terminal signal whole groups.
        log = open(self.folder / f"{words[0]}-{len(self.daemons)}.out", "w")
        with log:
            daemon = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        self.daemons.append(daemon)

    def _wait_until(self, condition, what):
        end = time.monotonic() + SECONDS_TO_START
        while not condition():
            ended = [each.args[3] for each in self.daemons if each.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"waiting for {what}; ended: {ended}\n{self._logs()}")
            time.sleep(0.1)

    def _is_idle(self):
        states = self.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()
        return states == ["idle"] * len(NODES)

    def _logs(self):
        logs = sorted({*self.folder.glob("*.log"), *self.folder.glob("*.out")})
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-2000:]}" for log in logs)

    def run(self, *words, cwd=None, **variables):
        """A command of Slurm's, with the cluster's environment."""
        given = {name: str(value) for name, value in variables.items()}
        return subprocess.run(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={**self.environment, **given}, cwd=cwd, timeout=120,
        )  # fmt: skip

    def close(self):
        if len(self.daemons) > len(NODES) and self.daemons[1].poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.run("scancel", "--user=root", "--state=PENDING")
                self.run("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.kill_processes()

    def kill_processes(self, **variables):
        """Kills what jobs run: all that has this cluster, and the variables, in its environment.

        Children go before their parents, who would tell them to leave in order.
        """
        marks = {"SLURM_CONF": self.environment["SLURM_CONF"], **variables}
        wanted = {f"{name}={value}".encode() for name, value in marks.items()}
        for process in sorted(map(int, filter(str.isdigit, os.listdir("/proc"))), reverse=True):
            with contextlib.suppress(OSError):
                environment = pathlib.Path(f"/proc/{process}/environ").read_bytes()
                if wanted <= {*environment.split(b"\0")}:
                    os.kill(process, signal.SIGKILL)
