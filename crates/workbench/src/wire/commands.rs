//! The one list of commands. A host takes its routes from here; a command that is in the list and has no body, or a
//! body that is not in the list, does not compile.

use super::{Json, Problem};

/// Calls the given macro with every command: `"area.verb" => method(Request) -> Response`.
#[macro_export]
macro_rules! for_each_command {
    ($callback:ident) => {
        $callback! {
            "app.info" => app_info(Empty) -> AppInfo,
            "settings.set" => settings_set(Settings) -> Settings,
            "files.list" => files_list(ListFiles) -> FileList,
            "graph.new" => graph_new(NewGraph) -> GraphView,
            "graph.open" => graph_open(OpenGraph) -> GraphView,
            "graph.openExample" => graph_open_example(OpenExample) -> GraphView,
            "graph.seen" => graph_seen(LookAtMore) -> GraphView,
            "graph.laid" => graph_laid(GraphRef) -> LaidView,
            "graph.lay" => graph_lay(LayGraph) -> LaidView,
            "graph.get" => graph_get(GraphRef) -> GraphView,
            "program.debug" => program_debug(Empty) -> ProgramDebugger,
            "graph.apply" => graph_apply(ApplyPatch) -> Applied,
            "graph.save" => graph_save(SaveGraph) -> Saved,
            "graph.writeText" => graph_write_text(WriteText) -> Applied,
            "graph.revert" => graph_revert(GraphRef) -> GraphView,
            "graph.close" => graph_close(CloseGraph) -> Empty,
            "graph.versions" => graph_versions(GraphRef) -> GraphVersions,
            "graph.version" => graph_version(ReadVersion) -> VersionContent,
            "graph.nameVersion" => graph_name_version(NameVersion) -> GraphVersions,
            "graph.restore" => graph_restore(RestoreGraph) -> GraphView,
            "graph.export" => graph_export(GraphRef) -> Exported,
            "picture.save" => picture_save(SavePicture) -> PictureSaved,
            "graph.arrange" => graph_arrange(ArrangeGraph) -> Arranged,
            "graph.inside" => graph_inside(ReadInside) -> InsideView,
            "graph.keepSteps" => graph_keep_steps(KeepSteps) -> Empty,
            "graph.steps" => graph_steps(GraphRef) -> KeptSteps,
            "graph.git" => graph_git(GraphRef) -> GitView,
            "graph.history" => graph_history(ReadHistory) -> GraphHistory,
            "graph.conflict" => graph_conflict(GraphRef) -> ConflictView,
            "graph.disk" => graph_disk(GraphRef) -> DiskVersion,
            "project.find" => project_find(FindText) -> TextFound,
            "project.replace" => project_replace(ReplaceText) -> TextReplaced,
            "graph.types" => graph_types(ReadTypes) -> StateTypes,
            "node.test" => node_test(TestNode) -> NodeTested,
            "test.make" => test_make(MakeTest) -> TestMade,
            "test.list" => test_list(GraphRef) -> GraphTests,
            "test.run" => test_run(RunTest) -> TestResult,
            "test.accept" => test_accept(RunTest) -> TestResult,
            "evaluation.list" => evaluation_list(GraphRef) -> EvaluationList,
            "evaluation.run" => evaluation_run(RunEvaluation) -> EvaluationResult,
            "evaluation.row" => evaluation_row(ReadEvaluationRow) -> EvaluationRowView,
            "evaluation.add" => evaluation_add(AddEvaluationRow) -> Empty,
            "node.visits" => node_visits(ReadVisits) -> VisitsView,
            "model.ask" => model_ask(AskModel) -> ModelAsked,
            "expression.evaluate" => expression_evaluate(Evaluate) -> Evaluated,
            "breakpoints.get" => breakpoints_get(ReadBreakpoints) -> Breakpoints,
            "pins.get" => pins_get(ReadPins) -> Pins,
            "pins.set" => pins_set(SetPin) -> Pins,
            "breakpoints.change" => breakpoints_change(ChangeBreakpoints) -> Breakpoints,
            "breakpoint.check" => breakpoint_check(CheckBreakpoint) -> Empty,
            "run.start" => run_start(StartRun) -> RunView,
            "run.stop" => run_stop(StopRun) -> Empty,
            "run.effects" => run_effects(FindEffects) -> EffectList,
            "runs.overview" => runs_overview(RunPeriod) -> RunsOverview,
            "runs.list" => runs_list(ListRuns) -> RunList,
            "thread.list" => thread_list(ListThreads) -> ThreadList,
            "thread.get" => thread_get(ThreadRef) -> ThreadView,
            "thread.graph" => thread_graph(ReadThreadGraph) -> ThreadGraph,
            "thread.rename" => thread_rename(RenameThread) -> ThreadView,
            "thread.delete" => thread_delete(DeleteThread) -> Empty,
            "thread.checkpoints" => thread_checkpoints(ListCheckpoints) -> CheckpointList,
            "thread.snapshot" => thread_snapshot(CheckpointRef) -> SnapshotView,
            "thread.within" => thread_within(ReadWithin) -> WithinView,
            "thread.inside" => thread_inside(ReadThreadInside) -> InsideView,
            "thread.task" => thread_task(ReadTask) -> TaskDetail,
            "thread.events" => thread_events(ReadEvents) -> ThreadEvents,
            "thread.exchanges" => thread_exchanges(ReadExchanges) -> ExchangeList,
            "thread.trace" => thread_trace(ReadTrace) -> TraceView,
            "thread.value" => thread_value(ReadValue) -> ValueView,
            "thread.keyHistory" => thread_key_history(ReadKeyHistory) -> KeyHistory,
            "thread.compare" => thread_compare(Compare) -> Comparison,
            "thread.provenance" => thread_provenance(ReadProvenance) -> ProvenanceView,
            "thread.update" => thread_update(UpdateState) -> Updated,
            "thread.bookmark" => thread_bookmark(BookmarkCheckpoint) -> CheckpointView,
            "thread.copy" => thread_copy(CopyThread) -> ThreadView,
            "thread.copyOwn" => thread_copy_own(CopyOwn) -> CopiedOwn,
            "thread.export" => thread_export(ExportThread) -> ThreadExported,
            "thread.import" => thread_import(ImportThread) -> ThreadView,
            "thread.prune" => thread_prune(PruneThreads) -> RemovalView,
            "whatIf.start" => what_if_start(StartWhatIf) -> WhatIfView,
            "whatIf.stop" => what_if_stop(WhatIfRef) -> Empty,
            "whatIf.list" => what_if_list(ListWhatIfs) -> WhatIfList,
            "whatIf.remove" => what_if_remove(WhatIfRef) -> Empty,
            "whatIf.take" => what_if_take(TakeWhatIf) -> Updated,
            "whatIf.edit" => what_if_edit(EditByWhatIf) -> WhatIfEdit,
            "moments.find" => moments_find(FindMoments) -> MomentsFound,
            "node.probe" => node_probe(ProbeNode) -> NodeProbed,
            "invariants.check" => invariants_check(CheckInvariants) -> InvariantsChecked,
            "invariants.at" => invariants_at(ReadInvariants) -> InvariantsAt,
            "watch.history" => watch_history(ReadWatch) -> WatchHistory,
            "edge.reconsider" => edge_reconsider(ReconsiderEdge) -> EdgeReconsidered,
            "storage.info" => storage_info(Empty) -> StorageInfo,
            "storage.test" => storage_test(TestStorage) -> StorageTested,
            "storage.schemas" => storage_schemas(TestStorage) -> SchemaList,
            "storage.use" => storage_use(UseStorage) -> StorageInfo,
            "storage.usage" => storage_usage(ReadUsage) -> UsageView,
            "storage.lens" => storage_lens(ThreadRef) -> LensView,
            "storage.verify" => storage_verify(VerifyStorage) -> IntegrityView,
            "storage.retain" => storage_retain(ApplyRetention) -> RemovalView,
            "store.namespaces" => store_namespaces(ListNamespaces) -> NamespaceList,
            "store.items" => store_items(ListItems) -> ItemList,
            "store.get" => store_get(ItemRef) -> ItemView,
            "store.put" => store_put(PutItem) -> ItemView,
            "store.delete" => store_delete(ItemRef) -> Empty,
            "store.outdated" => store_outdated(Empty) -> OutdatedItems,
            "store.uses" => store_uses(FindUses) -> ItemUses,
            "store.embed" => store_embed(Reembed) -> Reembedded,
            "trust.show" => trust_show(GraphRef) -> TrustView,
            "trust.list" => trust_list(Empty) -> TrustList,
            "trust.grant" => trust_grant(GrantTrust) -> TrustProject,
            "trust.revoke" => trust_revoke(RevokeTrust) -> TrustProject,
            "mcp.servers" => mcp_servers(GraphRef) -> McpServers,
            "mcp.save" => mcp_save(SaveServer) -> McpServers,
            "mcp.tools" => mcp_tools(AskServer) -> ServerTools,
            "mcp.signIn" => mcp_sign_in(AskServer) -> SignInBegun,
            "mcp.signedIn" => mcp_signed_in(AskServer) -> Empty,
            "mcp.cancelSignIn" => mcp_cancel_sign_in(AskServer) -> Empty,
            "mcp.signOut" => mcp_sign_out(AskServer) -> McpServers,
            "connections.list" => connections_list(Empty) -> ConnectionList,
            "connections.save" => connections_save(SaveConnection) -> ConnectionList,
            "connections.remove" => connections_remove(RemoveConnection) -> ConnectionList,
            "connections.test" => connections_test(SaveConnection) -> ConnectionTested,
            "prices.list" => prices_list(Empty) -> PriceList,
            "prices.set" => prices_set(ModelPrice) -> PriceList,
            "prices.remove" => prices_remove(RemovePrice) -> PriceList,
            "secrets.list" => secrets_list(ListSecrets) -> SecretList,
            "secrets.set" => secrets_set(SetSecret) -> SecretList,
            "secrets.remove" => secrets_remove(RemoveSecret) -> SecretList,
            "python.find" => python_find(ReadPython) -> PythonView,
            "work.cancel" => work_cancel(CancelWork) -> Empty,
            "inbox.list" => inbox_list(ListInbox) -> Inbox,
            "answer.give" => answer_give(GiveAnswers) -> AnswersTaken,
            "answer.takeBack" => answer_take_back(ChangeHeld) -> HeldChanged,
            "answer.giveNow" => answer_give_now(ChangeHeld) -> HeldChanged,
            "answers.list" => answers_list(ListAnswers) -> AnswerList,
            "answers.verify" => answers_verify(VerifyAnswers) -> AnswersVerified,
            "answers.export" => answers_export(ExportAnswers) -> AnswersExported,
            "question.delegate" => question_delegate(DelegateQuestions) -> Empty,
            "question.snooze" => question_snooze(SnoozeQuestions) -> Empty,
            "inbox.costs" => inbox_costs(ReadCosts) -> ThreadCosts,
            "question.withdraw" => question_withdraw(WithdrawQuestion) -> Empty,
            "question.preview" => question_preview(PreviewAnswers) -> AnswerPreviews,
            "inbox.changes" => inbox_changes(ReadChanges) -> Changes,
        }
    };
}

