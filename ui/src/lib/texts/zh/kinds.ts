/**
 * Chinese words of the node kinds: their names, summaries and forms. Rust sends these texts in English with the kinds, so
 * the key is the English text; `../kinds.json` lists all of them.
 */
export const kinds: Readonly<Record<string, string>> = {
  // assign
  Assign: "赋值",
  "Sets state keys from expressions.": "用表达式给状态键赋值。",
  "Sets state keys.": "给状态键赋值。",
  Set: "赋值",
  "State keys and their new values: text is an expression, any other JSON is taken as it is.":
    "状态键及其新值：文本按表达式求值，其他 JSON 原样使用。",

  // router
  Router: "路由",
  "Chooses where to go on, by conditions or with a model.": "按条件或由模型选择接下来的分支。",
  "Chooses where to go on.": "选择接下来的分支。",
  "Choice by a model": "模型选择",
  Ways: "分支",
  "What there is to choose from. Without a model the first whose condition is true is chosen.":
    "可选的分支。不用模型时，选择第一个条件为真的分支。",
  "A way to go on.": "一个分支。",
  Label: "标签",
  "Its name, which the edge leads by.": "分支的名称，边按它决定去向。",
  When: "条件",
  "An expression: chosen when it is true. A model needs none.":
    "表达式：为真时选择此分支。由模型选择时无需填写。",
  Description: "说明",
  "When to choose it, for a model.": "告诉模型何时选择此分支。",
  Otherwise: "否则",
  "The label when no condition is true. Without one, that is an error.":
    "所有条件都不为真时的标签。未填写时报错。",
  Into: "写入",
  'State key that takes the label. A `route` edge reads it: `"route": "state.KEY"`.':
    '接收标签的状态键。`route` 边读取它：`"route": "state.KEY"`。',
  "By a model": "由模型选择",
  "A model chooses, by the descriptions of the ways.": "模型按各分支的说明做选择。",
  Text: "文本",
  "What is to be put into one of the ways.": "要归入某个分支的内容。",
  Model: "模型",
  "`scripted`, PROVIDER::NAME such as `openai::gpt-4o-mini`, or CONNECTION::NAME with a connection of your own.":
    "`scripted`、“提供商::模型名”（如 `openai::gpt-4o-mini`），或使用自有连接的“连接名::模型名”。",
  Script: "脚本",
  "What `scripted` says: the first line whose condition is true or absent.":
    "`scripted` 的回答：条件为真或没有条件的第一行。",
  "A line of the script.": "脚本中的一行。",
  "Expression; absent means always.": "表达式；未填写时总是成立。",
  Say: "回答",
  "Template of the answer.": "回答的模板。",
  Calls: "工具调用",
  "Tools that it calls.": "它调用的工具。",
  "A call that the scripted model makes.": "脚本模型发出的一次调用。",
  Tool: "工具",
  "The tool.": "要调用的工具。",
  Arguments: "参数",
  "Its arguments: text is an expression, any other JSON is taken as it is.":
    "调用的参数：文本按表达式求值，其他 JSON 原样使用。",
  "Time limit (s)": "超时（秒）",
  "Longest time for an answer, in seconds.": "等待响应的最长时间（秒）。",

  // delay
  Delay: "等待",
  "Waits for a while, or until a time.": "等待一段时间，或等到某个时刻。",
  "Waits.": "等待。",
  Seconds: "秒数",
  "An expression that gives how many seconds to wait.": "表达式：等待的秒数。",
  Until: "等到",
  "An expression that gives a time to wait for: text such as `2026-11-21T09:30:00+01:00`, or seconds since 1970.":
    "表达式：要等到的时刻，可以是 `2026-11-21T09:30:00+01:00` 这样的文本，或自 1970 年起的秒数。",

  // model
  "Asks a language model and streams its answer; a scripted one answers offline.":
    "调用语言模型并流式输出回答；脚本模型可离线回答。",
  "Asks a language model.": "调用语言模型。",
  Conversation: "对话",
  Tools: "工具",
  Answer: "回答",
  "Model settings": "模型设置",
  "Recording and script": "录制与脚本",
  System: "系统提示词",
  "Instructions that go before everything else.": "置于最前的指令。",
  Prompt: "提示词",
  "What is asked.": "要问的内容。",
  Messages: "消息",
  "State key with a list of messages that are sent, with their pictures, tool calls and tool answers; the prompt, if any, comes after them.":
    "存放消息列表的状态键；消息连同图片、工具调用和工具结果一并发送，提示词排在其后。",
  Images: "图片",
  "Pictures that are shown with the prompt: files of the project, `https` or `data` addresses. One that comes out empty is none; several stand in lines of their own.":
    "随提示词发送的图片：项目中的文件，或 `https`、`data` 地址。多张图片各占一行，结果为空的略去。",
  "State key that takes the answer: as a message when its reducer is `add_messages`, otherwise as text.":
    "接收回答的状态键：归约函数（reducer）为 `add_messages` 时写入消息，否则写入文本。",
  Output: "输出",
  "JSON Schema of the answer: it is read as JSON and written as such.":
    "回答的 JSON Schema：回答按 JSON 解析，并以 JSON 写入。",
  "Usage into": "用量写入",
  "State key that takes what the answer used: `{model, requests, input_tokens, output_tokens, total_tokens, cost}`, repairs included.":
    "接收用量的状态键：`{model, requests, input_tokens, output_tokens, total_tokens, cost}`，包括修正所用。",
  Repairs: "修正次数",
  "How often an answer that does not fit `output` is sent back with what is wrong.":
    "回答不符合 `output` 时，附上错误退回给模型的最多次数。",
  "Tools the model may call: name, description and a JSON Schema of the arguments. The calls are in the message that is written.":
    "模型可以调用的工具：名称、说明和参数的 JSON Schema。调用记录在写入的消息中。",
  "A tool as a model sees it.": "模型看到的工具。",
  Name: "名称",
  "How the model calls it: letters, digits, `_` and `-`.": "模型调用它的名称：字母、数字、`_` 和 `-`。",
  "What it does and when to use it, for the model.": "告诉模型它的用途和使用时机。",
  Parameters: "参数结构",
  "JSON Schema of its arguments, an object.": "参数的 JSON Schema，须为对象。",
  "Tools of": "工具来源",
  "A `tools` node whose tools the model may call, so that they are described once.":
    "一个 `tools` 节点，模型可以调用它的工具，工具只需描述一次。",
  Resources: "资源",
  "Resources of MCP servers that the model reads before the conversation.":
    "模型在对话之前读取的 MCP 服务器资源。",
  "A resource of an MCP server.": "MCP 服务器的一个资源。",
  Server: "服务器",
  "The server, by its name in the project's `.mcp.json`.": "服务器在项目 `.mcp.json` 中的名称。",
  Address: "地址",
  "Template of the resource's address.": "资源地址的模板。",
  "Tool choice": "工具选择",
  "Whether the model may answer without calling a tool.": "模型能否不调用工具就回答。",
  Reasoning: "推理强度",
  "How much a reasoning model thinks before it answers; without it, as much as the provider sees fit.":
    "推理模型回答前的思考程度；未填写时由提供商决定。",
  Temperature: "温度",
  "Randomness.": "回答的随机程度。",
  "Max tokens": "最大 Token 数",
  "Longest answer in tokens.": "回答的最大长度，以 Token 计。",
  "Longest time for a whole answer, in seconds.": "完整回答的最长时间（秒）。",
  Recording: "录制",
  "`record` writes the model's answers to `recordings/models.jsonl` beside the graph, `replay` answers from there without asking the model.":
    "`record` 把模型的回答写入图旁的 `recordings/models.jsonl`，`replay` 用其中的回答代替调用模型。",
  "Pace (ms)": "输出间隔（毫秒）",
  "Pause of `scripted` after each word, in milliseconds.": "`scripted` 每输出一个词后的停顿（毫秒）。",

  // tools
  "Runs the tools that a model calls, and answers each call with a message.":
    "执行模型调用的工具，并用一条消息回复每次调用。",
  "Runs tools that a model calls.": "执行模型调用的工具。",
  "State key with the messages: the calls of its last ai message are run, and answered there.":
    "存放消息的状态键：执行最后一条 AI 消息中的工具调用，结果也写入这里。",
  "The tools. A `model` node is given them with `tools_of`.":
    "可用的工具。`model` 节点通过 `tools_of` 使用它们。",
  "A tool: what the model sees of it, and what it does.": "一个工具：模型看到的描述，以及它的作用。",
  "HTTP request": "HTTP 请求",
  Graph: "子图",
  JavaScript: "JavaScript",
  Approval: "审批",
  "Ask a person before it runs: they may approve, change the arguments, reject, or answer in its place.":
    "执行前由人审批：可以批准、修改参数、拒绝或代为回答。",
  "It is a JavaScript function.": "由 JavaScript 函数实现。",
  Source: "源代码",
  "Body of a function that sees `args` and `state`, and returns what the model is told: text, or JSON; or a module\nwhose default export is the function.":
    "函数体，可以使用 `args` 和 `state`，返回告诉模型的内容：文本或 JSON；也可以是默认导出该函数的模块。",
  "Time limit (ms)": "超时（毫秒）",
  "Running time after which it is stopped, in milliseconds.": "运行超过此时间即停止（毫秒）。",
  "Memory limit (MB)": "内存上限（MB）",
  "Memory it may use, in megabytes.": "可以使用的内存（MB）。",
  Python: "Python",
  "It is a Python function of the project; it is given its arguments by name, and `state`, `store`, `config`,\n`runtime` and `ctx` where its parameters say so.":
    "由项目中的 Python 函数实现；参数按名称传入，函数声明了 `state`、`store`、`config`、`runtime` 或 `ctx` 参数时也一并传入。",
  Module: "模块",
  "File of the project with the function, from the graph's folder, e.g. `nodes/research.py`.":
    "项目中包含该函数的文件，路径相对于图所在的文件夹，如 `nodes/research.py`。",
  Function: "函数",
  "Name of the function.": "函数的名称。",
  "The function itself, or its body, when it is in no file.": "函数不在文件中时，函数本身或其函数体。",
  Variables: "环境变量",
  "Environment variables that it may read; it is given no others.": "可以读取的环境变量，此外一概不提供。",
  "It is an HTTP request.": "由 HTTP 请求实现。",
  Method: "方法",
  "What it does to the address.": "对该地址执行的操作。",
  URL: "URL",
  "Address; `{name}` stands for an argument and is encoded. The host is fixed.":
    "地址；`{name}` 代表参数，会自动编码。主机固定不变。",
  Query: "查询",
  "Added to the address as `?name=value`; `{name}` stands for an argument. What comes out empty is left out.":
    "以 `?name=value` 附加到地址；`{name}` 代表参数。结果为空的略去。",
  Headers: "请求头",
  "Headers; `{name}` stands for an argument.": "请求头；`{name}` 代表参数。",
  Body: "请求体",
  "JSON that is sent; text that is only `{name}` becomes the argument itself. Without one, POST, PUT and PATCH send all arguments.":
    "要发送的 JSON；文本仅为 `{name}` 时替换为参数本身。未填写时，POST、PUT 和 PATCH 发送全部参数。",
  Take: "取值",
  "An expression: what of `answer` (its `status`, `headers` and `body`) the model is told. Without one, the text as it came.":
    "表达式：把 `answer`（包括 `status`、`headers` 和 `body`）的哪些内容告诉模型。未填写时为响应的原文。",
  "Size limit (kB)": "大小上限（kB）",
  "Largest answer, in kilobytes; what is more is left out.": "响应的最大大小（kB），超出部分略去。",
  "It is a graph of the project: an agent, or any other.": "由项目中的图实现：智能体或其他任何图。",
  "The graph file, seen from this graph's folder.": "图文件，路径相对于此图所在的文件夹。",
  Input: "输入",
  "Keys of the graph and what they are given: text is an expression over `args` and `state`, any other JSON is taken as it is. Without it arguments go to the keys of their names, and what has none becomes a message.":
    "图的键及其输入值：文本是可以使用 `args` 和 `state` 的表达式，其他 JSON 原样使用。未填写时，参数传给同名的键，没有同名键的成为一条消息。",
  "Expression over `result`, the graph's output. Without it the answer is the text of the last message, or what the graph returns.":
    "使用 `result`（图的输出）的表达式。未填写时，回答是最后一条消息的文本，或图返回的内容。",
  "Hand-off": "移交",
  "It lets another node go on.": "移交给另一个节点继续。",
  To: "移交给",
  "The node that goes on.": "接手继续的节点。",
  "In the graph around": "在外层图中",
  "The node is not in this graph but in the one that runs it. That graph is given the whole conversation, in a key of the same name.":
    "节点不在此图中，而在运行此图的外层图中。整个对话会交给外层图的同名键。",
  Active: "活动节点",
  "State key that takes the node's name, so that the next run can begin there.":
    "接收节点名称的状态键，下次运行可以从该节点开始。",
  "MCP servers": "MCP 服务器",
  "Tools of MCP servers, which the project's `.mcp.json` declares.":
    "MCP 服务器的工具，服务器由项目的 `.mcp.json` 声明。",
  "Tools of an MCP server.": "一个 MCP 服务器的工具。",
  "Exceptions from approval": "审批例外",
  More: "更多",
  "The tools that may be called; without it all of them.": "可以调用的工具；未填写时为全部。",
  "When a person is asked before a tool runs: `changes` asks unless the server says that the tool only reads.":
    "工具执行前何时需要人审批：`changes` 一律审批，除非服务器声明工具只读。",
  "Always ask": "始终审批",
  "Tools before which a person is asked in any case.": "执行前始终需要审批的工具。",
  "Never ask": "无需审批",
  "Tools before which nobody is asked.": "执行前无需审批的工具。",
  "The model may list and read the server's resources, with two tools more.":
    "模型可以用两个额外的工具列出并读取服务器的资源。",
  Prefix: "前缀",
  "Put before the names of the tools, for servers whose tools have the same names.":
    "加在工具名称之前，区分不同服务器的同名工具。",
  "Longest silence of a tool at work, in seconds; its reports of progress start it again.":
    "工具运行中没有动静的最长时间（秒）；收到进度报告后重新计时。",

  // tools: the question before one runs, and the ways to answer it
  "May the tool `{tool}` run?": "允许运行工具 `{tool}` 吗？",
  Approve: "批准",
  "Run it with these arguments.": "以这些参数运行。",
  Reject: "拒绝",
  "Do not run it; the model is told.": "不运行，并告知模型。",
  "Change the arguments, then run it.": "修改参数后运行。",
  Reason: "原因",
  Respond: "代答",
  "Do not run it; the model is told this in place of its result.": "不运行，以此内容代替结果告诉模型。",
  "Answer in its place": "代替的结果",

  // agent
  Agent: "智能体",
  "A model that calls tools until it has its answer.": "反复调用工具，直到得出回答的模型。",
  Limits: "限制",
  "Who it is and what it is to do.": "它的身份和任务。",
  "State key with the conversation, which the agent reads and goes on with.":
    "存放对话的状态键，智能体读取并续写。",
  "Tools that it may call.": "可以调用的工具。",
  "Most turns": "最大轮数",
  "How often the model may be asked.": "最多调用模型的次数。",
  "At the limit": "达到上限时",
  "What happens when it wants to go on after that: the node fails with `error`, or the model is asked once more, without tools, with `answer`.":
    "达到上限后仍要继续时的处理：`error` 使节点失败，`answer` 不带工具再调用一次模型。",
  "JSON Schema of a result: at the end the model is asked for it, and it is written to `into`.":
    "结果的 JSON Schema：最后由模型给出结果，写入 `into`。",
  "State key that takes the result.": "接收结果的状态键。",
  "Longest time for one answer of the model, in seconds.": "模型单次回答的最长时间（秒）。",
  "What `scripted` says: the first line whose condition is true or absent. Where it may not call tools, lines with calls are passed over.":
    "`scripted` 的回答：条件为真或没有条件的第一行。不能调用工具时，跳过含工具调用的行。",

  // memory
  Memory: "记忆",
  "Keeps a conversation short, and remembers what matters of it.": "精简对话，记住其中的要点。",
  "Looks after a conversation.": "管理对话。",
  "Trim options": "裁剪选项",
  "Prompt and facts": "提示词与事实",
  Do: "操作",
  "What is done: `trim` keeps the end of the conversation, `delete` removes messages, `summarise` writes what is old into a summary, `extract` puts facts into the store.":
    "执行的操作：`trim` 保留对话的末尾，`delete` 删除消息，`summarise` 把较早的内容写成摘要，`extract` 提取事实存入长期记忆（store）。",
  "State key with the messages.": "存放消息的状态键。",
  "Trim: most tokens that are kept, about: four characters are a token. Summarise: nothing is done below it.":
    "`trim`：最多保留的 Token 数，按四个字符一个 Token 估算。`summarise`：低于此数时不做处理。",
  "Counted by the provider": "按提供商计数",
  "Tokens are counted up by what the provider counted for its last answer.":
    "以提供商对上次回答的计数为基础累计 Token 数。",
  "Max turns": "最大轮数",
  "Trim: most turns that are kept; a turn begins with a human message.":
    "`trim`：最多保留的轮数；每轮从一条用户消息（human）开始。",
  "Include system": "保留系统消息",
  "Trim: a system message at the beginning is always kept.": "`trim`：始终保留开头的系统消息。",
  "Start on": "首条消息类型",
  "Trim: the first message that is kept is of one of these types.":
    "`trim`：保留的第一条消息须为这些类型之一。",
  "End on": "末条消息类型",
  "Trim: the last message that is kept is of one of these types; of any when empty.":
    "`trim`：保留的最后一条消息须为这些类型之一；留空则不限。",
  "Allow partial": "允许部分保留",
  "Trim: the message at the edge is kept in part: its last lines or blocks.":
    "`trim`：边界处的消息保留一部分，即最后几行或几块。",
  "Trim: state key that takes what is kept, while the conversation stays whole. Extract: state key that takes the facts.":
    "`trim`：接收保留内容的状态键，对话本身保持完整。`extract`：接收事实的状态键。",
  Ids: "消息 ID",
  "Delete: an expression that gives a list of message ids.": "`delete`：表达式，给出消息 ID 的列表。",
  Types: "消息类型",
  "Delete: messages of these types only.": "`delete`：只删除这些类型的消息。",
  "Keep last": "保留最近消息数",
  "Delete and summarise: the last messages, which stay.": "`delete` 和 `summarise`：保留的最近消息数。",
  Summary: "摘要",
  "Summarise: state key that takes the summary. Without it, it is a system message at the beginning of the conversation.":
    "`summarise`：接收摘要的状态键。未填写时，摘要是对话开头的一条系统消息。",
  "Summarise and extract: the model that does it.": "`summarise` 和 `extract`：使用的模型。",
  "Summarise and extract: what the model is asked, in place of the usual words. It sees `state.transcript`, and `state.known`: the summary or the facts so far.":
    "`summarise` 和 `extract`：代替默认提示词。可以使用 `state.transcript`，以及 `state.known`（目前的摘要或事实）。",
  Namespace: "命名空间",
  "Extract: labels of the facts' namespace in the store, each a template.":
    "`extract`：事实在长期记忆（store）中的命名空间，每一级都是模板。",
  Fact: "事实",
  "Extract: JSON Schema of one fact, an object. Without it, a fact is a text.":
    "`extract`：一条事实的 JSON Schema，须为对象。未填写时，事实是一段文本。",

  // code
  Code: "代码",
  "Runs JavaScript in a sandbox, or a Python function of the project.":
    "在沙箱中运行 JavaScript，或运行项目中的 Python 函数。",
  "Runs JavaScript or Python.": "运行 JavaScript 或 Python。",
  Destinations: "目标节点",
  Language: "语言",
  "`javascript` runs in a sandbox, `python` in the interpreter of the project.":
    "`javascript` 在沙箱中运行，`python` 在项目的解释器中运行。",
  "Body of a function that sees `state` and returns an update or a `Command`; or the function itself, in JavaScript\nthe default export of a module.":
    "函数体，可以使用 `state`，返回更新或 `Command`；也可以是函数本身，在 JavaScript 中是模块的默认导出。",
  "Python: a file of the project with the function, from the graph's folder, in place of a source.":
    "Python：项目中包含该函数的文件，路径相对于图所在的文件夹，用来代替源代码。",
  "Python: the name of the function.": "Python：函数的名称。",
  "Python: environment variables that the function may read; it is given no others.":
    "Python：函数可以读取的环境变量，此外一概不提供。",
  'Nodes that it goes to with a `Command`, so that they are drawn. A Python function says them in its return\nannotation, too: `Command[Literal["a", "b"]]`.':
    '通过 `Command` 前往的节点，填写后画在图上。Python 函数也可以在返回注解中声明：`Command[Literal["a", "b"]]`。',
  "Running time after which the code is stopped, in milliseconds; without it a second for JavaScript, a minute for\nPython.":
    "代码运行超过此时间即停止（毫秒）；未填写时，JavaScript 为一秒，Python 为一分钟。",
  "JavaScript: memory the code may use, in megabytes.": "JavaScript：代码可以使用的内存（MB）。",

  // http
  HTTP: "HTTP",
  "Sends a request to a server and takes its answer.": "向服务器发送请求，接收响应。",
  "Sends a request.": "发送请求。",
  "Query and headers": "查询与请求头",
  "Address. What stands in `{{ }}` is encoded; an address that begins with `{{` is taken as the state has it.":
    "地址。`{{ }}` 中的内容会自动编码；以 `{{` 开头的地址按状态中的值原样使用。",
  "Added to the address as `?name=value`: templates. What comes out empty is left out.":
    "以 `?name=value` 附加到地址，值为模板。结果为空的略去。",
  "Headers: templates.": "请求头，值为模板。",
  "An expression: what is sent with POST, PUT and PATCH. Text is sent as text, anything else as JSON.":
    "表达式：POST、PUT 和 PATCH 发送的内容。文本按文本发送，其他按 JSON 发送。",
  "Key variable": "密钥变量",
  "Environment variable with a key, sent as `Authorization: Bearer KEY`.":
    "存放密钥的环境变量，以 `Authorization: Bearer KEY` 发送。",
  "An expression: what of `answer` (its `status`, `headers` and `body`) is written.":
    "表达式：写入 `answer`（包括 `status`、`headers` 和 `body`）的哪些内容。",
  "State key that takes it.": "接收结果的状态键。",
  "On status": "非 2xx 状态码",
  "What a status outside of 200 to 299 is: `fail` fails the node, so that it can be retried; `data` is an answer like any other.":
    "状态码不在 200 到 299 之间时的处理：`fail` 使节点失败，可以重试；`data` 当作普通响应。",
  "Largest answer, in kilobytes. A larger one is an error.": "响应的最大大小（kB），超出时报错。",

  // map
  Map: "遍历",
  "Does something for each item of a list, several at once.": "对列表的每一项执行操作，多项并行。",
  "Does something for each item of a list.": "对列表的每一项执行操作。",
  Failures: "失败处理",
  Items: "列表",
  "An expression that gives the list.": "表达式：要遍历的列表。",
  As: "变量名",
  "What one item is called in the settings below: `item.name`.": "列表项在以下设置中的名称，如 `item.name`。",
  Expression: "表达式",
  "An expression: what becomes of an item.": "表达式：列表项的处理结果。",
  "Body of a JavaScript function that sees the item under its name, `index` and `state`, and returns what becomes of it.":
    "JavaScript 函数体，可以使用列表项（以变量名访问）、`index` 和 `state`，返回该项的处理结果。",
  "A graph file that is run for each item.": "对每一项运行的图文件。",
  "What the graph is given: text is an expression that sees the item, any other JSON is taken as it is. Without it, the item under its name.":
    "图的输入：文本是可以使用列表项的表达式，其他 JSON 原样使用。未填写时，以变量名传入列表项。",
  "An expression: what of `result`, the graph's output, becomes of the item. Without it, all of it.":
    "表达式：取 `result`（图的输出）的哪些内容作为该项的结果。未填写时为全部。",
  "State key that takes the list of results, in the order of the items.":
    "接收结果列表的状态键，顺序与列表项相同。",
  "At once": "并发数",
  "Items that are worked on at once.": "同时处理的项数。",
  "On error": "出错时",
  "What happens when an item fails: `fail` fails the node after the others are done, `skip` leaves the item out, `collect` puts null in its place.":
    "某项失败时的处理：`fail` 在其他项完成后使节点失败，`skip` 略去该项，`collect` 以 null 代替。",
  "Errors into": "错误写入",
  "State key that takes a list of the failures: `{index, item, class, message}`.":
    "接收失败列表的状态键：`{index, item, class, message}`。",
  "Most items": "最大项数",
  "Most items; a longer list is an error.": "最多处理的项数；列表更长时报错。",
  "Running time of the JavaScript for one item, in milliseconds.": "JavaScript 处理一项的最长时间（毫秒）。",

  // ask
  Ask: "提问",
  "Stops and asks a person; goes on with the answer.": "中断（interrupt）并向人提问，得到回答后继续。",
  "Asks a person.": "向人提问。",
  "Shown with the question": "随问题显示",
  "Deadline and people": "截止时间与人员",
  Question: "问题",
  "JSON Schema of the answer. Without one: the values of the choices, or else the type of the state key.":
    "回答的 JSON Schema。未填写时为各选项的值；没有选项时为状态键的类型。",
  Choices: "选项",
  "Answers offered as buttons.": "以按钮提供的回答。",
  "A ready-made answer.": "一个预设的回答。",
  "Text on the button.": "按钮上的文字。",
  Value: "值",
  "The answer it gives.": "选中时给出的回答。",
  "What it means or leads to.": "它的含义或后果。",
  Edit: "编辑",
  "State key whose value is edited: it comes with the question, and the answer is its new value.":
    "要编辑的状态键：其值随问题显示，回答就是新值。",
  Context: "上下文",
  "State keys shown with the question.": "随问题显示的状态键。",
  "State key that takes the answer.": "接收回答的状态键。",
  "Waits (s)": "等待时间（秒）",
  "Seconds that the question waits for an answer; for ever without it.": "等待回答的秒数；未填写时一直等待。",
  "When nobody answers": "无人回答时",
  "What is written when nobody has answered by then. Without it the node fails with `AskTimeoutError`, which a fallback can take.":
    "到时仍无人回答时写入的内容。未填写时，节点以 `AskTimeoutError` 失败，可由备用方式处理。",
  "Who may answer": "可回答的人",
  "Names of those who may answer; anybody when empty.": "可以回答的人的名字；留空则任何人都可以。",

  // note
  Note: "便签",
  "A text on the canvas, for people; it never runs.": "画布上给人看的文字，不会运行。",
  "A text on the canvas.": "画布上的文字。",
  Size: "尺寸",
  "What it says, as Markdown.": "便签的内容，Markdown 格式。",
  Colour: "颜色",
  "Colour: `yellow`, `green`, `blue`, `purple`, `red` or `gray`.":
    "颜色：`yellow`、`green`、`blue`、`purple`、`red` 或 `gray`。",
  Frame: "分组框",
  "A titled frame behind the nodes, which moves what lies in it.":
    "节点后面带标题的分组框，移动时带动框内的内容。",
  Width: "宽度",
  "Width on the canvas.": "画布上的宽度。",
  Height: "高度",
  "Height on the canvas.": "画布上的高度。",

  // retrieve
  Retrieve: "检索",
  "Finds the sections of documents that match a question.": "查找文档中与问题匹配的片段。",
  "Searches documents.": "搜索文档。",
  Search: "搜索",
  Sections: "片段",
  Folder: "文件夹",
  "Folder or file with documents: inside the graph's own folder, or anywhere by its whole path.":
    "存放文档的文件夹或文件：在图所在的文件夹内，或以完整路径指定任何位置。",
  Files: "文件",
  "Which files of it, such as `*.md` or `guides/**`; `!` before a pattern leaves out. Without any, all that can be read.":
    "其中的哪些文件，如 `*.md` 或 `guides/**`；模式前加 `!` 表示排除。未填写时为所有可读取的文件。",
  "Expression that gives what to look for.": "表达式：要查找的内容。",
  Mode: "模式",
  "`words` finds by full text, `vectors` by likeness, `both` joins the two rankings.":
    "`words` 按全文查找，`vectors` 按相似度查找，`both` 合并两种排名。",
  Embedding: "嵌入",
  "What makes the vectors: `ngrams`, which is offline and knows spelling only, or a model such as `openai::text-embedding-3-small` or one of a connection.":
    "生成向量的方式：`ngrams` 可离线使用，但只认拼写；或使用模型，如 `openai::text-embedding-3-small` 或某个连接的模型。",
  Limit: "数量上限",
  "Most sections to give.": "最多返回的片段数。",
  "Section size": "片段大小",
  "Largest section, in bytes; a larger one is cut between paragraphs.":
    "片段的最大字节数；更大的在段落之间切分。",
  Overlap: "重叠",
  "How many bytes of a section that was cut the next one repeats.":
    "切分后，后一个片段重复前一个片段的字节数。",
  "State key that takes the sections: a list of `{path, title, text, score, cite, lines, bytes}`, best first.":
    "接收片段的状态键：`{path, title, text, score, cite, lines, bytes}` 的列表，最匹配的在前。",
  "Text into": "文本写入",
  "State key that takes the sections as numbered text for a prompt.":
    "接收片段的状态键，写入带编号的文本，供提示词使用。",

  // store
  Store: "存储",
  "Reads, writes and searches the long-term memory that all threads share.":
    "读写和搜索所有线程共享的长期记忆（store）。",
  "Uses the long-term memory.": "使用长期记忆（store）。",
  Storage: "存储选项",
  "What is done: `get` an item, `put` one, `delete` one, `search` for items, or list the `namespaces`.":
    "执行的操作：`get` 读取、`put` 写入或 `delete` 删除一个条目，`search` 搜索条目，`namespaces` 列出命名空间。",
  'Labels of the namespace, each a template: `["users", "{{ state.user }}"]`. Searches look below it too.':
    '命名空间的各级，每一级都是模板：`["users", "{{ state.user }}"]`。搜索也包括其下级。',
  Key: "键",
  "A template: the item's key, for `get`, `put` and `delete`.":
    "模板：条目的键，用于 `get`、`put` 和 `delete`。",
  "An expression: what is put, an object.": "表达式：要写入的内容，须为对象。",
  "A template: what is searched for. Without it, the items that were updated last come first.":
    "模板：要搜索的内容。未填写时，最近更新的条目在前。",
  By: "查找方式",
  "How a query finds items: `auto` by meaning when the store has a vector index, else by words.":
    "查询如何查找条目：`auto` 在存储有向量索引时按语义查找，否则按词查找。",
  Filter: "筛选条件",
  "An expression: what the values of found items must hold, an object such as `{'done': false, 'age': {'$gt': 3}}`.":
    "表达式：条目的值须满足的条件，是一个对象，如 `{'done': false, 'age': {'$gt': 3}}`。",
  "Most items or namespaces that are found.": "最多返回的条目数或命名空间数。",
  "Minutes to live": "有效期（分钟）",
  "Minutes that an item lives after it was put; without it, as the store is set up.":
    "条目写入后的有效分钟数；未填写时按存储的设置。",
  Indexed: "建立索引",
  "Can a query find what is put?": "写入的内容能否通过查询找到？",
  "State key that takes what was found: an item or null, a list of items, or a list of namespaces.":
    "接收结果的状态键：一个条目或 null、条目列表，或命名空间列表。",
  "An expression: what of `found` is written. Without it, all of it.":
    "表达式：写入 `found` 的哪些内容。未填写时为全部。",

  // graph
  "Runs another graph as one step.": "把另一个图作为一步运行。",
  "Runs another graph.": "运行另一个图。",
  "Input and output": "输入与输出",
  "Keys of the nested graph and what they are given: text is an expression, any other JSON is taken as it is. Without it the nested graph is given the keys that both have.":
    "子图的键及其输入值：文本按表达式求值，其他 JSON 原样使用。未填写时，传入两个图共有的键。",
  "State keys and what they take of `result`, the nested graph's output. Without it the keys that both have are taken over.":
    "状态键及其从 `result`（子图的输出）中取得的值。未填写时，取回两个图共有的键。",
  Remembers: "记忆范围",
  "What the nested graph remembers: `run` starts over each time, `thread` goes on where it ended the last time, `nothing` stores no checkpoints of it.":
    "子图记住的内容：`run` 每次重新开始，`thread` 从上次结束处继续，`nothing` 不保存子图的检查点（checkpoint）。",
  "Its checkpoints belong to the task that runs it.": "检查点属于运行它的任务。",
  "It goes on where it ended.": "从上次结束处继续。",
  "It cannot be interrupted or looked into.": "不能中断，也不能查看内部。",
};

