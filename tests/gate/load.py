"""Runs a command on a busy machine: what fails there and not on a quiet one waits for the wrong thing.

Usage: load.py [--load 8] [--minutes 90] COMMAND WORD ...

As many processes as the load keep a processor each for themselves, as far as they get one. They end with the command, with
this script, however that ends, and at the latest after the minutes, when the command is ended, too. The status is the command's.
"""

import argparse
import os
import signal
import subprocess
import sys
import time

# What a busy process does: it looks now and then whether it is still wanted.
BUSY = """
import os, sys, time
parent, until = int(sys.argv[1]), float(sys.argv[2])
while os.getppid() == parent and time.time() < until:
    for _ in range(1_000_000): pass
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("name a command")
    until = time.time() + arguments.minutes * 60
    busy = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid()), str(until)]) for _ in range(arguments.load)]
    begun = time.monotonic()
    command = subprocess.Popen(arguments.command, start_new_session=True)
    try:
        status = command.wait(timeout=arguments.minutes * 60)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        os.killpg(command.pid, signal.SIGTERM)
        command.wait()
        status = f"ended by {type(reason).__name__}"
    finally:
        for process in busy:
            process.kill()
    load = os.getloadavg()
    print(f"With {arguments.load} busy processes: {time.monotonic() - begun:.0f} s, load {load[0]:.1f} in the last minute, {load[2]:.1f} in the last quarter.")
    sys.exit(status)


main()