macro_rules! names {
    ($($name:literal => $method:ident($request:ident) -> $response:ident,)*) => {
        /// The name of every command.
        pub const COMMANDS: &[&str] = &[$($name),*];
    };
}
for_each_command!(names);

/// Commands that only read, and that every interface sends when it starts or when something has happened. A host may answer
/// all who ask for the same at once with one answer.
pub const SHARED: [&str; 6] = [
    "app.info",
    "inbox.list",
    "thread.list",
    "runs.list",
    "runs.overview",
    "storage.info",
];

/// Reads a request; the problem names the field.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(command: &str, request: Json) -> Result<T, Problem> {
    let request = if request.is_null() {
        Json::Object(serde_json::Map::new())
    } else {
        request
    };
    serde_path_to_error::deserialize(request).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." {
            String::new()
        } else {
            format!(" at {path}")
        };
        Problem::invalid(format!(
            "The request of {command} is malformed{place}: {}.",
            error.inner()
        ))
        .remedy("This is a fault of the program that sent it; its messages must follow the wire types.")
    })
}

pub(crate) fn answer<T: serde::Serialize>(command: &str, response: &T) -> Result<Json, Problem> {
    serde_json::to_value(response).map_err(|error| {
        Problem::new(
            "internal",
            format!("The answer of {command} could not be written: {error}."),
        )
    })
}

