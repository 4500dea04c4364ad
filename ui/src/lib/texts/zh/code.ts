/** Chinese texts about the use of a graph from programs. */
import type { code as english } from "../code";

export const code: Record<keyof typeof english, string> = {
  "code.open": "在代码中使用…",
  "code.title": "在代码中使用",
  "code.help": "运行此图（以保存的文件为准）的程序，使用运行表单中的输入。",
  "code.language": "语言",
  "code.shell": "Shell",
  "code.python": "Python",
  "code.typescript": "TypeScript",
  "code.rust": "Rust",
  "code.shellHelp": "最终状态以 JSON 输出到 stdout。",
  "code.pythonHelp": "Python 3.8 或更高版本，无需安装其他包。它与 superstep serve 通信。",
  "code.typescriptHelp": "Node 18 或更高版本。它与 superstep serve 通信。",
  "code.rustHelp": "引擎在你的程序内运行，不需要服务器。请填写各 crate 的路径。",
  "code.copy": "复制代码",
  "code.draft": "此图尚未保存：代码中写的是 graph.json。",
  "code.changed": "文件中没有你未保存的更改。",
  "code.save": "保存",
  "code.server": "先启动服务器：",
  "code.waits": "等到运行结束或提问。",
  "code.decide": "在这里决定，或询问他人。",
  "code.answers": "回答 {node}。",
  "code.choices": "选项：{labels}。",
  "code.shellAsks": "退出码 3：它在提问。回答后继续运行：",
  "code.rustFirst": "必须最先调用：JavaScript 在此程序的子进程中运行。",
  "code.rustGrants": "允许图访问一切；Grants::none() 则什么都不允许。",
};
