//! A workbench as other programs talk to it: every command, and what happens to its threads.

use std::sync::{Arc, Weak};

use async_trait::async_trait;

use crate::Workbench;
use crate::events::hub::Subscription;
use crate::ipc::{HandedRun, Hello, Host, STORAGE_COMMAND, Started};
use crate::running::claim::PROGRAM;
use crate::wire::{Json, Problem};
use superstep_document::text;

#[derive(Debug)]
struct WorkbenchHost {
    workbench: Weak<Workbench>,
    program: String,
}

impl Workbench {
    pub(crate) fn host(self: &Arc<Self>) -> Arc<dyn Host> {
        Arc::new(WorkbenchHost {
            workbench: Arc::downgrade(self),
            program: self.instance.holder(PROGRAM).name.to_string(),
        })
    }
}

fn ending() -> Problem {
    Problem::new("program-gone", text!("The program is ending.")).remedy(text!("Try again."))
}

#[async_trait]
impl Host for WorkbenchHost {
    fn hello(&self) -> Hello {
        let storage = self
            .workbench
            .upgrade()
            .map(|workbench| workbench.database.place());
        Hello::of(&self.program, &storage.unwrap_or_default()).that_starts_runs()
    }

    async fn run(&self, run: HandedRun) -> Result<Started, Problem> {
        match self.workbench.upgrade() {
            Some(workbench) => workbench.run_handed(run).await,
            None => Err(ending()),
        }
    }

    async fn call(&self, command: String, request: Json) -> Result<Json, Problem> {
        match self.workbench.upgrade() {
            Some(workbench) if command == STORAGE_COMMAND => workbench.storage_for(request).await,
            Some(workbench) => workbench.call(&command, request).await,
            None => Err(ending()),
        }
    }

    fn subscribe(&self) -> Option<Subscription> {
        Some(self.workbench.upgrade()?.hub.subscribe_own())
    }
}
