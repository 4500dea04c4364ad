"""The examples: for each recipe of CONTRIBUTING.md, something small that is added as it says."""

from dataclasses import dataclass, field


@dataclass
class Written:
    """A new file."""

    path: str
    text: str


@dataclass
class Behind:
    """Lines after a line."""

    path: str
    anchor: str
    text: str


@dataclass
class Instead:
    """Text in place of another."""

    path: str
    anchor: str
    text: str


@dataclass
class Made:
    """A file that `./dev generate` writes."""

    path: str


@dataclass
class Command:
    words: list
    folder: str = "."
    variables: dict = field(default_factory=dict)


@dataclass
class Recipe:
    heading: str
    # What stands for the names in capitals.
    names: dict
    edits: list
    # What compiles the example.
    commands: list
    # Do these commands write the files that are made?
    makes: bool = False


def cargo(*words, **variables):
    return Command(["cargo", *words], variables=variables)


TYPES = Command(["npx", "--no-install", "tsc", "--noEmit"], folder="ui")

NODE_KIND = Recipe(
    heading="Add a node kind",
    names={"NAME": "example"},
    edits=[
        Written(
            "crates/nodes/src/kinds/example.rs",
            '''//! `example`: changes nothing.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::Diagnostic;

use crate::base::config_schema::schema_of;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};

/// Settings of an `example` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Changes nothing.")]
pub struct ExampleConfig {}

/// The kind.
pub struct Example;

impl NodeKind for Example {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "example",
            title: "Example",
            summary: "Changes nothing.",
            icon: "clock",
            group: "state",
            aliases: &["no-op"],
            config_schema: schema_of::<ExampleConfig>(),
            defaults: json!({}),
            card: &[],
        }
    }

    fn check(&self, _: &mut Site<'_>) {}

    fn build(&self, _: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        Ok(Arc::new(ExampleNode))
    }
}

struct ExampleNode;

#[async_trait]
impl Node for ExampleNode {
    async fn run(&self, _: NodeContext, _: Value) -> Result<NodeOutput, NodeError> {
        Ok(NodeOutput::Update(superstep::json!({})))
    }
}
''',
        ),
        Behind("crates/nodes/src/kinds/mod.rs", "mod durable;\n", "pub mod example;\n"),
        Behind("crates/nodes/src/kinds/mod.rs", "pub use durable::is_own_record;\n", "use example::Example;\n"),
        Behind("crates/nodes/src/kinds/mod.rs", "            .with(Delay)\n", "            .with(Example)\n"),
        Behind(
            "docs/nodes.md",
            "\n## delay\n",
            "\nWaits.\n\n## example\n\nChanges nothing.\n\n<!-- settings of example -->\n<!-- end -->\n",
        ),
    ],
    commands=[cargo("check", "-p", "superstep-nodes")],
)

COMMAND = Recipe(
    heading="Add a command",
    names={"AREA": "storage", "FILE": "database", "REQUEST": "ShowExample"},
    edits=[
        Behind(
            "crates/workbench/src/wire/storage.rs",
            "use ts_rs::TS;\n",
            '''
/// `storage.example`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ShowExample {
    /// A text.
    pub text: String,
}
''',
        ),
        Behind(
            "crates/workbench/src/wire/commands.rs",
            '            "storage.info" => storage_info(Empty) -> StorageInfo,\n',
            '            "storage.example" => storage_example(ShowExample) -> ShowExample,\n',
        ),
        Behind(
            "crates/workbench/src/storage/database.rs",
            "impl Workbench {\n",
            '''    pub(crate) async fn storage_example(
        self: &Arc<Self>,
        request: crate::wire::ShowExample,
    ) -> Result<crate::wire::ShowExample, Problem> {
        Ok(request)
    }

''',
        ),
        Made("ui/src/ipc/bindings/ShowExample.ts"),
        Made("ui/src/ipc/commands.ts"),
    ],
    commands=[
        cargo("test", "-q", "-p", "superstep-workbench", "--lib", "typescript", SUPERSTEP_WRITE_BINDINGS="1"),
        TYPES,
    ],
    makes=True,
)

