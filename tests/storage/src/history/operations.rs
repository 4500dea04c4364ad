//! Operations, and how random ones are made.

use proptest::prelude::*;
use superstep::Value;
use superstep::checkpoint::{Keep, ThreadStatus};

use super::values::any_value;

/// One change of a checkpoint against its parent.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A channel gets a value.
    Set(u8, Value),
    /// A list channel grows.
    Append(u8, Vec<Value>),
    /// The same, without a word about it.
    AppendWithoutLength(u8, Vec<Value>),
    /// The same, with a wrong word about it.
    AppendWrongLength(u8, Vec<Value>, usize),
    /// A channel loses its value.
    Clear(u8),
    /// A channel disappears.
    Forget(u8),
    /// A node sees two channels.
    Sees(u8, u8, u8),
    /// An entry of the metadata.
    Meta(u8, Value),
    /// The run that writes.
    Run(u8),
    /// What runs next, and whether it is known what was updated.
    Next(Vec<u8>, bool),
    /// Metadata names checkpoints of the graphs around.
    Parents(Value),
}

/// Choice of the checkpoint that is stored.
#[derive(Clone, Debug)]
pub enum Made {
    /// A new one after the n-th of those made so far (counted from the newest), if any.
    After(Option<u16>),
    /// The n-th again, as it was, or with other contents where it is stored.
    Again(u16, bool),
}

/// Writes of a task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Which checkpoint it started from, counted from the newest.
    pub of: u16,
    /// Which task.
    pub task: u8,
    /// Channels and values.
    pub writes: Vec<(u8, Value)>,
    /// Positions begin here.
    pub from: usize,
}

/// A commit.
#[derive(Clone, Debug)]
pub struct Change {
    pub(super) thread: u8,
    pub(super) space: u8,
    pub(super) put: Option<(Made, Vec<Edit>)>,
    pub(super) tasks: Vec<Task>,
}

/// Way in which commits are handed over.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// One after the other.
    Awaited,
    /// All queued, then awaited together.
    Queued,
    /// As one unit.
    Together,
}

/// Read to perform.
#[derive(Clone, Debug)]
pub enum Look {
    /// One checkpoint.
    Get(u8, u8, Option<u16>),
    /// Some keys of one.
    Values(u8, u8, Option<u16>, Vec<u8>),
    /// Several, and their heads.
    List {
        /// Only this thread.
        thread: Option<u8>,
        /// Only this namespace.
        space: Option<u8>,
        /// Only those before this one.
        before: Option<u16>,
        /// Only those with this in the metadata.
        filter: Option<(u8, Value)>,
        /// At most this many.
        limit: Option<usize>,
    },
    /// What tasks of one checkpoint wrote.
    Writes(u8, u8, u16),
    /// Questions that wait, page by page.
    Waiting {
        /// Only this thread.
        thread: Option<u8>,
        /// Only those after this checkpoint in the place of this thread.
        after: Option<(u16, u8)>,
        /// How many a page.
        page: usize,
    },
    /// Threads, page by page.
    Threads {
        /// Only those with this in their names.
        search: Option<&'static str>,
        /// Only those with this status.
        status: Option<ThreadStatus>,
        /// Only those whose newest checkpoint is older.
        idle_since: Option<u8>,
        /// How many a page.
        page: usize,
    },
}

/// Action that is performed concurrently with others.
#[derive(Clone, Debug)]
pub enum Step {
    /// Stores.
    Commit(Change),
    /// Removes a thread.
    Delete(u8),
    /// Copies a thread.
    Copy(u8, u8),
    /// Removes the past of a thread, but bookmarks; or only says what would go.
    Prune(u8, Keep, Vec<u16>, bool),
    /// Reads the newest checkpoint.
    Get(u8, u8),
}

/// One operation.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Stores.
    Commit(Way, Vec<Change>),
    /// Does lines of steps at the same time.
    Cross(Vec<Vec<Step>>),
    /// Removes a thread.
    Delete(u8),
    /// Copies a thread.
    Copy(u8, u8),
    /// Removes the past of threads, or what runs wrote.
    Prune {
        /// Which threads.
        threads: Vec<u8>,
        /// What stays, or, if None, these runs go.
        keep: Option<Keep>,
        /// Bookmarks.
        retain: Vec<u16>,
        /// Only say it.
        dry_run: bool,
    },
    /// Closes it and opens it again.
    Reopen,
    /// Reads.
    Look(Look),
    /// Measures and checks everything.
    Inspect,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let items = || prop::collection::vec(any_value(), 0..4);
    let edit = prop_oneof![
        4 => (any::<u8>(), any_value()).prop_map(|(c, v)| Edit::Set(c, v)),
        6 => (0_u8..2, items()).prop_map(|(c, v)| Edit::Append(c, v)),
        1 => (0_u8..2, items()).prop_map(|(c, v)| Edit::AppendWithoutLength(c, v)),
        1 => (0_u8..2, items(), 0_usize..9).prop_map(|(c, v, n)| Edit::AppendWrongLength(c, v, n)),
        1 => any::<u8>().prop_map(Edit::Clear),
        1 => any::<u8>().prop_map(Edit::Forget),
        2 => any::<(u8, u8, u8)>().prop_map(|(n, a, b)| Edit::Sees(n, a, b)),
        1 => (0_u8..3, any_value()).prop_map(|(k, v)| Edit::Meta(k, v)),
        2 => any::<u8>().prop_map(Edit::Run),
        1 => (prop::collection::vec(any::<u8>(), 0..3), any::<bool>()).prop_map(|(n, k)| Edit::Next(n, k)),
        1 => any_value().prop_map(Edit::Parents),
    ];
    prop::collection::vec(edit, 0..5)
}

