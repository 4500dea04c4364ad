//! Every command and option, with the help that teaches them.

pub(crate) mod attach;
pub(crate) mod diff;
pub(crate) mod effects;
pub(crate) mod mcp;
pub(crate) mod search;
pub(crate) mod store;
pub(crate) mod threads;
pub(crate) mod what_if;

use std::io::Read;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use superstep::{StreamMode, Value};
use superstep_nodes::Access;
use superstep_storage::Backend;
use superstep_workbench::wire::{Breakpoint, ModelRecording, Problem, RunLabels, RunModels};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed: the run failed, or the check found errors
  2    the command line cannot be used as it is (unknown option, file, thread, JSON that does not parse)
  3    waiting: the run asked a question or stopped at a breakpoint; go on with `superstep resume`
  130  stopped by Ctrl-C; what was finished is kept, go on with `superstep resume`
";

/// Returns the codes, and where threads are kept.
fn exit_codes() -> String {
    let (durable, others): (Vec<Backend>, Vec<Backend>) =
        Backend::ALL.iter().partition(|backend| backend.is_durable());
    let forms =
        |backends: Vec<Backend>| one_of(backends.into_iter().map(|backend| backend.form().to_owned()));
    format!(
        "{EXIT_CODES}
Threads live in a SQLite file, threads.db in the user's data folder, together with those of the app. Another place:
--db {}, or --db {} for a run that leaves
nothing behind. SUPERSTEP_DATA sets another data folder; SUPERSTEP_DB names the place like --db, which keeps a password
out of the list of processes.",
        forms(durable),
        forms(others),
    )
}

/// Joins what there is to choose from.
fn one_of(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    let last = items.pop().unwrap_or_default();
    if items.is_empty() {
        last
    } else {
        format!("{} or {last}", items.join(", "))
    }
}

/// Runs stateful agent graphs: super-steps, checkpoints, questions to people, time travel.
#[derive(Debug, Parser)]
#[command(
    name = "superstep",
    version,
    after_help = "A first tour:\n  \
        superstep check graphs/counter\n  \
        superstep run graphs/refund-desk --example 1\n  \
        superstep threads\n  \
        superstep resume THREAD --answer '{\"decision\": \"approve\"}'\n  \
        superstep history THREAD\n\n\
        `superstep COMMAND --help` has examples for each command.",
    after_long_help = exit_codes(),
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find every problem of a graph.
    Check(CheckArgs),
    /// Print types of a graph's state, for the editor in which its programs are written.
    Types(TypesArgs),
    /// Run a graph on a new or known thread.
    Run(RunArgs),
    /// Answer a question, or go on where a thread stopped.
    Resume(ResumeArgs),
    /// Run the tests beside graphs.
    Test(TestArgs),
    /// Run the rows of a data set through variants of a graph, score what comes, and count.
    Evaluate(what_if::EvaluateArgs),
    /// Draw and run the graph of a LangGraph program in Python.
    Attach(attach::AttachArgs),
    /// List threads; show, copy, export, import, prune, measure and check them.
    Threads(threads::ThreadsArgs),
    /// Show the state of a thread, now or at a checkpoint.
    State(StateArgs),
    /// List the checkpoints of a thread.
    History(HistoryArgs),
    /// Show who wrote a value, from what, back to an input or an edit.
    Why(WhyArgs),
    /// Show where the edges of a step led, and why.
    Explain(ExplainArgs),
    /// Show what each answer to a waiting question would lead to.
    Preview(PreviewArgs),
    /// Show what a run from a moment would do again to the world outside.
    Effects(effects::EffectsArgs),
    /// Show what ran when on a thread, how long it took and what it cost.
    Trace(TraceArgs),
    /// Show what differs between two moments of any threads, and between the ways to them.
    Diff(diff::DiffArgs),
    /// Run forks of a thread from one moment, each with something changed, and compare what came of them.
    #[command(name = "whatif")]
    WhatIf(what_if::WhatIfArgs),
    /// Find moments of all threads by words and conditions.
    Find(search::FindArgs),
    /// Evaluate an expression at every visit of a node, in all threads.
    Probe(search::ProbeArgs),
    /// Show what an edge would have decided with another expression, in all threads.
    Reconsider(search::ReconsiderArgs),
    /// Edit the state of a thread, as if a node had returned the values.
    Update(UpdateArgs),
    /// Delete a thread with all its checkpoints.
    Delete(DeleteArgs),
    /// Draw a graph as Mermaid, or print it as formatted JSON.
    Export(ExportArgs),
    /// Show and change what graphs remember across threads.
    Store(store::StoreArgs),
    /// Show, allow and take back what a graph may touch outside of itself.
    Trust(TrustArgs),
    /// Sign in at MCP servers that ask for a login, and out.
    Mcp(mcp::McpArgs),
    /// Serve the app to a browser on this machine.
    Serve(ServeArgs),
}

