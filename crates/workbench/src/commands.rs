//! The one list of commands. A host takes its routes from here; a command that is in the list and has no body, or a
//! body that is not in the list, does not compile.

use crate::wire::*;

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
            "graph.get" => graph_get(GraphRef) -> GraphView,
            "graph.apply" => graph_apply(ApplyPatch) -> Applied,
            "graph.save" => graph_save(SaveGraph) -> Saved,
            "graph.close" => graph_close(CloseGraph) -> Empty,
            "graph.autosaves" => graph_autosaves(GraphRef) -> Autosaves,
            "graph.restore" => graph_restore(RestoreGraph) -> GraphView,
            "graph.export" => graph_export(GraphRef) -> Exported,
            "run.start" => run_start(StartRun) -> RunView,
            "run.stop" => run_stop(StopRun) -> Empty,
            "thread.list" => thread_list(ListThreads) -> ThreadList,
            "thread.get" => thread_get(ThreadRef) -> ThreadView,
            "thread.rename" => thread_rename(RenameThread) -> ThreadView,
            "thread.delete" => thread_delete(ThreadRef) -> Empty,
            "thread.checkpoints" => thread_checkpoints(ListCheckpoints) -> CheckpointList,
            "thread.snapshot" => thread_snapshot(CheckpointRef) -> SnapshotView,
            "thread.value" => thread_value(ReadValue) -> ValueView,
            "thread.compare" => thread_compare(Compare) -> Comparison,
            "thread.update" => thread_update(UpdateState) -> Updated,
            "inbox.list" => inbox_list(Empty) -> Inbox,
        }
    };
}
