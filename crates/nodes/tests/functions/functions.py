"""Functions as projects of LangGraph have them. `record.py` notes what LangGraph makes of each; the test holds the worker to that."""

import asyncio
import dataclasses
import datetime
import enum
import operator
from typing import Annotated, Any, Literal, Optional

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.config import get_config, get_stream_writer
from langgraph.errors import NodeTimeoutError
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph, add_messages
from langgraph.graph.message import push_message
from langgraph.types import CachePolicy, Command, Overwrite, RetryPolicy, Send, TimeoutPolicy, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

CASES = []
RAN = {}


class made:
    """The functions of the cases, by name."""



def ran(name):
    """How often something ran, in this process."""
    RAN[name] = RAN.get(name, 0) + 1
    return RAN[name]


def case(*answers, w=None, name=None, state=None):
    """A case: a graph of this function, and of a node `w` that it may go to; the answers, one a run."""

    def noted(function):
        function.__name__ = function.__qualname__ = name or function.__name__
        setattr(made, function.__name__, staticmethod(function))
        noted = {"function": function.__name__, "answers": list(answers), "state": state or {}}
        if w:
            noted["w"] = w
        CASES.append(noted)
        return function

    return noted


def both(*answers, **options):
    """The same as a plain function and as one that is awaited: what `make(answer)` does with what it is given to ask with."""

    def noted(function):
        async def awaited(state):
            await asyncio.sleep(0)
            return function(state)

        case(*answers, **options, name=function.__name__ + "_async")(awaited)
        return case(*answers, **options)(function)

    return noted


NULL = {"go_on": True}


def by(**answers):
    """Answers of several questions at once, by their text."""
    return {"by": answers}


# --- questions ----------------------------------------------------------------------------------------------------

for _name, _question, _answer in [
    ("text", "q?", "a"), ("number", 7, 8), ("null", None, "a"), ("truth", True, False), ("list", [1, "two"], [3]),
    ("record", {"question": "q?", "context": {"n": 1}}, {"ok": True}), ("empty_text", "", "x"), ("zero", 0, 0),
    ("empty_answer", "q?", ""), ("empty_list", "q?", []), ("empty_record", "q?", {"k": {}}), ("false", "q?", False),
    ("float", 1.5, 2.5), ("unicode", "Größe? 👍", "ß"), ("long", "q" * 5000, "a" * 5000),
    ("deep", {"a": [{"b": [{"c": "d"}]}]}, {"a": [{"b": None}]}),
]:
    def _asks(state, question=_question):
        return {"x": [interrupt(question)]}

    case(_answer, name="ask_" + _name)(_asks)


@both("a", "b")
def two_questions(state):
    return {"x": [interrupt("first?"), interrupt("second?")]}


@both("a", "b", "c")
def three_questions(state):
    return {"x": [interrupt("q%d?" % n) for n in range(3)]}


@both("no", "no", "yes")
def until_yes(state):
    count = 0
    while interrupt({"sure": count}) != "yes":
        count += 1
    return {"x": count}


@both("more", "why")
def depends(state):
    first = interrupt("first?")
    return {"x": [first, interrupt("why?") if first == "more" else None]}


@both("less")
def depends_not(state):
    first = interrupt("first?")
    return {"x": [first, interrupt("why?") if first == "more" else None]}


@both("a")
def counted(state):
    n = ran("counted" + ("_async" if asyncio._get_running_loop() else ""))
    return {"x": [interrupt("q?"), n]}


@both("a")
def finally_runs(state):
    try:
        answer = interrupt("q?")
    finally:
        n = ran("finally" + ("_async" if asyncio._get_running_loop() else ""))
    return {"x": [answer, n]}


@both("a")
def emits_before(state):
    get_stream_writer()({"before": 1})
    answer = interrupt("q?")
    get_stream_writer()({"after": answer})
    return {"x": answer}


@case("a", w="after")
def asks_and_goes(state):
    return Command(update={"x": interrupt("where?")}, goto="w")


