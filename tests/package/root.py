"""A bare Debian of the release that this system has, in a folder: made by debootstrap once and kept as a tarball.

The mirror, its proxy and its passwords are those of the system's own apt, read when they are needed. What is mounted is mounted in
the namespace of the process (see `try.py`): the kernel takes it away with the process, however that ends.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

# The person who uses the app there, without rights.
PERSON = "person"
UID = 1000
HOME = Path("home") / PERSON
# What apt, dpkg and the kernel keep for themselves, and what is the person's.
NOT_COMPARED = {
    "dev", "proc", "sys", "tmp", "run/lock", str(HOME), "var/cache/apt", "var/cache/ldconfig", "var/lib/apt", "var/log",
    "var/lib/dpkg/available", "var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend", "var/lib/dpkg/status",
    "var/lib/dpkg/status-old", "var/lib/dpkg/triggers", "var/lib/dpkg/info/format",
}


class Refused(Exception):
    """What the try does not get past, in words for a person."""


def release():
    """The name of the system's release, such as bookworm."""
    facts = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(), re.M))
    if facts.get("ID") != "debian" or not facts.get("VERSION_CODENAME"):
        raise Refused("The try needs Debian: the package is built of the system's own libraries, and is tried on its release.")
    return facts["VERSION_CODENAME"]


def entries(file):
    """The places of packages that a file of apt's names: address, suites and components of each."""
    text = file.read_text()
    if file.suffix == ".sources":
        for stanza in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.M)):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.M))
            if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes").strip().lower() != "no":
                for uri in fields.get("URIs", "").split():
                    yield uri, fields.get("Suites", "").split(), fields.get("Components", "").split()
    else:
        for uri, suite, components in re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)", text, re.M):
            yield uri, [suite], components.split()


def sources(name):
    """The lines of the release in apt's own sources, the release itself first; other places are left out."""
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    found = []
    for file in files:
        if file.suffix in (".list", ".sources") and file.is_file():
            for uri, suites, components in entries(file):
                wanted = [suite for suite in suites if suite in (name, f"{name}-updates", f"{name}-security")]
                if "main" in components and uri.startswith(("http:", "https:")):
                    found += [(uri, suite) for suite in wanted]
    found.sort(key=lambda source: source[1] != name)
    if not found or found[0][1] != name:
        raise Refused(f"No file of /etc/apt names a mirror of {name} (http or https) with `main`.")
    return found


def proxies():
    """Apt's settings of proxies, as lines of its configuration and as variables."""
    dump = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout
    lines = [line for line in dump.splitlines() if re.match(r"Acquire::\S*proxy", line, re.I)]
    named = dict(re.findall(r'^Acquire::(https?)::Proxy "([^"]+)";$', dump, re.M))
    return lines, {f"{scheme}_proxy": address for scheme, address in named.items() if address != "DIRECT"}