/** Chinese words that a search finds a kind by, beside its name, its summary and the English ones. */
export const kindAliases: Readonly<Record<string, readonly string[]>> = {
  assign: [
    "设置",
    "变量",
    "设置变量",
    "更新状态",
    "修改字段",
    "编辑字段",
    "转换",
    "合并",
    "计算",
    "公式",
    "表达式",
  ],
  router: [
    "条件",
    "判断",
    "如果",
    "否则",
    "分支",
    "条件分支",
    "条件边",
    "切换",
    "选择",
    "决策",
    "分类",
    "意图",
    "意图识别",
    "过滤",
    "跳转",
  ],
  delay: ["延时", "延迟", "定时", "计时器", "暂停", "睡眠", "休眠", "定时器", "直到"],
  model: [
    "大模型",
    "大语言模型",
    "语言模型",
    "提示词",
    "对话",
    "聊天",
    "聊天机器人",
    "生成",
    "补全",
    "问答",
    "分类",
    "总结",
    "摘要",
    "提取",
    "抽取",
    "翻译",
    "结构化输出",
    "识图",
    "视觉",
    "通义千问",
    "文心一言",
    "豆包",
    "智谱",
  ],
  tools: ["工具节点", "工具调用", "函数调用", "插件", "动作", "调用工具"],
  agent: ["代理", "助手", "助理", "自主", "工具调用", "函数调用", "主管", "多智能体", "循环"],
  memory: [
    "对话历史",
    "历史",
    "聊天记录",
    "上下文",
    "上下文窗口",
    "裁剪",
    "截断",
    "压缩",
    "总结",
    "摘要",
    "精简",
    "删除消息",
    "短期记忆",
  ],
  code: ["脚本", "函数", "程序", "自定义", "编程", "转换", "数据处理", "沙箱"],
  http: ["接口", "请求", "网络请求", "网络", "网页", "抓取", "调用接口", "网址", "链接"],
  map: ["循环", "逐项", "每一项", "迭代", "批量", "批处理", "并行", "并发", "拆分", "扇出", "映射", "列表"],
  ask: [
    "人工",
    "人工介入",
    "人机协作",
    "人在回路",
    "审批",
    "批准",
    "审核",
    "确认",
    "输入",
    "表单",
    "问题",
    "中断",
    "等待回答",
    "用户",
  ],
  note: ["备注", "注释", "批注", "便利贴", "文字", "文本", "说明", "文档", "框", "分组", "区域"],
  retrieve: [
    "知识库",
    "向量",
    "向量库",
    "向量数据库",
    "嵌入",
    "搜索",
    "查找",
    "文档",
    "文件",
    "检索增强",
    "相似度",
    "索引",
  ],
  store: [
    "长期记忆",
    "记忆",
    "记住",
    "键值",
    "数据库",
    "保存",
    "读取",
    "写入",
    "语义搜索",
    "向量",
    "命名空间",
  ],
  graph: ["嵌套", "嵌套图", "子流程", "子工作流", "工作流", "流程", "调用", "模块", "组件", "复用"],
};