def after(state):
    return {"log": ["w:%s" % state.get("x")]}


@case("a")
def asks_in_class(state):
    class Helper:
        def ask(self):
            return interrupt("helped?")

    return {"x": Helper().ask()}


@case("a")
def asks_then_fails(state):
    interrupt("q?")
    raise ValueError("after the answer")


# --- schemas ------------------------------------------------------------------------------------------------------


class Age(BaseModel):
    age: int


class Address(BaseModel):
    street: str
    lines: list[str] = []


class Person(BaseModel):
    name: str
    address: Address
    nick: Optional[str] = None


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Choice(BaseModel):
    color: Color
    size: Literal["s", "m"]


class Typed(TypedDict):
    n: int


@dataclasses.dataclass
class Data:
    n: int
    s: str = "s"


for _name, _schema, _runs in [
    ("right", Age, [{"age": 41}]), ("wrong", Age, [{"age": "x"}, {"age": 41}]), ("coerced", Age, [{"age": "41"}]),
    ("twice_wrong", Age, [{}, {"age": None}, {"age": 1}]), ("text_for_model", Age, ["41", {"age": 41}]),
    ("extra", Age, [{"age": 1, "more": 2}]), ("nested", Person, [{"name": "a", "address": {"street": "s"}}]),
    ("nested_wrong", Person, [{"name": "a", "address": {}}, {"name": "a", "address": {"street": "s", "lines": ["l"]}, "nick": "n"}]),
    ("enum", Choice, [{"color": "red", "size": "m"}]), ("enum_wrong", Choice, [{"color": "green", "size": "l"}, {"color": "blue", "size": "s"}]),
    ("typed", Typed, [{"n": 3}]), ("typed_wrong", Typed, [{"m": 3}, {"n": 4}]), ("data", Data, [{"n": 1}]),
    ("data_wrong", Data, [{"n": []}, {"n": 2, "s": "t"}]), ("plain_schema", {"type": "integer"}, [5]),
    ("plain_schema_unheld", {"type": "integer"}, ["not held"]),
]:
    def _schema_ask(state, schema=_schema):
        given = interrupt("which?", response_schema=schema)
        return {"x": given.model_dump(mode="json") if isinstance(given, BaseModel) else dataclasses.asdict(given) if dataclasses.is_dataclass(given) else given}

    _schema_ask.__name__ = "schema_" + _name
    both(*_runs)(_schema_ask)


@both({"age": "x"}, {"age": 1}, "b")
def schema_of_a_record(state):
    return {"x": [interrupt({"question": "age?", "context": {"of": "you"}}, response_schema=Age).age, interrupt("and?")]}


@both("a", {"age": "x"}, {"age": 1})
def schema_comes_second(state):
    return {"x": [interrupt("first?"), interrupt("age?", response_schema=Age).age]}


@both({"age": 1}, {"age": "x"}, {"age": 2})
def two_schemas(state):
    return {"x": [interrupt("age?", response_schema=Age).age, interrupt("again?", response_schema=Age).age]}


@both({"age": "x"})
def schema_that_is_caught(state):
    try:
        return {"x": interrupt("age?", response_schema=Age).age}
    except ValueError:
        return {"x": "caught"}


# --- packets ------------------------------------------------------------------------------------------------------


async def slow(state):
    await asyncio.sleep(state.get("for", 0))
    return {"log": ["slow %s" % state.get("n", "")]}


async def lively(state):
    for _ in range(state["beats"]):
        await asyncio.sleep(0.1)
        get_stream_writer()("beat")
    return {"log": ["lively"]}


def packet(name, *packets, w="slow", update=None):
    @case(w=w, name="send_" + name)
    def sends(state):
        return Command(goto=[Send("w", arg, **options) for arg, options in packets], update=update)


