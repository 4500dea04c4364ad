/**
 * The language of the interface: which one is spoken, and what is loaded for it. English is built in; the words of another
 * language and its font come when it is spoken. `spoken` is the key of the whole interface, which is mounted again with it:
 * nothing on screen, and no command, keeps a word of the language before.
 */
import { create } from "zustand";
import type { Language } from "../ipc/bindings/Language";
import { preferred, setLocale } from "../lib/intl";
import { setWords, type Catalogue } from "../lib/texts";
import { kindsAgain } from "./kinds";
import { useSession } from "./session";
import { showProblem } from "./toasts";

type Spoken = Exclude<Language, "system"> | "pseudo";

/** How the language is called in `lang`, and where its words are. */
const LANGUAGES: Record<Spoken, { tag: string; load: () => Promise<Catalogue | null> }> = {
  en: { tag: "en", load: () => Promise.resolve(null) },
  zh: { tag: "zh-CN", load: () => import("../lib/texts/zh").then(({ zh }) => zh) },
  pseudo: { tag: "en-XA", load: () => import("../lib/texts/pseudo").then(({ pseudo }) => pseudo) },
};

export const useSpoken = create<{ readonly spoken: Spoken }>(() => ({ spoken: "en" }));

/** The language that a choice means here. */
export function spokenOf(choice: Language, asked: readonly string[] = preferred()): Spoken {
  if (choice !== "system") return choice;
  for (const tag of asked) {
    const base = tag.toLowerCase().split("-")[0];
    if (base === "zh" || base === "en") return base;
  }
  return "en";
}

let wanted: Spoken = "en";

async function speak(language: Spoken): Promise<void> {
  wanted = language;
  const { tag, load } = LANGUAGES[language];
  const words = await load();
  // Another one has been chosen while this one was loaded.
  if (wanted !== language) return;
  setWords(words);
  setLocale(tag);
  useSession.setState(({ appInfo }) => (appInfo ? { appInfo: { ...appInfo, kinds: kindsAgain() } } : {}));
  document.documentElement.lang = tag;
  useSpoken.setState({ spoken: language });
}

/**
 * Speaks the language of the settings and follows them. Kept when the first one is spoken. `?lang=pseudo` speaks a longer
 * English instead, to see that the window has room for other languages.
 */
export async function followLanguage(query = new URLSearchParams(window.location.search)): Promise<void> {
  if (query.get("lang") === "pseudo") return speak("pseudo");
  const apply = () => speak(spokenOf(useSession.getState().language)).catch(showProblem);
  useSession.subscribe((state, before) => {
    if (state.language !== before.language) void apply();
  });
  window.addEventListener("languagechange", () => void apply());
  await apply();
}
