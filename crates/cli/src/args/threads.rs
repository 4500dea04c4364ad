//! Options of `superstep threads`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use superstep::Value;
use superstep_workbench::wire::RunLabels;

use super::{Db, Reading, entry, json, labels, named};

/// Status of a thread, as a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Status {
    /// Nothing left to run
    Done,
    /// Waits for an answer
    Asking,
    /// A node failed
    Failed,
    /// Stopped at a breakpoint or by Ctrl-C
    Paused,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Examples:
  superstep threads                            the same as `superstep threads list`
  superstep threads --status asking            everything that waits for a person
  superstep threads --graph graphs/refund-desk
  superstep threads --tag nightly --meta customer=acme
  superstep threads --json | jq -r '.[].thread_id'
  superstep threads show THREAD
  superstep threads waiting                    the questions themselves
  superstep threads copy THREAD trial          a copy to try something on
  superstep threads copy THREAD --to postgres://me@localhost/threads
  superstep threads export THREAD -o thread.jsonl && superstep threads import thread.jsonl --as again
  superstep threads prune --idle 30 --keep latest --dry-run
  superstep threads usage
  superstep threads verify"
)]
pub(crate) struct ThreadsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<ThreadsAction>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThreadsAction {
    /// List threads, the one that changed last first.
    List(ListArgs),
    /// Show how a thread stands, without its values.
    Show(ShowArgs),
    /// List the questions that wait, of every thread and branch, the oldest first.
    Waiting(WaitingArgs),
    /// Show what people answered in Approve, and check that nobody changed it.
    History(AnswersArgs),
    /// Withdraw a question: nobody is to answer it.
    Withdraw(WithdrawArgs),
    /// Copy a thread, also to another database.
    Copy(CopyArgs),
    /// Write a thread to a file, or to stdout.
    Export(ExportThreadArgs),
    /// Take a thread out of a file that `export` wrote.
    Import(ImportArgs),
    /// Remove checkpoints that are not needed any more.
    Prune(PruneArgs),
    /// Show what threads take, or what a thread's keys take.
    Usage(UsageArgs),
    /// Read everything that is stored and say what is damaged.
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep threads list --search refund --limit 20
  superstep threads list --limit 20 --after THREAD     the page after the one that ends with THREAD
  superstep threads list --status failed --json
  superstep threads list --status asking --count
  superstep threads list --filter '{\"run_id\": \"…\"}'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) db: Db,
    /// Only threads of this graph: its file or folder, or its name
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Only threads that stand like this
    #[arg(long, value_enum)]
    pub(crate) status: Option<Status>,
    /// Only threads whose id contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Only threads whose last run has this tag; may be given several times
    #[arg(long = "tag", value_name = "NAME")]
    pub(crate) tags: Vec<String>,
    /// Only threads whose last run has this entry of metadata, such as customer=acme
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = entry)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Only threads whose newest checkpoint has these metadata entries: a JSON object
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) filter: Option<Value>,
    /// At most this many, the newest first
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Go on after this thread of the list: the next page
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// Only say how many there are
    #[arg(long, conflicts_with_all = ["limit", "after"])]
    pub(crate) count: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl ListArgs {
    /// Tags and metadata to filter by.
    pub(crate) fn labels(&self) -> RunLabels {
        labels(&self.tags, &self.metadata)
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep threads show THREAD
  superstep threads show THREAD --json | jq .status")]
pub(crate) struct ShowArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A question of a branch that is not the newest of its thread is shown with its checkpoint; it is answered there.

Examples:
  superstep threads waiting
  superstep threads waiting --thread THREAD
  superstep threads waiting --count
  superstep threads waiting --limit 100 --after CHECKPOINT/THREAD    the page after the one that ends there
  superstep threads waiting --json | jq -r '.[] | [.thread_id, .question_id] | @tsv'
  superstep resume THREAD --checkpoint CHECKPOINT --id QUESTION --text yes")]
pub(crate) struct WaitingArgs {
    #[command(flatten)]
    pub(crate) db: Db,
    /// Only questions of this thread
    #[arg(long, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Questions of at most this many checkpoints
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Go on after this checkpoint of this thread: the next page
    #[arg(long, value_name = "CHECKPOINT/THREAD")]
    pub(crate) after: Option<String>,
    /// Only say how many there are
    #[arg(long, conflicts_with_all = ["limit", "after"])]
    pub(crate) count: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Each answer, withdrawal and delegation has an entry in a chain: the hash of what it says and of the entry before. --verify shows what
was changed, added or left out since, by damage or by a careless edit. It does not help against somebody who may write the file of
the history and writes the whole chain again, unless the hash of an entry was noted elsewhere: give it with --noted. Names
are said and not proven.

Examples:
  superstep threads history
  superstep threads history --search 'refund ada' --limit 20
  superstep threads history --thread THREAD --json
  superstep threads history --verify                   its last line has the hash to note
  superstep threads history --verify --noted HASH      exit code 1 when the chain was changed, or does not have that entry")]
pub(crate) struct AnswersArgs {
    /// Only answers in this thread
    #[arg(long, value_name = "THREAD", conflicts_with = "verify")]
    pub(crate) thread: Option<String>,
    /// Only those that have all of these words, in the question, the answer, the note, or a name
    #[arg(long, value_name = "WORDS", conflicts_with = "verify")]
    pub(crate) search: Option<String>,
    /// At most this many, the newest first
    #[arg(long, value_name = "N", conflicts_with = "verify")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Check the chain of all answers
    #[arg(long)]
    pub(crate) verify: bool,
    /// The hash that an earlier check ended with
    #[arg(long, value_name = "HASH", requires = "verify")]
    pub(crate) noted: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The question leaves every list; its thread stays as it is. When the thread goes on there, the question is asked again.

Examples:
  superstep threads withdraw THREAD --why 'paid already'
  superstep threads withdraw THREAD --id QUESTION        one of several; `superstep threads waiting` lists them")]
pub(crate) struct WithdrawArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Which question; needed when several wait
    #[arg(long, value_name = "QUESTION")]
    pub(crate) id: Option<String>,
    /// The checkpoint that asks
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// Why, kept with the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    /// Who withdraws it [default: your name in the app's settings]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Take the thread over from a program that runs it; its run ends
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The copy has the same checkpoints with the same ids and goes its own way from there. Its name goes to stdout.

Examples:
  superstep threads copy THREAD
  superstep threads copy THREAD trial
  superstep threads copy THREAD --to file:/backup/threads
  superstep threads copy --all --to postgres://me@localhost/threads    move to another database; again for what is new
  superstep threads copy --all --db langgraph:checkpoints.sqlite --to threads.db    bring a LangGraph program's threads here")]
pub(crate) struct CopyArgs {
    /// The thread
    #[arg(
        value_name = "THREAD",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) thread: Option<String>,
    /// Every thread that is not there yet, and the items of the store
    #[arg(long, requires = "to")]
    pub(crate) all: bool,
    /// Name of the copy [default: a new one; with --to the same]
    #[arg(value_name = "NAME", value_parser = named())]
    pub(crate) name: Option<String>,
    /// The database to copy it to [default: the one that it is in]
    #[arg(long, value_name = "URL")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The file has a line of JSON per checkpoint, each with what it changed, and can be imported by any backend.

Examples:
  superstep threads export THREAD -o thread.jsonl
  superstep threads export THREAD | gzip > thread.jsonl.gz")]
pub(crate) struct ExportThreadArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    pub(crate) thread: String,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
A file that was cut off or is not an exported thread leaves nothing behind. The thread's name goes to stdout.

Examples:
  superstep threads import thread.jsonl
  superstep threads import thread.jsonl --as again
  zcat thread.jsonl.gz | superstep threads import -")]
pub(crate) struct ImportArgs {
    /// The file, or - for stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Name of the thread [default: the one it had]
    #[arg(long = "as", value_name = "NAME", value_parser = named())]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) db: Db,
}

/// Part of a thread that is kept, as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept(pub(crate) superstep::checkpoint::Keep);

impl std::str::FromStr for Kept {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use superstep::checkpoint::Keep;
        match text {
            "latest" => Ok(Self(Keep::Latest)),
            "branches" => Ok(Self(Keep::Branches)),
            "nothing" => Ok(Self(Keep::Nothing)),
            number => match number.parse() {
                Ok(count) if count > 0 => Ok(Self(Keep::Newest(count))),
                _ => Err("say latest, branches, nothing, or how many checkpoints stay".to_owned()),
            },
        }
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
What stays reads as before; forks that are lost are named first. It cannot be undone, so it asks on a terminal and needs
--yes elsewhere. Threads that wait for an answer are not removed by --idle.

  --keep latest     the newest checkpoint: the thread can go on, its past is gone
  --keep branches   the newest checkpoint of each branch
  --keep N          the newest N checkpoints
  --keep nothing    the thread goes

Checkpoints that were bookmarked in the app stay, and --idle leaves a thread with a bookmark there; only --keep nothing for a
thread that is named takes them with it. What ran in a nested graph goes with the checkpoint in which it ran.

Examples:
  superstep threads prune THREAD --keep latest --dry-run
  superstep threads prune --idle 30 --keep latest      threads that have not changed for 30 days
  superstep threads prune --idle 365 --keep nothing --yes
  superstep threads prune --run RUN --run RUN          what these runs wrote, in every thread")]
pub(crate) struct PruneArgs {
    /// The threads
    #[arg(
        required_unless_present_any = ["idle", "runs"],
        conflicts_with_all = ["idle", "runs"],
        value_name = "THREAD"
    )]
    pub(crate) threads: Vec<String>,
    /// Every thread that has not changed for this many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) idle: Option<u32>,
    /// What a run wrote, by its `run_id` in the metadata of checkpoints
    #[arg(long = "run", value_name = "RUN", value_parser = named(), conflicts_with_all = ["idle", "keep"])]
    pub(crate) runs: Vec<String>,
    /// What stays of each: latest, branches, a number, or nothing
    #[arg(long, value_name = "WHAT", required_unless_present = "runs")]
    pub(crate) keep: Option<Kept>,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Of a thread it shows each key: how often it was stored, the bytes of all its versions, and what they would take if every
version were stored whole. With --growth it shows what each checkpoint added, the oldest first.

Examples:
  superstep threads usage
  superstep threads usage THREAD
  superstep threads usage THREAD --growth --limit 1000
  superstep threads usage --json | jq .bytes")]
pub(crate) struct UsageArgs {
    /// The thread [default: all]
    #[arg(value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Show what each checkpoint of the thread added
    #[arg(long, requires = "thread")]
    pub(crate) growth: bool,
    /// At most this many rows: the largest, or with --growth the newest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Every record is read whole, items of the store too. Exit code 1 says that something is damaged. A repair removes what cannot
be read and nothing else; export what you need first. Items of the store are set aside below the namespace `damaged`.

Examples:
  superstep threads verify
  superstep threads verify --repair
  superstep threads verify --json | jq .damage")]
pub(crate) struct VerifyArgs {
    /// Put right what can be
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
