/** Chinese words for choosing the language. */
import type { language as english } from "../language";

export const language: Record<keyof typeof english, string> = {
  "language.label": "语言",
  "language.system": "跟随系统",
  "language.en": "English",
  "language.zh": "中文",
};