packet("one", ({"n": 1}, {}))
packet("three", ({"n": 1}, {}), ({"n": 2}, {}), ({"n": 3}, {}))
packet("with_update", ({"n": 1}, {}), update={"x": "u", "log": ["n"]})
packet("late", ({"for": 5}, {"timeout": 0.3}))
packet("late_delta", ({"for": 5}, {"timeout": datetime.timedelta(milliseconds=300)}))
packet("late_policy", ({"for": 5}, {"timeout": TimeoutPolicy(run_timeout=0.3)}))
packet("late_idle", ({"for": 5}, {"timeout": TimeoutPolicy(idle_timeout=0.3)}))
packet("in_time", ({"n": 1}, {"timeout": 20}))
packet("in_time_policy", ({"n": 1}, {"timeout": TimeoutPolicy(run_timeout=20, idle_timeout=10)}))
packet("lively", ({"beats": 15}, {"timeout": TimeoutPolicy(idle_timeout=1)}), w="lively")
packet("lively_heartbeat", ({"beats": 30}, {"timeout": TimeoutPolicy(idle_timeout=0.3, refresh_on="heartbeat")}), w="lively")
packet("mixed", ({"n": 1}, {}), ({"n": 2}, {"timeout": 20}))


@case(w="slow")
def send_and_name(state):
    return Command(goto=["w", Send("w", {"n": 2})])


@case(w="slow")
def send_in_a_list(state):
    return [Command(goto=Send("w", {"n": 1})), {"log": ["n"]}]


@case("a", w="slow")
def send_after_question(state):
    return Command(goto=[Send("w", {"n": interrupt("n?")}, timeout=20)])


# --- commands and updates -----------------------------------------------------------------------------------------


def gives(name, output, w=None):
    @case(w=w, name="gives_" + name)
    def function(state):
        return output()


class Update(BaseModel):
    x: Any = None
    log: list = []


@dataclasses.dataclass
class DataUpdate:
    x: Any = None
    log: list = dataclasses.field(default_factory=list)


gives("nothing", lambda: None)
gives("empty", lambda: {})
gives("update", lambda: {"x": 1, "log": ["l"]})
gives("pairs", lambda: Command(update=[("log", ["a"]), ("log", ["b"])]))
gives("pairs_and_goto", lambda: Command(update=[("log", ["a"]), ("x", 1), ("log", ["b"])], goto="w"), w="after")
gives("pairs_of_one_plain_key", lambda: Command(update=[("x", 1), ("x", 2)]))
gives("pairs_with_unknown", lambda: Command(update=[("nope", 1), ("log", ["b"])]))
gives("pairs_as_tuple", lambda: Command(update=(("log", ["a"]), ("log", ["b"]))))
gives("pairs_of_messages", lambda: Command(update=[("messages", AIMessage("a", id="a")), ("messages", AIMessage("b", id="b"))]))
gives("unknown", lambda: {"nope": 1, "log": ["k"]})
gives("only_unknown", lambda: {"nope": 1})
gives("unknown_in_command", lambda: Command(update={"nope": 1, "x": 2}))
gives("command_without", lambda: Command())
gives("command_update", lambda: Command(update={"x": 1}))
gives("command_goto", lambda: Command(goto="w"), w="after")
gives("command_goto_list", lambda: Command(goto=["w"], update={"x": 3}), w="after")
gives("command_of_model", lambda: Command(update=Update(x=1)))
gives("commands", lambda: [Command(update={"log": ["a"]}), Command(update={"log": ["b"]})])
gives("commands_and_update", lambda: [Command(update={"log": ["a"]}), {"log": ["b"], "nope": 2}])
gives("model", lambda: Update(x=1, log=["m"]))
gives("model_part", lambda: Update(log=["m"]))
gives("data", lambda: DataUpdate(x=1, log=["d"]))
gives("overwrite", lambda: {"log": Overwrite(["only"])})
gives("overwrite_in_pairs", lambda: Command(update=[("log", Overwrite(["only"]))]))
gives("message", lambda: {"messages": AIMessage("a", id="a")})
gives("message_list", lambda: {"messages": [AIMessage("a", id="a"), HumanMessage("b", id="b")]})
gives("message_dict", lambda: {"messages": {"role": "assistant", "content": "a", "id": "a"}})
gives("message_text", lambda: {"messages": [("user", "hello")]})
gives("tuple_value", lambda: {"x": (1, 2)})
gives("text", lambda: "no update")
gives("number", lambda: 5)
gives("failure", lambda: 1 / 0)


