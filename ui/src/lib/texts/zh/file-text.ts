/** 关于不是图的文件的文字：它按原样显示。 */
export const fileText = {
  "fileText.label": "文件的文本",
  "fileText.title": "{file} 不是图",
  "fileText.mended": "文本又是 JSON 了",
  "fileText.mendedHelp": "保存后，如果它是图，就会作为图打开。",
  "fileText.save": "保存文本",
  "fileText.versions": "早期版本",
  "fileText.new": "新建图",
  "fileText.noEdit": "未执行：{name}",
  "fileText.noEditHelp": "打开的文件不是图。请更正其文本，或新建一个图。",
} as const;
