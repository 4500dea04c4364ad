"""Says which functions of the workspace's Rust code processes ran, for `./dev test --changed`.

Usage: ran.py PROGRAM COUNTS...     (COUNTS: what the processes of a story wrote, *.profraw)

The program is built with the compiler's own counters (`instrument.sh`). It holds where each counted function stands, its processes
write how often each was entered, also when they are killed. Printed is one JSON object: of each file of the workspace the first and last
lines, from 1 on, of the functions that ran: {"crates/engine/src/a.rs": [[10, 31], ...]}. Its files are those of the folder that this
starts in. Both forms are LLVM's: "Code Coverage Mapping Format" (version 7) and "Instrumentation Profile Format" (raw, version 10);
another version is an error.
"""

import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path

RAW_MAGIC = 0xFF6C70726F667281
RAW_VERSION = 10
MAP_VERSION = 6  # counted from 0


def sections(elf):
    """The sections of a 64-bit ELF file by their names."""
    (start,) = struct.unpack_from("<Q", elf, 0x28)
    count, names = struct.unpack_from("<HH", elf, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * at) for at in range(count)]
    texts = headers[names][4]
    return {elf[texts + h[0]:elf.index(b"\0", texts + h[0])].decode(): (h[4], h[5]) for h in headers}


class Reader:
    """Numbers of 7 bits to the byte, one after the other."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()


def file_names(elf, at, size):
    """The lists of files in the program, by the hash that functions name them with."""
    lists, end = {}, at + size
    while at + 16 <= end:
        _, length, _, version = struct.unpack_from("<4I", elf, at)
        if version != MAP_VERSION:
            sys.exit(f"The program's map has version {version + 1}; this script reads {MAP_VERSION + 1}.")
        blob = elf[at + 16:at + 16 + length]
        reader = Reader(blob)
        count, plain, packed = reader.number(), reader.number(), reader.number()
        body = zlib.decompress(blob[reader.at:reader.at + packed]) if packed else blob[reader.at:reader.at + plain]
        texts = Reader(body)
        names = [texts.text() for _ in range(count)]
        lists[hashlib.md5(blob).digest()[:8]] = names
        at += (16 + length + 7) & ~7
    return lists


def span(reader, files):
    """Where a function stands: its file, first and last line; nothing when it is not written in one file."""
    if reader.number() != 1:
        return None
    file = files[reader.number()]
    for _ in range(2 * reader.number()):
        reader.number()
    line, first, last = 0, None, 0
    for _ in range(reader.number()):
        reader.number()
        line += reader.number()
        reader.number()
        lines = reader.number()
        reader.number()
        first = line if first is None else min(first, line)
        last = max(last, line + lines)
    return None if first is None else (file, first, last)


def spans(program):
    """Of each counted function, by the hash of its name: file, first and last line."""
    elf = program.read_bytes()
    found = sections(elf)
    files = file_names(elf, *found["__llvm_covmap"])
    at, size = found["__llvm_covfun"]
    end, result = at + size, {}
    while at + 28 <= end:
        name, length = struct.unpack_from("<QI", elf, at)
        names = files.get(elf[at + 20:at + 28])
        where = names and span(Reader(elf, at + 28), names)
        if where:
            result[name] = where
        at += (28 + length + 7) & ~7
    return result


def entered(counts):
    """The hashes of the names of the functions that a process entered."""
    raw = counts.read_bytes()
    if len(raw) < 128:
        return set()  # killed before it had begun
    header = struct.unpack_from("<16Q", raw)
    magic, version, ids, records, before, counters, _, _, _, _, delta = header[:11]
    if magic != RAW_MAGIC or version & 0xFF != RAW_VERSION:
        sys.exit(f"{counts} has version {version & 0xFF}; this script reads {RAW_VERSION}.")
    start = 128 + ids
    data = start + 64 * records + before
    values = memoryview(raw)[data:data + 8 * counters].cast("Q")
    result = set()
    for number, record in enumerate(struct.iter_unpack("<QQQQQQIHHHHI", raw[start:start + 64 * records])):
        first = ((record[2] - delta + 64 * number) & (1 << 64) - 1) // 8
        if any(values[first:first + record[6]]):
            result.add(record[0])
    return result


def main():
    program, *counts = map(Path, sys.argv[1:])
    kept = program.with_suffix(".spans.json")
    if not kept.exists() or kept.stat().st_mtime < program.stat().st_mtime:
        root = f"{Path.cwd()}/"
        known = {name: (file.removeprefix(root), *lines) for name, (file, *lines) in spans(program).items() if file.startswith(root)}
        part = kept.with_suffix(f".{counts[0].stem if counts else 'part'}")
        part.write_text(json.dumps(known))
        part.replace(kept)
    known = json.loads(kept.read_text())
    ran = {}
    for name in set().union(*map(entered, counts)):
        if where := known.get(str(name)):
            ran.setdefault(where[0], set()).add((where[1], where[2]))
    print(json.dumps({file: sorted(lines) for file, lines in sorted(ran.items())}))


main()
