"""What a running function belongs to, for the worker and for what functions find around them."""

import asyncio
import concurrent.futures
import contextvars

# There is no record yet: it is to be made.
OPEN = object()

CURRENT = contextvars.ContextVar("superstep_scope")


class Stop(BaseException):
    """The function is not to go on: somebody is asked first, or the run has ended."""


class TaskFuture(concurrent.futures.Future):
    """The result of a durable task: `.result()`, or `await`."""

    def __await__(self):
        return asyncio.wrap_future(self).__await__()


class Scope:
    """A call, and which of its tasks is at work: 0 is the function itself."""

    __slots__ = ("call", "scope", "again", "called", "resume", "refused", "taken")

    def __init__(self, call, scope, again=False):
        self.call, self.scope, self.again = call, scope, again
        # The graphs that it calls itself, if it does.
        self.called = None
        # Answers that LangGraph's `interrupt` has taken, why it did not take the last one, and whether there was one.
        self.resume, self.refused, self.taken = [], None, False
