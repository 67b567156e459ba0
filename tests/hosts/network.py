"""Hosts on one machine: each a network namespace with an address of its own, a name, its own shared
memory and mounts, on a switch that the tests can pull cables from. Only root can make them."""

import os
import pathlib
import shlex
import shutil
import subprocess
import time

ENTER = """#!/bin/bash
# enter HOST COMMAND...: runs a command, as a remote shell does, on a host
host=$1
shift
exec ip netns exec {prefix}-"$host" unshare --uts --ipc --mount --propagation private bash -c '
  hostname "$0"
  mount --bind {folder}/hosts /etc/hosts
  [[ -e {folder}/"$0".setup ]] && source {folder}/"$0".setup
  exec bash -c "$1"' "$host" "$*"
"""


def missing():
    """Why hosts can't be made here; None where they can."""
    if os.getuid() != 0:
        return "only root can make network namespaces"
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"no {tool} here"
    name = f"wf{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode != 0:
        return f"network namespaces can't be made: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return None


class Network:
    """Hosts h1, h2, ... and what runs on them."""

    def __init__(self, folder, count):
        self.folder = pathlib.Path(folder)
        self.prefix = f"wf{os.getpid()}"
        self.hosts = [f"h{i + 1}" for i in range(count)]
        self._switch = f"{self.prefix}-switch"
        self._add_namespace(self._switch)
        self._ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        self._ip("-n", self._switch, "link", "set", "switch", "up")
        for host in self.hosts:
            self._add_host(host, self._address(host))
        addresses = [f"{self._address(host)} {host}\n" for host in self.hosts]
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(addresses))
        self._enter = self.folder / "enter"
        self._enter.write_text(ENTER.format(prefix=self.prefix, folder=self.folder))
        self._enter.chmod(0o755)

    def close(self):
        for host in self.hosts:
            self.kill_all(host)
        for namespace in [self._switch, *map(self._namespace, self.hosts)]:
            subprocess.run(["ip", "netns", "del", namespace], check=True)

    def launch(self, *command, ranks_per_host, hosts=None, settings=()):
        """Begins a command's ranks on hosts, by mpirun on the first of them."""
        hosts = hosts or self.hosts
        mpirun = [
            os.environ.get("MPIEXEC", "mpirun"),
            "--host", ",".join(f"{host}:{ranks_per_host}" for host in hosts),
            "-np", str(ranks_per_host * len(hosts)),
            *map(str, command),
        ]  # fmt: skip
        return subprocess.Popen(
            [self._enter, hosts[0], shlex.join(mpirun)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(settings),
            start_new_session=True,
        )

    def put_in_place_of(self, path, host, other):
        """Has a host see the file `other` under a path."""
        setup = self.folder / f"{host}.setup"
        setup.write_text(f"mount --bind {shlex.quote(str(other))} {shlex.quote(str(path))}\n")

    def see_the_same(self):
        for host in self.hosts:
            (self.folder / f"{host}.setup").unlink(missing_ok=True)

    def unplug(self, host):
        self._ip("-n", self._switch, "link", "set", host, "down")

    def plug_in(self, host):
        """Returns once another host reaches it."""
        self._ip("-n", self._switch, "link", "set", host, "up")
        other = next(each for each in self.hosts if each != host)
        deadline = time.monotonic() + 30
        while not self._reaches(other, host):
            assert time.monotonic() < deadline, f"{host} can't be reached"

    def _reaches(self, host, other):
        """A closed port refuses a connection; of a host that is not there nothing comes back."""
        probe = f"timeout 0.5 bash -c ': </dev/tcp/{self._address(other)}/9'"
        tried = subprocess.run(["ip", "netns", "exec", self._namespace(host), "bash", "-c", probe],
                               capture_output=True, text=True)  # fmt: skip
        return "refused" in tried.stderr

    def _address(self, host):
        return f"10.77.0.{self.hosts.index(host) + 1}"

    def processes(self, host):
        listed = subprocess.run(["ip", "netns", "pids", self._namespace(host)],
                                capture_output=True, text=True, check=True)  # fmt: skip
        return [int(word) for word in listed.stdout.split()]

    def kill_all(self, host):
        """Ends all processes of a host at once, as a lost power supply does."""
        while processes := self.processes(host):
            subprocess.run(["kill", "-9", *map(str, processes)], capture_output=True)
            time.sleep(0.05)

    def _namespace(self, host):
        return f"{self.prefix}-{host}"

    def _add_namespace(self, name):
        self._ip("netns", "add", name)
        self._ip("-n", name, "link", "set", "lo", "up")

    def _add_host(self, host, address):
        namespace = self._namespace(host)
        self._add_namespace(namespace)
        self._ip("-n", namespace, "link", "add", "eth0", "type", "veth",
                 "peer", "name", host, "netns", self._switch)  # fmt: skip
        self._ip("-n", self._switch, "link", "set", host, "master", "switch", "up")
        self._ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        self._ip("-n", namespace, "link", "set", "eth0", "up")

    def _environment(self, settings):
        return {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm_rsh_agent": str(self._enter),
            "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "self,vader,tcp",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
            "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            **{f"OMPI_MCA_{name}": str(value) for name, value in dict(settings).items()},
        }

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True)
