"""The state of a run that is recorded: a dict that notes which of its keys are looked at."""

# Keys that are noted; a function that looks at more uses the state as a whole.
MOST = 1000


class RecordedState(dict):
    """A dict whose reads are noted. What is written to it is not."""

    __slots__ = ("noted", "whole")

    def __init__(self, values):
        super().__init__(values)
        self.noted, self.whole = {}, False

    def report(self):
        return {"all": self.whole, "keys": list(self.noted)}

    def note(self, key):
        if isinstance(key, str):
            if len(self.noted) < MOST:
                self.noted[key] = True
            else:
                self.whole = True

    def __getitem__(self, key):
        self.note(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        self.note(key)
        return super().__contains__(key)

    def get(self, key, default=None):
        self.note(key)
        return super().get(key, default)

    def pop(self, key, *default):
        self.note(key)
        return super().pop(key, *default)

    def setdefault(self, key, default=None):
        self.note(key)
        return super().setdefault(key, default)

    def copy(self):
        return dict(self)

    def __reduce_ex__(self, protocol):
        # Another process does not know this class.
        return dict, (dict(self),)

    __hash__ = None


def used_whole(name):
    original = getattr(dict, name)

    def method(self, *args, **options):
        self.whole = True
        return original(self, *args, **options)

    method.__name__ = name
    return method


for name in ("__iter__", "__len__", "__eq__", "__ne__", "__repr__", "__or__", "__ror__", "__reversed__", "keys", "values", "items", "popitem"):
    if hasattr(dict, name):
        setattr(RecordedState, name, used_whole(name))
