#!/usr/bin/env python3
"""Installs the app's package in a bare Debian, uses it there as a person without rights does, and removes it again; opens folders
of an older and of a newer release with it. `./dev package --try` starts it; README.md says what is looked at.

Everything happens in a namespace of mounts and processes: what is mounted or started ends with this program, however that ends.
The screen is outside of the bare Debian, so that nothing is there but the package and what it declares.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import screen
from root import HOME, Refused, Root, files, run

HERE = Path(__file__).resolve().parent
DATA = ".local/share/superstep"
# Rules of Debian's archive, where the package is not: texts of licences stand there in a package of their own, a changelog has its
# form, and a maintainer an address. Ours carries the licences of all that is built in.
ARCHIVE_ONLY = "copyright-file-contains-full-gpl-license,copyright-file-contains-full-apache-2-license,no-changelog,malformed-contact"
# What no folder of ours has, whichever release wrote it.
NEWER = 99


def check(holds, what):
    if not holds:
        raise Refused(what)


def say(what):
    print(f"  {what}", flush=True)


class Try:
    def __init__(self, package, program, place):
        self.package = package
        self.program = program
        self.place = place
        self.pictures = place / "pictures"
        shutil.rmtree(self.pictures, ignore_errors=True)
        self.pictures.mkdir(parents=True)
        self.root = Root(place)
        self.data = self.root / HOME / DATA

    # ── The package ────────────────────────────────────────────────────────────────────────────────────────────────────

    def look_at(self):
        """What can be said of the package without installing it."""
        control = run(["dpkg-deb", "--field", self.package])
        self.name = re.search(r"^Package: (.+)$", control, re.M)[1]
        unpacked = self.place / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        run(["dpkg-deb", "--extract", self.package, unpacked])
        entry, *others = (unpacked / "usr/share/applications").glob("*.desktop")
        check(not others, "the package has more than one entry for the menu")
        run(["desktop-file-validate", entry])
        fields = dict(re.findall(r"^(\w+)=(.*)$", entry.read_text(), re.M))
        self.command = fields["Exec"].split()
        icons = sorted((unpacked / "usr/share/icons/hicolor").glob(f"*/apps/{fields['Icon']}.png"))
        check(len(icons) >= 3, f"the menu's icon {fields['Icon']} has {len(icons)} sizes")
        licences = (unpacked / f"usr/share/doc/{self.name}/copyright").read_text()
        for word in ("MIT", "Apache", "webkit2gtk", "react"):
            check(word.lower() in licences.lower(), f"the package's licences say nothing of {word}")
        lintian = ["lintian", "--allow-root", "--tag-display-limit", "0", "--fail-on", "error", "--suppress-tags", ARCHIVE_ONLY]
        tags = subprocess.run([*lintian, self.package], capture_output=True, text=True)
        shutil.rmtree(unpacked)
        check(tags.returncode == 0, f"lintian finds errors:\n{tags.stdout}{tags.stderr}")
        warnings = len(re.findall("^W:", tags.stdout, re.M))
        say(f"{self.name}: the menu's entry is valid, {len(icons)} icons, {len(licences) >> 10} KiB of licences, lintian: no error, {warnings} warnings")

    def install(self):
        before = self.root.root("dpkg-query", "-W", "-f", "${Package}\n").split()
        shutil.copy(self.package, self.root / "package.deb")
        self.root.apt("install", "/package.deb")
        (self.root / "package.deb").unlink()
        after = self.root.root("dpkg-query", "-W", "-f", "${Package}\n").split()
        return sorted(set(after) - set(before))

    def owned(self):
        """Files of the package. Its folders may be others' too."""
        listed = self.root.root("dpkg-query", "-L", self.name).split("\n")
        listed = [path.lstrip("/") for path in listed if path not in ("", "/.")]
        return [path for path in listed if not (self.root / path).is_dir() or "uperstep" in path]

    def libraries(self):
        """Every library of every program is there."""
        programs = [path for path in self.owned() if (self.root / path).is_file() and (self.root / path).read_bytes()[:4] == b"\x7fELF"]
        check(programs, "the package has no program")
        for path in programs:
            linked = self.root.root("ldd", f"/{path}")
            missing = re.findall(r"^\s*(\S+) => not found", linked, re.M)
            check(not missing, f"{path} needs {', '.join(missing)}, which no declared dependency brings")
        return programs

    def purge(self):
        owned = self.owned()
        self.root.apt("purge", self.name)
        left = [path for path in owned if (self.root / path).exists()]
        check(not left, f"after its removal the package leaves {', '.join(left)}")

    # ── The app ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def use(self, display, name, doing=None):
        """Starts the app as the menu does, waits until it shows something, does something, closes its window. Returns the log."""
        log = self.place / f"{name}.log"
        with log.open("w") as out:
            app = self.root.start(self.command, display.name, stdout=out, stderr=subprocess.STDOUT)
            try:
                def shown():
                    check(app.poll() is None, f"the app ended with {app.returncode} before it showed a window:\n{log.read_text()}")
                    return display.window()

                window = screen.wait("a window", shown)
                picture = display.drawn(window)
                screen.write_png(self.pictures / f"{name}.png", *picture)
                title = display.title(window)
                check("Superstep" in title, f"the window is called {title!r}")
                if doing:
                    doing()
                display.ask_to_close(window)
                code = app.wait(screen.PATIENCE)
            finally:
                app.kill()
                app.wait()
        text = log.read_text()
        check(code == 0, f"the app was closed and ended with {code}:\n{text}")
        check("panicked" not in text, f"the app panicked:\n{text}")
        try:
            screen.wait("the end of all its processes", lambda: not self.root.processes())
        except TimeoutError as error:
            raise Refused(f"{error}: {', '.join(self.root.processes())}") from error
        return text

    def cli(self, *words, code=0):
        """Calls the command-line program as the person."""
        call = self.root.start([f"/{HOME}/superstep", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = call.communicate(timeout=screen.PATIENCE)
        check(call.returncode == code, f"superstep {' '.join(words)} ended with {call.returncode}:\n{out}{err}")
        return out, err

    def first_start(self, display):
        """A person who never had it."""

        def look():
            out, _ = self.cli("threads", "--json")
            check(json.loads(out) == [], "a new folder has threads")

        log = self.use(display, "first", look)
        for name in ("threads.db", "workbench.db", "window.json"):
            check((self.data / name).is_file(), f"the app made no {name}")
        worded = [line for line in log.splitlines() if re.search(r"\b(ERROR|WARN)\b", line)]
        check(not worded, "the app logs at its first start:\n" + "\n".join(worded))
        say(f"its window shows something, and closes in order; {len(log.splitlines())} lines of log, none of its own")

    def older(self, display):
        """A folder of an older release."""
        self.root.give(HERE / "older", DATA)
        wanted = json.loads((HERE / "older.json").read_text())
        self.use(display, "older")
        threads, _ = self.cli("threads", "--json")
        threads = {thread["thread_id"]: thread for thread in json.loads(threads)}
        check(sorted(threads) == wanted["threads"], f"the threads are {sorted(threads)}")
        settings = json.loads((self.data / "settings.json").read_text())
        check({**settings, **wanted["settings"]} == settings, f"the settings are {settings}")
        self.cli("threads", "verify")
        out, err = self.cli("resume", *wanted["answer"])
        check(wanted["answered"] in out + err, f"the question was answered, and the program says {out}{err}")
        self.cli("resume", *wanted["interrupted"])
        found, _ = self.cli("find", *wanted["find"])
        check(found.strip(), f"nothing is found of {wanted['find']}")
        self.use(display, "older-again", lambda: screen.wait("an index of words", lambda: [*(self.data / "search").glob("*.db")]))
        say(f"a folder of an older release: {len(threads)} threads, a question answered, an interrupted run ended, settings kept")

    def newer(self, display):
        """A folder whose threads a newer release wrote."""
        database = sqlite3.connect(self.data / "threads.db")
        database.execute(f"PRAGMA user_version = {NEWER}")
        database.close()
        before = dict(files(self.data))

        def says():
            log = (self.place / "newer.log").read_text()
            return "newer release" in log and str(NEWER) in log

        self.use(display, "newer", lambda: screen.wait("a word of the newer release", says))
        _, err = self.cli("threads", code=1)
        check("Install a newer release" in err, f"the command line says {err}")
        changed = sorted(path for path, _ in set(before.items()) ^ set(files(self.data)) if not path.endswith("-shm"))
        check(not changed, f"the folder of a newer release was changed: {', '.join(changed)}")
        say("a folder of a newer release: refused in the window and on the command line, and left as it is")

    # ── All of it ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def all(self):
        self.look_at()
        self.root.make()
        self.root.mount()
        self.root.apt("update")
        came = self.install()
        owned = self.owned()
        programs = self.libraries()
        say(f"installed: {len(owned)} files, and {len(came) - 1} packages that it declares; {len(programs)} program finds every library")
        # What it needs stays, so that only what is the package's can differ when it has come and gone again.
        self.purge()
        before = self.root.files()
        self.install()
        shutil.copy(self.program, self.root / HOME / "superstep")
        display = screen.Screen()
        try:
            self.first_start(display)
            self.older(display)
            self.newer(display)
        finally:
            display.close()
        persons = dict(files(self.root / HOME))
        self.purge()
        after = self.root.files()
        changed = sorted(path for path, _ in set(before.items()) ^ set(after.items()))
        check(not changed, f"the package came and went, and these are different: {', '.join(changed)}")
        check(dict(files(self.root / HOME)) == persons, "the removal changed the person's files")
        self.root.apt("autoremove", "--purge")
        rest = self.root.root("dpkg-query", "-W", "-f", "${Package}\n").split()
        left = sorted(set(came) & set(rest))
        check(not left, f"what came with the package stays installed: {', '.join(left)}")
        say("removed: nothing is left but the person's folders, " + ", ".join(self.persons_folders()))

    def persons_folders(self):
        home = self.root / HOME
        return sorted(f"~/{path.relative_to(home)}" for place in (".local/share", ".cache", ".config") for path in (home / place).glob("*"))


def main():
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("package", type=Path)
    reader.add_argument("program", type=Path, help="the command-line program, of the same build")
    reader.add_argument("place", type=Path, help="folder for the bare Debian, pictures and logs")
    reader.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = reader.parse_args()
    if os.getuid() != 0:
        sys.exit("The try makes a bare Debian, mounts and changes root: start it as root.")
    if not chosen.inside:
        isolated = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        os.execvp(isolated[0], [*isolated, sys.executable, "-B", *sys.argv, "--inside"])
    # The first process of a namespace hears nothing that it does not ask for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    started = time.monotonic()
    place = chosen.place.resolve()
    place.mkdir(parents=True, exist_ok=True)
    attempt = Try(chosen.package.resolve(), chosen.program.resolve(), place)
    try:
        attempt.all()
    except (Refused, TimeoutError, subprocess.TimeoutExpired) as refused:
        sys.exit(f"\nThe package fails its try: {refused}\nPictures and logs are in {place}.")
    finally:
        attempt.root.remove()
    print(f"The package passes its try in {time.monotonic() - started:.0f} s. Pictures of its windows are in {attempt.pictures}.")


if __name__ == "__main__":
    main()
