"""Recipes, scripts and documents have the dependencies of jobs/dependencies.txt."""

import dataclasses
import re
import subprocess
import tomllib

import pytest

from documents import ROOT

DEPENDENCIES = ROOT / "jobs/dependencies.txt"
SPACK_RECIPE = "jobs/spack/spack_repo/warpfold/packages/warpfold/package.py"
USES = {
    "build", "compiler", "launcher", "library", "filter", "command", "fortran", "test", "further-test", "python",
    "simulation", "slurm", "package", "tidy",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Dependency:
    uses: frozenset
    debian: str
    spack: str
    module: str
    probe: str

    @property
    def name(self):
        """Its name of Spack, without versions and variants."""
        return re.match(r"[\w-]+", self.spack)[0]


def rows():
    cells = [
        re.split(r" *\| *", line) for line in DEPENDENCIES.read_text().splitlines() if not line.startswith("#")
    ]
    return [Dependency(frozenset(uses.split()), *rest) for uses, *rest in cells]


ROWS = rows()


def used_for(*uses):
    return [row for row in ROWS if row.uses & set(uses)]


def text(name):
    return (ROOT / name).read_text()


def plain(name):
    """A name in the form that all lists share: libzstd, ZSTD: zstd; nlohmann_json: nlohmann-json."""
    name = name.lower().replace("_", "-").removeprefix("lib")
    return {"openmpi": "mpi", "pkgconf": "pkgconfig", "c-blosc": "blosc"}.get(name, name)


def plain_set(names):
    return {plain(name) for name in names}


NEEDED = plain_set(row.name for row in used_for("library", "command"))
LINKED = NEEDED | plain_set(row.name for row in used_for("filter"))
TOOLS = {"cmake", "ninja", "pkgconfig"}


def test_rows_are_whole():
    assert len({row.debian for row in ROWS}) == len(ROWS) > 40
    for row in ROWS:
        assert row.uses and row.uses <= USES, row
        assert row.debian and row.spack and row.module and row.probe, row
    assert plain_set(row.name for row in used_for("build")) == LINKED | TOOLS | {"gcc"}


def test_setup_reads_the_rows():
    for uses in (["build"], ["library", "filter"], ["further-test"]):
        printed = subprocess.run(
            ["bash", "-c", 'source jobs/setup.sh; packages_for "$@"', "-", *uses],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert printed.split() == [row.debian for row in used_for(*uses)]


def test_scripts_ask_for_uses_that_are_listed():
    asked = set()
    for name in ("tests/run.sh", "jobs/quickstart.sh", "jobs/packages/build.sh"):
        for uses in re.findall(r'^ *(?:require|want "[^"]*") ([a-z -]+)$', text(name), re.MULTILINE):
            asked |= set(uses.split())
    assert {"build", "further-test", "fortran", "slurm", "package"} <= asked <= USES


def test_setup_probes_with_functions_that_it_has():
    functions = re.findall(r"^(\w+)\(\)", text("jobs/setup.sh"), re.MULTILINE)
    assert {row.probe.split()[0] for row in ROWS} <= set(functions)


def test_cmake_finds_the_same():
    found = []
    for name in ("CMakeLists.txt", "src/cmake/WarpfoldCompressors.cmake"):
        found += re.findall(r"^(?:find_package|pkg_check_modules)\((\w+)", text(name), re.MULTILINE)
        found += re.findall(r"^find_library\(\w+ (\w+)", text(name), re.MULTILINE)
    # Not all systems that the list serves have packages of blosc2.
    assert plain_set(found) - {"threads", "pkgconfig"} == LINKED | {"blosc2"}


@pytest.mark.parametrize("name", ["libdeflate", "liblz4", "libzstd"])
def test_cmake_needs_what_is_no_filter(name):
    needed = f"pkg_check_modules({name} REQUIRED" in text("src/cmake/WarpfoldCompressors.cmake")
    assert needed == (plain(name) in NEEDED)


def test_minimum_versions_agree():
    versions = dict(re.findall(r"\| (\w+)@([\d.]+):", DEPENDENCIES.read_text()))
    assert versions.keys() == {"gcc", "cmake", "hdf5"}
    recipe, building, front = text(SPACK_RECIPE), text("src/README.md"), text("README.md")
    assert f"cmake_minimum_required(VERSION {versions['cmake']})" in text("CMakeLists.txt")
    assert f"HDF5_VERSION VERSION_LESS {versions['hdf5']})" in text("CMakeLists.txt")
    assert f'conflicts("%gcc@:{int(versions["gcc"]) - 1}"' in recipe
    assert f"CMake {versions['cmake']}, " in building and f"CMake {versions['cmake']}, " in front
    assert f"GCC {versions['gcc']} or newer" in building and f"HDF5 {versions['hdf5']} or newer" in building


def test_the_spack_recipe_has_the_same():
    depends = re.findall(r'depends_on\("([^"]+)"', text(SPACK_RECIPE))
    names = plain_set(re.match(r"[\w-]+", spec)[0] for spec in depends)
    assert names - {"c", "cxx", "fortran", "cuda"} == LINKED | {"cmake", "pkgconfig"}
    for row in used_for("compiler", "library", "filter", "command"):
        if row.name not in ("gcc", "openmpi", "pkgconf"):
            assert row.spack.replace(" ", "") in depends
    assert 'generator("ninja")' in text(SPACK_RECIPE)


def test_the_easyconfig_has_the_same():
    (easyconfig,) = (ROOT / "jobs/packages").glob("*.eb")
    lists = re.findall(r"^(?:build)?dependencies = \[\n(.*?)^\]", easyconfig.read_text(), re.MULTILINE | re.DOTALL)
    names = plain_set(re.findall(r"\('(\w+)', ", "".join(lists)))
    modules = [row.module for row in used_for("build") if row.module not in ("gcc", "openmpi")]
    assert len(lists) == 2
    assert names == plain_set(modules)


def test_packages_and_images_have_a_launcher():
    (launcher,) = used_for("launcher")
    assert f'RECOMMENDS "{launcher.debian} |' in text("src/cmake/WarpfoldPackages.cmake")
    for name in ("Containerfile", "warpfold.def", "README.md"):
        assert re.search(rf"apt-get install .*\b{launcher.debian}\b", text(f"jobs/packages/{name}")), name


def test_python_modules_are_listed():
    project = tomllib.loads(text("src/python/pyproject.toml"))["project"]
    modules = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
    assert len(modules) >= 3
    assert {f"python3-{name}" for name in modules} <= {row.debian for row in ROWS}


def test_the_front_page_names_what_is_needed():
    listed = re.search(r"Requires Linux, CMake [\d.]+, a C\+\+20 compiler, (.*?);", text("README.md"), re.DOTALL)[1]
    assert plain_set(re.split(r",\s+|\s+and\s+", listed)) == NEEDED


def test_the_page_on_building_names_what_is_needed():
    building = text("src/README.md").partition("## Building")[2]
    prose = building.partition("```")[0]
    for name in LINKED:
        assert re.search(rf"(?i)\b(lib)?{name}\b", prose), name
    commands = building.replace("\\\n", "")
    installed = set(re.search(r"^spack install (.*)$", commands, re.MULTILINE)[1].split())
    assert installed == {row.spack.replace(" ", "") for row in used_for("build") if row.name != "gcc"}
    loaded = re.search(r"^spack load (.*)$", commands, re.MULTILINE)[1].split()
    assert set(loaded) == {re.match(r"[\w-]+", spec)[0] for spec in installed}