BACKEND = Recipe(
    heading="Add a storage backend",
    names={"NAME": "example"},
    edits=[
        Written(
            "crates/storage/src/example/mod.rs",
            '''//! Keeps nothing.

use futures::future::BoxFuture;
use superstep::{MemorySaver, MemoryStore, StorageError, StoreConfig};

use crate::base::{Address, OpenMode, Opened};

pub(crate) fn open(
    _: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let store = MemoryStore::with_config(config);
        Ok(Some(Opened::with_store(MemorySaver::new(), store)))
    })
}
''',
        ),
        Behind("crates/storage/src/lib.rs", "mod codec;\n", '#[cfg(feature = "example")]\nmod example;\n'),
        Instead(
            "crates/storage/Cargo.toml",
            'default = ["postgres", "redis"]\n',
            'default = ["example", "postgres", "redis"]\nexample = []\n',
        ),
        Behind("crates/storage/src/backend/mod.rs", "    /// A Redis server.\n    Redis,\n", "    /// Nothing.\n    Example,\n"),
        Behind(
            "crates/storage/src/backend/mod.rs",
            "        open: REDIS,\n    },\n",
            '''    BackendEntry {
        backend: Backend::Example,
        schemes: &["example"],
        title: "Example",
        summary: "Stores nothing.",
        form: "example://HOST",
        example: "example://localhost",
        location: Location::Server,
        open: EXAMPLE,
    },
''',
        ),
        Behind(
            "crates/storage/src/backend/mod.rs",
            '#[cfg(not(feature = "redis"))]\nconst REDIS: Option<Open> = None;\n',
            '#[cfg(feature = "example")]\nconst EXAMPLE: Option<Open> = Some(crate::example::open);\n'
            '#[cfg(not(feature = "example"))]\nconst EXAMPLE: Option<Open> = None;\n',
        ),
        Behind(
            "ui/src/lib/texts/zh/backends.ts",
            '  redis: { title: "Redis", summary: "把线程保存在内存中的服务器，配置后也保存到磁盘。" },\n',
            '  example: { title: "示例", summary: "不存储任何内容。" },\n',
        ),
        Behind(
            "docs/storage.md",
            "| Redis | all, unless the server is killed as well | what the server keeps: see [Redis](#redis) |\n",
            "| Example | none | none |\n",
        ),
        Instead(
            "docs/command-line.md",
            "`postgres://USER@HOST/DATABASE`, `redis://HOST`, `langgraph:PATH`",
            "`postgres://USER@HOST/DATABASE`, `redis://HOST`, `example://HOST`, `langgraph:PATH`",
        ),
    ],
    commands=[
        cargo("check", "-p", "superstep-storage"),
        cargo("check", "-p", "superstep-workbench", "-p", "superstep-cli"),
        TYPES,
    ],
)

PANEL = Recipe(
    heading="Add a panel",
    names={"NAME": "example", "COMPONENT": "ExamplePanel"},
    edits=[
        Written(
            "ui/src/features/example/ExamplePanel.tsx",
            'import { t } from "../../lib/texts";\n\nexport function ExamplePanel() {\n  return <p>{t("shell.tab.example")}</p>;\n}\n',
        ),
        Written(
            "ui/src/features/example/index.ts",
            '/** An example. */\nexport { ExamplePanel } from "./ExamplePanel";\n',
        ),
        Behind(
            "ui/src/shell/later-parts.ts",
            'export { TimelinePanel } from "../features/timeline";\n',
            'export { ExamplePanel } from "../features/example";\n',
        ),
        Behind(
            "ui/src/shell/Shell.tsx",
            '        { id: "timeline", label: t("shell.tab.timeline"), content: <Later part="TimelinePanel" /> },\n',
            '        { id: "example", label: t("shell.tab.example"), content: <Later part="ExamplePanel" /> },\n',
        ),
        Behind(
            "ui/src/shell/shell-commands.ts",
            '    tab("timeline", "bottom", "shell.tab.timeline", "debug"),\n',
            '    tab("example", "bottom", "shell.tab.example", "debug"),\n',
        ),
        Behind("ui/src/lib/texts/shell.ts", '  "shell.tab.timeline": "Timeline",\n', '  "shell.tab.example": "Example",\n'),
        Behind("ui/src/lib/texts/zh/shell.ts", '  "shell.tab.timeline": "时间线",\n', '  "shell.tab.example": "示例",\n'),
    ],
    commands=[TYPES],
)