fn changes() -> impl Strategy<Value = Change> {
    let made = prop_oneof![
        12 => Just(Made::After(Some(0))),
        6 => (0_u16..6).prop_map(|n| Made::After(Some(n))),
        2 => any::<u16>().prop_map(|n| Made::After(Some(n))),
        1 => Just(Made::After(None)),
        1 => (0_u16..8, any::<bool>()).prop_map(|(n, other)| Made::Again(n, other)),
    ];
    let writes = prop::collection::vec((any::<u8>(), any_value()), 0..4);
    let task = (
        prop_oneof![4 => 0_u16..3, 1 => any::<u16>()],
        0_u8..5,
        writes,
        0_usize..3,
    )
        .prop_map(|(of, task, writes, from)| Task {
            of,
            task,
            writes,
            from,
        });
    // Mostly one thread and its root, so that long lines of checkpoints come about.
    let thread = prop_oneof![6 => Just(0_u8), 2 => Just(1_u8), 2 => any::<u8>()];
    let space = prop_oneof![6 => Just(0_u8), 2 => any::<u8>()];
    let put = prop::option::weighted(0.85, (made, edits()));
    (thread, space, put, prop::collection::vec(task, 0..3)).prop_map(|(thread, space, put, tasks)| Change {
        thread,
        space,
        put,
        tasks,
    })
}

fn looks() -> impl Strategy<Value = Look> {
    let which = || prop::option::of(any::<u16>());
    let filter = prop::option::weighted(0.4, (0_u8..8, any_value()));
    let limit = prop::option::of(0_usize..5);
    let keys = prop::collection::vec(any::<u8>(), 0..4);
    let search = prop::sample::select(vec![
        "",
        "t",
        "T",
        "%",
        "_",
        "\u{c4}",
        "..",
        "\\",
        "A LONG",
        "none such",
    ]);
    let status = prop::sample::select(vec![
        ThreadStatus::Idle,
        ThreadStatus::Interrupted,
        ThreadStatus::Error,
        ThreadStatus::Pending,
    ]);
    prop_oneof![
        (any::<u8>(), 0_u8..3, which()).prop_map(|(t, s, n)| Look::Get(t, s, n)),
        (prop_oneof![3 => 0_u8..2, 1 => any::<u8>()], 0_u8..3, 0_u16..12)
            .prop_map(|(t, s, n)| Look::Writes(t, s, n)),
        (
            prop::option::weighted(0.3, any::<u8>()),
            prop::option::weighted(0.3, (0_u16..20, any::<u8>())),
            prop_oneof![1_usize..4, Just(100)]
        )
            .prop_map(|(thread, after, page)| Look::Waiting { thread, after, page }),
        (any::<u8>(), 0_u8..3, which(), keys).prop_map(|(t, s, n, keys)| Look::Values(t, s, n, keys)),
        (
            prop::option::of(any::<u8>()),
            prop::option::of(any::<u8>()),
            which(),
            filter,
            limit
        )
            .prop_map(|(thread, space, before, filter, limit)| Look::List {
                thread,
                space,
                before,
                filter,
                limit
            }),
        (
            prop::option::of(search),
            prop::option::of(status),
            prop::option::of(any::<u8>()),
            prop_oneof![1_usize..4, Just(100)]
        )
            .prop_map(|(search, status, idle_since, page)| Look::Threads {
                search,
                status,
                idle_since,
                page
            }),
    ]
}

/// Generates two or three lines that mostly meet in one thread.
fn crossings() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let which = || prop_oneof![6 => Just(0_u8), 2 => Just(1_u8), 1 => any::<u8>()];
    let keep = prop::sample::select(vec![
        Keep::Latest,
        Keep::Branches,
        Keep::Newest(1),
        Keep::Newest(3),
        Keep::Nothing,
    ]);
    let step = prop_oneof![
        6 => changes().prop_map(Step::Commit),
        1 => which().prop_map(Step::Delete),
        2 => (which(), which()).prop_map(|(from, to)| Step::Copy(from, to)),
        4 => (which(), keep, prop::collection::vec(0_u16..12, 0..3), prop::bool::weighted(0.2))
            .prop_map(|(thread, keep, retain, dry_run)| Step::Prune(thread, keep, retain, dry_run)),
        2 => (which(), 0_u8..2).prop_map(|(thread, space)| Step::Get(thread, space)),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..4), 2..4)
}

/// Generates a history of at most this many operations.
pub fn histories(length: usize) -> impl Strategy<Value = Vec<Operation>> {
    let way = prop::sample::select(vec![Way::Awaited, Way::Queued, Way::Together]);
    let keep = prop::sample::select(vec![
        Keep::Latest,
        Keep::Branches,
        Keep::Newest(0),
        Keep::Newest(2),
        Keep::Newest(5),
        Keep::Nothing,
    ]);
    let prune = (
        prop::collection::vec(any::<u8>(), 0..4),
        prop::option::weighted(0.7, keep),
        prop::collection::vec(0_u16..12, 0..3),
        any::<bool>(),
    )
        .prop_map(|(threads, keep, retain, dry_run)| Operation::Prune {
            threads,
            keep,
            retain,
            dry_run,
        });
    let operation = prop_oneof![
        12 => (way, prop::collection::vec(changes(), 1..6)).prop_map(|(way, changes)| Operation::Commit(way, changes)),
        1 => any::<u8>().prop_map(Operation::Delete),
        2 => any::<(u8, u8)>().prop_map(|(from, to)| Operation::Copy(from, to)),
        2 => prune,
        4 => crossings().prop_map(Operation::Cross),
        1 => Just(Operation::Reopen),
        6 => looks().prop_map(Operation::Look),
        1 => Just(Operation::Inspect),
    ];
    prop::collection::vec(operation, 1..length)
}
