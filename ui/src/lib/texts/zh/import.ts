/** Chinese texts about graphs that come into the open one. */
import type { imports as english } from "../import";

export const imports: Record<keyof typeof english, string> = {
  "import.command": "导入到此图…",
  "import.title": "导入“{name}”",
  "import.how": "导入方式",
  "import.beside": "添加到此图",
  "import.besideHelp": "节点放在现有节点下方；名称已被占用时使用新名称。",
  "import.update": "更新同名节点",
  "import.updateOne": "{names} 采用新的设置和边，位置不变。新的内容会被添加。",
  "import.updateMany": "{names} 采用新的设置和边，位置不变。新的内容会被添加。",
  "import.keys": "与此处不同的状态键：{names}。添加的节点使用各自的键，更新的节点会更改这些键。",
  "import.open": "作为单独的图打开",
  "import.openHelp": "在自己的标签页中打开；此图保持不变。",
  "import.confirm": "导入",
  "import.more": "另外 {n} 个",
  "import.edit": "导入 {name}",
  "import.same": "没有可导入的内容：此图已全部包含。",
};
