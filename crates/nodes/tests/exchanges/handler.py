import litellm
from litellm import CustomLLM
from litellm.types.utils import (ModelResponseStream, StreamingChoices, Delta, Usage, ChatCompletionDeltaToolCall, Function,
    PromptTokensDetailsWrapper, CompletionTokensDetailsWrapper)

def chunk(delta, finish=None, usage=None):
    r = ModelResponseStream(id="chatcmpl-1", model="scripted-1", choices=[StreamingChoices(index=0, delta=delta, finish_reason=finish)])
    if usage is not None:
        r.usage = usage
    return r

def tool(index, id, name, args):
    return ChatCompletionDeltaToolCall(id=id, index=index, type="function", function=Function(name=name, arguments=args))

USAGE = dict(prompt_tokens=120, completion_tokens=40, total_tokens=160,
    prompt_tokens_details=PromptTokensDetailsWrapper(cached_tokens=100),
    completion_tokens_details=CompletionTokensDetailsWrapper(reasoning_tokens=12))

def script(messages):
    """Calls two tools at once, then answers with what they said."""
    tools = [m for m in messages if m.get("role") == "tool"]
    if tools:
        for word in ("It is ", "warmer in ", "Oslo."):
            yield chunk(Delta(content=word))
        yield chunk(Delta(), finish="stop", usage=Usage(**USAGE))
        return
    for word in ("Two towns, ", "two calls."):
        yield chunk(Delta(reasoning_content=word, content=None, role="assistant"))
    yield chunk(Delta(content="I look."))
    yield chunk(Delta(content=None, tool_calls=[tool(0, "call_a", "get_weather", "")]))
    for piece in ('{"city"', ': "Oslo"}'):
        yield chunk(Delta(content=None, tool_calls=[tool(0, None, None, piece)]))
    yield chunk(Delta(content=None, tool_calls=[tool(1, "call_b", "get_weather", '{"city": ')]))
    yield chunk(Delta(content=None, tool_calls=[tool(1, None, None, '"Bergen"}')]))
    yield chunk(Delta(), finish="tool_calls", usage=Usage(**USAGE))

class Scripted(CustomLLM):
    async def astreaming(self, model, messages, **kwargs):
        if model == "busy":
            import httpx
            raise litellm.RateLimitError("too fast", "scripted", "busy", response=httpx.Response(429, headers={"retry-after": "1"}, request=httpx.Request("POST", "http://x")))
        for c in script(messages):
            yield c

    async def acompletion(self, model, messages, **kwargs):
        chunks = list(script(messages))
        return litellm.stream_chunk_builder(chunks)

handler = Scripted()
