/** Chinese texts about wires while they are drawn, moved, hidden: what fits, what is refused, what a line means. */
import type { wires as english } from "../wires";

export const wires: Record<keyof typeof english, string> = {
  "wires.search.after": "常接在“{kind}”之后",
  "wires.search.before": "常放在“{kind}”之前",
  "wires.search.error": "常用于出错时",
  "wires.search.more": "搜索全部…",
  "wires.settings": "画布",
  "wires.settings.drop": "连线放到空白处",
  "wires.settings.dropHelp": "新连线没有放到节点上时打开的内容。",
  "wires.settings.dropShift": "按住 Shift 时",
  "wires.settings.search": "搜索",
  "wires.settings.menu": "常用类型",
  "wires.settings.nothing": "无",
  "wires.refused.into-start": "没有边能通向开始",
  "wires.refused.into-start.text": "每次运行都从这里开始。把连线放到其他节点上。",
  "wires.refused.from-end": "没有边能从结束出发",
  "wires.refused.from-end.text": "每次运行都到这里为止。把连线放到其他节点上。",
  "wires.refused.start-end": "开始不能直接通向结束",
  "wires.refused.start-end.text": "在两者之间添加一个节点。",
  "wires.refused.note": "{node} 是便签",
  "wires.refused.note.text": "运行不会经过便签。把连线放到节点上。",
  "wires.refused.exists": "{from} 已经通向 {to}",
  "wires.refused.exists.text": "一条边就够了。若只想在某个条件下走它，更改那条边。",
  "wires.refused.own-error": "{from} 不能处理自己的错误",
  "wires.refused.own-error.text": "把连线放到其他节点上。若要再试一次，在设置中使用“失败时重试”。",
};
