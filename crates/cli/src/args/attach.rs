//! Arguments of `superstep attach`.

use std::path::Path;

use clap::{ArgGroup, Args};
use superstep::{StreamMode, Value};
use superstep_workbench::wire::Breakpoint;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("touching").multiple(true).args(["run", "resume", "edit"]))]
#[command(after_long_help = "\
The program runs in the Python of its project: the interpreter that SUPERSTEP_PYTHON or the settings name, otherwise the
project's .venv or venv, otherwise the computer's. Its folder has to allow that, as for every graph that starts programs. The
module is imported, and what it does by itself happens; its files are never written.

Without --run and --resume the graph is drawn: its nodes with their code, its ways with who takes them, joins, and state keys with
their reducers. A question mark stands behind what the program does not declare and its code names.

With --run or --resume events go to stderr, and the final state to stdout as JSON; with --json or --stream, stdout has one event per
line, as those of `superstep run`. What the program prints goes to stderr. On a terminal its questions are asked. A thread is kept
where the program's checkpointer keeps it; without one it is gone when the command ends.

--edit writes values as if a node had returned them, by LangGraph's own update_state: through the keys' reducers, or past them with
{\"__overwrite__\": V} as a value. With --from it is a new branch; nothing that is stored is changed. With --resume the thread goes on
from there.

A LangGraph server (`langgraph dev`, `langgraph up`) is attached by its address, without Python: its graphs are drawn and its newest
threads listed, or one of its assistants is run. One on another computer has to be allowed, as every server that graphs ask; a key
that it wants is a secret or an environment variable, which is named and never written out. What its API does not say of a
graph (code, reducers, joins, names of conditions) is not drawn. Its threads are read with --db agent-server:ADDRESS.

Examples:
  superstep attach agent.py:graph                           draw it
  superstep attach langgraph.json:support --json            as JSON, with the schemas of its input and context
  superstep attach agent.py:graph --run input.json
  superstep attach agent.py:graph --run '{\"n\": 1}' --thread one --stream updates,messages
  superstep attach agent.py:graph --run '{}' --text yes     answers the first question
  superstep attach agent.py:graph --thread one --resume     go on where the thread stopped
  superstep attach agent.py:graph --thread one --resume --from ID                 run again from a checkpoint
  superstep attach agent.py:graph --thread one --edit '{\"n\": 2}' --as-node check --preview
  superstep attach agent.py:graph --thread one --edit '{\"n\": 2}' --from ID --resume
  superstep attach agent.py:graph --run '{}' --break 'before:pay if state.n > 100'
  superstep attach agent.py:graph --run '{}' --debugpy      wait for VS Code, and run under its debugger
  superstep attach agent.py:make_graph --env OPENAI_API_KEY --run @input.json
  superstep attach http://127.0.0.1:2024                    what a server serves
  superstep attach http://127.0.0.1:2024 --assistant support --run input.json
  superstep attach https://agents.example.com --header 'x-api-key: ${AGENTS_KEY}' --assistant support

Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for an answer or at a breakpoint, 130 stopped by Ctrl-C.")]
pub(crate) struct AttachArgs {
    /// The graph, or a function that makes it: agent.py:graph, a langgraph.json, or one entry of it; or the address of a
    /// LangGraph server
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: String,
    /// Of a server: the assistant or the graph, by its name or id [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) assistant: Option<String>,
    /// Send a server this header, whose value names secrets: 'x-api-key: ${NAME}'; may be given several times
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Run it with this input: JSON, a .json file, @FILE, or - for stdin
    #[arg(long, value_name = "INPUT", value_parser = input, group = "going")]
    pub(crate) run: Option<Value>,
    /// The thread to begin or continue [default: a new one]
    #[arg(long, value_name = "ID", value_parser = super::named(), requires = "touching")]
    pub(crate) thread: Option<String>,
    /// Go on where the thread stopped, without an input
    #[arg(long, requires = "thread", group = "going")]
    pub(crate) resume: bool,
    /// Start from this checkpoint of the thread, on a new branch
    #[arg(long, value_name = "CHECKPOINT", alias = "checkpoint", requires = "thread")]
    pub(crate) from: Option<String>,
    /// Write these values into the state of the thread: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", value_parser = super::json, requires = "thread", conflicts_with = "run")]
    pub(crate) edit: Option<Value>,
    /// The node that "returned" the values of --edit [default: the one that ran last]
    #[arg(long, value_name = "NODE", requires = "edit")]
    pub(crate) as_node: Option<String>,
    /// Say what --edit would come to, and store nothing
    #[arg(long, requires = "edit", conflicts_with = "going")]
    pub(crate) preview: bool,
    /// Answer a question with JSON, @FILE, or - for stdin; given several times, the questions in their order
    #[arg(long = "answer", value_name = "JSON", value_parser = super::json, conflicts_with = "text", requires = "going")]
    pub(crate) answers: Vec<Value>,
    /// Answer a question with plain text; given several times, the questions in their order
    #[arg(long = "text", value_name = "TEXT", requires = "going")]
    pub(crate) text: Vec<String>,
    /// Which question the first answer is for
    #[arg(long, value_name = "QUESTION", requires = "going")]
    pub(crate) id: Option<String>,
    /// The run context: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", value_parser = super::json)]
    pub(crate) context: Option<Value>,
    /// Stop before these nodes; '*' means all
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub(crate) interrupt_before: Vec<String>,
    /// Stop after these nodes; '*' means all
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub(crate) interrupt_after: Vec<String>,
    /// Stop at this place, e.g. 'before:pay if state.n > 100'; may be given several times. Programs have before:NODE, after:NODE
    /// and watch if CONDITION
    #[arg(long = "break", value_name = "PLACE", value_parser = super::breakpoint)]
    pub(crate) breaks: Vec<Breakpoint>,
    /// Wait until an editor has attached to the program's code, which needs debugpy in its interpreter; at this port, or any
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0", requires = "going")]
    pub(crate) debugpy: Option<u16>,
    /// Super-steps after which the run is stopped as endless [default: LangGraph's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) recursion_limit: Option<u32>,
    /// Print events as NDJSON, only of these modes: values, updates, custom, messages, tasks, checkpoints, debug
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub(crate) stream: Vec<StreamMode>,
    /// Print the drawing as JSON; with --run or --resume, events as NDJSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Give the program this environment variable, besides PATH, HOME and the like; may be given several times
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,
    /// Allow what the program wants to touch, for this time only
    #[arg(long)]
    pub(crate) trust: bool,
    /// Seconds that the module has to be imported
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) import_limit: u64,
}

impl AttachArgs {
    /// Returns whether the graph is to run.
    pub(crate) fn runs(&self) -> bool {
        self.run.is_some() || self.resume
    }
}

/// Parses an input; the name of a JSON file stands for what is in it.
fn input(argument: &str) -> Result<Value, String> {
    match argument.ends_with(".json") && Path::new(argument).is_file() {
        true => super::json(&format!("@{argument}")),
        false => super::json(argument),
    }
}