# --- what is pushed -----------------------------------------------------------------------------------------------


@both()
def pushed(state):
    push_message(AIMessage("pushed", id="p"), state_key=None)
    return {"x": "ok"}


@both()
def pushed_into_state(state):
    push_message(AIMessage("pushed", id="p"))
    return {"x": "ok"}


@both()
def pushed_and_returned(state):
    push_message(AIMessage("pushed", id="p"))
    return {"messages": [AIMessage("returned", id="r")]}


@both()
def pushed_then_changed(state):
    push_message(AIMessage("early", id="p"))
    return {"messages": [AIMessage("late", id="p")]}


@case(w="after")
def pushed_and_gone(state):
    push_message(AIMessage("pushed", id="p"))
    return Command(goto="w", update={"x": 1})


@case()
def pushed_without_id(state):
    push_message(AIMessage("pushed"), state_key=None)
    return {"x": "ok"}


@case("a")
def pushed_and_asked(state):
    push_message(AIMessage("pushed", id="p"))
    return {"x": interrupt("q?")}


@case()
def pushed_to_another_key(state):
    push_message(AIMessage("pushed", id="p"), state_key="nope")
    return {"x": 1}


# --- tasks --------------------------------------------------------------------------------------------------------

QUICK = {"initial_interval": 0.01, "jitter": False}


def fails_first(name, times, error=ValueError):
    n = ran(name)
    if n <= times:
        raise error("attempt %d" % n)
    return n


for _name, _times, _error, _policy in [
    ("none", 0, ValueError, None), ("none_fails", 1, ValueError, None),
    ("class", 1, ValueError, RetryPolicy(retry_on=ValueError, **QUICK)),
    ("tuple", 2, KeyError, RetryPolicy(retry_on=(ValueError, KeyError), **QUICK)),
    ("callable", 1, ValueError, RetryPolicy(retry_on=lambda e: "attempt 1" in str(e), **QUICK)),
    ("callable_no", 2, ValueError, RetryPolicy(retry_on=lambda e: "attempt 1" in str(e), **QUICK)),
    ("other_class", 1, ValueError, RetryPolicy(retry_on=KeyError, **QUICK)),
    ("base_class", 1, KeyError, RetryPolicy(retry_on=LookupError, **QUICK)),
    ("too_often", 9, ValueError, RetryPolicy(max_attempts=2, retry_on=ValueError, **QUICK)),
    ("once", 1, ValueError, RetryPolicy(max_attempts=1, retry_on=ValueError, **QUICK)),
    ("five", 4, ValueError, RetryPolicy(max_attempts=5, retry_on=ValueError, **QUICK)),
    ("default_no", 1, ValueError, RetryPolicy(**QUICK)), ("default_yes", 1, ConnectionError, RetryPolicy(**QUICK)),
    ("own_error", 1, type("Own", (Exception,), {}), RetryPolicy(**QUICK)),
    ("two_policies", 2, KeyError, [RetryPolicy(retry_on=ValueError, **QUICK), RetryPolicy(retry_on=KeyError, **QUICK)]),
    ("first_policy", 2, KeyError, [RetryPolicy(max_attempts=2, retry_on=KeyError, **QUICK), RetryPolicy(max_attempts=9, retry_on=Exception, **QUICK)]),
]:
    def _retried(state, name=_name, times=_times, error=_error, policy=_policy):
        flaky = task(retry_policy=policy)(lambda: fails_first("retry_" + name, times, error))
        return {"x": flaky().result()}

    case(name="retry_" + _name)(_retried)

    async def _aretried(state, name=_name, times=_times, error=_error, policy=_policy):
        @task(retry_policy=policy)
        async def flaky():
            return fails_first("aretry_" + name, times, error)

        return {"x": await flaky()}

    case(name="retry_%s_async" % _name)(_aretried)


