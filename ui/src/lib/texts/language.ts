/** Words for choosing the language. Each language is called by its own name. */
export const language = {
  "language.label": "Language",
  "language.system": "System",
  "language.en": "English",
  "language.zh": "中文 (Chinese)",
};
