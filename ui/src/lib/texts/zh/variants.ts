/** Chinese texts about variants of a node's settings. */
import type { variants as english } from "../variants";

export const variants: Record<keyof typeof english, string> = {
  "variants.title": "变体",
  "variants.help": "此节点的设置，按名称保存。运行使用当前显示的设置。",
  "variants.changed": "{name}（已更改）",
  "variants.new": "将设置保存为变体…",
  "variants.newTitle": "保存为变体",
  "variants.newText": "以一个名称保存 {node} 的当前设置。",
  "variants.next": "设置的下一个变体",
  "variants.update": "将更改保存到“{name}”",
  "variants.rename": "重命名“{name}”…",
  "variants.renameTitle": "重命名",
  "variants.delete": "删除“{name}”",
  "variants.name": "名称",
  "variants.taken": "“{name}”已存在。",
  "variants.save": "保存",
  "variants.edit.take": "{node} 的变体 {name}",
  "variants.edit.keep": "保存 {node} 的变体 {name}",
  "variants.edit.rename": "重命名 {node} 的变体 {name}",
  "variants.edit.delete": "删除 {node} 的变体 {name}",
};