#[cfg(test)]
mod bindings {
    //! TypeScript for the interface: one file per wire type, and the map from command to request and response.

    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write;
    use std::fs;
    use std::path::{Path, PathBuf};

    use ts_rs::{Config, TS};

    use crate::wire::*;

    macro_rules! export {
        ($($name:literal => $method:ident($request:ident) -> $response:ident,)*) => {
            fn export_types(config: &Config) {
                $(
                    $request::export_all(config).expect("write the type");
                    $response::export_all(config).expect("write the type");
                )*
                EventBatch::export_all(config).expect("write the type");
                Problem::export_all(config).expect("write the type");
            }
            const SIGNATURES: &[(&str, &str, &str)] = &[$(($name, stringify!($request), stringify!($response))),*];
        };
    }
    for_each_command!(export);

    fn commands_ts() -> String {
        let types: BTreeSet<&str> = SIGNATURES
            .iter()
            .flat_map(|(_, request, response)| [*request, *response])
            .collect();
        let mut text =
            String::from("// Generated from crates/workbench/src/wire/commands.rs. Do not edit.\n");
        for name in types {
            let _ = writeln!(text, "import type {{ {name} }} from \"./bindings/{name}\";");
        }
        text.push_str("\n/** Every command: its request and its response. */\nexport interface Commands {\n");
        for (name, request, response) in SIGNATURES {
            let _ = writeln!(text, "  \"{name}\": [{request}, {response}];");
        }
        text.push_str("}\n\nexport type Command = keyof Commands;\nexport type Request<C extends Command> = Commands[C][0];\nexport type Response<C extends Command> = Commands[C][1];\n");
        text
    }

