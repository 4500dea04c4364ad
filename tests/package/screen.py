"""A screen without a monitor, and what a person does with it: see a window, take a picture of it, close it."""

import os
import struct
import subprocess
import time
import zlib
from collections import Counter

from Xlib import X, Xatom, display, error
from Xlib.protocol import event

# How long is waited for what must happen.
PATIENCE = 120
# A window that is not drawn yet has one colour, or a few.
COLOURS = 40


def wait(what, attempt):
    """Tries until it gives something."""
    end = time.monotonic() + PATIENCE
    while True:
        found = attempt()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {PATIENCE} s")
        time.sleep(0.1)


class Screen:
    """The screen, until it is closed."""

    def __init__(self, width=1440, height=900):
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-ac"]
        self.server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = f":{number.readline().strip()}"
        self.display = display.Display(self.name)

    def close(self):
        self.display.close()
        self.server.terminate()
        self.server.wait()

    def window(self):
        """The largest window that is shown, if one is."""
        found = []
        for window in self.display.screen().root.query_tree().children:
            try:
                if window.get_attributes().map_state == X.IsViewable:
                    size = window.get_geometry()
                    found.append((size.width * size.height, window))
            except error.BadWindow:
                pass
        largest, window = max(found, key=lambda one: one[0], default=(0, None))
        return window if largest >= 400 * 300 else None

    def title(self, window):
        name = window.get_full_property(self.display.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
        name = name or window.get_full_property(Xatom.WM_NAME, X.AnyPropertyType)
        return name.value.decode() if name else ""

    def pixels(self, window):
        """Width, height and the pixels of a window, as blue, green, red and nothing."""
        size = window.get_geometry()
        image = window.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF)
        return size.width, size.height, image.data

    def drawn(self, window):
        """The pixels of a window once it shows something, and the same twice."""
        before = None

        def attempt():
            nonlocal before
            seen = self.pixels(window)
            colours = Counter(struct.unpack(f"<{seen[0] * seen[1]}I", seen[2]))
            same, before = seen == before, seen
            return seen if same and len(colours) >= COLOURS else None

        return wait("a window that shows something", attempt)

    def ask_to_close(self, window):
        """What the cross of a window's frame does."""
        protocols, delete = (self.display.intern_atom(name) for name in ("WM_PROTOCOLS", "WM_DELETE_WINDOW"))
        message = event.ClientMessage(window=window, client_type=protocols, data=(32, [delete, X.CurrentTime, 0, 0, 0]))
        window.send_event(message)
        self.display.flush()


def write_png(file, width, height, pixels):
    """Writes pixels as a PNG."""
    rows = bytearray()
    for line in range(height):
        row = pixels[line * width * 4 : (line + 1) * width * 4]
        colours = bytearray(width * 3)
        colours[0::3], colours[1::3], colours[2::3] = row[2::4], row[1::4], row[0::4]
        rows += b"\0" + colours

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b""))