fn db_help() -> String {
    format!(
        "Where threads are kept: {} \
         [default: SUPERSTEP_DB, the one chosen in the app, or threads.db in the data folder]",
        one_of(Backend::ALL.iter().map(|backend| backend.short_form()))
    )
}

#[derive(Debug, Args)]
pub(crate) struct Db {
    #[arg(long, value_name = "URL", help = db_help())]
    pub(crate) db: Option<String>,
}

impl Db {
    /// Returns the address that was given, as an argument or in the environment.
    pub(crate) fn url(&self) -> Option<String> {
        let given = || std::env::var("SUPERSTEP_DB").ok().filter(|url| !url.is_empty());
        self.db.clone().or_else(given)
    }
}

/// Arguments of commands that read: the database, and output as JSON. Each command describes its own JSON.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    pub(crate) db: Db,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A problem has a code, its record (doc, key:NAME, node:NAME, edge:ID, layout:NODE) with a JSON Pointer inside it, and a
remedy. Errors keep the graph from running, warnings do not. The exit code is 1 when there is an error. With --threads the
invariants of the graph are checked at all that its threads did, and the exit code is 1 when one was broken, too.

Examples:
  superstep check graphs/refund-desk          a folder with a graph.json
  superstep check a.json b.json               several files
  superstep check graph.json --json | jq '.[].problems[].code'
  superstep check graph.json --deny-warnings  for continuous integration
  superstep check graph.json --threads --since 7d
  superstep check graph.json --threads --json | jq -r '.[].broken[].thread_id'")]
