/**
 * Chinese of problems and what to do about them. Rust sends their texts in English with the pattern that they were made
 * of, so the key is the pattern; `../problems.json` lists all of them.
 */
export const problems: Readonly<Record<string, string>> = {
  "The file is JSON, and no graph: it has no `format` of Superstep and no nodes by their names.":
    "文件是 JSON，但不是图：它既没有 Superstep 的 `format`，也没有按名称列出的节点。",
  "Open another file, or write a graph in its place. Nothing else is written over it.":
    "请打开其他文件，或在其位置写入一个图。不会用其他内容覆盖它。",
  "The graph was drawn from threads of another program, and is only read.":
    "这个图是根据另一个程序的线程绘出的，只供读取。",
  "Make a graph of your own of it, and edit that.": "请据此新建自己的图，再编辑它。",
  "The threads in use are our own, and their graphs are files.": "正在使用的是自己的线程，它们的图是文件。",
  "The program keeps its threads nowhere.": "程序没有保存线程的地方。",
  "The program is running a thread.": "程序正在运行一个线程。",
  "{named} was not opened.": "没有打开 {named}。",
  "{path} does not start: {cause}.": "{path} 无法启动：{cause}。",
  "Choose the project’s interpreter in the settings.": "请在设置中选择项目的解释器。",
  "{path} said what is no answer ({cause}), and was ended.": "{path} 给出的不是回答（{cause}），已被结束。",
  "Look whether the program closes or writes to descriptors that are not its own, and open it again.":
    "请检查程序是否关闭或写入了不属于它的文件描述符，再重新打开。",
  "There are: {names}.": "有：{names}。",
  "Change the edit, or choose the node that it is made as.": "请更改编辑内容，或选择以哪个节点的名义编辑。",
  "Choose another checkpoint.": "请选择另一个检查点。",
  "Install debugpy for the project’s interpreter: `pip install debugpy`.":
    "请为项目的解释器安装 debugpy：`pip install debugpy`。",
  "an attached program is not stopped at places of this kind.": "连接的程序不会停在这种位置。",
  "Choose before or after a node, or a watchpoint.": "请选择节点之前或之后，或监视点。",
  "an attached program is not stopped within nested graphs.": "连接的程序不会停在子图内部。",
  "Choose the node that runs the nested graph.": "请选择运行该子图的节点。",
  "the graph has no node `{node}`.{hint}": "图中没有节点 `{node}`。{hint}",
  "Name a node of the graph. It has: {names}.": "请写出图中的节点。有：{names}。",
  "Correct the program, and open it again.": "请更正程序，再重新打开。",
  "{named} was not imported within {seconds} s, and its process was ended.":
    "{named} 在 {seconds} 秒内没有导入完成，其进程已结束。",
  "Put what takes long, or waits for somebody, into a function, and open it again.":
    "请把耗时或等待他人的部分放入函数，再重新打开。",
  "The program {named} ended: {status}.": "程序 {named} 已结束：{status}。",
  "{path} is a JavaScript program, and only programs in Python are attached.":
    "{path} 是 JavaScript 程序，只能连接 Python 程序。",
  "Open the database of its threads instead.": "请改为打开存放其线程的数据库。",
  "{named} has several graphs, or none of that name.": "{named} 有多个图，或没有这个名字的图。",
  "Write the name behind the file, such as {example}. There are: {names}.":
    "请在文件后写上名字，例如 {example}。可选：{names}。",
  "{message} It said: {said}": "{message} 它输出了：{said}",
  "{path}, line {line}: {message}.": "{path} 第 {line} 行：{message}。",
  "Install {module} for the project’s interpreter, or choose the interpreter that has it in the settings.":
    "请为项目的解释器安装 {module}，或在设置中选择已安装它的解释器。",
  "Install LangGraph 0.6 or later there, make a virtual environment `.venv` in the project’s folder, or choose the project’s interpreter in the settings.":
    "请在那里安装 LangGraph 0.6 以上，在项目文件夹中建立虚拟环境 `.venv`，或在设置中选择项目的解释器。",
  "Write the name of a graph behind the file, such as {example}. There are: {names}.":
    "请在文件后写上图的名字，例如 {example}。可选：{names}。",
  'Put what the program does by itself under `if __name__ == "__main__":`.':
    '请把程序自行执行的部分放在 `if __name__ == "__main__":` 之下。',
  "This is no address of a LangGraph server: {cause}.": "这不是 LangGraph 服务器的地址：{cause}。",
  "Write {form}, with {key} behind it where it wants a key that is kept as the secret NAME.":
    "请写成 {form}；如果它需要密钥，请把密钥保存为机密 NAME，并在地址后加上 {key}。",
  "The header {header} is the secret {secret}, which has no value.":
    "标头 {header} 是机密 {secret}，而它没有值。",
  "Keep the secret under this name in the settings.": "请在设置中以此名称保存该机密。",
  "Check the address, and whether the server runs.": "请检查地址，以及服务器是否在运行。",
  "The LangGraph server {server} cannot be reached: {cause}.":
    "无法连接 LangGraph 服务器 {server}：{cause}。",
  "There is no LangGraph server at {server}: {cause}.": "{server} 处没有 LangGraph 服务器：{cause}。",
  "The LangGraph server {server} has said nothing for {seconds} s.":
    "LangGraph 服务器 {server} 已有 {seconds} 秒没有任何回应。",
  "It may be busy, or hang: look at what it prints.": "它可能正忙，或已挂起：请查看它的输出。",
  "The LangGraph server {server} refuses: {status} {detail}.":
    "LangGraph 服务器 {server} 拒绝了请求：{status} {detail}。",
  "Give the key that it wants behind its address.": "请在地址后给出它需要的密钥。",
  "Wait for the run of this thread, or stop it.": "请等待此线程的运行结束，或停止它。",
  "The LangGraph server {server} has several assistants, or none of that name.":
    "LangGraph 服务器 {server} 有多个助手，或没有这个名字的助手。",
  "Write the name behind the address, such as {example}. There are: {names}.":
    "请在地址后写出名称，例如 {example}。现有：{names}。",
  "The thread is of {name}, and another graph of its server is attached.":
    "此线程属于 {name}，而连接的是其服务器的另一个图。",
  "Open the address of the server with the name of that graph behind it.":
    "请打开服务器的地址，并在后面加上那个图的名称。",
  "Only the graph of the attached program can be run.": "只能运行所连接程序的图。",
  "Run that, or open your own threads again.": "请运行那个图，或重新打开你自己的线程。",
  "A server runs this graph: its threads are not edited from here, and its code is not debugged.":
    "此图由服务器运行：不能从这里编辑它的线程，也不能调试它的代码。",
  "Attach the program itself, by its file.": "请通过文件附加程序本身。",
  "The program is not attached any more.": "程序已不再连接。",
  "Open it again.": "请重新打开它。",
  "An attached program is not run again from within a nested graph.": "不能从子图内部重新运行所连接的程序。",
  "Run it again from a checkpoint of the outermost graph.": "请从最外层图的检查点重新运行。",
  "There is no file {path}.": "没有文件 {path}。",
  "Open the database of a LangGraph program.": "请打开 LangGraph 程序的数据库。",
  "That graph was not seen in the database in use.": "正在使用的数据库中没有看到这个图。",
  "Open the database again.": "请重新打开数据库。",
  "There are no threads of a LangGraph program there.": "那里没有 LangGraph 程序的线程。",
  "There are threads of Superstep there, and none of a LangGraph program.":
    "那里有 Superstep 的线程，没有 LangGraph 程序的线程。",
  "The threads in use are our own already.": "正在使用的已是自己的线程。",
  "Duplicate one instead, or open the database of a LangGraph program first.":
    "请改为创建副本，或先打开 LangGraph 程序的数据库。",
  "Correct it, or delete it: the graphs are then drawn as they were seen.":
    "请更正它，或删除它：之后图会按看到的样子绘出。",
  "{path} is no graph.": "{path} 不是图。",
  "Choose the file of a graph.": "请选择图的文件。",
  "Choose one of the nodes that are there.": "请选择图中已有的节点。",
  "Node {name} was chosen twice.": "节点 {name} 被选择了两次。",
  "Choose each node for one of the threads’ nodes.": "请为线程的每个节点选择不同的节点。",
  "Give the database that its saver was opened with. One of your own threads is chosen in the settings.":
    "请给出其保存器打开的数据库。存放自己线程的数据库在设置中选择。",
  "The file is no graph, so there is nothing to edit in it.": "该文件不是图，因此没有可编辑的内容。",
  "Correct its text, or make a new graph.": "请更正其文本，或新建一个图。",
  "The file is a graph, which has no text of its own here.": "该文件是图，在此没有单独的文本。",
  "The text is larger than 64 MB.": "文本超过 64 MB。",
  "Shorten it, or edit the file in another program.": "请缩短它，或在其他程序中编辑该文件。",
  "The file was changed by another program, and there are unsaved changes here.":
    "文件已被其他程序更改，而这里有未保存的更改。",
  "Save the graph: the changes are joined, and what both changed is asked.":
    "请保存图：更改会合并，双方都改动的内容会询问您。",
  "The file is gone: another program moved or removed it.": "文件已不存在：其他程序移动或删除了它。",
  "Save the graph to write it again, or save it to another place.":
    "请保存图以重新写入该文件，或将其保存到其他位置。",
  "The file is not JSON: {error}.": "文件不是 JSON：{error}。",
  "Correct the text there, or take back an earlier version of the file. Nothing is written over it.":
    "在该处更正文本，或恢复文件的早期版本。文件不会被覆盖。",
  "A graph is a JSON object, and the file holds {found}.": "图是一个 JSON 对象，而文件中是{found}。",
  "Open another file, or put the graph between { and }. Nothing is written over it.":
    "打开另一个文件，或把图放在 { 和 } 之间。文件不会被覆盖。",
  "Continue the thread, raise `max_visits` of the node, or lead an edge with `limit` to where it is to go on.":
    "继续该线程，提高节点的 `max_visits`，或用带 `limit` 的边指明接下来去哪里。",
  "A thread may come to node `{node}` in at most {limit} super-steps after an input, and was to come once more. Nothing of that step was begun: go on with the thread, which then counts from zero, raise the node's `max_visits`, or give the limit a way of its own.":
    "一次输入之后，线程最多可在 {limit} 个超步中到达节点 `{node}`，而现在将再次到达。该步尚未开始：继续线程（之后重新计数），提高节点的 `max_visits`，或为达到上限指定去向。",
  "`limit` of an edge is true or absent.": "边的 `limit` 只能是 true 或不写。",
  "`limit` of an edge is true or absent, and is {found}.":
    "边的 `limit` 只能是 true 或不写，而这里是 {found}。",
  'Write `"limit": true`, and how often in `max_visits` of the node; or remove `limit`.':
    '写 `"limit": true`，次数写在节点的 `max_visits` 中；或删除 `limit`。',
  "The start is visited once; its edge cannot be the way of a limit.":
    "起点只到达一次，它的边不能是达到上限时的去向。",
  "Begin the edge at a node, or remove `limit`.": "让边从节点出发，或删除 `limit`。",
  "`{from}` may be visited any number of times, so this edge is never taken.":
    "`{from}` 的访问次数没有上限，因此这条边永远不会走。",
  "Give `{from}` a `max_visits`, or remove `limit` from the edge.":
    "为 `{from}` 设置 `max_visits`，或删除边的 `limit`。",
  "`{name}` stands more than once in the file; only the last one is read.":
    "`{name}` 在文件中出现多次；只读取最后一个。",
  "Rename or delete one of them in the file. Saving from here keeps only the last one.":
    "在文件中重命名或删除其中一个。从这里保存只保留最后一个。",
  "a boolean": "布尔值",
  "a number": "数字",
  "a string": "字符串",
  "an array": "数组",
  "an object": "对象",
  "`{field}` must be {wanted}, and is {shown}.": "`{field}` 必须是{wanted}，实际值：{shown}。",
  "Write {wanted} there, or remove `{field}`.": "在该处填写{wanted}，或删除 `{field}`。",
  "`{name}` means nothing here.": "`{name}` 在这里没有意义。",
  "Remove it, or write one of {names}.": "将其删除，或填写以下之一：{names}。",
  "a number of seconds greater than 0": "大于 0 的秒数",
  "a number of attempts, an object, or a list of objects": "尝试次数、对象或对象列表",
  "a number of seconds, 0 or more": "秒数（不小于 0）",
  "a whole number of at least 1": "不小于 1 的整数",
  "a number of at least 1": "不小于 1 的数字",
  "true or false": "true 或 false",
  "a list of error classes": "错误类别列表",
  "a number of seconds greater than 0, or an object": "大于 0 的秒数，或对象",
  '"auto" or "heartbeat"': '"auto" 或 "heartbeat"',
  "The timeout names no time.": "超时没有给出时间。",
  "Write `run`, `idle` or both, in seconds.": "填写 `run`、`idle` 或两者，单位为秒。",
  "an expression": "表达式",
  "true, false or an object": "true、false 或对象",
  "A fallback is one of three: a value, another node, or a branch.":
    "备用方式是以下三种之一：一个值、另一个节点或一个分支。",
  "Write `value` (an update), `node` (does the work instead) or `to` (where the run goes on), and `into` with `to` only.":
    "填写 `value`（更新）、`node`（代为执行）或 `to`（运行继续的位置）；`into` 只与 `to` 一起使用。",
  "an object: an update": "对象（更新）",
  "the name of a node": "节点名称",
  "the name of a state key": "状态键名称",
  '"pure", "reads", "idempotent" or "once"': '"pure"、"reads"、"idempotent" 或 "once"',
  "What must be done once is not tried again: nobody knows how far the failed attempt came.":
    "只能做一次的操作不会重试：无法得知失败的尝试进行到了哪里。",
  'Remove `retry`, or write `"effect": "idempotent"` when doing it twice does no harm.':
    '删除 `retry`；如果重复执行没有害处，填写 `"effect": "idempotent"`。',
  "A kept result would stand in for the effect, but the node's effect is `{word}`.":
    "缓存的结果会代替副作用，但节点的副作用是 `{word}`。",
  'Remove `cache`, or write `"effect": "pure"` when running the node changes nothing.':
    '删除 `cache`；如果运行节点不改变任何东西，填写 `"effect": "pure"`。',
  " Did you mean `{name}`?": "你是否想写 `{name}`？",
  none: "无",
  "{shown} and {count} more": "{shown}，以及另外 {count} 个",
  "An edge": "边",
  "Two edges have the id `{id}`; the first is `{other}`.": "两条边的 id 都是 `{id}`；第一条是 `{other}`。",
  "Give one of them another id, or remove the `id`.": "为其中一条指定其他 id，或删除 `id`。",
  "The `id` of an edge is a text.": "边的 `id` 必须是文本。",
  "Write a text, or remove `id`.": "填写文本，或删除 `id`。",
  "The same edge stands here twice; following it twice changes nothing.":
    "同一条边出现了两次；重复经过不会改变任何东西。",
  "Delete one of them.": "删除其中一条。",
  "The edge has {names}; an edge has one form.": "这条边有 {names}；一条边只能有一种形式。",
  "Make it two edges, or remove the fields of the other form.": "拆成两条边，或删除另一种形式的字段。",
  "Write an expression, e.g. state.category, or remove `{form}`.":
    "填写表达式，例如 state.category，或删除 `{form}`。",
  "The expression of `{form}` is empty.": "`{form}` 的表达式为空。",
  'Add "from": the id of a node, or "__start__".': '添加 "from"：节点的 id，或 "__start__"。',
  "The edge has no `from`.": "这条边没有 `from`。",
  "Only a plain edge can wait for several nodes.": "只有普通边可以等待多个节点。",
  "Join the nodes in a node of its own and put the condition on an edge from there.":
    "先把这些节点汇合到一个单独的节点，再把条件放在从该节点出发的边上。",
  "A waiting join has at least two sources.": "等待的汇合边至少有两个来源。",
  'Write "from": "{name}" for a plain edge, or add the other sources.':
    '普通边填写 "from": "{name}"，或添加其他来源。',
  "List the nodes to wait for, or delete the edge.": "列出要等待的节点，或删除这条边。",
  "A source is the id of a node, and this is {found}.": "来源是节点的 id，而这里是{found}。",
  "Write the id of a node.": "填写节点的 id。",
  "A join cannot wait for the start.": "汇合边不能等待开始。",
  "Remove `__start__` from the sources; the others run after it anyway.":
    "从来源中删除 `__start__`；其他节点本来就在它之后运行。",
  "The join waits for `{name}` twice.": "汇合边两次等待 `{name}`。",
  "Remove one of them.": "删除其中一个。",
  "`from` must be the id of a node or a list of ids, and is {found}.":
    "`from` 必须是节点的 id 或 id 列表，实际是{found}。",
  'Write the id of a node, or "__start__".': '填写节点的 id，或 "__start__"。',
  "The end cannot be the source of an edge.": "结束不能是边的来源。",
  "Begin the edge at a node; nothing runs after the end.": "让边从某个节点开始；结束之后不再运行任何东西。",
  "The edge begins at `{name}`, and there is no such node.": "边从 `{name}` 开始，但没有这个节点。",
  "`{name}` is a note; it is no part of the graph.": "`{name}` 是便签，不属于图。",
  "Connect a node, or remove the edge.": "连接一个节点，或删除这条边。",
  "The start cannot be the target of an edge.": "开始不能是边的目标。",
  "Lead the edge to the node that runs first.": "让边通向最先运行的节点。",
  "The edge leads to `{name}`, and there is no such node.": "边通向 `{name}`，但没有这个节点。",
  "Did you mean `{other}`? Otherwise add a node `{name}`.": "你是否想写 `{other}`？否则添加节点 `{name}`。",
  "Add a node `{name}`, or lead the edge to one that is there.": "添加节点 `{name}`，或让边通向已有的节点。",
  'Add "to": the id of a node, or "__end__".': '添加 "to"：节点的 id，或 "__end__"。',
  "The edge has no `to`.": "这条边没有 `to`。",
  "A join that leads to the end does nothing; a branch ends by itself.":
    "通向结束的汇合边没有作用；分支会自行结束。",
  "Delete the edge.": "删除这条边。",
  "Items cannot be sent to the end.": "列表项不能发送到结束。",
  "Send them to the node that works on one item.": "发送给处理单个列表项的节点。",
  "`to` must be the id of a node, and is {found}.": "`to` 必须是节点的 id，实际是{found}。",
  "A route takes its targets from `paths`; its `to` is never used.":
    "路由的目标来自 `paths`；它的 `to` 不会使用。",
  "Remove `to`, or move it to `default`.": "删除 `to`，或把它移到 `default`。",
  "The route has no paths.": "路由没有路径。",
  'Add "paths": a target for each label that the expression can give.':
    '添加 "paths"：为表达式可能给出的每个标签指定目标。',
  "the path `{label}`": "路径 `{label}`",
  "{what} must lead to a node, and holds {found}.": "{what} 必须通向节点，实际是{found}。",
  "Did you mean `{word}`? Otherwise add the label to the `enum` of `{key}`.":
    "你是否想写 `{word}`？否则把该标签加入 `{key}` 的 `enum`。",
  "Remove the path, or add the label to the `enum` of `{key}`.":
    "删除该路径，或把该标签加入 `{key}` 的 `enum`。",
  "No value of `{key}` gives the label `{label}`; its path is never taken.":
    "`{key}` 没有值会给出标签 `{label}`；它的路径永远不会走到。",
  "`{key}` can be `{word}`, and no path leads on from there; the run would fail.":
    "`{key}` 可能是 `{word}`，但没有对应的路径；运行会失败。",
  "Add a path for `{word}`, or a `default`.": "为 `{word}` 添加路径，或添加 `default`。",
  "The edge does not say under which key an item is handed over.": "这条边没有说明用哪个键传递列表项。",
  'Add "as", e.g. "as": "item".': '添加 "as"，例如 "as": "item"。',
  "The key under which an item is handed over is empty.": "传递列表项的键为空。",
  "Write a name in `as`.": "在 `as` 中填写名称。",
  "`{key}` is given by an expression, and this is {found}.": "`{key}` 由表达式给出，而这里是{found}。",
  "Write an expression.": "填写表达式。",
  "`{key}` is the item already.": "`{key}` 已经是列表项本身。",
  "Choose another key in `with`, or another name in `as`.":
    "在 `with` 中选择其他键，或在 `as` 中使用其他名称。",
  "The graph has no entry: no edge begins at `__start__`.": "图没有入口：没有边从 `__start__` 开始。",
  "Add a node and connect the start to it.": "添加一个节点，并把开始连接到它。",
  "Connect the start to the node that runs first, e.g. `{first}`.":
    "把开始连接到最先运行的节点，例如 `{first}`。",
  "No path leads from the start to `{id}`; it never runs.": "没有路径从开始通向 `{id}`；它永远不会运行。",
  "Connect it, or delete it.": "将其连接，或删除。",
  "`{id}` is not connected to anything; it never runs.": "`{id}` 没有与任何节点相连；它永远不会运行。",
  "Draw an edge to it, or delete it.": "画一条通向它的边，或将其删除。",
  "The join waits for `{name}`, which never runs; it never completes.":
    "汇合边等待 `{name}`，而它从不运行；汇合永远不会完成。",
  "Connect `{name}`, or take it out of the join.": "连接 `{name}`，或把它从汇合中移除。",
  "{count} more": "另外 {count} 个",
  "The loop through {names} has no way out; a run goes round until its limit.":
    "经过 {names} 的循环没有出口；运行会一直循环到上限。",
  "Make one of its edges conditional, with a path to the end or to a node outside.":
    "让其中一条边带条件，并有路径通向结束或循环外的节点。",
  "`recursion_limit` must be a whole number between 1 and 1,000,000.":
    "`recursion_limit` 必须是 1 到 1,000,000 之间的整数。",
  "Write the number of super-steps after which a run is stopped, or remove the field.":
    "填写运行多少个超步后停止，或删除该字段。",
  "There is no limit `{name}`.": "没有名为 `{name}` 的限制。",
  "Remove it. There are {names}.": "将其删除。可用的有：{names}。",
  "`{name}` must be a whole number between 1 and {most}.": "`{name}` 必须是 1 到 {most} 之间的整数。",
  "Correct it, or remove it: {default} counts then.": "更正它，或将其删除：届时按 {default} 计。",
  "The file does not say which format it has.": "文件没有说明它的格式。",
  'Add "format": "{format}" at its beginning.': '在开头添加 "format": "{format}"。',
  "The file has format `{format}`, and this release reads up to `{newest}`.":
    "文件的格式是 `{format}`，此版本最高能读取 `{newest}`。",
  "Install a newer release to open it. Fields that are not known here are kept.":
    "安装更新的版本来打开它。这里不认识的字段会保留。",
  "`{format}` is not a format of graph files.": "`{format}` 不是图文件的格式。",
  'Write "format": "{format}" if this is a graph.': '如果这是一个图，填写 "format": "{format}"。',
  "`format` must be a string, and is {found}.": "`format` 必须是字符串，实际是{found}。",
  'Write "format": "{format}".': '填写 "format": "{format}"。',
  "`{field}` lists names of state keys, and this is {found}.":
    "`{field}` 列出状态键的名称，而这里是{found}。",
  "Write the name of a state key.": "填写状态键的名称。",
  "`{field}` names": "`{field}` 提到了",
  "`{field}` names `{name}` twice.": "`{field}` 两次提到 `{name}`。",
  "{who} `{name}`, and the state has no such key.": "{who} `{name}`，但状态中没有这个键。",
  "Did you mean `{other}`? Otherwise declare `{name}` in `state`.":
    "你是否想写 `{other}`？否则在 `state` 中声明 `{name}`。",
  "Declare `{name}` in `state`, or remove it here.": "在 `state` 中声明 `{name}`，或从这里删除。",
  "The field `{name}` of the run context must be a JSON Schema, and is {found}.":
    "运行上下文的字段 `{name}` 必须是 JSON Schema，实际是{found}。",
  'Write an object such as { "type": "string" }, or remove the field.':
    '填写对象，例如 { "type": "string" }，或删除该字段。',
  "An example is an object with a `name` and an `input` object.":
    "示例是一个带有 `name` 和 `input` 对象的对象。",
  'Write { "name": "…", "input": { … } }, or delete it.':
    '填写 { "name": "…", "input": { … } }，或将其删除。',
  "The example sets": "示例设置了",
  "The example sets `{name}`, which `input` does not allow.": "示例设置了 `{name}`，但 `input` 不允许它。",
  "Add `{name}` to `input`, or remove it from the example.": "把 `{name}` 加入 `input`，或从示例中删除。",
  "A set of context values is an object with a `name` of at most {most} characters and a `values` object.":
    "一组上下文值是一个带有 `name`（最多 {most} 个字符）和 `values` 对象的对象。",
  'Write { "name": "…", "values": { … } }, or delete it.':
    '请写成 { "name": "…", "values": { … } }，或将其删除。',
  "There are two sets of context values with the name `{name}`.": "有两组上下文值的名称都是 `{name}`。",
  "Give one another name; the first is used.": "为其中一组更改名称；使用的是第一组。",
  "There are {count} sets of context values, and {most} at most.":
    "有 {count} 组上下文值，最多允许 {most} 组。",
  "Remove those that are not needed.": "移除不需要的那些。",
  "The set `{set}` of context values has `{field}`, and the context has no such field.":
    "上下文值 `{set}` 中有 `{field}`，但上下文没有这个字段。",
  "Did you mean `{other}`? Otherwise declare `{field}` in `context`.":
    "你是否想用 `{other}`？否则请在 `context` 中声明 `{field}`。",
  "Declare `{field}` in `context`, or remove it here.": "在 `context` 中声明 `{field}`，或在此处移除它。",
  "There are {count} invariants here; {most} are the most.": "这里有 {count} 个不变量；最多 {most} 个。",
  "Join some of them with `and`, or remove them.": "用 `and` 合并其中一些，或将其删除。",
  "An invariant must be an object, and is {found}.": "不变量必须是对象，实际是{found}。",
  'Write {"must": "EXPRESSION"}, or delete it.': '填写 {"must": "EXPRESSION"}，或将其删除。',
  "The invariant has no expression.": "不变量没有表达式。",
  "Write what must hold in `must`, such as `state.total >= 0`, or delete it.":
    "在 `must` 中填写必须成立的条件，例如 `state.total >= 0`，或将其删除。",
  "`must` must be a string, and is {found}.": "`must` 必须是字符串，实际是{found}。",
  "Write an expression such as `state.total >= 0`.": "填写表达式，例如 `state.total >= 0`。",
  "`message` must be a string, and is {found}.": "`message` 必须是字符串，实际是{found}。",
  "Write a text, or remove it.": "填写文本，或将其删除。",
  "`when_broken` is {other}, which is none of {words}.":
    "`when_broken` 是 {other}，不是以下任何一个：{words}。",
  "Write one of {words}, or remove it.": "填写以下之一：{words}，或将其删除。",
  "Did you mean `{other}`?": "你是否想写 `{other}`？",
  "Remove it.": "将其删除。",
  "An invariant has no field `{field}`: nothing reads it.": "不变量没有字段 `{field}`：它不会被读取。",
  "The file could not be read as a graph.": "文件无法作为图读取。",
  "Correct its text, or take back an earlier version.": "更正其文本，或恢复早期版本。",
  "`{field}` must be {wanted}, and is {found}.": "`{field}` 必须是{wanted}，实际是{found}。",
  "{what} must be an object, and is {found}.": "{what}必须是对象，实际是{found}。",
  "Write an object, or delete it.": "填写对象，或将其删除。",
  "Give the node another name.": "为节点换一个名称。",
  "A node": "节点",
  "Node `{id}` has no `kind`.": "节点 `{id}` 没有 `kind`。",
  'Choose what the node does, e.g. "kind": "assign".': '选择节点要做什么，例如 "kind": "assign"。',
  "`disabled` must be `true`, or an object with the text `way`.":
    "`disabled` 必须是 `true`，或带有文本 `way` 的对象。",
  'Write `true`, or {"way": "NODE"} for a node that routes.':
    '填写 `true`；对于选择路由的节点，填写 {"way": "NODE"}。',
  "Did you mean `{known}`?": "你是否想写 `{known}`？",
  "Remove it, or call it `x-{field}` to keep it for yourself.": "将其删除，或改名为 `x-{field}` 以自行保留。",
  "A node has no field `{field}`: nothing reads it.": "节点没有字段 `{field}`：它不会被读取。",
  "The fallback writes the error to `{key}`, which is not a key of the state.":
    "备用方式把错误写入 `{key}`，但它不是状态键。",
  'Declare `{key}`, e.g. {"type": "object"}, or remove `into`.':
    '声明 `{key}`，例如 {"type": "object"}，或删除 `into`。',
  "Name a node, or `{end}`.": "填写一个节点，或 `{end}`。",
  "Name another node.": "填写另一个节点。",
  "The fallback of `{id}` names `{name}`, which is no other node.":
    "`{id}` 的备用方式提到 `{name}`，但没有这样的其他节点。",
  "Did you mean `{name}`? Otherwise delete the position.": "你是否想写 `{name}`？否则删除该位置。",
  "Delete the position; it is left from a node that is gone.": "删除该位置；它属于一个已不存在的节点。",
  "There is a canvas position for `{id}`, and no such node.": "有 `{id}` 的画布位置，但没有这个节点。",
  "The canvas position of `{id}` is not a pair of numbers.": "`{id}` 的画布位置不是一对数字。",
  "Write [x, y], or delete the position; the node is then placed automatically.":
    "填写 [x, y]，或删除该位置；节点会自动放置。",
  "an object of strings": "由字符串组成的对象",
  "`{id}` is reserved: names that begin with `__` belong to the engine.":
    "`{id}` 是保留名称：以 `__` 开头的名称属于引擎。",
  "`{character}` is a reserved character and cannot be part of a node's name.":
    "`{character}` 是保留字符，不能用在节点名称中。",
  "The name of a node {why}.": "节点的名称{why}。",
  "is empty": "为空",
  "begins or ends with a space": "以空格开头或结尾",
  "has a control character in it": "含有控制字符",
  "A state key": "状态键",
  "`{name}` is reserved for the engine.": "`{name}` 为引擎保留。",
  "Give the key another name.": "为键换一个名称。",
  "The name of a state key {why}.": "状态键的名称{why}。",
  "`{name}` cannot be written as `state.{name}` in expressions.":
    "`{name}` 不能在表达式中写成 `state.{name}`。",
  'Use letters, digits and `_` only, or write `state["{name}"]` everywhere.':
    '只使用字母、数字和 `_`，或在各处写成 `state["{name}"]`。',
  "Write one of {names}.": "填写以下之一：{names}。",
  "`{word}` is not a type.": "`{word}` 不是类型。",
  "`type` lists the names of types.": "`type` 列出类型的名称。",
  "Write {names}.": "填写 {names}。",
  "`type` must be a string, and is {found}.": "`type` 必须是字符串，实际是{found}。",
  "`{word}` is not a reducer.": "`{word}` 不是归约函数。",
  "`{name}` is declared as {names}, which `{word}` cannot join.":
    "`{name}` 声明为 {names}，`{word}` 无法合并这种类型。",
  "Declare it as {names}, or choose another reducer.": "将其声明为 {names}，或选择其他归约函数。",
  "`{word}` is not a channel.": "`{word}` 不是通道。",
  "Write one of {names}, or remove the field so that the value is kept.":
    "填写以下之一：{names}；或删除该字段，以保留值。",
  "The channel `{word}` says what several writes mean; the reducer is never used.":
    "通道 `{word}` 已规定多次写入的含义；归约函数不会使用。",
  "Remove `reducer`, or remove `channel` so that the value is kept.":
    "删除 `reducer`；或删除 `channel`，以保留值。",
  "A key with channel `{word}` is empty before it is written; its default is never used.":
    "通道为 `{word}` 的键在写入前为空；它的默认值不会使用。",
  "Remove `default`, or remove `channel` so that the value is kept.":
    "删除 `default`；或删除 `channel`，以保留值。",
  "`{name}` is declared as {names}, and a topic is a list.": "`{name}` 声明为 {names}，而 topic 是列表。",
  "Declare it as array, or choose another channel.": "将其声明为 array，或选择其他通道。",
  "The default of `{name}` is {found}, and the key is declared as {names}.":
    "`{name}` 的默认值是{found}，而该键声明为 {names}。",
  "Change the default or the type, so that they agree.": "修改默认值或类型，使两者一致。",
  "The default of `{name}` is not one of its allowed values.": "`{name}` 的默认值不在允许的值之中。",
  "Add it to `enum`, or choose another default.": "将其加入 `enum`，或选择其他默认值。",
  "it has more operators than can be worked through.": "运算符太多，无法处理。",
  "Do it in steps, or in a code node.": "分步进行，或放到代码节点中。",
  "it is longer than {size} KB.": "长度超过 {size} KB。",
  "Keep the data in the state or in a file, and the text short.": "把数据放在状态或文件中，让文本保持简短。",
  "it did not finish within {fuel} steps of work.": "在 {fuel} 步之内没有完成。",
  "Loop over fewer items, or do the work in a code node.": "循环更少的列表项，或放到代码节点中。",
  "Work with a part of the value, e.g. `state.items[:20]`, or do the work in a code node.":
    "只处理值的一部分，例如 `state.items[:20]`，或放到代码节点中。",
  "Correct the Jinja; a text inside an expression stands in quotes.":
    "更正 Jinja；表达式中的文本要放在引号里。",
  "The expression reference lists what there is.": "表达式参考列出了可用的内容。",
  "Give text, numbers, lists and objects.": "给出文本、数字、列表和对象。",
  "There are no other templates to include or extend; write the text here.":
    "没有其他模板可供包含或继承；把文本写在这里。",
  "the run was stopped while it was worked out.": "在计算期间运行被停止了。",
  "Go on with the thread.": "继续该线程。",
  "Compare values of one type: `state.score|float >= 50`, or give the key the type number.":
    "比较同一类型的值：`state.score|float >= 50`，或者把该键的类型设为 number。",
  "{setting} puts values without an order side by side: in `{compared}` one is of type {left}, the other of type {right}.":
    "{setting} 比较了没有大小之分的值：在 `{compared}` 中，一个的类型是 {left}，另一个的类型是 {right}。",
  "Compare values of one type: give the key the type number, or convert with `|float`.":
    "比较同一类型的值：把该键的类型设为 number，或用 `|float` 转换。",
  "{setting} compares values that are never equal: in `{compared}` one is of type {left}, the other of type {right}.":
    "{setting} 比较了永远不会相等的值：在 `{compared}` 中，一个的类型是 {left}，另一个的类型是 {right}。",
  "Compare values of one type; a number stands without quotes.": "比较同一类型的值；数字不加引号。",
  "{setting}: `{path}` may be null, which counts as less than everything in `{compared}`.":
    "{setting}：`{path}` 可能为 null，在 `{compared}` 中它小于任何值。",
  "Say what null counts as: `{path}|default(0, true)`.": "写明 null 算作什么：`{path}|default(0, true)`。",
  "The graph has no edge `{name}`.{hint}": "图中没有边 `{name}`。{hint}",
  "The edge `{name}` has several ways.": "边 `{name}` 有多条去路。",
  "Write edge:FROM->TO, or edge: and the id of an edge with one way.":
    "写成 edge:FROM->TO，或 edge: 加上只有一条去路的边的 id。",
  "`{name}` may be several edges: names of nodes have arrows in them.":
    "`{name}` 可能指多条边：节点名称中含有箭头。",
  "Name the edge by its id: edge: and one of {ids}.": "用 id 指明这条边：edge: 加上 {ids} 之一。",
  "Check the types of the values it works on.": "检查它所处理的值的类型。",
  "`state.{first}` has no value here.{hint} Keys with a value: {known}.":
    "`state.{first}` 在这里没有值。{hint}有值的键：{known}。",
  "Correct the name, give the key a default, or write `state.{first}|default(…)`.":
    "更正名称，为该键设置默认值，或写成 `state.{first}|default(…)`。",
  "there is no `{name}`.": "没有 `{name}`。",
  "State keys are read as `state.{name}`; text stands in quotes.":
    "状态键写作 `state.{name}`；文本要放在引号里。",
  "it uses a part of a value that is not there ({detail}).": "它用到了值中不存在的部分（{detail}）。",
  "Check the spelling of the member, or add `|default(…)` where it may be missing.":
    "检查成员的拼写；如果它可能不存在，加上 `|default(…)`。",
  "it is empty.": "它为空。",
  "Write an expression, e.g. `state.name`.": "填写表达式，例如 `state.name`。",
  "This place takes an expression: what stands between `{{` and `}}`, without them.":
    "这里需要表达式：只写 `{{` 和 `}}` 之间的内容。",
  "a list": "列表",
  "it must give {expected}, but gave {found} of type {ty}.":
    "它必须给出{expected}，实际给出 {found}（类型 {ty}）。",
  "Change the expression, or the value it reads.": "修改表达式，或它读取的值。",
  "Check the values it works on.": "检查它所处理的值。",
  "the text would be longer than {size} MB.": "文本会超过 {size} MB。",
  "Show only a part of the value, e.g. `state.items[:20]`.": "只显示值的一部分，例如 `state.items[:20]`。",
  "An agent hands over to nodes beside it.": "智能体只移交给它旁边的节点。",
  "Turn it off; to leave a nested graph, use a model and a tools node there.":
    "将其关闭；要离开子图，在那里使用模型节点和工具节点。",
  "The result is written nowhere.": "结果没有写到任何地方。",
  "Choose a state key for it, or remove the output schema.": "为它选择状态键，或删除输出结构。",
  "There is no schema for the result.": "结果没有结构（schema）。",
  "Say what it looks like, or remove `into`: the answer is in the messages.":
    "说明结果的样子，或删除 `into`：回答已在消息中。",
  "Agents keep a number of their own in a state key `{before}`.":
    "智能体在状态键 `{before}` 中保存自己的数字。",
  "Give your key another name.": "为你的键换一个名称。",
  "Choices are no new value of what is edited.": "选项不能成为所编辑内容的新值。",
  "Remove them, or do not edit.": "删除选项，或不要编辑。",
  "The question waits for ever, so this is never written.": "问题会一直等待，因此这个值永远不会写入。",
  "Say how long it waits.": "填写等待多久。",
  "State key `{into}` does not take {otherwise}.": "状态键 `{into}` 不接受 {otherwise}。",
  "Correct it, or widen the type of the key.": "更正它，或放宽该键的类型。",
  "The choice {choice} is not a valid answer: {error}.": "选项 {choice} 不是有效的回答：{error}。",
  "Correct its value, or the answer's schema.": "更正它的值，或回答的结构。",
  "The node sets nothing.": "这个节点没有设置任何内容。",
  "Add a state key and an expression.": "添加状态键和表达式。",
  "Write the body of a function.": "填写函数体。",
  "The setting `source` is missing.": "缺少设置 `source`。",
  "The setting `{name}` is for Python.": "设置 `{name}` 用于 Python。",
  "Remove it, or set the language to python.": "将其删除，或把语言设为 python。",
  "Correct the JavaScript.": "更正 JavaScript。",
  "Make it shorter.": "把它缩短。",
  "There is no node `{to}` to go to.{hint}": "没有可前往的节点 `{to}`。{hint}",
  "Name a node of this graph: {known}.": "填写此图中的节点：{known}。",
  "{program} says in its return annotation that it goes to `{to}`, and there is no such node.{hint}":
    "{program} 在返回注解中说它会前往 `{to}`，但没有这个节点。{hint}",
  "Name a node of this graph in the `Literal[…]` of the annotation: {known}.":
    "在注解的 `Literal[…]` 中填写此图中的节点：{known}。",
  "The node does not say how long to wait.": "这个节点没有说明等待多久。",
  "Write `seconds`, or `until`.": "填写 `seconds` 或 `until`。",
  "The node says both how long and until when to wait.": "这个节点既说明了等待多久，又说明了等到何时。",
  "Remove `seconds` or `until`.": "删除 `seconds` 或 `until`。",
  'a time such as "2026-11-21T09:30:00Z", or seconds since 1970':
    '时间，例如 "2026-11-21T09:30:00Z"，或自 1970 年起的秒数',
  "The nested graph is given `{key}` and returns it whole, and this graph joins the two: what was in it is in it twice.":
    "`{key}` 传给了子图，子图又把它整个返回，而此图会合并两者：其中的内容会出现两次。",
  'Say in `output` what to take, e.g. `"{key}": "result.{key}[state.{key}|length:]"`, or give the nested graph another key.':
    '在 `output` 中说明取什么，例如 `"{key}": "result.{key}[state.{key}|length:]"`，或给子图另一个键。',
  "The nested graph has no state key `{key}`.{hint}": "子图没有状态键 `{key}`。{hint}",
  "It has {known}.": "它有：{known}。",
  "Write an address that begins with https:// and a host, or with `{{` when the state has the whole address.":
    "填写以 https:// 和主机开头的地址；如果整个地址在状态中，以 `{{` 开头。",
  "{name} is no header.": "{name} 不是标头。",
  "Correct its name.": "更正它的名称。",
  "This method sends no body.": "这个方法不发送正文。",
  "Choose POST, PUT or PATCH, or remove the body.": "选择 POST、PUT 或 PATCH，或删除正文。",
  "The host of the address is an argument: the model would choose whom to ask.":
    "地址的主机是参数：这样会由模型决定访问谁。",
  "Write the host out; arguments stand in the path and after the `?`.":
    "写明主机；参数放在路径中和 `?` 之后。",
  "{url} is no address.": "{url} 不是地址。",
  "Write one that begins with https:// and a host.": "填写以 https:// 和主机开头的地址。",
  "The request uses the argument `{name}`, which the tool does not have.{hint}":
    "请求使用了参数 `{name}`，但工具没有这个参数。{hint}",
  "Correct the name, or add it to the parameters. Known: {known}.":
    "更正名称，或把它加入参数。已有：{known}。",
  "{name} cannot be the name of an item.": "{name} 不能作为列表项的名称。",
  "Write letters, digits and `_`, and none of the names that are taken: state, input, index, result.":
    "使用字母、数字和 `_`，不要使用已占用的名称：state、input、index、result。",
  "The node must do one thing with each item.": "节点必须对每个列表项做一件事。",
  "Write one of `expression`, `javascript` and `graph`, and remove the others.":
    "填写 `expression`、`javascript` 和 `graph` 之一，并删除其余的。",
  "Failed items become null, and nothing says why they failed.":
    "失败的列表项会变成 null，并且没有地方说明失败的原因。",
  "Choose a state key for the errors.": "为错误选择状态键。",
  "The graph has no state key `{key}`.{hint}": "图没有状态键 `{key}`。{hint}",
  "Say in `input` what it is given. It has {known}.": "在 `input` 中说明传入什么。它有：{known}。",
  "State key `{messages}` takes no messages.": "状态键 `{messages}` 不接受消息。",
  "Choose a key with the reducer add_messages.": "选择归约函数为 add_messages 的键。",
  "There are no messages of type `{ty}`.{hint}": "没有类型为 `{ty}` 的消息。{hint}",
  "Write one of {known}.": "填写以下之一：{known}。",
  "Nothing says how much is kept.": "没有说明保留多少。",
  "Write `max_tokens` or `max_turns`.": "填写 `max_tokens` 或 `max_turns`。",
  "Nothing says which messages are deleted.": "没有说明删除哪些消息。",
  "Write `ids`, `types` or `keep_last`.": "填写 `ids`、`types` 或 `keep_last`。",
  'Add `model`, e.g. {"model": "openai::gpt-4o-mini"}.':
    '添加 `model`，例如 {"model": "openai::gpt-4o-mini"}。',
  "This is done by a model, and there is none.": "这由模型完成，但没有模型。",
  "Add a label, e.g. `memories`, and one that says whose they are, e.g. `{{ state.user }}`.":
    "添加一个标签，例如 `memories`，以及说明属于谁的标签，例如 `{{ state.user }}`。",
  "The facts have no place in the store.": "事实在存储中没有位置。",
  'Write `{"type": "object", "properties": {…}}`.': '填写 `{"type": "object", "properties": {…}}`。',
  "A fact must be an object: the store keeps objects.": "事实必须是对象：存储只保存对象。",
  "Correct the model, or the model settings.": "更正模型，或模型设置。",
  "State key `{key}` takes {ty}, but the usage is an object.": "状态键 `{key}` 接受 {ty}，但用量是对象。",
  "Choose a key of type object, or a list with the reducer append.":
    "选择类型为 object 的键，或归约函数为 append 的列表。",
  "State key `{key}` is no list of messages.": "状态键 `{key}` 不是消息列表。",
  "Choose a key of type array.": "选择类型为 array 的键。",
  "Write a prompt, or choose a state key with messages.": "填写提示词，或选择含有消息的状态键。",
  "The node asks nothing.": "这个节点没有提问任何内容。",
  "Choose a node of kind tools.": "选择类型为 tools 的节点。",
  "The model is given two tools `{twice}`.": "模型得到了两个同名工具 `{twice}`。",
  "Give each tool a name of its own.": "为每个工具取不同的名称。",
  "Calls of tools are part of a message, and state key `{into}` takes none.":
    "工具调用是消息的一部分，而状态键 `{into}` 不接受消息。",
  "State key `{into}` takes messages, not JSON.": "状态键 `{into}` 接受消息，不接受 JSON。",
  "Choose another key, or remove the output schema.": "选择其他键，或删除输出结构。",
  "State key `{into}` takes {ty}, but the answer is text.": "状态键 `{into}` 接受 {ty}，但回答是文本。",
  "Choose a key of type string, or give an output schema.": "选择类型为 string 的键，或给出输出结构。",
  "The scripted model has nothing to say.": "脚本模型没有可说的内容。",
  "Add a line to the script, or choose a real model.": "为脚本添加一行，或选择真实的模型。",
  "This line is never said: the one before it has no condition.":
    "这一行永远不会说出：它前面的一行没有条件。",
  "Give the earlier line a `when`, or move it to the end.": "为前面的一行填写 `when`，或把它移到最后。",
  "A note is no part of the graph.": "便签不属于图。",
  "Leave it unconnected.": "不要连接它。",
  "There is no Python function.": "没有 Python 函数。",
  "Write its source, or name a module of the project and a function in it.":
    "填写源代码，或指定项目中的模块和其中的函数。",
  "There are both a module and a source.": "同时有模块和源代码。",
  "The secret or environment variable {name} has no value.": "密钥或环境变量 {name} 没有值。",
  "Enter a value in Settings under Secrets, or set the variable before Superstep is started.":
    "在设置的“密钥”中输入值，或在启动 Superstep 之前设置该变量。",
  "Name one of the functions in the module.": "指定模块中的一个函数。",
  "The setting `function` is missing.": "缺少设置 `function`。",
  "Name a Python file of the project, by its path from the graph's folder.":
    "指定项目中的 Python 文件，路径从图所在的文件夹算起。",
  "{module} has no function `{function}`.": "{module} 没有函数 `{function}`。",
  "Correct the name, or write the function.": "更正名称，或编写该函数。",
  text: "文本",
  "State key `{key}` takes {what}, but its type is {value}.":
    "状态键 `{key}` 接受{what}，但它的类型是 {value}。",
  "Choose a key of type {wanted}.": "选择类型为 {wanted} 的键。",
  "Correct the model, or write `{ngrams}`.": "更正模型，或填写 `{ngrams}`。",
  "A section repeats more than half of the one before it.": "一个片段重复了前一个片段的一半以上。",
  "Half of `size` is repeated at most.": "最多重复 `size` 的一半。",
  "text or a list of words": "文本或词语列表",
  "`{own}` goes to {known} each time, whichever way it chooses.":
    "无论选择哪个分支，`{own}` 每次都会前往 {known}。",
  "`{own}` can write `{label}` into `{into}`, and its route has no path for that; the run would fail.":
    "`{own}` 可能把 `{label}` 写入 `{into}`，但其路由没有对应去向，运行会失败。",
  "Connect this way, or give the route a default.": "连接该分支，或为路由设置默认去向。",
  "Make one edge of them that routes by the label.": "改为一条按标签路由的边。",
  "There is nothing to choose from.": "没有可供选择的分支。",
  "Add a way.": "添加一个分支。",
  "There are two ways `{label}`.": "有两个分支 `{label}`。",
  "Give each way a label of its own.": "为每个分支取不同的标签。",
  "A model chooses; this condition is not looked at.": "由模型选择；不会查看这个条件。",
  "Remove it, or remove `by_model`.": "将其删除，或删除 `by_model`。",
  "The way `{label}` has no condition, so nothing after it is ever chosen.":
    "分支 `{label}` 没有条件，因此它之后的分支永远不会被选中。",
  "Write an expression that is true when it is to be chosen.": "填写在应选择它时为真的表达式。",
  "State key `{into}` does not take {known}.": "状态键 `{into}` 不接受 {known}。",
  "Choose a key of type string whose values include the labels.": "选择类型为 string、其值包含这些标签的键。",
  "A label of a namespace holds no period, and {label} does.":
    "命名空间的标签不能含有句点，而 {label} 含有。",
  "Make two labels of it.": "拆成两个标签。",
  "Add a label, e.g. `memories`.": "添加一个标签，例如 `memories`。",
  "An item stands in a namespace.": "条目要放在命名空间中。",
  "`{word}` needs `{name}`.": "`{word}` 需要 `{name}`。",
  "Fill it in.": "填写它。",
  "`{word}` finds nothing to write into the state.": "`{word}` 没有可写入状态的结果。",
  "Remove `into`.": "删除 `into`。",
  "The graph has no state key `{lost}` that would take the argument, and no one key for messages.{hint}":
    "图没有能接受参数的状态键 `{lost}`，也没有唯一的消息键。{hint}",
  "Name the arguments after its keys ({known}), or say in `input` where they go.":
    "按图的键（{known}）命名参数，或在 `input` 中说明参数去向。",
  "There is no node `{to}` to hand over to.{hint}": "没有可移交的节点 `{to}`。{hint}",
  "{prefix} cannot be the beginning of a tool's name.": "{prefix} 不能作为工具名称的开头。",
  "Providers take letters, digits, `_` and `-`; a few of them.":
    "提供商接受字母、数字、`_` 和 `-`；只用几个字符。",
  "A person is always and never asked before `{name}`.": "`{name}` 同时列为总是先询问和从不询问。",
  "Remove it from one of the lists.": "从其中一个列表中删除它。",
  "`{name}` is not among the tools that may be called.": "`{name}` 不在可调用的工具之中。",
  "Add it to `tools`, or remove it here.": "把它加入 `tools`，或从这里删除。",
  "Node `{id}` is of kind {kind}, not tools.": "节点 `{id}` 的类型是 {kind}，不是 tools。",
  "There is no node `{id}`.{hint} Nodes of kind tools: {known}.":
    "没有节点 `{id}`。{hint}类型为 tools 的节点：{known}。",
  "{name} cannot be the name of a tool.": "{name} 不能作为工具的名称。",
  "Providers take up to 64 letters, digits, `_` and `-`.": "提供商接受最多 64 个字母、数字、`_` 和 `-`。",
  "The tool `{name}` has no description.": "工具 `{name}` 没有说明。",
  "Models choose tools by what their descriptions say.": "模型根据说明选择工具。",
  "The arguments of the tool `{name}` are no object.": "工具 `{name}` 的参数不是对象。",
  "Add a tool, or remove the node.": "添加一个工具，或删除这个节点。",
  "The node has no tools.": "这个节点没有工具。",
  "There are two tools `{name}`.": "有两个工具 `{name}`。",
  "The tool `{name}` does nothing.": "工具 `{name}` 什么也不做。",
  "Give it one of `javascript`, `python`, `http`, `graph` and `handoff`.":
    "为它填写 `javascript`、`python`、`http`、`graph` 和 `handoff` 之一。",
  "The tool `{name}` does several things: {names}.": "工具 `{name}` 做了多件事：{names}。",
  "Keep one of them.": "只保留其中之一。",
  "The MCP server `{server}` is there twice, so that its tools are.":
    "MCP 服务器 `{server}` 出现两次，因此它的工具也是。",
  "Remove one, or give one a prefix.": "删除其中一个，或为其中一个设置前缀。",
  "this graph is not saved yet, so there is no project with MCP servers":
    "此图尚未保存，因此没有带 MCP 服务器的项目",
  "the project has no MCP server `{server}`: there is no file {path}":
    "项目没有 MCP 服务器 `{server}`：没有文件 {path}",
  "{path} cannot be used: {cause}": "{path} 无法使用：{cause}",
  "{path} has no MCP server `{server}`": "{path} 没有 MCP 服务器 `{server}`",
  "the MCP server `{server}` needs the secret or environment variable {variable}, which has no value":
    "MCP 服务器 `{server}` 需要密钥或环境变量 {variable}，但它没有值",
  "the secret {variable} has several lines, and the header {header} of the MCP server `{server}` takes one":
    "密钥 {variable} 有多行，而 MCP 服务器 `{server}` 的标头 {header} 只接受一行",
  "Name a secret of one line in the header, such as a token": "在标头中使用只有一行的密钥，例如令牌",
  "the MCP server `{server}` has no tool `{tool}`": "MCP 服务器 `{server}` 没有工具 `{tool}`",
  "two tools are called `{tool}`, and one of them is of the MCP server `{server}`":
    "有两个工具名为 `{tool}`，其中一个属于 MCP 服务器 `{server}`",
  "the MCP server `{server}` could not be started: {cause}{said}":
    "MCP 服务器 `{server}` 无法启动：{cause}{said}",
  "the MCP server `{server}` stopped while it was at work{said}":
    "MCP 服务器 `{server}` 在工作时停止了{said}",
  "the MCP server `{server}` refused: {cause}": "MCP 服务器 `{server}` 拒绝了：{cause}",
  "the MCP server `{server}` gave no sign of life for {seconds} s, and was told to stop":
    "MCP 服务器 `{server}` 在 {seconds} 秒内没有反应，已要求它停止",
  cancelled: "已取消",
  "the answer of the tool `{tool}` of the MCP server `{server}` cannot be read: {cause}":
    "无法读取 MCP 服务器 `{server}` 的工具 `{tool}` 的回答：{cause}",
  "The tool may have done its work": "该工具可能已经完成工作",
  "the tool `{tool}` of the MCP server `{server}` cannot be used: {cause}":
    "无法使用 MCP 服务器 `{server}` 的工具 `{tool}`：{cause}",
  "The server has to be corrected": "需要修正该服务器",
  "the MCP server `{server}` sent something that is no answer: {cause}":
    "MCP 服务器 `{server}` 发来的不是回答：{cause}",
  "Save it first": "先保存它",
  'Create it: {"mcpServers": {"{server}": {"command": …}}}':
    '创建它：{"mcpServers": {"{server}": {"command": …}}}',
  "Correct the file": "更正该文件",
  "Did you mean `{near}`? Servers: {known}": "你是否想写 `{near}`？服务器：{known}",
  "Servers: {known}": "服务器：{known}",
  "Enter a value in Settings under Secrets, set the variable before Superstep is started, or give it a default in .mcp.json: ${{variable}:-…}":
    "在设置的“密钥”中输入值，在启动 Superstep 之前设置该变量，或在 .mcp.json 中给出默认值：${{variable}:-…}",
  "Did you mean `{near}`? It has {known}": "你是否想写 `{near}`？它有：{known}",
  "It has {known}": "它有：{known}",
  "Give its tools a `prefix`": "为它的工具设置 `prefix`",
  "It is started again with the next call": "下次调用时会重新启动它",
  "`{model}` names no model provider and no connection.{hint}":
    "`{model}` 不是模型提供商，也不是连接。{hint}",
  "Write `scripted`, or PROVIDER::NAME such as `openai::gpt-4o-mini`, `anthropic::claude-sonnet-4-5` or `ollama::llama3.2`, or CONNECTION::NAME with a connection from the file of model settings.":
    "填写 `scripted`，或“提供商::模型名”，例如 `openai::gpt-4o-mini`、`anthropic::claude-sonnet-4-5` 或 `ollama::llama3.2`，或使用模型设置文件中连接的“连接名::模型名”。",
  " Did you mean `{near}::{name}`?": "你是否想写 `{near}::{name}`？",
  ' To make the connection, add `{prefix}` in Settings under Model connections, or "{prefix}": {"provider": "openai", "base_url": "http://…/v1/", "key_variable": "…"} to `connections` in {place}.':
    '要建立该连接，在“设置”的模型连接中添加 `{prefix}`，或在 {place} 的 `connections` 中添加 "{prefix}": {"provider": "openai", "base_url": "http://…/v1/", "key_variable": "…"}。',
  " Did you mean `scripted`?": "你是否想写 `scripted`？",
  " Did you mean `{provider}::{model}`?": "你是否想写 `{provider}::{model}`？",
  "The code cannot be read in line {line}: {message}.": "代码第 {line} 行无法读取：{message}。",
  "The code cannot be read: {message}.": "代码无法读取：{message}。",
  "The code cannot be compiled: {cause}": "代码无法编译：{cause}",
  "There is no Python {name}.": "没有 Python {name}。",
  "This graph is not saved yet, so there is no project to run Python in.":
    "此图尚未保存，因此没有可运行 Python 的项目。",
  "There is no Python on this computer.": "这台计算机上没有 Python。",
  "Install Python 3.9 or newer, make a virtual environment `.venv` in the project's folder, or name an interpreter in the settings or the variable SUPERSTEP_PYTHON.":
    "安装 Python 3.9 或更新版本，在项目文件夹中创建虚拟环境 `.venv`，或在设置或变量 SUPERSTEP_PYTHON 中指定解释器。",
  "Correct it in the settings or in the variable SUPERSTEP_PYTHON, or remove it there.":
    "在设置或变量 SUPERSTEP_PYTHON 中更正，或将其删除。",
  "Save this graph first: Python runs in the project's folder.": "先保存此图：Python 在项目的文件夹中运行。",
  "See the node's log.": "查看节点的日志。",
  "Name a graph file, e.g. `research.json`.": "填写图文件，例如 `research.json`。",
  "Save this graph first: the path is read from its folder.": "先保存此图：路径从它所在的文件夹算起。",
  "Name a file inside the project's folder.": "填写项目文件夹内的文件。",
  "Create the file, or correct the path.": "创建该文件，或更正路径。",
  "Open that graph and correct it.": "打开那个图并更正它。",
  "Let a loop inside one graph do the repeating, or call another graph.":
    "用一个图内部的循环来重复，或调用其他图。",
  "Put some of the graphs into one.": "把其中一些图合并成一个。",
  "The node names no graph.": "这个节点没有指定图。",
  "This graph is not saved yet, so a path leads nowhere.": "此图尚未保存，因此路径无法找到。",
  "The graph {path} is outside the project's folder.": "图 {path} 在项目文件夹之外。",
  "The graph {path} cannot be read: {cause}.": "图 {path} 无法读取：{cause}。",
  "{path} is no graph that can be run: {cause}": "{path} 不是可以运行的图：{cause}",
  "The graph would run itself: {names}.": "图会运行它自己：{names}。",
  "{path} would be the graph number {number} inside other graphs.": "{path} 会是嵌套的第 {number} 层图。",
  "More than {most} graphs would be looked at, with those that run inside others.":
    "连同子图中运行的图，总数会超过 {most} 个。",
  "it is no JSON.": "它不是 JSON。",
  "{message} ({record})": "{message}（{record}）",
  "{message} ({record}), and {count} more.": "{message}（{record}），以及另外 {count} 个。",
  "The run context cannot be checked: {cause}.": "运行上下文无法检查：{cause}。",
  "Correct the field's JSON Schema.": "更正该字段的 JSON Schema。",
  "it has no node.": "它没有节点。",
  "The node cannot be built: {cause}.": "节点无法构建：{cause}。",
  "Correct the setting.": "更正该设置。",
  "Node `{id}` is of the unknown kind `{kind}`.{hint}": "节点 `{id}` 的类型 `{kind}` 未知。{hint}",
  "Choose one of {known}.": "选择以下之一：{known}。",
  "Node `{node}` is disabled: runs pass it by.": "节点 `{node}` 已停用：运行会绕过它。",
  "Enable it, or delete it.": "启用它，或将其删除。",
  "Choose one of {known} as the way, or enable the node.": "选择 {known} 之一作为去向，或启用该节点。",
  "No edge of `{node}` leads to `{way}`.": "`{node}` 没有通向 `{way}` 的边。",
  "Node `{node}` is disabled, and where its run goes on is not chosen.":
    "节点 `{node}` 已停用，但没有选择运行从哪里继续。",
  "a label or a list of labels": "标签或标签列表",
  "Node `{node}` runs once per item, and each run overwrites `{key}`.":
    "节点 `{node}` 对每个列表项运行一次，每次都会覆盖 `{key}`。",
  "Give `{key}` a reducer such as `append`, or write another key.":
    "为 `{key}` 设置归约函数，例如 `append`，或写入其他键。",
  "Nodes that run in the same step overwrite `{key}`: {names}.":
    "同一步中运行的节点都会覆盖 `{key}`：{names}。",
  "Nodes that run in the same step overwrite `{key}`: {names} and {more} more.":
    "同一步中运行的节点都会覆盖 `{key}`：{names}，另有 {more} 个。",
  "Give `{key}` a reducer, or let the nodes run one after the other.":
    "为 `{key}` 设置归约函数，或让这些节点先后运行。",
  "There is no node `{node}`.": "没有节点 `{node}`。",
  "Choose a node of the graph.": "选择图中的一个节点。",
  "What the node reads may change, and its result is kept for ever.":
    "节点读取的内容可能变化，而它的结果会永远保留。",
  "Give the cache a `ttl`.": "为缓存设置 `ttl`。",
  "The setting `{name}` is {found}, which it does not know.": "设置 `{name}` 是 {found}，它不认识这个值。",
  "Write one of {options}.": "填写以下之一：{options}。",
  "The setting `{name}` takes {wanted}, and is {found}.": "设置 `{name}` 接受{wanted}，实际是 {found}。",
  "Write {wanted} there.": "在该处填写{wanted}。",
  "The setting `{name}` is not valid: {error}.": "设置 `{name}` 无效：{error}。",
  "a whole number": "整数",
  "A node of kind {kind} has no setting `{name}`.{hint}": "类型为 {kind} 的节点没有设置 `{name}`。{hint}",
  "Remove it, or correct its name. Settings: {known}.": "将其删除，或更正名称。设置：{known}。",
  "The setting `{name}` is missing.": "缺少设置 `{name}`。",
  "Fill it in. {help}": "填写它。{help}",
  "{first} and {count} more": "{first} 以及另外 {count} 个",
  "The graph {path} runs without some of its nodes: {nodes}.":
    "图 {path} 运行时不包括其中一些节点：{nodes}。",
  "Open the graph and enable them.": "打开该图并启用它们。",
  "The settings cannot be read: {cause}.": "设置无法读取：{cause}。",
  "{message}.": "{message}。",
  "Correct .mcp.json": "更正 .mcp.json",
  "{remedy}.": "{remedy}。",
  "{setting} uses the run context.": "{setting} 使用了运行上下文。",
  "Invariants are checked over past runs as well, and a run context is not stored: use the state.":
    "不变量也会对过去的运行检查，而运行上下文不会存储：使用状态。",
  "{setting} (line {line}): {cause}": "{setting}（第 {line} 行）：{cause}",
  "{setting}: {cause}": "{setting}：{cause}",
  "{setting} uses the filter `{filter}`, which does not exist.{hint}":
    "{setting} 使用了不存在的过滤器 `{filter}`。{hint}",
  "The expression reference lists the filters.": "表达式参考列出了所有过滤器。",
  "State keys are read as `state.NAME`; text stands in quotes.":
    "状态键写作 `state.NAME`；文本要放在引号里。",
  "{setting} uses `{name}`, which is not defined.": "{setting} 使用了未定义的 `{name}`。",
  "`state.{key}` is not part of what {called} is given: it is the target of an `each` edge.":
    "`state.{key}` 不在 {called} 得到的内容中：它是 `each` 边的目标。",
  'Pass it on in the edge\'s `with`: `"{key}": "state.{key}"`. Given are {known}.':
    '在边的 `with` 中传递它：`"{key}": "state.{key}"`。已有：{known}。',
  "Correct the name, or add the key to the state. Known: {known}.":
    "更正名称，或把该键加入状态。已有：{known}。",
  "Choose a key, or add it to the state. Known: {known}.": "选择一个键，或把它加入状态。已有：{known}。",
  "{setting} names no state key.": "{setting} 没有指定状态键。",
  "There is no state key `{key}`.{hint}": "没有状态键 `{key}`。{hint}",
  "{setting} is empty.": "{setting} 为空。",
  "{setting} is no JSON Schema: {cause}.": "{setting} 不是 JSON Schema：{cause}。",
  'Correct the schema, e.g. `{"type": "string"}`.': '更正结构，例如 `{"type": "string"}`。',
  "the graph is not saved yet, so it has no folder to search in.": "图尚未保存，因此没有可搜索的文件夹。",
  "there is no folder or file {path}.": "没有文件夹或文件 {path}。",
  "the folder {name} is outside the graph's own folder.": "文件夹 {name} 在图所在的文件夹之外。",
  "the pattern {pattern} of `files` cannot be read: {cause}.": "`files` 的模式 {pattern} 无法读取：{cause}。",
  "{place} is too large to search: {cause}.": "{place} 太大，无法搜索：{cause}。",
  "{place} cannot be read: {cause}.": "{place} 无法读取：{cause}。",
  "the search index failed: {cause}.": "搜索索引失败：{cause}。",
  "the search was stopped.": "搜索已停止。",
  "Save it first.": "先保存它。",
  "Create it, or correct the setting `folder`.": "创建它，或更正设置 `folder`。",
  "Name a folder inside it, without `..` and links, or name one outside by its whole path.":
    "填写其中的文件夹，不要用 `..` 和链接；或用完整路径指定外面的文件夹。",
  "Write one such as `*.md` or `guides/**`.": "填写例如 `*.md` 或 `guides/**` 的模式。",
  "Name a part of it, or choose `files`.": "填写它的一部分，或选择 `files`。",
  "The type of state key `{name}` is no JSON Schema: {cause}.":
    "状态键 `{name}` 的类型不是 JSON Schema：{cause}。",
  "node {id}": "节点 {id}",
  "edge {id}": "边 {id}",
  "an invariant": "不变量",
  "the graph": "图",
  "The arrangement was cancelled. The nodes stay where they are.": "排列已取消。节点保持原来的位置。",
  "A graph of more than {most} nodes or edges cannot be arranged.": "超过 {most} 个节点或边的图无法排列。",
  "Arrange a selection of its nodes.": "排列选中的部分节点。",
  "A link names a box that is not in the list.": "有一条连线指向列表中没有的框。",
  "The path is empty.": "路径为空。",
  "Name a file.": "填写文件。",
  find: "查找",
  list: "列出",
  "A background task failed: {error}.": "后台任务失败：{error}。",
  "Try again.": "重试。",
  "Check the path; the file or folder may have been moved or deleted.":
    "检查路径；文件或文件夹可能已移动或删除。",
  "Choose a place that you may write to, or change the permissions.": "选择有写入权限的位置，或修改权限。",
  "The disk is read-only: choose a place on a disk that is writable, or make this one writable.":
    "该磁盘是只读的：选择可写磁盘上的位置，或使该磁盘可写。",
  "The disk is full: free some space and try again. Nothing is lost while this stays open.":
    "磁盘已满：释放一些空间后重试。只要不关闭程序，就不会丢失任何内容。",
  "Choose a file, not a folder.": "选择文件，不是文件夹。",
  "Choose a folder, not a file.": "选择文件夹，不是文件。",
  "Choose a file that holds text, not a device or a pipe.": "选择存放文本的文件，不是设备或管道。",
  "The file is not text in UTF-8; it may not be a graph.": "文件不是 UTF-8 文本；它可能不是图。",
  "Check that the disk is there and try again.": "检查磁盘是否可用，然后重试。",
  "there is no such file or folder": "没有这个文件或文件夹",
  "Could not {doing} {place}: {cause}.": "无法{doing} {place}：{cause}。",
  "Continue the thread, or raise the recursion limit of the graph.": "继续该线程，或提高图的递归上限。",
  "Stopped before `{node}`: it did its work already on another branch of this thread.":
    "在 `{node}` 之前停止：它已在此线程的另一个分支上完成了工作。",
  "Stopped before `{node}`: it did its work already on another branch of this thread, with another input.":
    "在 `{node}` 之前停止：它已在此线程的另一个分支上用其他输入完成了工作。",
  "Continue, and say whether it is to do it again, use its result, or be left out.":
    "继续，并说明是再做一次、使用它的结果，还是跳过。",
  "Stopped before `{node}`: it would work outside of the graph.":
    "在 `{node}` 之前停止：它会对图以外产生作用。",
  "Let it work again among the side effects, and run the row again.":
    "在副作用中允许它再次执行，然后重新运行这一行。",
  "Let the step make less, or raise the limit in `limits` of the graph, and continue.":
    "让这一步产生更少的内容，或提高图的 `limits` 中的上限，然后继续。",
  "Correct the state, or change the invariant, and continue; or go back before the step.":
    "更正状态或修改不变量，然后继续；或回到这一步之前。",
  "Correct the node or the state, and continue: what finished is not run again.":
    "更正节点或状态，然后继续：已完成的不会再次运行。",
  "Correct what is written, or the key's reducer or schema.": "更正写入的内容，或该键的归约函数或结构。",
  "Give the thread an input.": "为线程提供输入。",
  "Answer each waiting question by its id.": "按 id 回答每个待回答的问题。",
  "Storage failed while {what}: {cause}.": "存储在{what}时失败：{cause}。",
  "The data set has no row {row}.": "数据集没有第 {row} 行。",
  "The database of threads has schema {found}; this release reads up to {supported}. It was not changed.":
    "线程数据库的版本是 {found}；此版本的程序最高能读取 {supported}。数据库没有改动。",
  "Install a newer release, or start with another data folder.": "安装更新的版本，或用其他数据文件夹启动。",
  "Go on with another checkpoint or thread, or put back a copy of the database.":
    "使用其他检查点或线程继续，或恢复数据库的副本。",
  "Another program is running this thread: {name}.": "另一个程序正在运行此线程：{name}。",
  "Wait until its run has ended, or stop it there. When that program is gone, try again in {seconds} s.":
    "等待它的运行结束，或在那里停止。如果那个程序已不在，{seconds} 秒后重试。",
  "Another program took this thread over: {name}.": "另一个程序接管了此线程：{name}。",
  "What was finished is kept. Look at the thread as it is now.": "已完成的内容会保留。查看线程现在的状态。",
  "Thread {thread} was deleted or changed by another program meanwhile.":
    "线程 {thread} 在此期间被另一个程序删除或更改。",
  "Look at the thread as it is now, and start again.": "查看线程现在的状态，然后重新开始。",
  "It was stopped. What was not done yet is as it was.": "已停止。尚未完成的部分保持原样。",
  "Use a database of another kind for this.": "为此使用其他类型的数据库。",
  "The embedding {name} failed: {cause}.": "嵌入 {name} 失败：{cause}。",
  "The disk is full: free some space and try again.": "磁盘已满：释放一些空间后重试。",
  "Check that the data folder is there and may be written to.": "检查数据文件夹是否存在并且可以写入。",
  "The workbench's own database failed: {error}.": "工作台自己的数据库出错：{error}。",
  "There is no thread {id}.": "没有线程 {id}。",
  "It may have been deleted in another window.": "它可能已在另一个窗口中删除。",
  "Thread {thread_id} has no checkpoint {id}.": "线程 {thread_id} 没有检查点 {id}。",
  "It may have been deleted in another window; choose another one.":
    "它可能已在另一个窗口中删除；选择其他检查点。",
  "There is nothing at {pointer} of this state.": "此状态的 {pointer} 处没有内容。",
  "The state may have changed; look at it again.": "状态可能已变化；再次查看。",
  "The breakpoints name no graph.": "断点没有指定图。",
  "Name the graph's file, or the id of a draft.": "指定图的文件，或草稿的 id。",
  "There is no evaluation {name} beside the graph.": "图旁边没有评估 {name}。",
  "There is no example called {id}.": "没有名为 {id} 的示例。",
  "Choose one of the examples on the start screen.": "选择开始页上的示例。",
  "copy the example to": "将示例复制到",
  "Git could not merge this file: it holds two versions with conflict marks.":
    "Git 无法合并此文件：其中有两个版本和冲突标记。",
  "Choose what is kept in the conflict view. Nothing is written before you save.":
    "在冲突视图中选择保留的内容。保存之前不会写入。",
  "The file has no conflict marks.": "文件没有冲突标记。",
  "Open the file again to see what it holds.": "再次打开文件，查看它的内容。",
  "Correct the file in a text editor, or take one side with git checkout --ours or --theirs.":
    "在文本编辑器中更正文件，或用 git checkout --ours 或 --theirs 选择一方。",
  "Open the file to see what is wrong.": "打开文件，查看问题所在。",
  "The file in the last commit is too large for a graph.": "上次提交中的文件太大，不能作为图。",
  "Compare the files with git.": "用 git 比较文件。",
  "The file in the last commit is no graph.": "上次提交中的文件不是图。",
  "A file that git keeps elsewhere (Git LFS) cannot be compared.":
    "由 git 另外存放的文件（Git LFS）无法比较。",
  "That version is too large for a graph.": "该版本太大，不能作为图。",
  "The history of the file is too long to be listed.": "文件的历史过长，无法列出。",
  "Look at it with git.": "用 git 查看。",
  "Git could not read the history of the file: {why}": "Git 无法读取文件的历史：{why}",
  "Git did not answer in time.": "Git 没有及时响应。",
  "See whether git works in this folder.": "检查 git 在此文件夹中能否工作。",
  "The repository of {path} belongs to another user, and git does not read it.":
    "{path} 的仓库属于其他用户，git 不会读取它。",
  "If you trust it, add the folder to safe.directory of your git configuration.":
    "如果你信任它，把该文件夹加入 git 配置的 safe.directory。",
  "Correct the value, or change the key's type in the state panel.":
    "更正该值，或在状态面板中修改该键的类型。",
  "{record}: {message}": "{record}：{message}",
  "and {count} more": "以及另外 {count} 个",
  "Look at the list of problems.": "查看问题列表。",
  "{name} cannot run. {problems}": "{name} 无法运行。{problems}",
  "{name} cannot be read as a graph.": "{name} 无法作为图读取。",
  "Correct the file, or take back an earlier version of it.": "更正文件，或恢复它的早期版本。",
  "The version of {name} that the thread ran on cannot run: secrets were taken out of it.":
    "线程运行时使用的 {name} 版本无法运行：其中的密钥已被移除。",
  "Go on with the graph as it is now.": "用现在的图继续。",
  "Unsaved changes could not be kept: {cause}": "未保存的更改无法保留：{cause}",
  "Save the graph to another place.": "把图保存到其他位置。",
  "No graph with id {graph_id} is open.": "没有打开 id 为 {graph_id} 的图。",
  "Open the graph again.": "重新打开图。",
  "The graph is loaded again; repeat the edit.": "图已重新加载；请重复此编辑。",
  "The graph is at revision {rev}, the edit was made for revision {value}: it was changed from another window.":
    "图的修订号是 {rev}，编辑基于修订号 {value}：它已在另一个窗口中更改。",
  "Node {node} has no graph inside that could be opened.": "节点 {node} 内部没有可以打开的图。",
  "Only nodes whose kind draws a graph from its settings have one; correct the settings first.":
    "只有由设置生成图的节点类型才有；先更正设置。",
  "Node {names} runs no graph that could be shown.": "节点 {names} 没有运行可以显示的图。",
  "Correct the graph that it names in its settings.": "更正它在设置中指定的图。",
  open: "打开",
  "The thread ran a draft that was thrown away.": "线程运行的是已丢弃的草稿。",
  "Open another graph and run the thread with it.": "打开其他图，用它运行该线程。",
  "The thread's graph {path} is not there any more.": "线程的图 {path} 已不存在。",
  "Put the file back, or open a graph and run the thread with it.":
    "恢复该文件，或打开一个图并用它运行该线程。",
  read: "读取",
  "{path} would not be an SVG or PNG picture.": "{path} 不会是 SVG 或 PNG 图片。",
  "Choose a file name that ends in .svg or .png, as the picture does.":
    "选择以 .svg 或 .png 结尾的文件名，与图片一致。",
  write: "写入",
  "A graph to replace in has neither an id nor a path.": "要替换内容的图既没有 id 也没有路径。",
  "{shown} has changes that are not in the file.": "{shown} 有尚未写入文件的更改。",
  "Open it, save or discard them, and replace again.": "打开它，保存或放弃更改，然后再次替换。",
  "{shown} cannot be read as a graph without losing something.":
    "{shown} 无法在不丢失内容的情况下作为图读取。",
  "Open it and see its problems.": "打开它，查看问题。",
  "Search again.": "重新搜索。",
  "copy to": "复制到",
  "the data folder": "数据文件夹",
  save: "保存",
  "{what} has changed since the search.": "{what} 在搜索之后已更改。",
  "The graph has no file yet.": "图还没有文件。",
  "Choose where to save it.": "选择保存位置。",
  "{path} was changed outside since it was opened.": "{path} 在打开之后被外部程序更改。",
  "Save under another name, or write over it: the version on disk is kept among the earlier versions.":
    "用其他名称保存，或覆盖它：磁盘上的版本会保留在早期版本中。",
  "{path} does not exist any more.": "{path} 已不存在。",
  "Save the graph to write it again.": "保存该图以重新写入文件。",
  "{path} is no graph any more.": "{path} 已不再是图。",
  "{path} already exists.": "{path} 已存在。",
  "Choose another name, or write over it.": "选择其他名称，或覆盖它。",
  "autosave to": "自动保存到",
  "The file is not a graph, so there is nothing to save over it.": "文件不是图，因此没有可以覆盖保存的内容。",
  "Correct the file in a text editor, or make a new graph.": "在文本编辑器中更正文件，或新建图。",
  "{path} is open as another graph ({id}).": "{path} 已作为另一个图打开（{id}）。",
  "Choose another name, or close that graph first.": "选择其他名称，或先关闭那个图。",
  "forget the unsaved changes in": "清除未保存的更改：",
  "These steps are too large to be kept.": "这些步骤太大，无法保留。",
  "Leave the oldest ones out.": "略去最早的步骤。",
  "keep the steps of undo in": "保存撤销步骤到",
  "There is nothing to look for.": "没有要查找的内容。",
  "Type a text.": "输入文本。",
  "The regular expression cannot be read: {cause}.": "正则表达式无法读取：{cause}。",
  "Correct it, or switch regular expressions off to look for the text as it is.":
    "更正它，或关闭正则表达式，按原样查找文本。",
  "That version is not there any more.": "该版本已不存在。",
  "Choose another version.": "选择其他版本。",
  "The name is empty.": "名称为空。",
  "Type a name.": "输入名称。",
  "name a version in": "命名版本于",
  "Secrets were taken out of that version, so it cannot take the graph's place.":
    "该版本中的密钥已被移除，因此不能用它取代图。",
  "Look at it, and change the graph by hand.": "查看它，然后手动修改图。",
  "Load the list from its beginning.": "从头加载列表。",
  "{count} questions wait: {names}.": "有 {count} 个问题待回答：{names}。",
  "Name one of them.": "指定其中之一。",
  "The question does not wait any more.": "该问题已不再等待回答。",
  "At most {most} answers are looked at together.": "最多同时查看 {most} 个回答。",
  "Ask for fewer.": "减少数量。",
  "Look at the inbox again.": "再次查看收件箱。",
  "The question is being answered at this moment.": "该问题此刻正在被回答。",
  "The question does not wait any more: it was answered or withdrawn.":
    "该问题已不再等待：它已被回答或撤回。",
  "{program} does not answer any more.": "{program} 不再响应。",
  "Try again; what it had stored is kept.": "重试；已存储的内容会保留。",
  "The answer is no run: {error}.": "回答不是运行：{error}。",
  "A request could not be written: {error}.": "请求无法写入：{error}。",
  "The request is larger than {size} MB.": "请求超过 {size} MB。",
  "{path} is open with changes that are not in the file.": "{path} 已打开，并且有尚未写入文件的更改。",
  "Save or discard the changes there, and run it again.": "在那里保存或放弃更改，然后再次运行。",
  "The program is ending.": "程序正在退出。",
  "The answer is larger than {size} MB.": "回答超过 {size} MB。",
  "The operation is not understood: {error}.": "无法理解该操作：{error}。",
  "The operation broke off: {error}.": "操作中断：{error}。",
  "The answer cannot be written: {error}.": "回答无法写入：{error}。",
  "The breakpoints of {graph} cannot be read: {error}.": "{graph} 的断点无法读取：{error}。",
  "Set them again; that takes the place of what is stored.": "重新设置断点；这会取代已存储的内容。",
  "The thread that writes the ledger has ended.": "写入记录的线程已结束。",
  "Start the program again.": "重新启动程序。",
  "{path} was written by an older release, and may not be written to bring it up to date.":
    "{path} 由旧版本写入，且不可写，因此无法更新。",
  "Copy the data folder to a place that may be written, and name the copy with SUPERSTEP_DATA.":
    "将数据文件夹复制到可写的位置，并用 SUPERSTEP_DATA 指定该副本。",
  "{path} has schema {found}; this release reads up to {supported}.":
    "{path} 的版本是 {found}；此版本的程序最高能读取 {supported}。",
  "A what-if grid could not be written: {error}.": "假设分析表无法写入：{error}。",
  "There is no command called {command}.": "没有名为 {command} 的命令。",
  "The interface and the program are of different versions: start the program again.":
    "界面和程序的版本不同：重新启动程序。",
  "make the folder": "创建文件夹",
  "write to the data folder": "写入数据文件夹",
  "The command broke off: {error}.": "命令中断：{error}。",
  "Nothing that was saved is lost. Try again; if it happens again, report it with what you did.":
    "已保存的内容不会丢失。重试；如果再次发生，报告该问题和你所做的操作。",
  "There is no item {key} in {namespace}.": "{namespace} 中没有条目 {key}。",
  "It may have been removed, or its time may have passed; look at the list again.":
    "它可能已被删除或已过期；再次查看列表。",
  "There is an item {key} already.": "已有条目 {key}。",
  "Open that one, or choose another key.": "打开那一个，或选择其他键。",
  "The item {key} was changed meanwhile.": "条目 {key} 在此期间已更改。",
  "Look at what it holds now, then change it again.": "查看它现在的内容，然后再次更改。",
  "Items are being embedded again already.": "条目已在重新嵌入。",
  "Wait until that is done, or stop it first.": "等待其完成，或先停止。",
  "Keep the key in an environment variable instead, and name the variable here.":
    "改为把密钥放在环境变量中，并在这里填写变量名。",
  "{name} cannot be the name of a connection.": "{name} 不能作为连接的名称。",
  "Take up to 64 letters, digits, `-`, `_` and `.`.": "使用最多 64 个字母、数字、`-`、`_` 和 `.`。",
  "`scripted` is the model that comes with Superstep.": "`scripted` 是 Superstep 自带的模型。",
  "Take another name.": "换一个名称。",
  "{name} cannot be the name of a variable.": "{name} 不能作为变量的名称。",
  "Write one such as OPENAI_API_KEY.": "填写例如 OPENAI_API_KEY 的名称。",
  "This is no connection: {cause}.": "这不是连接：{cause}。",
  "Correct it.": "更正它。",
  "{path} is no object with `{part}`.": "{path} 不是带有 `{part}` 的对象。",
  "There is a connection `{name}` already.": "已有名为 `{name}` 的连接。",
  "The key was not kept: {cause}.": "密钥没有保存：{cause}。",
  "Correct the file, or delete it and enter the secrets again.": "更正该文件，或将其删除并重新输入密钥。",
  "The secret was not stored: {cause}.": "密钥没有保存：{cause}。",
  "Keep it until Superstep is closed, or set an environment variable of this name before Superstep is started.":
    "将它保留到 Superstep 关闭为止，或在启动 Superstep 之前设置同名的环境变量。",
  "The secret was not removed: {cause}.": "密钥没有移除：{cause}。",
  "Unlock the keychain and try again, or remove the entry there.":
    "解锁钥匙串后重试，或在钥匙串中移除该条目。",
  "{name} cannot be the name of a secret.": "{name} 不能作为密钥的名称。",
  "Write a name such as STRIPE_KEY: letters, digits and `_`.":
    "填写 STRIPE_KEY 这样的名称：字母、数字和 `_`。",
  "This value cannot be stored.": "无法保存这个值。",
  "Enter a value of at most {count} bytes.": "输入最多 {count} 字节的值。",
  "There is no key to put into the keychain.": "没有要放入钥匙串的密钥。",
  "Give the key, or name an environment variable.": "填写密钥，或指定环境变量。",
  "The key was not removed: {cause}.": "密钥没有删除：{cause}。",
  "The question does not wait any more, or not yet for long enough.": "该问题已不再等待，或等待得还不够久。",
  "Somebody else has just answered this question.": "其他人刚刚回答了此问题。",
  "The run ended before its thread took this answer.": "运行在线程收到这个回答之前就结束了。",
  "The question waits still: answer it again.": "问题仍在等待：请再次回答。",
  "There is no answer in the request.": "请求中没有回答。",
  "An answer names its thread, its questions and the checkpoint that asks.":
    "回答须指明其线程、问题以及提问的检查点。",
  "Answer at least one question.": "至少回答一个问题。",
  "The question does not wait any more: it was answered or withdrawn, or the thread went on without it.":
    "该问题已不再等待：它已被回答或撤回，或线程没有等它就继续了。",
  "Let one of them answer, or say in the settings who you are.": "由指定的人回答，或在设置中说明你是谁。",
  "Only an input can begin a new thread.": "只有输入才能开始新线程。",
  "Name the thread to go on with.": "指定要继续的线程。",
  "A new thread needs a graph.": "新线程需要图。",
  "Name an open graph.": "指定已打开的图。",
  "The input must be an object of state keys.": "输入必须是由状态键组成的对象。",
  'Give an object such as {"key": value}.': '给出对象，例如 {"key": value}。',
  "The breakpoint `{point}` is not valid: {message}": "断点 `{point}` 无效：{message}",
  "the state has no key `{key}`.{hint}": "状态中没有键 `{key}`。{hint}",
  "there is no `{name}` here.": "这里没有 `{name}`。",
  "Use `state` and, where the place has them, {names}.": "使用 `state`，以及该位置提供的 {names}。",
  "it names no node.": "它没有指定节点。",
  "Name the node, or `*` for every node.": "指定节点；所有节点用 `*`。",
  "it names no state key.": "它没有指定状态键。",
  "Name the key.": "指定键。",
  "it has no limit.": "它没有上限。",
  "Give a number above 0.": "填写大于 0 的数字。",
  "it has no amount.": "它没有金额。",
  "Give an amount in US dollars above 0.": "填写大于 0 的美元金额。",
  "`{model}` is no name of a model.": "`{model}` 不是模型名称。",
  "Write the name as in the graph, such as `openai::gpt-4o-mini` or `my-server::llama3`.":
    "按图中的写法填写名称，例如 `openai::gpt-4o-mini` 或 `my-server::llama3`。",
  "A price is a number that is not below 0.": "价格是不小于 0 的数字。",
  "Give US dollars per million tokens.": "填写每百万 token 的美元价格。",
  "Prices cannot be shown: {problem}": "无法显示价格：{problem}",
  "The note has more than {most} bytes.": "备注超过 {most} 字节。",
  "Shorten it.": "缩短它。",
  "it names no target.": "它没有指定目标。",
  "Name the node that the edge comes to.": "指定边通向的节点。",
  "a watchpoint needs a condition.": "监视点需要条件。",
  "Write an expression that becomes true, such as `state.retries > 2`.":
    "填写会变为真的表达式，例如 `state.retries > 2`。",
  "`{text}` in the breakpoint `{whole}` is not a number above 0.":
    "断点 `{whole}` 中的 `{text}` 不是大于 0 的数字。",
  "`{place}` names no size.": "`{place}` 没有指定大小。",
  "`{place}` is no place of a breakpoint.": "`{place}` 不是断点的位置。",
  "`{word}` in the breakpoint `{whole}` says nothing.": "断点 `{whole}` 中的 `{word}` 没有内容。",
  "`{word}` is not known in the breakpoint `{whole}`.": "断点 `{whole}` 中的 `{word}` 无法识别。",
  "The graph has no node {node}.": "图没有节点 {node}。",
  "Name a node of the graph as it is now.": "指定现在的图中的节点。",
  "The graph was changed since the thread ran, and these next tasks would be lost: {names}.":
    "图在线程运行之后已更改，这些接下来的任务会丢失：{names}。",
  "Go on with the version that the thread ran on, or say which nodes run in their place.":
    "用线程运行时的版本继续，或说明由哪些节点代替它们。",
  "Wait until it stops, or stop it first.": "等待它停止，或先停止它。",
  "The thread is running in another window or program.": "该线程正在另一个窗口或程序中运行。",
  "The thread is running.": "该线程正在运行。",
  "Node {node} did not run.": "节点 {node} 没有运行。",
  "The request could not be made into a graph: {error}.": "请求无法做成图：{error}。",
  "The model was not asked.": "没有向模型提问。",
  "A thread could not be started: {error}.": "无法启动线程：{error}。",
  "Close other programs and try again.": "关闭其他程序后重试。",
  "{program} runs one graph, and does nothing else for others.":
    "{program} 只运行一个图，不为其他程序做别的事。",
  "Ask again when it has ended.": "等它结束后再请求。",
  "{program} does not run this thread.": "{program} 没有运行此线程。",
  "It may have ended: look at the thread again.": "它可能已结束：再次查看该线程。",
  "A node does not let itself be stopped yet.": "有一个节点还不能停止。",
  "The run ends as soon as the node gives way; the thread can go on from its last checkpoint.":
    "节点让出后运行就会结束；线程可以从最后一个检查点继续。",
  "The thread is not stored any more.": "该线程已不在存储中。",
  "{place}: there is no `{name}` here.": "{place}：这里没有 `{name}`。",
  "Use `state` and {names}.": "使用 `state` 和 {names}。",
  "The search broke off: {error}.": "搜索中断：{error}。",
  "A search has at most {most} columns.": "一次搜索最多有 {most} 列。",
  "The graph has no invariant `{only}`.": "图没有不变量 `{only}`。",
  "The graph has no invariants.": "图没有不变量。",
  "Add one to the graph, a node, an edge or a state key.": "为图、节点、边或状态键添加一个。",
  "The probe names no node.": "探针没有指定节点。",
  "Name the node.": "指定节点。",
  "The graph has no edge `{edge}`.": "图没有边 `{edge}`。",
  "Name an edge by its id, such as `check->retry`.": "按 id 指定边，例如 `check->retry`。",
  "The edge `{id}` decides nothing: it has no expression.": "边 `{id}` 不做决定：它没有表达式。",
  "Choose an edge with a condition, a route or a list.": "选择带有条件、路由或列表的边。",
  "The expression uses the run context, which is not stored with threads.":
    "表达式使用了运行上下文，而线程不存储它。",
  "Use the state alone to ask what would have been decided.": "只用状态来查看会做出什么决定。",
  "{path} is broken: {error}.": "{path} 已损坏：{error}。",
  "Correct it, or delete it to use the file in the data folder.":
    "更正它，或将其删除以使用数据文件夹中的文件。",
  delete: "删除",
  "{place} is only read: {why}.": "{place} 只能读取：{why}。",
  "There is no folder {path}.": "没有文件夹 {path}。",
  "Make the folder, or choose another place.": "创建该文件夹，或选择其他位置。",
  "The database was chosen when the program was started, with --db.": "数据库是在程序启动时用 --db 选择的。",
  "Start it without --db to choose one here.": "不带 --db 启动，才能在这里选择。",
  "A thread is running, and goes on writing to the database it began with.":
    "有线程正在运行，它会继续写入开始时使用的数据库。",
  "The bookmark has no name.": "书签没有名称。",
  "The thread has stored nothing yet that could be copied.": "该线程尚未存储可以复制的内容。",
  "Wait for its first checkpoint.": "等待它的第一个检查点。",
  "A rule needs at least a day without a change.": "规则要求至少一天没有更改。",
  "Give a number of days from 1 on.": "填写不小于 1 的天数。",
  "Delete the other thread first.": "先删除另一个线程。",
  "{path}: {error}.": "{path}：{error}。",
  "Choose a file that was exported from a thread, and export it again if it was cut off.":
    "选择从线程导出的文件；如果文件不完整，重新导出。",
  "It was stopped. Nothing was changed.": "已停止。没有任何改动。",
  "{path} has no checkpoint.": "{path} 没有检查点。",
  "Export the thread again.": "重新导出该线程。",
  "The update must be an object of state keys, not {found}.":
    "更新必须是由状态键组成的对象，而不是 {found}。",
  "It is not known which graph this thread ran.": "不知道此线程运行的是哪个图。",
  "Open the graph and run the thread with it.": "打开该图，用它运行该线程。",
  "The title is empty.": "标题为空。",
  "Type a title.": "输入标题。",
  "The graph of the thread is gone, so its nested graphs cannot be read.":
    "线程的图已不存在，因此无法读取它的子图。",
  "Open the graph that the thread ran with, or put its file back.":
    "打开线程运行时使用的图，或恢复它的文件。",
  "The graph of the thread is gone, so it is not known which task wrote what.":
    "线程的图已不存在，因此不知道哪个任务写入了什么。",
  "Thread {thread_id} has no checkpoint to compare.": "线程 {thread_id} 没有可比较的检查点。",
  "Run it first.": "先运行它。",
  "The graph of the thread is gone, so it is not known what the task was given.":
    "线程的图已不存在，因此不知道任务得到了什么。",
  "The checkpoint has no task {task_id}.": "该检查点没有任务 {task_id}。",
  "The graph may have changed since; choose the task again.": "图可能在此之后已更改；重新选择任务。",
  "{path} cannot be read: {error}.": "{path} 无法读取：{error}。",
  "Correct the file, or delete it: then every project is asked about again.":
    "更正该文件，或将其删除：之后会再次询问每个项目。",
  "{name} wants to use {names}, which nobody has allowed yet.": "{name} 想使用 {names}，但尚未得到允许。",
  "Look at what it wants and allow it, if you know why it does.":
    "查看它想使用什么；如果你知道原因，允许它。",
  "The server has no address and no command.": "该服务器既没有地址也没有命令。",
  "Enter one of them.": "填写其中之一。",
  "Thread {thread} has no checkpoint to begin at.": "线程 {thread} 没有可以开始的检查点。",
  "Thread {thread} has no checkpoint {id}.": "线程 {thread} 没有检查点 {id}。",
  "Choose one of its timeline.": "选择它的时间线中的检查点。",
  "The grid used up its limit before this row began.": "表格在这一行开始之前就用完了上限。",
  "Raise the total limit, and run the row again.": "提高总上限，然后重新运行这一行。",
  "There is no what-if grid {id} of this thread.": "此线程没有假设分析表 {id}。",
  "Load the list again.": "请重新加载列表。",
  "Load the list again: somebody may have removed it.": "再次加载列表：它可能已被删除。",
  "The what-if grid is running.": "假设分析表正在运行。",
  "Stop it first.": "先停止它。",
  "This row has no branch yet.": "这一行还没有分支。",
  "Wait until it has run.": "等待它运行完成。",
  "The grid cannot be read: {cause}.": "表格无法读取：{cause}。",
  "The grid cannot be read at {path}: {cause}.": "表格在 {path} 处无法读取：{cause}。",
  'Write an object with `rows`, such as {"rows": [{"values": {"days": 5}}]}.':
    '填写带有 `rows` 的对象，例如 {"rows": [{"values": {"days": 5}}]}。',
  "The grid is followed by something else: {error}.": "表格之后还有其他内容：{error}。",
  "Write one object into the file.": "在文件中只写一个对象。",
  "The grid has no rows.": "表格没有行。",
  "Add a row that says what is to be different.": "添加一行，说明有什么不同。",
  "{count} rows, {repeat} times each, are too many or none.":
    "{count} 行、每行 {repeat} 次，数量过多或没有。",
  "A grid has at most 200 rows and 500 runs, and each row runs at least once.":
    "表格最多有 200 行和 500 次运行，每行至少运行一次。",
  "{at_once} rows cannot run at once.": "{at_once} 行不能同时运行。",
  "Give a `concurrency` from 1 to 16.": "填写 1 到 16 的 `concurrency`。",
  "`{name}` allows nothing.": "`{name}` 不允许任何内容。",
  "Give seconds, tokens and cost above 0, or leave them out.":
    "填写大于 0 的秒数、令牌数和费用，或将其省略。",
  "The expression of the scorer cannot be used: {cause}": "评分器的表达式无法使用：{cause}",
  "Correct the scorer's expression over `state`, `base` and `run`.":
    "更正评分器关于 `state`、`base` 和 `run` 的表达式。",
  "The scorer is neither an expression nor a model with a rubric.":
    "评分器既不是表达式，也不是带有评分标准的模型。",
  "Give `expression`, or `model` and `rubric`.": "填写 `expression`，或 `model` 和 `rubric`。",
  "`effects` names the node `{node}`, which the graph does not have.":
    "`effects` 指定了节点 `{node}`，但图中没有它。",
  "Name nodes of the graph.": "指定图中的节点。",
  "Row {row} ({name}): {message}": "第 {row} 行（{name}）：{message}",
  "`asNode` names `{node}`, which the graph does not have.": "`asNode` 指定了 `{node}`，但图中没有它。",
  "Name a node, or leave it out.": "指定节点，或将其省略。",
  "`values` has `{key}`, which is no key of the state.": "`values` 有 `{key}`，但它不是状态键。",
  "Name a key of the state.": "指定状态键。",
  "`input` is not an object of state keys.": "`input` 不是由状态键组成的对象。",
  "No node of the graph asks a model.": "图中没有向模型提问的节点。",
  "Leave `model` out, or name the setting in `settings`.": "省略 `model`，或在 `settings` 中指定该设置。",
  "The graph cannot be read: {message}": "图无法读取：{message}",
  "`settings` has `{pointer}`, which the graph's document does not have.":
    "`settings` 有 `{pointer}`，但图的文档中没有它。",
  "Give a JSON Pointer into the document, such as `/nodes/reply/config/prompt`.":
    "填写指向文档的 JSON Pointer，例如 `/nodes/reply/config/prompt`。",
  "Checkpoints of this thread have ids that leave no room for a branch beside it.":
    "此线程的检查点 id 没有为旁边的分支留出空间。",
  "Copy the thread, and ask there.": "复制该线程，在那里提问。",
  "Recursion limit of {limit} reached without hitting a stop condition. The thread is kept as it is: raise the recursion limit to go on, or give the loop a way out.":
    "达到递归上限 {limit}，但没有满足停止条件。线程保持原样：提高递归上限以继续，或为循环提供出口。",
  "node {node} failed: {failure}": "节点 {node} 失败：{failure}",
  "the run was stopped; the thread can go on from its last checkpoint":
    "运行已停止；线程可以从最后一个检查点继续",
  "{reason}. The thread is kept as the step left it: correct its state, or go back before the step, and go on.":
    "{reason}。线程保持这一步之后的样子：更正状态，或回到这一步之前，然后继续。",
  "The side “{side}” of the conflict is no graph. {why}": "冲突的“{side}”一方不是图。{why}",
  "A run has at most {most} tags and {most} entries of metadata.":
    "一次运行最多有 {most} 个标签和 {most} 条元数据。",
  "Every checkpoint of the run holds them. Keep larger data in the state.":
    "运行的每个检查点都会保存它们。较大的数据请放在状态中。",
  "{name} cannot be a tag or a key of metadata.": "{name} 不能作为标签或元数据的键。",
  "Use at most {most} letters, without line breaks.": "最多使用 {most} 个字符，不含换行。",
  "Checkpoints have metadata of their own under the key {key}.": "检查点在键 {key} 下有自己的元数据。",
  "Choose another key.": "请选择其他键。",
  "The metadata value of {key} is too long.": "{key} 的元数据值太长。",
  "Use at most {most} letters.": "最多使用 {most} 个字符。",
  "This node chose itself where the run goes on, which cannot be pinned.":
    "该节点自行决定了运行的去向，这无法固定。",
  "Pin the output of a node whose edges decide.": "请固定由边决定去向的节点的输出。",
  "The task has no output yet.": "该任务还没有输出。",
  "Choose a task that has finished.": "请选择已完成的任务。",
  "The pin names no graph or no node.": "固定请求没有指明图或节点。",
  "Name the graph's file, or the id of a draft, and a node.": "请指明图的文件或草稿的 ID，以及一个节点。",
  "A pinned output must be an object of state keys.": "固定的输出必须是由状态键组成的对象。",
  "The output is too large to be pinned.": "输出太大，无法固定。",
  "Pin the output of a node that writes less.": "请固定写入较少的节点的输出。",
  "the MCP server `{server}` asks for a login": "MCP 服务器 `{server}` 要求登录",
  "the login to the MCP server `{server}` has expired or was revoked":
    "MCP 服务器 `{server}` 的登录已过期或被撤销",
  "the login to the MCP server `{server}` is not enough for this":
    "MCP 服务器 `{server}` 的登录权限不足以执行此操作",
  "the login to the MCP server `{server}` does not include {scope}, which this needs":
    "MCP 服务器 `{server}` 的登录不包含此操作所需的 {scope}",
  "the login to the MCP server `{server}` failed: {cause}": "登录 MCP 服务器 `{server}` 失败：{cause}",
  "the login to the MCP server `{server}` could not be renewed: {cause}":
    "MCP 服务器 `{server}` 的登录无法续期：{cause}",
  "Sign in where a node of the graph names the server, or type `superstep mcp login {server}` in the project's folder":
    "请在图中使用该服务器的节点处登录，或在项目文件夹中输入 `superstep mcp login {server}`",
  "it is a program, and programs ask for no login": "它是一个程序，程序不要求登录",
  ".mcp.json gives it the header Authorization, which a login would replace":
    ".mcp.json 已为它设置 Authorization 请求头，登录会与之冲突",
  "this program keeps no logins": "此程序不保存登录",
  "it asks for no login": "它不要求登录",
  "{address} of its authorization server is not encrypted": "其授权服务器的地址 {address} 未加密",
  "it was not forgotten: {cause}": "未能删除登录：{cause}",
  "it gives no answer": "它没有应答",
  'its authorization server registers no programs by itself ({cause}). Register this one there, with http://127.0.0.1/callback as the address to come back to, and name it in .mcp.json: "oauth": {"clientId": …}':
    '其授权服务器不支持程序自行注册（{cause}）。请在那里注册此程序，回调地址为 http://127.0.0.1/callback，并写入 .mcp.json："oauth": {"clientId": …}',
  "nobody signed in within {count} minutes": "{count} 分钟内无人登录",
  "no port can be opened for the browser to come back to: {cause}": "无法为浏览器返回打开端口：{cause}",
  "it gave no token": "它没有给出令牌",
  "it was not kept: {cause}": "登录未能保存：{cause}",
  "The sign-in was cancelled.": "登录已取消。",
  "{thread}: checkpoint {checkpoint} cannot be read: {cause}.":
    "{thread}：无法读取检查点 {checkpoint}：{cause}。",
  "{thread}: it cannot be read: {cause}.": "{thread}：无法读取：{cause}。",
  "{thread}: there is a thread of this name, which has gone a way of its own.":
    "{thread}：已有同名线程，而且它已自行继续。",
  "Thread {thread} cannot be made a test: {why}.": "无法用线程 {thread} 制作测试：{why}。",
  "Run the graph on a new thread, and make a test of that.": "请在新线程上运行图，再用它制作测试。",
  "it has more than {most} steps": "它超过 {most} 步",
  "its beginning is not stored any more": "它的开头已不在存储中",
  "it does not begin with an input": "它不以输入开始",
  "Thread {thread} has not come to an end: it stands before {next}.":
    "线程 {thread} 尚未结束：它停在 {next} 之前。",
  "Let it go on until it is done, asks or fails, and make the test then.":
    "请让它继续，直到完成、提问或失败，然后再制作测试。",
  "the input of one of its runs is not stored": "它某次运行的输入不在存储中",
  "its open step was closed by hand, which a test cannot repeat": "它未完成的步骤被手动关闭，测试无法重复",
  "a step of several nodes was skipped, which a test cannot repeat": "它跳过了含多个节点的步骤，测试无法重复",
  "{name} cannot be the name of a test.": "{name} 不能用作测试的名称。",
  "Use letters, digits, spaces, - and _, at most {most}.":
    "请使用字母、数字、空格、- 和 _，最多 {most} 个字符。",
  "{folder} is a link, and tests stay beside their graph.": "{folder} 是链接，而测试保存在图的旁边。",
  "Put a folder in its place.": "请在其位置放一个文件夹。",
  "There is a test {path} already.": "已有测试 {path}。",
  "Choose another name, or delete that test first.": "请选择其他名称，或先删除该测试。",
  "The test came out otherwise than the thread, at {at}, and was not written.":
    "测试的结果在 {at} 处与线程不同，未写入文件。",
  "Leave out what differs, or make the test of a thread that does the same again.":
    "请略去不同之处，或用会再次得到相同结果的线程制作测试。",
  "{name} is in no file yet, and tests are kept beside the file of a graph.":
    "{name} 尚未保存到文件，而测试保存在图的文件旁边。",
  "Save the graph first.": "请先保存图。",
  "Thread {thread_id} cannot be made a test: its graph cannot be built here.":
    "无法用线程 {thread_id} 制作测试：它的图无法在此构建。",
  "Correct the graph, or choose a thread of a graph that runs here.":
    "请更正图，或选择能在此运行的图的线程。",
  "Thread {thread_id} is running.": "线程 {thread_id} 正在运行。",
  "What came of {name} cannot be accepted: the test says something else than the graph does.":
    "无法接受 {name} 的结果：测试与图的行为不符。",
  "Correct the test's inputs, answers, edits or expressions.": "请更正测试的输入、回答、编辑或表达式。",
  "{path} was changed by another program meanwhile.": "{path} 同时被另一个程序更改。",
  "Run the test again.": "请再次运行测试。",
  "Correct the file, or delete it and make the test again.": "请更正文件，或将其删除并重新制作测试。",
};
