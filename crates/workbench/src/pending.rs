//! TEMPORARY
use crate::*;
macro_rules! p { ($($m:ident $q:ident $a:ident;)*) => { impl Workbench { $(pub(crate) async fn $m(self: &Arc<Self>, _: $q) -> Result<$a, Problem> { Err(Problem::new("not-ready", "This server has no engine yet.")) })* } } }
p! { run_start StartRun RunView; run_stop StopRun Empty; thread_get ThreadRef ThreadView; thread_rename RenameThread ThreadView; thread_delete ThreadRef Empty;
thread_checkpoints ListCheckpoints CheckpointList; thread_snapshot CheckpointRef SnapshotView; thread_value ReadValue ValueView; thread_compare Compare Comparison; thread_update UpdateState Updated; }
impl Workbench {
 pub(crate) async fn thread_list(self: &Arc<Self>, _: ListThreads) -> Result<ThreadList, Problem> { Ok(ThreadList{threads: vec![], total: 0}) }
 pub(crate) async fn inbox_list(self: &Arc<Self>, _: Empty) -> Result<Inbox, Problem> { Ok(Inbox{questions: vec![]}) }
}