pub(crate) struct CheckArgs {
    /// Graph files, or folders that hold a graph.json
    #[arg(required = true, value_name = "GRAPH")]
    pub(crate) graphs: Vec<PathBuf>,
    /// Print JSON: a list with one object per graph
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every thread and step at which an invariant was broken
    #[arg(long)]
    pub(crate) threads: bool,
    /// With --threads: only moments from then on: 2026-01-31, 2026-01-31T14:00:00Z, or 30m, 12h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = search::moment, requires = "threads")]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(crate) db: Db,
    /// Exit with 1 for warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Report disabled nodes as warnings, not as errors
    #[arg(long)]
    pub(crate) allow_disabled: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A graph that wants to reach a server, a program, an MCP server, a folder, an environment variable or a model connection
does not run before it was allowed. What is allowed counts for all graphs of the folder; it is kept in the data folder and
never beside the graph. A graph that wants more later asks for that.

Examples:
  superstep trust graphs/research               what it wants, and what is allowed
  superstep trust graphs/research --all         allow everything that it wants now
  superstep trust graphs/research --allow host:api.example.com --allow key:MY_KEY@api.example.com
  superstep trust graphs/research --revoke      take everything back; with --allow only these
  superstep trust                               all folders
  superstep run graphs/research --trust --input '{}'    allow what it wants for one run")]
pub(crate) struct TrustArgs {
    /// Graph file, or a folder that holds a graph.json [default: list all projects]
    #[arg(value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Allow this, as WHAT:NAME where WHAT is host, folder, program, mcp, connection or variable
    #[arg(long, value_name = "WHAT:NAME", requires = "graph", conflicts_with = "all")]
    pub(crate) allow: Vec<Access>,
    /// Allow everything that the graph wants
    #[arg(long, requires = "graph", conflicts_with = "revoke")]
    pub(crate) all: bool,
    /// Take back everything, or what --allow names
    #[arg(long, requires = "graph")]
    pub(crate) revoke: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep types graph.json > state.d.ts                    for JavaScript
  superstep types graph.json --language python > state.py    for Python")]
pub(crate) struct TypesArgs {
    /// Graph file, or a folder that holds a graph.json
    #[arg(value_name = "GRAPH")]
    pub(crate) graph: PathBuf,
    /// Language of the programs
    #[arg(long, value_enum, default_value_t)]
    pub(crate) language: ProgramLanguage,
}

/// A language of programs.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum ProgramLanguage {
    /// TypeScript declarations
    #[default]
    Javascript,
    /// TypedDicts
    Python,
}

/// Arguments that `run` and `resume` share.
#[derive(Debug, Args)]
pub(crate) struct Running {
    #[command(flatten)]
    pub(crate) db: Db,
    /// Allow everything that the graph wants to touch, for this run only
    #[arg(long)]
    pub(crate) trust: bool,
    /// Run without the disabled nodes of the graph
    #[arg(long)]
    pub(crate) allow_disabled: bool,
    /// Print events as NDJSON, only of these modes: values, updates, custom, messages, tasks, checkpoints, debug, attempts, waits
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub(crate) stream: Vec<StreamMode>,
    /// Print events as NDJSON (of the mode updates, unless --stream says otherwise)
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop before these nodes; '*' means all
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub(crate) interrupt_before: Vec<String>,
    /// Stop after these nodes; '*' means all
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub(crate) interrupt_after: Vec<String>,
    /// Stop at this place, e.g. 'edge:check->retry if state.retries > 2'; may be given several times
    #[arg(long = "break", value_name = "PLACE", value_parser = breakpoint, long_help = BREAKS)]
    pub(crate) breaks: Vec<Breakpoint>,
    /// Run one task of the step that the thread has come to, and hold the others back: a task's id, or next
    #[arg(long, value_name = "TASK")]
    pub(crate) step_task: Option<String>,
    /// Super-steps after which the run is stopped as endless [default: the graph's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) recursion_limit: Option<u32>,
    /// At most this many nodes at once
    #[arg(long, value_name = "N")]
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) context: RunContext,
    /// Let this model answer wherever the graph names the scripted one, e.g. openai::gpt-4o-mini [default: what the
    /// thread kept; '' is the graph's own]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Record what models answer beside the graph, or replay it without asking them [default: what the
    /// thread kept, then what each node says]
    #[arg(long, value_name = "HOW")]
    pub(crate) models: Option<Models>,
    /// Do not run this node: it writes this output, an object of state keys, as JSON or @FILE; may be given several times
    #[arg(long = "pin", value_name = "NODE=JSON", value_parser = pin)]
    pub(crate) pins: Vec<(String, Value)>,
    /// Give the run a tag, to find its thread by; may be given several times [default: those that the thread has]
    #[arg(long = "tag", value_name = "NAME")]
    pub(crate) tags: Vec<String>,
    /// Give the run an entry of metadata, such as customer=acme; KEY= takes the thread's away
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = entry)]
    pub(crate) metadata: Vec<(String, String)>,
    /// What to do where a node would repeat what it did to the world outside on another branch of the thread [default:
    /// nothing is begun that would]
    #[arg(long, value_name = "WHAT")]
    pub(crate) effects: Option<Effects>,
    /// With which version of the graph a thread goes on, when the graph was changed since it ran [default: as it is now;
    /// nothing is begun when next tasks would be lost]
    #[arg(long, value_name = "WHICH")]
    pub(crate) graph_version: Option<WhichVersion>,
    /// Run node NEW in the place of a next task whose node OLD is gone; may be given several times
    #[arg(long = "rename", value_name = "OLD=NEW", value_parser = renamed)]
    pub(crate) renamed: Vec<(String, String)>,
    /// Take the thread over from a program that runs it; its run ends
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Do not hand the request to a program of yours that has the folder of threads open; say which one has it
    #[arg(long)]
    pub(crate) no_handover: bool,
}

/// The run context, directly or by the name of a set that the graph keeps.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunContext {
    /// The run context: an object of the fields that the graph declares, as JSON, @FILE, or - for stdin
    #[arg(id = "context", long = "context", value_name = "JSON", value_parser = json)]
    pub(crate) values: Option<Value>,
    /// Take the run context from the sets that the graph keeps under names
    #[arg(
        id = "context_set",
        long = "context-set",
        value_name = "NAME",
        conflicts_with = "context"
    )]
    pub(crate) set: Option<String>,
}

/// With which version of its graph a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WhichVersion {
    /// The version that the thread ran on
    Recorded,
    /// The graph as it is now; next tasks whose node is gone are lost, unless --rename says what runs in their place
    Current,
}

impl From<WhichVersion> for superstep_workbench::wire::GoOnWith {
    fn from(which: WhichVersion) -> Self {
        match which {
            WhichVersion::Recorded => Self::Recorded,
            WhichVersion::Current => Self::Current,
        }
    }
}

