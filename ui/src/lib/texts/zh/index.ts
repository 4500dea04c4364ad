/**
 * Chinese. A chunk of its own with its font: both are loaded when the interface speaks it. Every file of the English
 * catalogue has one here of the same name and keys; `kinds` and `problems` say what Rust says, by its English texts.
 */
import "./font";
import type { Catalogue, TextKey } from "../../texts";
import { backends } from "./backends";
import { code } from "./code";
import { commandNames } from "./command-names";
import { debug } from "./debug";
import { fileText } from "./file-text";
import { find } from "./find";
import { forks } from "./forks";
import { forms } from "./forms";
import { git } from "./git";
import { help } from "./help";
import { kindAliases, kinds } from "./kinds";
import { imports } from "./import";
import { language } from "./language";
import { memory } from "./memory";
import { overview } from "./overview";
import { problems } from "./problems";
import { query } from "./query";
import { report } from "./report";
import { result } from "./result";
import { safety } from "./safety";
import { seen } from "./seen";
import { shell } from "./shell";
import { storage } from "./storage";
import { structure } from "./structure";
import { task } from "./task";
import { evaluations } from "./evaluations";
import { tests } from "./tests";
import { trace } from "./trace";
import { variants } from "./variants";
import { versions } from "./versions";
import { whatIf } from "./what-if";
import { wires } from "./wires";

const texts: Readonly<Record<TextKey, string>> = {
  ...code,
  ...debug,
  ...fileText,
  ...find,
  ...forks,
  ...forms,
  ...git,
  ...help,
  ...imports,
  ...language,
  ...memory,
  ...overview,
  ...query,
  ...report,
  ...result,
  ...seen,
  ...safety,
  ...shell,
  ...storage,
  ...structure,
  ...task,
  ...evaluations,
  ...tests,
  ...trace,
  ...variants,
  ...versions,
  ...whatIf,
  ...wires,
};

const rust: Readonly<Record<string, string>> = { ...problems, ...kinds };

export const zh: Catalogue = {
  texts,
  commandNames,
  kindAliases,
  backends,
  rust: (english) => rust[english],
};