def run(command, **options):
    """Runs a command that must succeed; what it said is shown when it does not."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout.strip()[-4000:]}")
    return done.stdout


class Root:
    """The bare Debian, as it is during one try."""

    def __init__(self, place):
        self.place = place
        self.path = place / "root"
        self.archives = place / "archives"

    def __truediv__(self, path):
        return self.path / path

    def make(self):
        """Unpacks the tarball, which is made first where it is not there."""
        name = release()
        found = sources(name)
        lines, variables = proxies()
        tarball = self.place / f"{name}.tar"
        self.archives.mkdir(parents=True, exist_ok=True)
        self.remove()
        if not tarball.exists():
            https = ["--include=ca-certificates"] if any(uri.startswith("https:") for uri, _ in found) else []
            run(["debootstrap", "--variant=minbase", *https, name, self.path, found[0][0]], env={**os.environ, **variables})
            (self / "var/cache/apt/archives").mkdir(exist_ok=True)
            run(["chroot", self.path, "useradd", "--uid", str(UID), "--create-home", "--shell", "/bin/sh", PERSON])
            unfinished = tarball.with_suffix(".unfinished")
            run(["tar", "--create", "--numeric-owner", "--one-file-system", "-f", unfinished, "-C", self.path, "."])
            unfinished.rename(tarball)
        else:
            self.path.mkdir()
            run(["tar", "--extract", "--numeric-owner", "-f", tarball, "-C", self.path])
        text = "".join(f"deb {uri} {suite} main\n" for uri, suite in found)
        (self / "etc/apt/sources.list").write_text(text)
        (self / "etc/apt/apt.conf.d/90try").write_text("\n".join(lines) + "\n")
        shutil.copy("/etc/resolv.conf", self / "etc/resolv.conf")
        for name in ("auth.conf", "auth.conf.d"):
            given = Path("/etc/apt") / name
            if given.is_dir():
                shutil.copytree(given, self / "etc/apt" / name, dirs_exist_ok=True)
            elif given.exists():
                shutil.copy(given, self / "etc/apt" / name)

    def mount(self):
        """Mounts what programs need, devices that everybody has among them and none of the system's others."""
        run(["mount", "-t", "proc", "proc", self / "proc"])
        run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self / "dev"])
        for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
            os.mknod(self / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            (self / "dev" / name).chmod(0o666)
        (self / "dev/shm").mkdir(mode=0o1777)
        (self / "dev/shm").chmod(0o1777)
        (self / "dev/fd").symlink_to("/proc/self/fd")
        run(["mount", "--bind", self.archives, self / "var/cache/apt/archives"])

    def remove(self):
        """Removes the folder with all that is in it, and nothing that is mounted there."""
        for at in reversed(re.findall(rf"^\S+ ({re.escape(str(self.path))}\S*) ", Path("/proc/mounts").read_text(), re.M)):
            run(["umount", at])
        if self.path.exists():
            run(["rm", "-rf", "--one-file-system", self.path])

    def root(self, *command):
        """Runs a command in it as its administrator."""
        clean = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        return run(["chroot", self.path, "env", "-i", *clean, *command], stdin=subprocess.DEVNULL)

    def apt(self, *words):
        """Runs apt-get in it. Packages that came are kept for the next try."""
        options = ["-y", "-q", "-o", "Dpkg::Use-Pty=0", "-o", "APT::Keep-Downloaded-Packages=true", "-o", "Binary::apt-get::APT::Keep-Downloaded-Packages=true"]
        return self.root("apt-get", *options, "--no-install-recommends", *words)

    def start(self, command, display=None, **options):
        """Starts a command in it as the person."""
        clean = ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME=/{HOME}", f"USER={PERSON}", "LANG=C.UTF-8"]
        if display:
            clean.append(f"DISPLAY={display}")
        person = ["chroot", f"--userspec={UID}:{UID}", self.path, "env", "-i", *clean]
        return subprocess.Popen([*person, *command], stdin=subprocess.DEVNULL, **options)

    def give(self, source, target):
        """Puts a copy of a folder into the person's home."""
        target = self / HOME / target
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target)
        run(["chown", "-R", f"{UID}:{UID}", self / HOME])

    def processes(self):
        """What the person runs. What has ended and nobody asked after is not counted."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                name, state = re.search(r"\((.*)\) (\w)", (folder / "stat").read_text()).groups()
                if folder.stat().st_uid == UID and state != "Z":
                    found.append(name)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def files(self):
        """All that is in it, each with what tells it from another: kind, rights, owner, content."""
        return {path: facts for path, facts in files(self.path, NOT_COMPARED)}


def files(folder, left_out=frozenset()):
    """What is below a folder, by paths relative to it."""
    for at, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(at) / name
            short = str(path.relative_to(folder))
            if short in left_out:
                if name in folders:
                    folders.remove(name)
                continue
            facts = path.lstat()
            content = ""
            if stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(facts.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            yield short, (oct(facts.st_mode), facts.st_uid, facts.st_gid, content)