fn renamed(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("two names with = between are needed, such as review=approve".to_owned()),
    }
}

/// Treatment of effects that were done already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Effects {
    /// What the node returned for the same input is used; for another input the run stops before it
    Reuse,
    /// The node works again, for the same input with the key of the first time
    Again,
    /// The run goes on until it comes to such a node
    Stop,
}

impl From<Effects> for superstep::run::EffectPolicy {
    fn from(effects: Effects) -> Self {
        match effects {
            Effects::Reuse => Self::Reuse,
            Effects::Again => Self::Again,
            Effects::Stop => Self::Stop,
        }
    }
}

/// Source of the answers of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Models {
    /// They are asked, and their answers are kept
    Record,
    /// Kept answers are given again
    Replay,
    /// They are asked
    Off,
}

impl From<Models> for ModelRecording {
    fn from(models: Models) -> Self {
        match models {
            Models::Record => Self::Record,
            Models::Replay => Self::Replay,
            Models::Off => Self::Off,
        }
    }
}

/// The places of `--break`.
const BREAKS: &str = "\
Stop at this place; may be given several times:
  --break 'PLACE [in GRAPH] [every N | hit N | from N] [if CONDITION] [=> TEXT]'
  before:NODE  after:NODE  edge:FROM->TO  key:KEY             a node, an edge (TO may be END), a state key that is written
  error[:NODE[:CLASS]]  retry[:NODE]                          a failure, with what the step's other tasks finished
  question[:NODE[:KIND]]  emitted[:NODE]                      a question, a value that a node emits
  steps:N  seconds:N  state-bytes:N  key-bytes:KEY:N          a limit
  tokens:N  cost:USD                                          what models have used in this run, such as cost:0.50
  watch if CONDITION                                          when the condition becomes true
  CONDITION is an expression over state, old, new, writer, task, value and run. GRAPH is the path of nodes to a nested
  graph, such as refund/desk, or *. With => the run does not stop and TEXT, a template, is logged.";

fn breakpoint(text: &str) -> Result<Breakpoint, String> {
    text.parse().map_err(|problem: Problem| match problem.remedy {
        Some(remedy) => format!("{}\n{remedy}", problem.message),
        None => problem.message,
    })
}

impl Running {
    /// Returns the choice of who answers for the models of the graph.
    pub(crate) fn models(&self) -> RunModels {
        RunModels {
            scripted: self.model.clone(),
            recording: self.models.map(Into::into),
        }
    }

    /// Tags and metadata that the run is given.
    pub(crate) fn labels(&self) -> RunLabels {
        labels(&self.tags, &self.metadata)
    }
}

fn pin(text: &str) -> Result<(String, Value), String> {
    let (node, output) = text
        .split_once('=')
        .filter(|(node, _)| !node.is_empty())
        .ok_or("a node and its output with = between are needed, such as fetch='{\"text\": \"hello\"}'")?;
    let output = json(output)?;
    match output.as_object().is_some() {
        true => Ok((node.to_owned(), output)),
        false => Err("an output is an object of state keys".to_owned()),
    }
}

/// Tags and metadata, as options give them.
pub(crate) fn labels(tags: &[String], metadata: &[(String, String)]) -> RunLabels {
    RunLabels {
        tags: tags.to_vec(),
        metadata: metadata.iter().cloned().collect(),
    }
}

