//! A LangGraph server that somebody opens like a graph: one of its assistants is attached, and its threads are used.

use std::collections::BTreeSet;

use superstep_document::{Document, Join, Text, text};
use superstep_nodes::agent_server::{AgentAddress, AgentServerError, Attached, AttachedServer};
use superstep_nodes::attach::AttachError;

use super::Attachment;
use super::attached::problem_of;
use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::wire::Problem;

/// Names of assistants in a message.
const MAX_NAMES: usize = 20;

impl Workbench {
    /// Finds the assistant that an address names, as far as its server may be asked.
    pub(super) async fn find_server(&self, path: &str) -> Result<Attachment, Problem> {
        let address = AgentAddress::parse(path).map_err(|error| server_problem(&error))?;
        let place = address.project();
        let source = GraphSource {
            document: Document::new(&place),
            path: None,
            key: place.clone(),
            name: place.clone(),
            version: String::new(),
            earlier: None,
        };
        let wanted = address.wanted().into_iter();
        self.permit_these(&source, wanted.map(|access| (access, BTreeSet::new())).collect())?;
        let grants = self.trust.grants(&Self::project(&source));
        let environment = self.environment(None).with_grants(grants);
        let as_problem = |error: AttachError| problem_of(&error, &place);
        let server = AttachedServer::find(address, &environment)
            .await
            .map_err(as_problem)?;
        let described = server.describe().await.map_err(as_problem)?;
        let named = server.named();
        blocking(move || Attachment::new(Attached::Server(server), described, named)).await
    }
}

/// Puts the reason why a server does not do what it was asked into words of the window.
pub(super) fn server_problem(error: &AgentServerError) -> Problem {
    let problem = |message: Text| Problem::new(error.code(), message);
    let look = || text!("Check the address, and whether the server runs.");
    match error {
        AgentServerError::Address { cause } => {
            problem(text!("This is no address of a LangGraph server: {cause}.", cause)).remedy(text!(
                "Write {form}, with {key} behind it where it wants a key that is kept as the secret NAME.",
                form = "http://HOST:PORT",
                key = "?x-api-key=${NAME}"
            ))
        }
        AgentServerError::Secret { header, secret } => problem(text!(
            "The header {header} is the secret {secret}, which has no value.",
            header,
            secret
        ))
        .remedy(text!("Keep the secret under this name in the settings.")),
        AgentServerError::Unreachable { server, cause } => problem(text!(
            "The LangGraph server {server} cannot be reached: {cause}.",
            server,
            cause
        ))
        .remedy(look()),
        AgentServerError::NotOne { server, cause } => problem(text!(
            "There is no LangGraph server at {server}: {cause}.",
            server,
            cause
        ))
        .remedy(look()),
        AgentServerError::Stalls { server, limit, .. } => problem(text!(
            "The LangGraph server {server} has said nothing for {seconds} s.",
            server,
            seconds = limit.as_secs()
        ))
        .remedy(text!("It may be busy, or hang: look at what it prints.")),
        AgentServerError::Refused {
            server,
            status,
            detail,
            ..
        } => {
            let problem = problem(text!(
                "The LangGraph server {server} refuses: {status} {detail}.",
                server,
                status = i64::from(*status),
                detail
            ));
            match status {
                401 | 403 => problem.remedy(text!("Give the key that it wants behind its address.")),
                409 => problem.remedy(text!("Wait for the run of this thread, or stop it.")),
                _ => problem,
            }
        }
        AgentServerError::Assistant { server, names, .. } if !names.is_empty() => problem(text!(
            "The LangGraph server {server} has several assistants, or none of that name.",
            server
        ))
        .remedy(text!(
            "Write the name behind the address, such as {example}. There are: {names}.",
            example = format!("{server}#{}", names[0]),
            names = Text::list(Join::Comma, names.iter().take(MAX_NAMES).map(String::as_str))
        )),
        other => problem(other.to_string().into()),
    }
}