@task
def double(n):
    return n * 2


@task(name="called so")
def named(n=1, *, m=2):
    return [n, m]


@task
async def later(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n


@task
def says(text):
    return AIMessage(text, id=text)


@task
def asks(text):
    return interrupt(text)


@task
def asks_twice(text):
    return [interrupt(text + " 1"), interrupt(text + " 2")]


@task
def asks_age():
    return interrupt("age?", response_schema=Age).age


@task
def outer(n):
    return [double(n).result(), double(n + 1).result()]


@task
def outer_asks():
    return ["outer", asks("inner?").result()]


@task(timeout=0.3)
async def too_late():
    await asyncio.sleep(5)


@task(timeout=20)
async def in_time():
    return "in time"


@task(timeout=TimeoutPolicy(idle_timeout=1))
async def alive():
    for _ in range(15):
        await asyncio.sleep(0.1)
        get_stream_writer()("beat")
    return "alive"


@task(timeout=0.4, retry_policy=RetryPolicy(**QUICK))
async def late_once():
    if ran("late_once") == 1:
        await asyncio.sleep(5)
    return RAN["late_once"]


@task(cache_policy=CachePolicy())
def cached(n):
    return [n, ran("cached")]


@task(retry_policy=RetryPolicy(retry_on=ValueError, **QUICK))
def asks_after_failure():
    fails_first("asks_after_failure", 1)
    return interrupt("now?")


@case()
def task_plain(state):
    return {"x": double(4).result()}


@case()
def task_named(state):
    return {"x": [named().result(), named(3, m=4).result()]}


@case()
def task_many(state):
    return {"x": [f.result() for f in [double(n) for n in range(8)]]}


@case()
async def task_awaited(state):
    return {"x": await double(4)}


@case()
async def task_gathered(state):
    return {"x": await asyncio.gather(*[later(n) for n in range(3)])}


@case()
def task_message(state):
    made = says("m").result()
    return {"messages": [made], "x": type(made).__name__}


@case()
def task_in_task(state):
    return {"x": outer(2).result()}


@case("a")
def task_asks(state):
    return {"x": asks("q?").result()}


@case("a", "b")
def task_asks_twice(state):
    return {"x": asks_twice("q").result()}


@case(by(one="1"), by(two="2"))
def tasks_ask_at_once_one_by_one(state):
    return {"x": [f.result() for f in [asks("one"), asks("two")]]}


@case("a")
def task_asks_in_task(state):
    return {"x": outer_asks().result()}


@case({"age": "x"}, {"age": 1})
def task_asks_with_schema(state):
    return {"x": asks_age().result()}


@case("a")
def task_is_kept(state):
    n = later_count().result()
    return {"x": [n, interrupt("q?"), later_count().result()]}


@task
def later_count():
    return ran("later_count")


@case()
async def task_too_late(state):
    return {"x": await too_late()}


@case()
async def task_too_late_is_caught(state):
    try:
        await too_late()
    except Exception as error:
        return {"x": type(error).__name__}


@case()
async def task_in_time(state):
    return {"x": await in_time()}


@case()
async def task_alive(state):
    return {"x": await alive()}


@case()
async def task_late_once(state):
    return {"x": await late_once()}


@case()
def task_cached_without_cache(state):
    return {"x": [cached(1).result(), cached(1).result()]}


@case("a")
def task_asks_after_failure(state):
    return {"x": asks_after_failure().result()}


@case()
def task_fails_and_is_caught(state):
    try:
        task(lambda: 1 / 0)().result()
    except ZeroDivisionError as error:
        return {"x": type(error).__name__}


class OwnError(Exception):
    def __init__(self, code):
        super().__init__("code %d" % code)
        self.code = code


@task
def raises_own():
    raise OwnError(7)


@case()
def task_own_error_is_caught(state):
    try:
        raises_own().result()
    except OwnError as error:
        return {"x": error.code}


@case()
async def task_too_late_is_caught_by_class(state):
    try:
        await too_late()
    except NodeTimeoutError:
        return {"x": "late"}


@case("a")
def task_own_error_before_question(state):
    try:
        raises_own().result()
    except OwnError as error:
        return {"x": [error.code, interrupt("q?")]}


# --- graphs that a function calls ---------------------------------------------------------------------------------


class Inner(TypedDict, total=False):
    x: Any
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]


