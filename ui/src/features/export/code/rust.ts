/** Runs a graph in a Rust program, by the crates of the engine. */
import { t } from "../../../lib/texts";
import type { Json } from "../../../document/types";
import type { CodeFacts } from "./facts";
import { choicesNote, indented, inline, pretty, spaced } from "./parts";

/** A text as Rust writes it, which knows fewer short escapes than JSON and writes code points in braces. */
function rustString(json: string): string {
  return json.replace(/\\(?:u([0-9a-f]{4})|[bf]|.)/gi, (escape, code: string | undefined) => {
    if (code !== undefined) return /^d[89a-f]/i.test(code) ? "\\u{fffd}" : `\\u{${code}}`;
    if (escape === "\\b") return "\\u{8}";
    return escape === "\\f" ? "\\u{c}" : escape;
  });
}

/** The largest value that is written with the macro, which is bounded in what it can hold. */
const MACRO = 1500;

/** A value of the state. */
export function rustValue(value: Json, by: number): string {
  const plain = spaced(value);
  if (plain.length > MACRO) {
    let marks = "#";
    while (plain.includes(`"${marks}`)) marks += "#";
    return `Value::from(serde_json::from_str::<serde_json::Value>(r${marks}"${plain}"${marks})?)`;
  }
  const text = pretty(value).replace(/"(?:[^"\\]|\\.)*"/g, rustString);
  return `json!(${indented(text, by)})`;
}

export function rustCode({ path, input, context, asking, mayAsk }: CodeFacts): string {
  const large = [input, context, ...asking.map(({ answer }) => answer)].some(
    (value) => spaced(value).length > MACRO,
  );
  const nodes = asking.map((one) => {
    const choices = choicesNote(one);
    return `// ${inline(t("code.answers", { node: one.node }))}${choices === null ? "" : ` ${choices}`}`;
  });
  const [first] = asking;
  const loop = mayAsk
    ? `
        while result.status == RunStatus::Interrupted {
            // ${t("code.decide")}
            let mut answers = Object::new();
            for question in &result.interrupts {
                eprintln!("{}", question.value);
${nodes.map((note) => `                ${note}\n`).join("")}                answers.insert(question.id.as_str(), ${first ? rustValue(first.answer, 16) : 'json!("…")'});
            }
            result = graph.invoke(Input::answer(answers), ${configOf(context)}).await?;
        }`
    : "";
  const names = ["Input", "MemorySaver", ...(large ? ["Value"] : []), "json"].join(", ");
  return `// [dependencies]
// superstep = { path = "…/crates/engine" }
// superstep-document = { path = "…/crates/document" }
// superstep-nodes = { path = "…/crates/nodes" }
// tokio = { version = "1", features = ["rt-multi-thread"] }${large ? '\n// serde_json = "1"' : ""}
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use superstep::run::{RunConfig${mayAsk ? ", RunStatus" : ""}};
${mayAsk ? "use superstep::value::Object;\n" : ""}use superstep::{${names}};
use superstep_document::Document;
use superstep_nodes::{Environment, Grants, Registry};

fn main() -> Result<(), Box<dyn Error>> {
    // ${t("code.rustFirst")}
    superstep_nodes::serve_if_asked();
    let file = Path::new(${rustString(JSON.stringify(path))});
    let (document, unread) = Document::parse(&std::fs::read_to_string(file)?);
    if let Some(problem) = unread.iter().find(|problem| problem.is_error()) {
        return Err(problem.to_string().into());
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        // ${t("code.rustGrants")}
        let environment = Environment::new(file.parent().map(Path::to_owned)).with_grants(Grants::all());
        let built = Registry::standard().build(&document, &environment).map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            lines.join("\\n")
        })?;
        let graph = built.graph.with_checkpointer(Arc::new(MemorySaver::new()));
        let input = ${rustValue(input, 8)};
        let ${mayAsk ? "mut " : ""}result = graph.invoke(Input::value(input), ${configOf(context)}).await?;${loop}
        println!("{}", result.value);
        Ok::<(), Box<dyn Error>>(())
    })
}
`;
}

function configOf(context: Json): string {
  const config = 'RunConfig::on("thread-1")';
  return context === null ? config : `${config}.context(${rustValue(context, 8)})`;
}