    fn generate(dir: &Path) {
        export_types(
            &Config::new()
                .with_out_dir(dir.join("bindings"))
                .with_large_int("number"),
        );
        fs::write(dir.join("commands.ts"), commands_ts()).expect("write commands.ts");
    }

    fn files(dir: &Path) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for (folder, prefix) in [(dir.join("bindings"), "bindings/"), (dir.to_path_buf(), "")] {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if (prefix.is_empty() && name != "commands.ts") || !name.ends_with(".ts") {
                    continue;
                }
                found.insert(
                    format!("{prefix}{name}"),
                    fs::read_to_string(entry.path()).expect("read a binding"),
                );
            }
        }
        found
    }

    /// With `SUPERSTEP_WRITE_BINDINGS=1` this writes the files; otherwise it fails when the committed ones differ.
    #[test]
    fn committed_typescript_is_what_the_wire_types_say() {
        let ipc = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/ipc");
        if std::env::var_os("SUPERSTEP_WRITE_BINDINGS").is_some() {
            let _ = fs::remove_dir_all(ipc.join("bindings"));
            generate(&ipc);
            return;
        }
        let fresh = tempfile::tempdir().expect("a temporary folder");
        generate(fresh.path());
        let (want, have) = (files(fresh.path()), files(&ipc));
        let differing: Vec<&String> = want
            .keys()
            .chain(have.keys())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter(|name| want.get(*name) != have.get(*name))
            .collect();
        assert!(
            differing.is_empty(),
            "ui/src/ipc differs from the wire types in {differing:?}; regenerate with: \
             SUPERSTEP_WRITE_BINDINGS=1 cargo test -p superstep-workbench --lib typescript"
        );
    }

    #[test]
    fn command_names_are_area_dot_verb_and_unique() {
        let unique: BTreeSet<_> = super::COMMANDS.iter().collect();
        assert_eq!(unique.len(), super::COMMANDS.len(), "a name is listed twice");
        for name in super::COMMANDS {
            let (area, verb) = name.split_once('.').expect("area.verb");
            assert!(
                !area.is_empty() && verb.chars().all(|c| c.is_ascii_alphabetic()),
                "{name} is not area.verb"
            );
        }
        for name in super::SHARED {
            assert!(unique.contains(&name), "there is no {name}");
        }
    }
}