def line(*nodes, **options):
    """A graph of these nodes one after the other."""
    builder = StateGraph(Inner)
    for place, node in enumerate(nodes):
        builder.add_node("n%d" % place, node)
        builder.add_edge("n%d" % (place - 1) if place else START, "n%d" % place)
    return builder.compile(**options)


def side_by_side(*nodes, **options):
    builder = StateGraph(Inner)
    for place, node in enumerate(nodes):
        builder.add_node("n%d" % place, node)
        builder.add_edge(START, "n%d" % place)
    return builder.compile(**options)


def step(name):
    return lambda state: {"log": ["%s %d" % (name, ran(name))]}


def ask(question, **options):
    return lambda state: {"log": [interrupt(question, **options)]}


def ask_age(question):
    return lambda state: {"log": [interrupt(question, response_schema=Age).age]}


async def aask(state):
    await asyncio.sleep(0)
    return {"log": [interrupt("awaited?")]}


def calls(name, *answers, graph, given=None):
    """A function that calls the graph, and one that awaits it."""

    @case(*answers, name="call_" + name)
    def called(state):
        return {"log": graph(name).invoke(given or {"log": []})["log"]}

    @case(*answers, name="call_%s_async" % name)
    async def acalled(state):
        return {"log": (await graph(name + "_async").ainvoke(given or {"log": []}))["log"]}


calls("one", "a", graph=lambda n: line(ask("q?")))
calls("steps", "a", graph=lambda n: line(step(n + ":1"), ask("q?"), step(n + ":2")))
calls("two", "a", "b", graph=lambda n: line(step(n + ":1"), ask("first?"), step(n + ":2"), ask("second?"), step(n + ":3")))
calls("two_in_one_node", "a", "b", graph=lambda n: line(lambda s: {"log": [interrupt("first?"), interrupt("second?")]}))
calls("parallel", by(left="l", right="r"), graph=lambda n: side_by_side(ask("left"), ask("right")))
calls("parallel_one_by_one", by(right="r"), by(left="l"), graph=lambda n: side_by_side(ask("left"), ask("right"), step(n)))
calls("deep", "a", graph=lambda n: line(step(n + ":1"), line(step(n + ":2"), line(step(n + ":3"), ask("deep?"), step(n + ":4")))))
calls("deep_called", "a", "b", graph=lambda n: line(lambda s: {"log": line(step(n), ask("deep?")).invoke({"log": []})["log"]}, ask("after?")))
calls("schema", {"age": "x"}, {"age": 4}, graph=lambda n: line(step(n), ask_age("age?")))
calls("schema_and_more", {"age": 4}, "b", graph=lambda n: line(step(n), ask_age("age?"), ask("more?")))
calls("no_saver", "a", graph=lambda n: line(ask("q?"), checkpointer=False))
calls("no_saver_twice", "a", "b", graph=lambda n: line(ask("first?"), ask("second?"), checkpointer=False))
calls("breakpoint", NULL, graph=lambda n: line(step(n + ":1"), step(n + ":2"), interrupt_before=["n1"]))
calls("breakpoint_after", NULL, graph=lambda n: line(step(n + ":1"), step(n + ":2"), interrupt_after=["n0"]))
calls("nothing_asked", graph=lambda n: line(step(n)))
calls("fails", graph=lambda n: line(step(n), lambda s: 1 / 0))
calls("fails_after_answer", "a", graph=lambda n: line(ask("q?"), lambda s: 1 / 0))
calls("record", {"ok": 1}, graph=lambda n: line(ask({"question": "q?", "context": {"n": 1}})))
calls("false", False, graph=lambda n: line(ask("q?")))
calls("sends", by(p1="a", p2="b"), graph=lambda n: sending())


