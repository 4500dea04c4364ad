/**
 * Chinese words of the node kinds: their names, summaries and forms. Rust sends these texts in English with the kinds, so
 * the key is the English text; `../kinds.json` lists all of them.
 */
export const kinds: Readonly<Record<string, string>> = {
  // assign
  Assign: "赋值",
  "Sets state keys from expressions.": "用表达式给状态键赋值。",
  "Sets state keys.": "给状态键赋值。",
  Assignments: "赋值",
  "New value of each state key: text is an expression, any other JSON is used as is.":
    "每个状态键的新值：文本按表达式求值，其他 JSON 原样使用。",

  // router
  Router: "路由",
  "Picks the next way by conditions or with a model.": "按条件或由模型选择接下来的分支。",
  "Picks the next way.": "选择接下来的分支。",
  "Model choice": "模型选择",
  Ways: "分支",
  "Ways to choose from; without a model, the first with a true condition is taken.":
    "可选的分支；不用模型时，选择第一个条件为真的分支。",
  "A way that the run can take.": "运行可以走的一个分支。",
  Label: "标签",
  "Value that the `route` edge matches against its paths.": "`route` 边据此匹配去向的值。",
  Condition: "条件",
  "Expression that selects this way when it is true; not needed with a model.":
    "表达式：为真时选择此分支；由模型选择时无需填写。",
  Description: "说明",
  "Tells the model when to choose this way.": "告诉模型何时选择此分支。",
  "Default way": "默认分支",
  "Label to use when no condition is true; without it, the node fails.":
    "所有条件都不为真时使用的标签；未填写时节点失败。",
  "Output key": "输出键",
  'Stores the chosen label in this state key, for a `route` edge to read: `"route": "state.KEY"`.':
    '把选中的标签存入此状态键，供 `route` 边读取：`"route": "state.KEY"`。',
  Classifier: "分类器",
  "Lets a model choose by the descriptions of the ways.": "让模型按各分支的说明选择。",
  Text: "文本",
  "Input text": "输入文本",
  "Text to classify.": "要分类的文本。",
  Model: "模型",
  "PROVIDER::NAME such as `openai::gpt-4o-mini`, CONNECTION::NAME for one of your connections, or `scripted`.":
    "“提供商::模型名”（如 `openai::gpt-4o-mini`）、自有连接的“连接名::模型名”，或 `scripted`。",
  Script: "脚本",
  "Answers of `scripted`: the first line with a true condition, or with none, is used.":
    "`scripted` 的回答：使用条件为真或没有条件的第一行。",
  "A line of the script.": "脚本中的一行。",
  "Expression that must be true for this line; without it, the line always applies.":
    "此行须满足的表达式；未填写时总是适用。",
  "Template for the text of the answer.": "回答文本的模板。",
  "Tool calls": "工具调用",
  "Tools that the model calls in this answer.": "模型在此回答中调用的工具。",
  "A tool call of the scripted model.": "脚本模型发出的一次工具调用。",
  Tool: "工具",
  "Name of the tool.": "工具的名称。",
  Arguments: "参数",
  "Arguments of the call: text is an expression, any other JSON is used as is.":
    "调用的参数：文本按表达式求值，其他 JSON 原样使用。",
  "Timeout (s)": "超时（秒）",
  "Stops waiting for the answer after this time.": "超过此时间即不再等待响应。",

  // delay
  Delay: "等待",
  "Waits for a duration or until a time.": "等待一段时间，或等到某个时刻。",
  "Waits.": "等待。",
  "Duration (s)": "时长（秒）",
  "Expression for the number of seconds to wait.": "表达式：等待的秒数。",
  "End time": "结束时刻",
  "Expression for the time to wait for: text such as `2026-11-21T09:30:00+01:00`, or seconds since 1970.":
    "表达式：要等到的时刻，可以是 `2026-11-21T09:30:00+01:00` 这样的文本，或自 1970 年起的秒数。",

  // model
  "Calls a language model and streams its answer; the scripted model works offline.":
    "调用语言模型并流式输出回答；脚本模型可离线回答。",
  "Calls a language model.": "调用语言模型。",
  Conversation: "对话",
  Tools: "工具",
  Answer: "回答",
  "Answer schema": "回答结构",
  "Model settings": "模型设置",
  "Recording and script": "录制与脚本",
  Instructions: "系统提示词",
  "Sent first, as the system message.": "作为系统消息最先发送。",
  Prompt: "提示词",
  "Template for the text to send.": "要发送的文本的模板。",
  Messages: "消息",
  "Sends the messages in this state key before the prompt, with their images, tool calls and tool results.":
    "在提示词之前发送此状态键中的消息，连同图片、工具调用和工具结果。",
  Images: "图片",
  "Sends images with the prompt: project files, or `https` or `data` URLs; each template gives one per line, and empty lines are skipped.":
    "随提示词发送图片：项目文件，或 `https`、`data` URL；每个模板每行给出一张，空行略去。",
  "Stores the answer in this state key: as a message if its reducer is `add_messages`, otherwise as text.":
    "把回答存入此状态键：归约函数（reducer）为 `add_messages` 时存为消息，否则存为文本。",
  "Output mapping": "输出映射",
  "Output schema": "输出结构",
  "Result expression": "结果表达式",
  "JSON Schema that the answer must match; the answer is stored as JSON.":
    "回答须符合的 JSON Schema；回答以 JSON 存储。",
  "Usage key": "用量键",
  "Stores token counts and cost in this state key, repairs included: `{model, requests, input_tokens, output_tokens, total_tokens, cost}`.":
    "把 Token 用量和费用存入此状态键，包括修正所用：`{model, requests, input_tokens, output_tokens, total_tokens, cost}`。",
  "Maximum repairs": "最大修正次数",
  "Returns an answer that does not match `output` to the model, with the errors, up to this many times.":
    "回答不符合 `output` 时，附上错误退回给模型，最多这么多次。",
  "Tools that the model may call; the stored message contains the calls.":
    "模型可以调用的工具；存储的消息中包含这些调用。",
  "A tool as described to the model.": "向模型描述的工具。",
  Name: "名称",
  "Name that the model calls the tool by: letters, digits, `_` and `-`.":
    "模型调用它的名称：字母、数字、`_` 和 `-`。",
  "Tells the model what the tool does and when to use it.": "告诉模型工具的用途和使用时机。",
  Parameters: "参数结构",
  "JSON Schema of the arguments; must be an object.": "参数的 JSON Schema，须为对象。",
  "Tools node": "工具节点",
  "Offers the tools of a `tools` node to the model, without describing them again.":
    "向模型提供一个 `tools` 节点的工具，无需重复描述。",
  Resources: "资源",
  "Adds resources of MCP servers before the conversation.": "在对话之前加入 MCP 服务器的资源。",
  "A resource of an MCP server.": "MCP 服务器的一个资源。",
  Server: "服务器",
  "Name of the server in the project's `.mcp.json`.": "服务器在项目 `.mcp.json` 中的名称。",
  URI: "URI",
  "Template for the URI of the resource.": "资源 URI 的模板。",
  "Tool choice": "工具选择",
  "Controls whether the model may, must or must not call a tool.": "控制模型可以、必须还是不得调用工具。",
  "Reasoning effort": "推理强度",
  "Sets how much a reasoning model thinks before it answers; without it, the provider decides.":
    "推理模型回答前的思考程度；未填写时由提供商决定。",
  Temperature: "温度",
  "Makes answers more varied the higher it is.": "值越高，回答越多样。",
  "Maximum tokens": "最大 Token 数",
  "Maximum output tokens": "最大输出 Token 数",
  "Limits the length of the answer.": "限制回答的长度。",
  "Stops waiting for the complete answer after this time.": "超过此时间即不再等待完整回答。",
  Recording: "录制",
  "`record` saves answers to `recordings/models.jsonl` beside the graph; `replay` reads them instead of calling the model.":
    "`record` 把回答保存到图旁的 `recordings/models.jsonl`；`replay` 读取其中的回答，不调用模型。",
  "Delay per word (ms)": "每词停顿（毫秒）",
  "Makes `scripted` pause after each word.": "让 `scripted` 每输出一个词后停顿。",

  // tools
  "Runs the tools that a model calls and adds a message with each result.":
    "执行模型调用的工具，并为每个结果添加一条消息。",
  "Runs tools that a model calls.": "执行模型调用的工具。",
  "Runs the calls of the last ai message in this state key and adds the results there.":
    "执行此状态键中最后一条 AI 消息的工具调用，并把结果加入其中。",
  "Tools of this node; a `model` node offers them with `tools_of`.":
    "此节点的工具；`model` 节点通过 `tools_of` 使用它们。",
  "A tool: its description for the model and its implementation.": "一个工具：向模型的描述及其实现。",
  "HTTP request": "HTTP 请求",
  Graph: "子图",
  JavaScript: "JavaScript",
  Approval: "审批",
  "Asks a person to approve, edit or reject each call, or to answer it in the tool's place.":
    "每次调用前由人批准、修改参数、拒绝，或代替工具回答。",
  "Runs a JavaScript function.": "运行 JavaScript 函数。",
  Source: "源代码",
  "Function body that uses `args` and `state` and returns text or JSON for the model; or a module with the function as\nits default export.":
    "函数体，可以使用 `args` 和 `state`，返回给模型的文本或 JSON；也可以是默认导出该函数的模块。",
  "Timeout (ms)": "超时（毫秒）",
  "Stops the function after this time.": "超过此时间即停止函数。",
  "Limits the processor time of the function.": "限制函数所用的处理器时间。",
  "Memory limit (MB)": "内存上限（MB）",
  "Limits the memory of the function.": "限制函数使用的内存。",
  Python: "Python",
  "Calls a Python function of the project with the arguments by name; parameters called `state`, `store`, `config`,\n`runtime` and `ctx` are filled in.":
    "调用项目中的 Python 函数，参数按名称传入；名为 `state`、`store`、`config`、`runtime` 和 `ctx` 的参数会自动提供。",
  Module: "模块",
  "File with the function, relative to the graph's folder, such as `nodes/research.py`.":
    "包含该函数的文件，路径相对于图所在的文件夹，如 `nodes/research.py`。",
  Function: "函数",
  "Name of the function in the module.": "模块中函数的名称。",
  "The function or its body, instead of a module.": "函数本身或其函数体，用来代替模块。",
  "Secrets and environment variables": "密钥与环境变量",
  "Lets the function read these secrets and environment variables, and no others.":
    "允许函数读取这些密钥和环境变量，此外一概不提供。",
  "Sends an HTTP request.": "发送 HTTP 请求。",
  Method: "方法",
  "HTTP method of the request.": "请求的 HTTP 方法。",
  URL: "URL",
  "Address of the request; `{name}` inserts an encoded argument, but not in the host.":
    "请求的地址；`{name}` 插入编码后的参数，不能用于主机。",
  Query: "查询",
  "Query parameters": "查询参数",
  "Adds `?name=value` to the URL; `{name}` inserts an argument, and empty values are skipped.":
    "以 `?name=value` 附加到 URL；`{name}` 插入参数，空值略去。",
  Headers: "请求头",
  "Adds these headers; `{name}` inserts an argument.": "添加这些请求头；`{name}` 插入参数。",
  Body: "请求体",
  "JSON to send, in which `{name}` inserts an argument; without it, POST, PUT and PATCH send all arguments.":
    "要发送的 JSON，其中 `{name}` 插入参数；未填写时，POST、PUT 和 PATCH 发送全部参数。",
  "Expression over `answer` (`status`, `headers` and `body`) for what to return to the model; without it, the response text.":
    "使用 `answer`（`status`、`headers` 和 `body`）的表达式，给出返回模型的内容；未填写时为响应的原文。",
  "Maximum response size (kB)": "最大响应大小（kB）",
  "Cuts off the response after this size.": "截去响应超过此大小的部分。",
  "Runs a graph of the project, such as an agent.": "运行项目中的图，例如智能体。",
  "Graph file, relative to this graph's folder.": "图文件，路径相对于此图所在的文件夹。",
  "Input mapping": "输入映射",
  "Value of each key of the graph: text is an expression over `args` and `state`, any other JSON is used as is; without it, arguments go to keys of the same name and the others become a message.":
    "图中每个键的值：文本是使用 `args` 和 `state` 的表达式，其他 JSON 原样使用；未填写时，参数传给同名的键，其余的成为一条消息。",
  "Expression over `result`, the graph's output; without it, the text of the last message or else the output is returned.":
    "使用 `result`（图的输出）的表达式；未填写时，返回最后一条消息的文本，没有消息时返回图的输出。",
  "Hand-off": "移交",
  "Hands off to another node.": "移交给另一个节点继续。",
  "Target node": "目标节点",
  "Node that continues the run.": "接手继续的节点。",
  "Target in parent graph": "目标在外层图中",
  "Looks for the node in the graph that runs this one and passes the conversation to its key of the same name.":
    "在运行此图的外层图中查找该节点，并把对话交给外层图的同名键。",
  "Active node key": "活动节点键",
  "Stores the node's name in this state key, so that the next run can start there.":
    "把节点名称存入此状态键，下次运行可以从该节点开始。",
  "MCP servers": "MCP 服务器",
  "Adds tools of MCP servers declared in the project's `.mcp.json`.":
    "加入项目 `.mcp.json` 所声明的 MCP 服务器的工具。",
  "Tools of an MCP server.": "一个 MCP 服务器的工具。",
  "Approval exceptions": "审批例外",
  More: "更多",
  "Tools that may be called; without it, all of them.": "可以调用的工具；未填写时为全部。",
  "Asks a person before tools run: `changes` asks unless the server marks the tool as read-only.":
    "工具执行前由人审批：`changes` 一律审批，除非服务器把工具标为只读。",
  "Tools with approval": "始终审批的工具",
  "Always asks a person before these tools run.": "执行前始终需要审批的工具。",
  "Tools without approval": "无需审批的工具",
  "Runs these tools without asking.": "执行前无需审批的工具。",
  "Adds two tools that list and read the server's resources.": "添加两个工具，用来列出和读取服务器的资源。",
  "Name prefix": "名称前缀",
  "Prepended to tool names, to tell apart servers with tools of the same name.":
    "加在工具名称之前，区分不同服务器的同名工具。",
  "Stops a tool that has been silent for this time; each progress report restarts it.":
    "工具在此时间内没有动静即停止；收到进度报告后重新计时。",

  // tools: the question before one runs, and the ways to answer it
  "May the tool `{tool}` run?": "允许运行工具 `{tool}` 吗？",
  Approve: "批准",
  "Run it with these arguments.": "以这些参数运行。",
  Reject: "拒绝",
  "Do not run it, and tell the model.": "不运行，并告知模型。",
  "Change the arguments, then run it.": "修改参数后运行。",
  Reason: "原因",
  Respond: "代答",
  "Do not run it, and give the model this as its result.": "不运行，以此内容代替结果告诉模型。",
  "Answer in its place": "代替的结果",

  // agent
  Agent: "智能体",
  "Calls a model and its tools in a loop until the model answers.":
    "循环调用模型及其工具，直到模型给出回答。",
  Limits: "限制",
  "Describes the agent's role and task, as the system message.": "作为系统消息，说明智能体的角色和任务。",
  "Reads and extends the conversation in this state key.": "读取并续写此状态键中的对话。",
  "Tools that the agent may call.": "智能体可以调用的工具。",
  "Maximum model calls": "最大模型调用次数",
  "Limits the model calls of one run of the node.": "限制节点一次运行中调用模型的次数。",
  "Behaviour at the limit": "达到上限时",
  "`error` fails the node when the limit is reached; `answer` calls the model once more, without tools.":
    "达到上限后，`error` 使节点失败，`answer` 不带工具再调用一次模型。",
  "JSON Schema of a result that the model gives at the end, stored in `into`.":
    "模型最后给出的结果的 JSON Schema，结果存入 `into`。",
  "Stores the result in this state key.": "把结果存入此状态键。",
  "Stops waiting for an answer of the model after this time.": "超过此时间即不再等待模型的回答。",
  "Answers of `scripted`: the first line with a true condition, or with none, is used; lines with calls are skipped where tools are not allowed.":
    "`scripted` 的回答：使用条件为真或没有条件的第一行；不允许使用工具时，跳过含工具调用的行。",

  // memory
  Memory: "记忆",
  "Shortens a conversation or extracts facts from it.": "精简对话，或从中提取事实。",
  "Manages a conversation.": "管理对话。",
  "Trim options": "裁剪选项",
  "Prompt and facts": "提示词与事实",
  Operation: "操作",
  "`trim` keeps the end of the conversation, `delete` removes messages, `summarise` replaces old messages with a summary, `extract` saves facts to the store.":
    "`trim` 保留对话的末尾，`delete` 删除消息，`summarise` 用摘要代替较早的消息，`extract` 把事实存入长期记忆（store）。",
  "State key with the conversation.": "存放对话的状态键。",
  "Trim keeps at most about this many tokens, at four characters each; summarise does nothing below it.":
    "`trim`：最多保留的 Token 数，按四个字符一个 Token 估算；`summarise`：低于此数时不做处理。",
  "Provider token count": "按提供商计数",
  "Starts from the token count that the provider reported with its last answer.":
    "以提供商对上次回答报告的 Token 数为起点。",
  "Maximum turns": "最大轮数",
  "Trim keeps at most this many turns, each beginning with a human message.":
    "`trim`：最多保留的轮数；每轮从一条用户消息（human）开始。",
  "Leading system message": "保留系统消息",
  "Trim always keeps a system message at the beginning.": "`trim`：始终保留开头的系统消息。",
  "First message types": "首条消息类型",
  "Trim starts at a message of one of these types.": "`trim`：保留的第一条消息须为这些类型之一。",
  "Last message types": "末条消息类型",
  "Trim ends at a message of one of these types; without any, at the last message.":
    "`trim`：保留的最后一条消息须为这些类型之一；留空则不限。",
  "Partial messages": "允许部分保留",
  "Trim keeps the last lines or blocks of the message at the edge.":
    "`trim`：边界处的消息保留一部分，即最后几行或几块。",
  "Trim stores the kept messages in this state key and leaves the conversation unchanged; extract stores the facts there.":
    "`trim`：把保留的消息存入此状态键，对话本身不变；`extract`：把事实存入此状态键。",
  "Message IDs": "消息 ID",
  "Expression for the list of message IDs to delete.": "表达式：要删除的消息 ID 的列表。",
  "Message types": "消息类型",
  "Delete removes only messages of these types.": "`delete`：只删除这些类型的消息。",
  "Messages to keep": "保留的消息数",
  "Delete and summarise leave this many of the last messages.":
    "`delete` 和 `summarise`：保留最后这么多条消息。",
  "Summary key": "摘要键",
  "Stores the summary in this state key; without it, the summary is a system message at the beginning.":
    "把摘要存入此状态键；未填写时，摘要是开头的一条系统消息。",
  "Model that summarises or extracts.": "用来写摘要或提取事实的模型。",
  "Replaces the built-in prompt; it can use `state.transcript` and `state.known`, the summary or facts so far.":
    "代替内置的提示词；可以使用 `state.transcript` 和 `state.known`（目前的摘要或事实）。",
  Namespace: "命名空间",
  "Namespace of the facts in the store, one template for each level.":
    "事实在长期记忆（store）中的命名空间，每一级是一个模板。",
  "Fact schema": "事实结构",
  "JSON Schema of one fact, an object; without it, a fact is text.":
    "一条事实的 JSON Schema，须为对象；未填写时，事实是文本。",

  // code
  Code: "代码",
  "Runs JavaScript in a sandbox, or a Python function of the project.":
    "在沙箱中运行 JavaScript，或运行项目中的 Python 函数。",
  "Runs JavaScript or Python.": "运行 JavaScript 或 Python。",
  Destinations: "目标节点",
  Language: "语言",
  "`javascript` runs in a sandbox, `python` in the project's interpreter.":
    "`javascript` 在沙箱中运行，`python` 在项目的解释器中运行。",
  "Function body that uses `state` and returns an update or a `Command`; or the function itself, in JavaScript the\ndefault export of a module.":
    "函数体，可以使用 `state`，返回更新或 `Command`；也可以是函数本身，在 JavaScript 中是模块的默认导出。",
  "Python file with the function, relative to the graph's folder, instead of a source.":
    "包含该函数的 Python 文件，路径相对于图所在的文件夹，用来代替源代码。",
  "Name of the Python function.": "Python 函数的名称。",
  "Lets the Python function read these secrets and environment variables, and no others.":
    "允许 Python 函数读取这些密钥和环境变量，此外一概不提供。",
  Secrets: "密钥",
  'Nodes that a `Command` may go to, for the canvas to draw; a Python function can declare them in its return annotation:\n`Command[Literal["a", "b"]]`.':
    '`Command` 可以前往的节点，用来画在图上；Python 函数也可以在返回注解中声明：`Command[Literal["a", "b"]]`。',
  "Limits the processor time of JavaScript (a second without it) and the running time of Python (a minute without it).":
    "限制 JavaScript 的处理器时间（未填写时为一秒）和 Python 的运行时间（未填写时为一分钟）。",
  "Limits the memory of the JavaScript code.": "限制 JavaScript 代码使用的内存。",

  // http
  HTTP: "HTTP",
  "Sends an HTTP request and stores the response.": "发送 HTTP 请求并存储响应。",
  "Query and headers": "查询与请求头",
  "Template for the address; values in `{{ }}` are encoded, unless the address begins with `{{`. `${NAME}` inserts a secret.":
    "地址的模板；`{{ }}` 中的值会编码，以 `{{` 开头的地址除外。`${NAME}` 插入密钥。",
  "Adds `?name=value` to the URL, with templates as values; empty values are skipped, and `${NAME}` inserts a secret.":
    "以 `?name=value` 附加到 URL，值为模板；空值略去，`${NAME}` 插入密钥。",
  "Adds these headers, with templates as values; `${NAME}` inserts a secret, as in `Bearer ${MY_KEY}`.":
    "添加这些请求头，值为模板；`${NAME}` 插入密钥，例如 `Bearer ${MY_KEY}`。",
  "Expression for the body of POST, PUT and PATCH: text is sent as text, anything else as JSON. `'${NAME}'` inserts a secret.":
    "表达式：POST、PUT 和 PATCH 的请求体。文本按文本发送，其他按 JSON 发送。`'${NAME}'` 插入密钥。",
  "API key variable": "API 密钥变量",
  "Secret or environment variable with the API key, sent as `Authorization: Bearer KEY`.":
    "存放 API 密钥的密钥或环境变量，以 `Authorization: Bearer KEY` 发送。",
  "Expression over `answer` (`status`, `headers` and `body`) for what to store.":
    "使用 `answer`（`status`、`headers` 和 `body`）的表达式，给出要存储的内容。",
  "Error status handling": "非 2xx 状态码",
  "`fail` fails the node on a status outside 200 to 299, so that it can be retried; `data` stores the response.":
    "状态码不在 200 到 299 之间时，`fail` 使节点失败，可以重试；`data` 照常存储响应。",
  "Fails the node if the response is larger.": "响应更大时节点失败。",

  // map
  Map: "遍历",
  "Processes each item of a list, several at a time.": "对列表的每一项执行操作，多项并行。",
  "Processes each item of a list.": "对列表的每一项执行操作。",
  Failures: "失败处理",
  List: "列表",
  "Expression for the list to process.": "表达式：要处理的列表。",
  "Item name": "列表项名称",
  "Name of the current item in the settings below, as in `item.name`.":
    "列表项在以下设置中的名称，如 `item.name`。",
  Expression: "表达式",
  "Expression for the result of an item.": "表达式：一项的结果。",
  "JavaScript function body that uses the item by its name, `index` and `state`, and returns the item's result.":
    "JavaScript 函数体，可以使用列表项（以变量名访问）、`index` 和 `state`，返回该项的处理结果。",
  "Graph file to run for each item.": "对每一项运行的图文件。",
  "Value of each key of the graph: text is an expression that can use the item, any other JSON is used as is; without it, the item is passed under its name.":
    "图中每个键的值：文本是可以使用列表项的表达式，其他 JSON 原样使用；未填写时，以变量名传入列表项。",
  "Expression over `result`, the graph's output, for the item's result; without it, the whole output.":
    "使用 `result`（图的输出）的表达式，给出该项的结果；未填写时为全部输出。",
  "Stores the list of results in this state key, in the order of the items.":
    "把结果列表存入此状态键，顺序与列表项相同。",
  "Maximum concurrent items": "最大并发数",
  "Limits how many items are processed at the same time.": "限制同时处理的项数。",
  "Error handling": "错误处理",
  "`fail` fails the node after all items have run, `skip` leaves the failed item out, `collect` puts null in its place.":
    "某项失败时，`fail` 在所有项运行后使节点失败，`skip` 略去该项，`collect` 以 null 代替。",
  "Errors key": "错误键",
  "Stores the failures in this state key: a list of `{index, item, class, message}`.":
    "把失败的项存入此状态键：`{index, item, class, message}` 的列表。",
  "Maximum items": "最大项数",
  "Fails the node if the list is longer.": "列表更长时节点失败。",
  "Limits the processor time of the JavaScript of an item.": "限制一项的 JavaScript 所用的处理器时间。",

  // ask
  Ask: "提问",
  "Pauses the run, asks a person and continues with the answer.":
    "中断（interrupt）并向人提问，得到回答后继续。",
  "Asks a person.": "向人提问。",
  "Deadline and people": "截止时间与人员",
  Question: "问题",
  "JSON Schema that the answer must match; without it, a choice or else a value that fits the state key.":
    "回答须符合的 JSON Schema；未填写时为某个选项，没有选项时为符合状态键类型的值。",
  Choices: "选项",
  "Answers to offer as buttons.": "以按钮提供的回答。",
  "A predefined answer.": "一个预设的回答。",
  "Text on the button.": "按钮上的文字。",
  Value: "值",
  "Answer that the button gives.": "按钮给出的回答。",
  "Explains the choice to the person.": "向人说明此选项。",
  Edit: "编辑",
  "Edited key": "编辑的键",
  "Shows the value of this state key for editing; the answer is its new value.":
    "显示此状态键的值供编辑；回答就是新值。",
  Context: "上下文",
  "Context keys": "上下文键",
  "Shows these state keys with the question.": "随问题显示这些状态键。",
  "Stores the answer in this state key.": "把回答存入此状态键。",
  "Answer timeout (s)": "回答超时（秒）",
  "Closes the question after this time; without it, it waits indefinitely.":
    "超过此时间即关闭问题；未填写时一直等待。",
  "Default answer": "默认回答",
  "Answer to store when time runs out; without it, the node fails with `AskTimeoutError`, which a fallback can handle.":
    "超时后存入的回答；未填写时，节点以 `AskTimeoutError` 失败，可由备用方式处理。",
  "Allowed people": "可回答的人",
  "Lets only these people answer, by name; without any, everybody may.":
    "只有这些名字的人可以回答；未填写时任何人都可以。",

  // note
  Note: "便签",
  "Text on the canvas; never runs.": "画布上的文字，不会运行。",
  "Text on the canvas.": "画布上的文字。",
  Size: "尺寸",
  "Markdown text of the note.": "便签的 Markdown 文本。",
  Colour: "颜色",
  "Colour of the note: `yellow`, `green`, `blue`, `purple`, `red` or `gray`.":
    "便签的颜色：`yellow`、`green`、`blue`、`purple`、`red` 或 `gray`。",
  Frame: "分组框",
  "Draws a titled frame behind the nodes that moves the nodes in it.":
    "节点后面带标题的分组框，移动时带动框内的内容。",
  Width: "宽度",
  "Width on the canvas.": "画布上的宽度。",
  Height: "高度",
  "Height on the canvas.": "画布上的高度。",

  // retrieve
  Retrieve: "检索",
  "Finds sections of documents that match a query.": "查找文档中与查询匹配的片段。",
  "Searches documents.": "搜索文档。",
  Search: "搜索",
  Sections: "片段",
  Folder: "文件夹",
  "Folder or file to search: relative to the graph's folder, or an absolute path.":
    "要搜索的文件夹或文件：相对于图所在文件夹的路径，或绝对路径。",
  "File patterns": "文件模式",
  "Searches only files that match, such as `*.md` or `guides/**`; `!` excludes, and without patterns all readable files are searched.":
    "只搜索匹配的文件，如 `*.md` 或 `guides/**`；`!` 表示排除，未填写时搜索所有可读取的文件。",
  "Expression for the text to search for.": "表达式：要查找的内容。",
  "Search method": "查找方式",
  "`words` searches the full text, `vectors` compares embeddings by similarity, `both` merges the two rankings.":
    "`words` 按全文查找，`vectors` 按嵌入的相似度查找，`both` 合并两种排名。",
  "Embedding model": "嵌入模型",
  "Creates the vectors: a model such as `openai::text-embedding-3-small`, one of a connection, or `ngrams`, which works offline and compares spelling only.":
    "生成向量：使用模型（如 `openai::text-embedding-3-small`）、某个连接的模型，或可离线使用、只比较拼写的 `ngrams`。",
  "Maximum results": "最大结果数",
  "Maximum sections": "最大片段数",
  "Limits the number of sections.": "限制片段的数量。",
  "Section size (bytes)": "片段大小（字节）",
  "Splits longer sections between paragraphs.": "在段落之间切分更长的片段。",
  "Overlap (bytes)": "重叠（字节）",
  "Repeats this much of a split section at the start of the next one.":
    "切分后，后一个片段开头重复前一个片段的这么多内容。",
  "Stores the sections in this state key, best first: a list of `{path, title, text, score, cite, lines, bytes}`.":
    "把片段存入此状态键，最匹配的在前：`{path, title, text, score, cite, lines, bytes}` 的列表。",
  "Text key": "文本键",
  "Stores the sections in this state key as numbered text for a prompt.":
    "把片段以带编号的文本存入此状态键，供提示词使用。",

  // store
  Store: "存储",
  "Reads, writes and searches the long-term memory that all threads share.":
    "读写和搜索所有线程共享的长期记忆（store）。",
  "Uses the long-term memory.": "使用长期记忆（store）。",
  Storage: "存储选项",
  "`get` reads an item, `put` writes one, `delete` removes one, `search` finds items, `namespaces` lists namespaces.":
    "`get` 读取条目，`put` 写入条目，`delete` 删除条目，`search` 搜索条目，`namespaces` 列出命名空间。",
  'Namespace, one template for each level, as in `["users", "{{ state.user }}"]`; searches include the levels below.':
    '命名空间，每一级是一个模板，如 `["users", "{{ state.user }}"]`；搜索也包括其下级。',
  Key: "键",
  "Template for the key of the item.": "条目的键的模板。",
  "Expression for the value to write, an object.": "表达式：要写入的内容，须为对象。",
  "Template for the text to search for; without it, the last updated items come first.":
    "要搜索的文本的模板；未填写时，最近更新的条目在前。",
  "`auto` searches by meaning if the store has a vector index, otherwise by words.":
    "`auto` 在存储有向量索引时按语义查找，否则按词查找。",
  Filter: "筛选条件",
  "Expression for the fields that items must match, such as `{'done': false, 'age': {'$gt': 3}}`.":
    "表达式：条目须匹配的字段，如 `{'done': false, 'age': {'$gt': 3}}`。",
  "Limits the number of items or namespaces.": "限制条目或命名空间的数量。",
  "Time to live (min)": "有效期（分钟）",
  "Deletes the item after this time; without it, the store's setting applies.":
    "超过此时间即删除条目；未填写时按存储的设置。",
  "Search index": "建立索引",
  "Lets queries find the item.": "允许查询找到此条目。",
  "Stores what was found in this state key: an item or null, a list of items, or a list of namespaces.":
    "把找到的内容存入此状态键：一个条目或 null、条目列表，或命名空间列表。",
  "Expression over `found` for what to store; without it, everything is stored.":
    "使用 `found` 的表达式，给出要存储的内容；未填写时存储全部。",

  // graph
  "Runs another graph as one step.": "把另一个图作为一步运行。",
  "Runs another graph.": "运行另一个图。",
  "Input and output": "输入与输出",
  "Value of each key of the nested graph: text is an expression, any other JSON is used as is; without it, shared keys are passed.":
    "子图中每个键的值：文本按表达式求值，其他 JSON 原样使用；未填写时，传入两个图共有的键。",
  "New value of each state key, an expression over `result`, the nested graph's output; without it, shared keys are taken over.":
    "每个状态键的新值，是使用 `result`（子图的输出）的表达式；未填写时，取回两个图共有的键。",
  Persistence: "持久化",
  "`run` starts over each time, `thread` continues where the last run ended, `nothing` stores no checkpoints.":
    "`run` 每次重新开始，`thread` 从上次结束处继续，`nothing` 不保存检查点（checkpoint）。",
  "Starts over each time; the checkpoints belong to the task.": "每次重新开始；检查点属于任务。",
  "Continues where the last run of the thread ended.": "从该线程上次运行结束处继续。",
  "Stores no checkpoints; cannot be interrupted or inspected.": "不保存检查点；不能中断，也不能查看内部。",
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