pub(crate) fn entry(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("a key and a value with = between are needed, such as customer=acme".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A test is a file expect/NAME.json beside a graph.json: inputs, answers to the questions, and what must come of it.

--from makes one of what happened on a thread: its inputs, what people answered and edited, what models answered, and what
came of it. The test is played once right away, which runs its nodes. One that comes out otherwise, because a node asks
the world outside or the clock, is not written unless --leave-out leaves out what differs.

Examples:
  superstep test                                 every test in this folder and below
  superstep test graphs/refund-desk --filter lamp
  superstep test graphs --json --junit tests.xml
  superstep test graphs --watch                  again at each change of a file
  superstep test --accept graphs/refund-desk/expect/other.json
  superstep test --from THREAD                   a test of what the thread did, beside its graph
  superstep test --from THREAD --name lamp --holds 'state.amount <= state.price' graphs/refund-desk
  superstep test --from THREAD --db sqlite:threads.db --leave-out graphs/refund-desk
  superstep test --coverage graphs/refund-desk   and which ways of the graph no test takes

Exit codes: 0 all pass or the test was written, 1 one fails or was not written, 2 usage or no tests.")]
pub(crate) struct TestArgs {
    /// Graph files, folders in which graphs are looked for, or single tests [default: this folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Make a test of this thread; PATH is its graph, or the one that it ran when no PATH is given
    #[arg(long, value_name = "THREAD", conflicts_with_all = ["filter", "accept", "junit", "models", "coverage"])]
    pub(crate) from: Option<String>,
    /// The end of the way through the thread [default: the newest checkpoint]
    #[arg(long, value_name = "ID", requires = "from")]
    pub(crate) checkpoint: Option<String>,
    /// The name of the new test [default: made of the thread's input]
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) name: Option<String>,
    /// An expression over the state that must be true at the end of the new test (repeatable)
    #[arg(long, value_name = "EXPRESSION", requires = "from")]
    pub(crate) holds: Vec<String>,
    /// Leave out of the new test what comes out otherwise when it is played
    #[arg(long, requires = "from")]
    pub(crate) leave_out: bool,
    #[command(flatten)]
    pub(crate) db: Db,
    /// Run the tests again whenever a file beside the graphs changes
    #[arg(long, conflicts_with_all = ["from", "accept", "json"])]
    pub(crate) watch: bool,
    /// Show which nodes, ways of edges, conditions and answers the tests take
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Only tests whose name (graph/test) contains these words
    #[arg(long, value_name = "WORDS")]
    pub(crate) filter: Option<String>,
    /// Write what came of each test that fails as what must come from now on
    #[arg(long)]
    pub(crate) accept: bool,
    /// Record what models answer beside the graph, or replay it without asking them [default: replay where answers are
    /// kept, else what each node says]
    #[arg(long, value_name = "HOW")]
    pub(crate) models: Option<Models>,
    /// Allow everything that the graphs want to use, for this time
    #[arg(long)]
    pub(crate) trust: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result in the form of JUnit to this file, for a CI
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
What happens is told on stderr; the final state goes to stdout as JSON. With --json or --stream, stdout has one event per
line instead: {\"event\": MODE, \"ns\": [], \"data\": …}. The first line has the event `metadata` (thread and run), the last one
`result` or `error`.

Examples:
  superstep run graphs/counter --input '{\"n\": 3}'
  superstep run graphs/counter --input @input.json     from a file; - reads stdin
  superstep run graphs/refund-desk --example 1         the first of the graph's own examples, or by name
  superstep run chat.json --thread anna --input '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'
  superstep run graph.json --input '{}' --interrupt-before pay
  superstep run graph.json --thread anna               no input: go on where the thread stopped
  superstep run graph.json --thread anna --checkpoint ID    no input: run again from there, on a new branch
  superstep run graph.json --input '{}' --stream updates,messages | jq -c .data
  superstep run graph.json --input '{}' --tag nightly --meta customer=acme    `superstep threads --tag nightly` finds it

Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for an answer or at a breakpoint, 130 stopped by Ctrl-C.")]
pub(crate) struct RunArgs {
    /// Graph file, or a folder that holds a graph.json
    #[arg(value_name = "GRAPH")]
    pub(crate) graph: PathBuf,
    /// The input object: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) input: Option<Value>,
    /// Take the input from the graph's examples: a name, or a number from 1
    #[arg(long, value_name = "NAME", conflicts_with = "input")]
    pub(crate) example: Option<String>,
    /// The thread to begin or continue [default: a new one]
    #[arg(long, value_name = "ID", value_parser = named())]
    pub(crate) thread: Option<String>,
    /// Start from this checkpoint of the thread
    #[arg(long, value_name = "ID", requires = "thread")]
    pub(crate) checkpoint: Option<String>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The graph is the one that the thread ran with, unless --graph names another. Without an answer the thread goes on where a
breakpoint, a failure or Ctrl-C stopped it.

Examples:
  superstep resume THREAD --answer '\"approve\"'          JSON: a text has quotes of its own
  superstep resume THREAD --text approve                the same
  superstep resume THREAD --answer '{\"amount\": 20}'
  superstep resume THREAD --id QUESTION --text yes      one of several questions; `superstep state THREAD` lists them
  superstep resume THREAD --answers '{\"QUESTION1\": 1, \"QUESTION2\": 2}'
  superstep resume THREAD --text approve --as Ada       a question that is meant for Ada
  superstep resume THREAD --checkpoint ID --text yes    a question of another branch; `superstep threads waiting` lists them
  superstep resume THREAD                               go on after a breakpoint, a failure, or a deadline that passed

Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for an answer or at a breakpoint, 130 stopped by Ctrl-C.")]
pub(crate) struct ResumeArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// The answer: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", value_parser = json, group = "reply")]
    pub(crate) answer: Option<Value>,
    /// The answer as plain text
    #[arg(long, value_name = "TEXT", group = "reply")]
    pub(crate) text: Option<String>,
    /// Answers to several questions: an object of question id to answer
    #[arg(long, value_name = "JSON", value_parser = json, group = "reply")]
    pub(crate) answers: Option<Value>,
    /// Which question is answered; needed when several wait
    #[arg(long, value_name = "QUESTION", requires = "reply", conflicts_with = "answers")]
    pub(crate) id: Option<String>,
    /// Who answers, for questions that are meant for certain people [default: your name in the app's settings]
    #[arg(long = "as", value_name = "NAME", requires = "reply")]
    pub(crate) name: Option<String>,
    /// Answer at this checkpoint instead of the newest: a question of another branch, or again one that was answered already
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Without --checkpoint it is the live state: tasks of an unfinished step that have finished are counted in. With it, the
state as that step began.

Examples:
  superstep state THREAD
  superstep state THREAD --checkpoint ID
  superstep state THREAD messages/0/content     a key, and what is in it
  superstep state THREAD --json | jq .values.decision
  superstep state THREAD --json | jq '.interrupts[].id'")]
#[command(mut_arg("json", |json| json.help("Print the whole snapshot as JSON: values, next, config, metadata, created_at, parent_config, tasks, interrupts")))]
pub(crate) struct StateArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Only this key, or what stands in it: names and numbers with slashes between, as in messages/0/content
    #[arg(value_name = "KEY", conflicts_with = "json")]
    pub(crate) key: Option<String>,
    /// The state at this checkpoint
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Newest first. A checkpoint is the state before its tasks (`NEXT`) run. The mark * is on the head; a checkpoint that does not
continue the one below it shows its parent: there a fork begins.

Examples:
  superstep history THREAD
  superstep history THREAD --limit 5
  superstep history THREAD --filter '{\"source\": \"update\"}'
  superstep history THREAD --json | jq -c '.[] | {step: .metadata.step, next, values}'
  superstep run GRAPH --thread THREAD --checkpoint ID     run again from one of them")]
#[command(mut_arg("json", |json| json.help("Print JSON: a list of snapshots with values")))]
pub(crate) struct HistoryArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Only those with these metadata entries (source, step, run_id …): a JSON object
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) filter: Option<Value>,
    /// Only those before this checkpoint
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Grouping of the sums of `superstep trace --by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SumBy {
    /// Tasks of a node
    Node,
    /// Requests to a model
    Model,
}

impl SumBy {
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Node => "NODE",
            Self::Model => "MODEL",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Tasks of nested graphs are indented below the task that runs them. Runs of the app and of the command line are recorded in
the data folder; how long tasks took there is from when their step handed them out.

Examples:
  superstep trace THREAD
  superstep trace THREAD --by node      the node that took longest first
  superstep trace THREAD --by model     requests, tokens and cost of each model
  superstep trace THREAD --json | jq '.spans | max_by(.ended - .started)'")]
#[command(mut_arg("json", |json| json.help("Print JSON: runs and spans")))]
pub(crate) struct TraceArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Sums instead of tasks
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<SumBy>,
    /// Largest number of tasks, the newest of them [default: 10000]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Send it to the OpenTelemetry collector that OTEL_EXPORTER_OTLP_ENDPOINT names
    #[arg(long, conflicts_with = "by")]
    pub(crate) send: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Runs record which state keys their tasks read: expressions and templates as they are evaluated; what a program reads is not
seen. A write that is indented was read for the one above it.

Examples:
  superstep why THREAD total
  superstep why THREAD messages/3/content
  superstep why THREAD total --checkpoint ID       as it was at a checkpoint
  superstep why THREAD total --json | jq '.writes[0].writers'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {writes, more}")))]
pub(crate) struct WhyArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// The value: a state key, or names and numbers with slashes between, as in messages/0/content
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// The value at this checkpoint
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Largest number of writes
    #[arg(long, value_name = "N", default_value = "25")]
    pub(crate) limit: NonZeroUsize,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
For each answer the nodes that would follow, step by step, with side effects that they declare, and how it ends. Nodes whose
result follows from the state alone work in memory; models, servers and programs are passed by, and where the way depends on
what they would have written it ends. Nothing is stored, and the question still waits.

Examples:
  superstep preview THREAD                          the choices that the question offers
  superstep preview THREAD --answer '{\"decision\": \"approve\"}'
  superstep preview THREAD --text approve --text reject
  superstep preview THREAD --json | jq '.previews[].end'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {previews}")))]
pub(crate) struct PreviewArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// An answer: JSON, @FILE, or - for stdin; may be given several times
    #[arg(long = "answer", value_name = "JSON", value_parser = json)]
    pub(crate) answers: Vec<Value>,
    /// An answer as plain text; may be given several times
    #[arg(long = "text", value_name = "TEXT")]
    pub(crate) texts: Vec<String>,
    /// Which question; needed when several wait
    #[arg(long, value_name = "QUESTION")]
    pub(crate) id: Option<String>,
    /// The checkpoint that asks, instead of the newest
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) context: RunContext,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Shows the step that led to a checkpoint: for each task the conditional edges, taken or not, with the expression that decided,
what it gave, and the values that were read for it; whether it worked at all (its result may come from the cache, from another
branch or a pin), was retried, timed out, failed or waits. With --node, also why a node has no task in the step: whom it waits
for and who has come, and where the edges to it led instead.

Examples:
  superstep explain THREAD                         the last step
  superstep explain THREAD --checkpoint ID         the step that led to it
  superstep explain THREAD --node check            also why it did not run
  superstep explain THREAD --open                  the step that has not ended: what failed, asks or is queued
  superstep explain THREAD --node check --json | jq '.tasks[].decisions'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {checkpoint, from, step, tasks, visits}")))]
pub(crate) struct ExplainArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// The checkpoint that the step led to
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Only tasks of this node
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// The step that begins from the checkpoint: of the newest one, the step that has not ended
    #[arg(long)]
    pub(crate) open: bool,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The values go through the keys' reducers, as if the node had returned them; {\"__overwrite__\": V} as a value goes past the
reducer. The edges of that node decide what runs next. Nothing is overwritten: the edit is a new checkpoint, and with
--checkpoint a new branch.

Examples:
  superstep update THREAD --values '{\"decision\": \"approve\"}'
  superstep update THREAD --values '{\"log\": {\"__overwrite__\": []}}' --as-node review
  superstep update THREAD --values '{\"n\": 1}' --checkpoint ID && superstep resume THREAD
  superstep update THREAD --skip-step --checkpoint ID && superstep resume THREAD
  superstep update THREAD --values '{\"n\": 1}' --preview   what would run next")]
pub(crate) struct UpdateArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// The values: JSON, @FILE, or - for stdin; null writes nothing
    #[arg(long, value_name = "JSON", value_parser = json, required_unless_present = "skip_step")]
    pub(crate) values: Option<Value>,
    /// The node that "returned" them [default: the one that ran last]
    #[arg(long, value_name = "NODE")]
    pub(crate) as_node: Option<String>,
    /// In place of values: pass by the step after the checkpoint. Its tasks count as having written nothing
    #[arg(long, conflicts_with_all = ["values", "as_node"])]
    pub(crate) skip_step: bool,
    /// Edit the state at this checkpoint: a new branch
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Say what would happen, and store nothing
    #[arg(long)]
    pub(crate) preview: bool,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Take the thread over from a program that runs it; its run ends
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Do not hand the request to a program of yours that has the folder of threads open; say which one has it
    #[arg(long)]
    pub(crate) no_handover: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
It cannot be undone, so it asks first on a terminal and needs --yes elsewhere.

Examples:
  superstep delete THREAD
  superstep delete THREAD1 THREAD2 --yes")]
pub(crate) struct DeleteArgs {
    /// The threads
    #[arg(required = true, value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Take the threads over from programs that run them; their runs end
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) db: Db,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A Mermaid flowchart
    Mermaid,
    /// The graph file, formatted
    Json,
    /// JSON Schema of the graph's input
    InputSchema,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep export graphs/refund-desk                        Mermaid, for a README
  superstep export graph.json --format json --output graph.json    format a file in place
  superstep export graph.json --format input-schema")]
pub(crate) struct ExportArgs {
    /// Graph file, or a folder that holds a graph.json
    #[arg(value_name = "GRAPH")]
    pub(crate) graph: PathBuf,
    /// As what
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    pub(crate) format: Format,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
It listens on 127.0.0.1 only. The address that it prints holds a token; anyone who has it can use your threads and graphs.
Ctrl-C stops it; unsaved changes are kept for the next start.

Examples:
  superstep serve
  SUPERSTEP_TOKEN=secret superstep serve --port 7878
  superstep serve --data /tmp/trial")]
pub(crate) struct ServeArgs {
    /// Port; 0 takes a free one
    #[arg(long, default_value_t = 7878)]
    pub(crate) port: u16,
    /// The data folder [default: the user's]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// The token [default: SUPERSTEP_TOKEN, or a new one at each start]. Every user of this machine can read what stands
    /// here; the variable only you
    #[arg(long)]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) db: Db,
    /// The built interface [default: ui/dist beside the program or in this folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) ui: Option<PathBuf>,
    /// The examples [default: graphs beside the program or in this folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) examples: Option<PathBuf>,
    /// Another origin that may send requests, e.g. a development server's
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
}

/// Creates the parser of a name, which is not empty.
fn named() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}

/// Reads JSON from an argument, from `@FILE`, or from stdin for `-`.
fn json(argument: &str) -> Result<Value, String> {
    let (text, place) = if argument == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("stdin cannot be read: {error}"))?;
        (text, "stdin".to_owned())
    } else if let Some(path) = argument.strip_prefix('@') {
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
        (text, path.to_owned())
    } else {
        (argument.to_owned(), "the value".to_owned())
    };
    superstep_document::read_json(text.trim_start_matches('\u{feff}').as_bytes()).map_err(|error| {
        let word = !argument.is_empty()
            && argument
                .chars()
                .all(|c| c.is_alphanumeric() || " _-.".contains(c));
        let hint = if word {
            format!("; a text has quotes of its own: '\"{argument}\"'")
        } else {
            String::new()
        };
        format!("{place} is not JSON: {error}{hint}")
    })
}

/// Reads the arguments of this program, with the lines of each help as wide as the terminal.
pub(crate) fn read_command_line() -> Result<Cli, clap::Error> {
    let mut command = with_flowing_help(Cli::command());
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Joins the lines of prose in the long help of a command and of all below it: clap wraps them for the terminal, and would
/// also keep the line breaks that they have in the source.
fn with_flowing_help(command: clap::Command) -> clap::Command {
    let help = command.get_after_long_help().map(|help| flow(&help.to_string()));
    let command = match help {
        Some(help) => command.after_long_help(help),
        None => command,
    };
    command.mut_subcommands(with_flowing_help)
}

/// Joins lines that follow each other. Indented lines (examples, tables) and empty ones keep their line breaks.
fn flow(help: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut flowing = String::with_capacity(help.len());
    let mut before = "";
    for (place, line) in help.lines().enumerate() {
        if place > 0 {
            flowing.push(if is_prose(before) && is_prose(line) {
                ' '
            } else {
                '\n'
            });
        }
        flowing.push_str(line);
        before = line;
    }
    flowing
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn prose_of_a_help_flows_and_examples_keep_their_lines() {
        assert_eq!(
            flow("One line\nand its rest.\n\nExamples:\n  first\n  second"),
            "One line and its rest.\n\nExamples:\n  first\n  second"
        );
        let mut command = with_flowing_help(Cli::command());
        let preview = command.find_subcommand_mut("preview").unwrap();
        let help = preview.render_long_help().to_string();
        assert!(!help.contains("Nodes whose\n"), "{help}");
    }

    #[test]
    fn every_command_has_examples_in_its_long_help() {
        for command in Cli::command().get_subcommands() {
            let help = command
                .get_after_long_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(help.contains("Examples:"), "{} has none", command.get_name());
            for action in command
                .get_subcommands()
                .filter(|action| action.get_name() != "help")
            {
                let help = action.get_after_long_help().map(ToString::to_string);
                let has = help.is_some_and(|help| help.contains("Examples:"));
                assert!(has, "{} {} has none", command.get_name(), action.get_name());
            }
        }
    }

    #[test]
    fn a_word_without_quotes_is_explained() {
        let error = json("approve").unwrap_err();
        assert!(
            error.contains("a text has quotes of its own: '\"approve\"'"),
            "{error}"
        );
        assert_eq!(json("[1]").unwrap(), superstep::json!([1]));
    }
}