def sending():
    builder = StateGraph(Inner)
    builder.add_node("fan", lambda s: Command(goto=[Send("p", {"x": "p1"}), Send("p", {"x": "p2"})]))
    builder.add_node("p", lambda s: {"log": [interrupt(s["x"])]})
    builder.add_edge(START, "fan")
    return builder.compile()


@case("a", name="call_awaited_node")
async def call_awaited_node(state):
    return {"log": (await line(aask).ainvoke({"log": []}))["log"]}


@both("a", "b")
def call_after_question(state):
    first = interrupt("own?")
    return {"x": first, "log": line(ask("called?")).invoke({"log": []})["log"]}


@both("a", "b")
def call_before_question(state):
    log = line(ask("called?")).invoke({"log": []})["log"]
    return {"x": interrupt("own?"), "log": log}


@both("a", "b")
def calls_two(state):
    first = line(ask("first?")).invoke({"log": []})["log"]
    return {"log": first + line(ask("second?")).invoke({"log": []})["log"]}


@both("a", "b", "c")
def calls_in_a_loop(state):
    log = []
    for n in range(3):
        log += line(ask("q%d?" % n)).invoke({"log": []})["log"]
    return {"log": log}


@task
def calls_graph(question):
    return line(ask(question)).invoke({"log": []})["log"]


@case("a")
def call_in_a_task(state):
    return {"log": calls_graph("q?").result()}


@case(by(one="1"), by(two="2"))
def call_in_two_tasks(state):
    return {"x": [f.result() for f in [calls_graph("one"), calls_graph("two")]]}


@case("a")
def task_before_a_call(state):
    n = later_counted("task_before_a_call").result()
    return {"x": n, "log": line(ask("q?")).invoke({"log": []})["log"]}


@task
def later_counted(name):
    return ran(name)


@case("a")
def task_after_a_call(state):
    log = line(ask("q?")).invoke({"log": []})["log"]
    return {"x": later_counted("task_after_a_call").result(), "log": log}


@case(w="after", name="call_hands_off")
def call_hands_off(state):
    return line(lambda s: Command(graph=Command.PARENT, goto="w", update={"x": "from inside"})).invoke({"log": []})


@case("a", w="after", name="call_asks_and_hands_off")
def call_asks_and_hands_off(state):
    return line(ask("q?"), lambda s: Command(graph=Command.PARENT, goto="w", update={"x": s["log"]})).invoke({"log": []})


@case("a")
def call_streams(state):
    log = []
    for part in line(ask("q?"), step("call_streams")).stream({"log": []}, stream_mode="updates"):
        log.append(sorted(part))
    return {"x": log[-1]}


@case("a")
def call_with_config(state, config):
    return {"log": line(ask("q?")).invoke({"log": []}, config)["log"]}


def workflow(name):
    @task
    def counted(n):
        return [n, ran(name)]

    @entrypoint()
    def flow(given):
        first = counted(1).result()
        return {"log": [first, interrupt("flow?"), counted(2).result()]}

    return flow


@case("a")
def call_workflow(state):
    return {"log": workflow("call_workflow").invoke(1)["log"]}


# --- agents -------------------------------------------------------------------------------------------------------


class Scripted(BaseChatModel):
    """A model that says the next line of its script each time."""

    script: list
    name: str = "scripted"

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        said = len([m for m in messages if isinstance(m, AIMessage)])
        asked = ran(self.name)
        line = self.script[min(said, len(self.script) - 1)]
        made = AIMessage(line, id="%s-%d" % (self.name, said)) if isinstance(line, str) else AIMessage(
            "", id="%s-%d" % (self.name, said), tool_calls=[{"id": "c%d-%d" % (said, n), "name": name, "args": args} for n, (name, args) in enumerate(line)])
        made.response_metadata = {"asked": asked}
        return ChatResult(generations=[ChatGeneration(message=made)])


