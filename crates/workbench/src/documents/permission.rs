//! What a graph wants to touch outside of itself, and whether its owner has allowed it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Workbench;
use crate::documents::GraphSource;
use crate::trust::{Trust, WantedAccess, wants};
use crate::wire::{Problem, RunModels, TrustNeeded};
use superstep_document::{Join, Text, text};

/// Code of the problem that lists what is to be allowed.
const NEEDED: &str = "trust-needed";

impl Workbench {
    /// Returns the project that a document belongs to.
    pub(crate) fn project(source: &GraphSource) -> String {
        source
            .path
            .as_deref()
            .map_or_else(|| source.key.clone(), Trust::project_of)
    }

    pub(crate) fn wanted_by(&self, source: &GraphSource, models: &RunModels) -> WantedAccess {
        let folder = source.path.as_deref().and_then(Path::parent);
        let environment = source.within(self.environment(folder.map(Path::to_path_buf)));
        let environment = models.within(environment);
        Trust::wanted(&self.registry, &source.document, &environment)
    }

    /// Returns the variables whose values the nodes of a document want.
    pub(crate) fn variables_of(&self, source: &GraphSource) -> BTreeSet<String> {
        let wanted = self.wanted_by(source, &RunModels::default());
        wanted
            .keys()
            .filter_map(|access| access.variable().map(str::to_owned))
            .collect()
    }

    /// Refuses to run a graph, or only some of its nodes, while it wants what its owner has not allowed.
    pub(crate) fn permit(
        &self,
        source: &GraphSource,
        node: Option<&str>,
        models: &RunModels,
    ) -> Result<(), Problem> {
        let mut wanted = self.wanted_by(source, models);
        if let Some(node) = node {
            wanted.retain(|_, nodes| nodes.contains(node));
        }
        self.permit_these(source, wanted)
    }

    /// Refuses what the owner of a graph has not allowed.
    pub(crate) fn permit_these(&self, source: &GraphSource, mut wanted: WantedAccess) -> Result<(), Problem> {
        let project = Self::project(source);
        let grants = self.trust.grants(&project);
        wanted.retain(|access, _| !grants.allow(access));
        if wanted.is_empty() {
            return Ok(());
        }
        let listed: Vec<String> = wanted.keys().take(3).map(ToString::to_string).collect();
        let count = wanted.len() - listed.len();
        let mut names = Text::list(Join::Comma, listed);
        if count > 0 {
            names = text!("{shown} and {count} more", shown = names, count);
        }
        let mut problem = Problem::new(
            NEEDED,
            text!(
                "{name} wants to use {names}, which nobody has allowed yet.",
                name = &source.name,
                names
            ),
        )
        .remedy(text!(
            "Look at what it wants and allow it, if you know why it does."
        ));
        problem.trust = Some(Box::new(TrustNeeded {
            project,
            name: source.name.clone(),
            wants: wants(&wanted, &grants),
        }));
        Err(problem)
    }
}
