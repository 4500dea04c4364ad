/** Chinese texts of the page that F1 opens about what is selected. */
import type { help as english } from "../help";

export const help: Record<keyof typeof english, string> = {
  "help.langgraph": "在 LangGraph 中：{words}",
  "help.edge": "边：{form}",
  "help.edge.plain": "节点每次完成后都走。同一节点有多条这样的边时，目标在同一超步中运行。",
  "help.edge.when":
    "条件为真时走，条件看到的是节点写入之后的状态。一个节点的每条条件边各自判断，因此可能一条都不走，也可能走一条或多条。",
  "help.edge.route":
    "表达式给出一个标签或一组标签，每个标签通向自己的目标。其他值走“否则”；没有“否则”时运行失败并说明原因。",
  "help.edge.each":
    "列表的每一项运行一次目标，都在下一超步中。每个任务得到自己的项和附加值，看不到共享状态。用带归约函数的状态键收集它们写入的内容。",
  "help.edge.join":
    "所有来源都完成后运行一次目标，来源可以在不同的超步完成。没有汇合时，每有一条边在另一个超步到达，节点就再运行一次。",
  "help.edge.limit":
    "循环到达节点的次数达到访问上限后，代替该节点走：节点不再工作，它的其他边也不走。每次输入后重新计数，人的回答也计入。",
  "help.edge.error":
    "节点的最后一次尝试失败时走：运行不再沿着边，而从这里继续；若选择了状态键，错误会作为对象写入其中。",
  "help.edge.forms": "边的形式",
  "help.edge.error.name": "出错时",
  "help.edge.settings": "设置",
  "help.chosen": "当前所选",
  "help.key": "状态键：{name}",
  "help.key.text": "节点读取超步开始时的值；写入的内容在超步结束时由归约函数（reducer）合并。",
  "help.key.reducers": "归约函数",
  "help.key.lifetimes": "生存期",
  "help.key.channelAlone": "有自己生存期的键没有归约函数。",
  "help.end.start": "开始",
  "help.end.end": "结束",
  "help.many.text": "可以对所选内容做的事。每一步都可以撤销。",
  "help.many.structure": "结构",
  "help.many.arrange": "排列",
  "help.many.edit": "编辑",
  "help.many.select": "扩大选择",
  "help.none": "图",
  "help.none.text":
    "没有选中内容。运行沿着边按超步前进：所有到期的节点同时基于同一状态工作，然后合并它们的写入。选中节点、边或状态键，再按 {keys} 查看说明。",
  "help.none.build": "搭建",
  "help.none.run": "运行和查看",
};