@tool
def pay(amount: int) -> str:
    """Pay."""
    return "paid %d (%d)" % (amount, ran("pay"))


@tool
def look(what: str) -> str:
    """Look."""
    return "seen %s" % what


@tool
def ask_person(question: str) -> str:
    """Ask."""
    return "they say %s" % interrupt(question)


def shown(messages):
    return [[m.type, m.content, m.response_metadata.get("asked")] for m in messages]


def agent(name, *answers, script, tools=(pay, look, ask_person), approve=("pay",)):
    def agent_of(model):
        middleware = [HumanInTheLoopMiddleware(interrupt_on={tool: True for tool in approve})] if approve else []
        return create_agent(Scripted(script=script, name=model), list(tools), middleware=middleware)

    @case(*answers, name="agent_" + name)
    def runs(state):
        RAN["pay"] = 0
        return {"x": shown(agent_of(name).invoke({"messages": [HumanMessage("go", id="h")]})["messages"])}

    @case(*answers, name="agent_%s_async" % name)
    async def aruns(state):
        RAN["pay"] = 0
        return {"x": shown((await agent_of(name + "_async").ainvoke({"messages": [HumanMessage("go", id="h")]}))["messages"])}


PAY = [("pay", {"amount": 5})]
agent("approved", {"decisions": [{"type": "approve"}]}, script=[PAY, "done"])
agent("edited", {"decisions": [{"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 7}}}]}, script=[PAY, "done"])
agent("rejected", {"decisions": [{"type": "reject", "message": "too much"}]}, script=[PAY, "done"])
agent("twice", {"decisions": [{"type": "approve"}]}, {"decisions": [{"type": "approve"}]}, script=[PAY, PAY, "done"])
agent("two_calls", {"decisions": [{"type": "approve"}, {"type": "reject", "message": "no"}]}, script=[PAY + [("pay", {"amount": 6})], "done"])
agent("one_of_two", {"decisions": [{"type": "approve"}]}, script=[[("look", {"what": "sea"})] + PAY, "done"])
agent("tool_asks", "yes", script=[[("ask_person", {"question": "really?"})], "done"], approve=())
agent("tools_ask", by(one="1", two="2"), script=[[("ask_person", {"question": "one"}), ("ask_person", {"question": "two"})], "done"], approve=())
agent("asks_and_approves", "yes", {"decisions": [{"type": "approve"}]}, script=[[("ask_person", {"question": "really?"})], PAY, "done"])
agent("asks_nobody", script=[[("look", {"what": "sea"})], "done"])


@tool
def helper(task: str) -> str:
    """Another agent."""
    found = create_agent(Scripted(script=[[("ask_person", {"question": task})], "helped"], name="helper"), [ask_person]).invoke({"messages": [HumanMessage(task)]})
    return "%s: %s" % (found["messages"][-1].content, found["messages"][-2].content)


agent("in_an_agent", "yes", script=[[("helper", {"task": "deep?"})], "done"], tools=(helper,), approve=())


# --- what functions are given -------------------------------------------------------------------------------------


@both(state={"messages": [{"type": "human", "content": "hi", "id": "h"}]})
def given_messages(state):
    return {"x": [type(m).__name__ for m in state["messages"]], "messages": [RemoveMessage(id="h")]}


@both(state={"x": 3})
def given_state(state):
    return {"x": state["x"] + 1}


@case()
def given_config(state, config):
    own = get_config()["configurable"]
    return {"x": [own["checkpoint_id"], config["configurable"]["checkpoint_id"], config["configurable"]["thread_id"], own["checkpoint_ns"].split(":")[0]]}


@case()
def given_runtime(state, runtime):
    runtime.stream_writer("said")
    return {"x": runtime.execution_info.node_attempt}


@case()
def tool_message(state):
    return {"messages": [AIMessage("", id="a", tool_calls=[{"id": "c", "name": "t", "args": {}}]), ToolMessage("r", tool_call_id="c", id="t")]}
