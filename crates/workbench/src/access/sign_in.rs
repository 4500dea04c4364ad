//! A person signs in at an MCP server of a graph's project: the page is shown in their browser, and the interface waits or
//! gives up. One sign-in of a server is waited for at a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use superstep_document::text;
use superstep_nodes::{Environment, ServerFault};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::servers::{problem, view};
use crate::Workbench;
use crate::base::blocking;
use crate::base::browser::ShowAddress;
use crate::documents::GraphSource;
use crate::trust::WantedAccess;
use crate::wire::{AskServer, Empty, McpServers, Problem, SignInBegun};

/// The code of a problem that signing in mends.
const WANTED: &str = "mcp-sign-in";
/// The code of a sign-in that somebody ended.
const CANCELLED: &str = "cancelled";

/// Result of a sign-in, once it is over.
type Outcome = Option<Result<(), Problem>>;

/// The sign-ins that are waited for, by project and server.
#[derive(Debug)]
pub(crate) struct SignIns {
    waiting: Mutex<HashMap<(String, String), WaitingSignIn>>,
    browser: Option<ShowAddress>,
}

impl SignIns {
    /// Creates what waits for people who sign in, in this browser.
    pub(crate) fn new(browser: Option<ShowAddress>) -> Self {
        Self {
            waiting: Mutex::default(),
            browser,
        }
    }
}

#[derive(Clone, Debug)]
struct WaitingSignIn {
    stop: CancellationToken,
    outcome: watch::Receiver<Outcome>,
}

fn cancelled() -> Problem {
    Problem::new(CANCELLED, text!("The sign-in was cancelled."))
}

impl Workbench {
    /// Returns the environment of a project within its grants, once what a server touches is allowed.
    pub(super) fn allowed_around(&self, source: &GraphSource, server: &str) -> Result<Environment, Problem> {
        let environment = self.around(source);
        let accesses = self
            .registry
            .accesses_of_server(&environment, server)
            .map_err(problem)?;
        let mut wanted = WantedAccess::new();
        for access in accesses {
            wanted.insert(access, BTreeSet::new());
        }
        self.permit_these(source, wanted)?;
        Ok(environment.with_grants(self.trust.grants(&Self::project(source))))
    }

    /// Converts what went wrong with a server to a problem that the interface can help with.
    pub(super) fn server_problem(&self, source: &GraphSource, fault: ServerFault) -> Problem {
        if let Some(denied) = fault.denied
            && let Err(asks) = self.permit_these(source, WantedAccess::from([(denied, BTreeSet::new())]))
        {
            return asks;
        }
        match fault.wants_login {
            Some(reason) => Problem::new(WANTED, reason),
            None => problem(fault.message),
        }
    }

    pub(crate) async fn mcp_sign_in(self: &Arc<Self>, request: AskServer) -> Result<SignInBegun, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let environment = self.allowed_around(&source, &request.server)?;
        let begun = self.registry.sign_in(&environment, &request.server).await;
        let begun = begun.map_err(|fault| self.server_problem(&source, fault))?;
        let address = begun.address().to_owned();
        let opened = match self.sign_ins.browser {
            Some(browser) => {
                let address = address.clone();
                let shown = blocking(move || (browser.0)(&address)).await?;
                if let Err(error) = &shown {
                    tracing::warn!("the browser was not opened: {error}");
                }
                shown.is_ok()
            }
            None => false,
        };
        let stop = CancellationToken::new();
        let (done, outcome) = watch::channel(Outcome::None);
        let waiting = WaitingSignIn {
            stop: stop.clone(),
            outcome,
        };
        let name = (Self::project(&source), request.server);
        let before = self.sign_ins.waiting.lock().insert(name, waiting);
        before.iter().for_each(|before| before.stop.cancel());
        let this = self.clone();
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = begun.finish() => outcome.map_err(|fault| this.server_problem(&source, fault)),
                () = stop.cancelled() => Err(cancelled()),
            };
            done.send_replace(Some(outcome));
        });
        Ok(SignInBegun { address, opened })
    }

    fn waiting_sign_in(&self, request: &AskServer) -> Result<(GraphSource, Option<WaitingSignIn>), Problem> {
        let source = self.document(&request.graph_id)?.source();
        let name = (Self::project(&source), request.server.clone());
        let waiting = self.sign_ins.waiting.lock().get(&name).cloned();
        Ok((source, waiting))
    }

    /// Waits until the person has signed in.
    pub(crate) async fn mcp_signed_in(self: &Arc<Self>, request: AskServer) -> Result<Empty, Problem> {
        let (_, Some(mut waiting)) = self.waiting_sign_in(&request)? else {
            return Err(cancelled());
        };
        let outcome = waiting.outcome.wait_for(Option::is_some).await;
        match outcome.as_deref() {
            Ok(Some(outcome)) => outcome.clone().map(|()| Empty {}),
            _ => Err(cancelled()),
        }
    }

    pub(crate) async fn mcp_cancel_sign_in(self: &Arc<Self>, request: AskServer) -> Result<Empty, Problem> {
        if let (_, Some(waiting)) = self.waiting_sign_in(&request)? {
            waiting.stop.cancel();
        }
        Ok(Empty {})
    }

    pub(crate) async fn mcp_sign_out(self: &Arc<Self>, request: AskServer) -> Result<McpServers, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let environment = self.around(&source);
        let forgotten = self.registry.sign_out(&environment, &request.server).await;
        forgotten.map_err(|fault| self.server_problem(&source, fault))?;
        let this = self.clone();
        blocking(move || view(&this.registry, &environment)).await?
    }
}
