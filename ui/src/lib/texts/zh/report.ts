/** Chinese words of answers that are copied as text. */
import type { report as english } from "../report";

export const report: Record<keyof typeof english, string> = {
  "report.copy": "复制为文本",
  "report.copied": "已复制",
  "report.thread": "线程 {id}",
  "report.checkpoint": "检查点 {id}",
  "report.left": "左侧",
  "report.right": "右侧",
  "report.before": "之前",
  "report.after": "之后",
  "report.moment": "时刻",
  "report.otherGraph": "另一个图",
  "report.node": "节点",
  "report.effect": "副作用",
  "report.done": "上次",
  "report.answer": "回答",
  "report.path": "路径",
  "report.more": "以及另外 {n} 行",
  "report.choice": "选择",
  "report.choices": "各个回答的走向",
};