REDUCER = Recipe(
    heading="Add a reducer",
    names={},
    edits=[
        Behind(
            "crates/engine/src/channel/binary.rs",
            "    /// Items that are not there yet are added.\n    Union,\n",
            "    /// An item is added.\n    Example,\n",
        ),
        Behind(
            "crates/engine/src/channel/binary.rs",
            '            BinaryOp::Union => "union",\n',
            '            BinaryOp::Example => "example",\n',
        ),
        Instead(
            "crates/engine/src/channel/binary.rs",
            "            (BinaryOp::Add, Array(a), Array(_)) | (BinaryOp::Append, Array(a), _) => {\n",
            "            (BinaryOp::Add, Array(a), Array(_)) | (BinaryOp::Append | BinaryOp::Example, Array(a), _) => {\n",
        ),
        Instead(
            "crates/engine/src/channel/kind.rs",
            "BinaryOp::Append | BinaryOp::Add | BinaryOp::Union",
            "BinaryOp::Append | BinaryOp::Add | BinaryOp::Union | BinaryOp::Example",
        ),
        Behind(
            "crates/document/src/view.rs",
            "    /// A list without duplicates.\n    Union,\n",
            "    /// An item at the end of the list.\n    Example,\n",
        ),
        Instead("crates/document/src/view.rs", "pub const ALL: [Reducer; 11] = [\n", "pub const ALL: [Reducer; 12] = [\n        Reducer::Example,\n"),
        Behind(
            "crates/document/src/view.rs",
            '            Reducer::Union => "union",\n',
            '            Reducer::Example => "example",\n',
        ),
        Instead("crates/document/src/view.rs", "Reducer::Append | Reducer::Union | Reducer::AddMessages", "Reducer::Append | Reducer::Union | Reducer::Example | Reducer::AddMessages"),
        Made("docs/graph.schema.json"),
        Behind(
            "crates/nodes/src/state/channel.rs",
            "        Reducer::Union => BinaryOp::Union,\n",
            "        Reducer::Example => BinaryOp::Example,\n",
        ),
        Instead(
            "crates/nodes/src/state/schema.rs",
            "matches!(key.reducer, Reducer::Append | Reducer::Union),",
            "matches!(key.reducer, Reducer::Append | Reducer::Union | Reducer::Example),",
        ),
        Instead(
            "crates/nodes/src/state/schema.rs",
            "        Reducer::Append | Reducer::Union => keep(",
            "        Reducer::Append | Reducer::Union | Reducer::Example => keep(",
        ),
        Instead(
            "crates/nodes/src/kinds/ask.rs",
            "matches!(key.reducer, Reducer::Append | Reducer::Union) =>",
            "matches!(key.reducer, Reducer::Append | Reducer::Union | Reducer::Example) =>",
        ),
        Instead(
            "crates/nodes/src/kinds/model/check.rs",
            "matches!(key.reducer, Reducer::Append | Reducer::Union)",
            "matches!(key.reducer, Reducer::Append | Reducer::Union | Reducer::Example)",
        ),
        Behind("ui/src/features/state-schema/reducers.ts", '  ["union", ["array"]],\n', '  ["example", ["array"]],\n'),
        Instead("ui/src/debugger/state/edits.ts", '    case "union":\n', '    case "union":\n    case "example":\n'),
        Instead(
            "docs/graph-format.md", "`union` (a list without duplicates)", "`union` (a list without duplicates), `example` (an item)"
        ),
    ],
    commands=[
        cargo("check", "-p", "superstep-nodes"),
        cargo("test", "-q", "-p", "superstep-document", "schema", SUPERSTEP_UPDATE="1"),
        TYPES,
    ],
    makes=True,
)

RECIPES = [NODE_KIND, COMMAND, BACKEND, PANEL, REDUCER]
