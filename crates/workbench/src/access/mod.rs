//! What an open graph uses outside of itself, for people: what it wants and may, the names of its secrets, its Python
//! interpreter, the MCP servers of its project and the logins to them.

mod models;
mod servers;
pub(crate) mod sign_in;

use std::collections::BTreeSet;
use std::sync::Arc;

use superstep_nodes::python;

use crate::Workbench;
use crate::base::blocking;
use crate::models::named::{as_kept, checked};
use crate::settings::python::{by_variable, program};
use crate::trust::{project_view, wants};
use crate::wire::{
    GraphRef, ListSecrets, Problem, PythonChosenBy, PythonView, ReadPython, RemoveSecret, RunModels,
    SecretList, SetSecret, TrustView,
};

impl Workbench {
    pub(crate) async fn trust_show(self: &Arc<Self>, request: GraphRef) -> Result<TrustView, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let this = self.clone();
        blocking(move || {
            let project = Self::project(&source);
            let granted = this.trust.granted(&project);
            let grants = this.trust.grants(&project);
            TrustView {
                name: source.name.clone(),
                wants: wants(&this.wanted_by(&source, &RunModels::default()), &grants),
                project: project_view(&project, &granted),
            }
        })
        .await
    }

    /// Returns the secrets, and the variables that an open graph wants.
    pub(crate) async fn secrets_list(self: &Arc<Self>, request: ListSecrets) -> Result<SecretList, Problem> {
        let source = match &request.graph_id {
            Some(id) => Some(self.document(id)?.source()),
            None => None,
        };
        let this = self.clone();
        blocking(move || {
            let mut names: BTreeSet<String> = request.names.into_iter().collect();
            names.extend(source.iter().flat_map(|source| this.variables_of(source)));
            names.retain(|name| checked(name, "-").is_ok());
            this.keys.named.list(names)
        })
        .await?
    }

    pub(crate) async fn secrets_set(self: &Arc<Self>, request: SetSecret) -> Result<SecretList, Problem> {
        let this = self.clone();
        let list = blocking(move || {
            let named = &this.keys.named;
            named.set(request.name.trim(), &as_kept(&request.value), request.keep)?;
            // A graph that missed it does not any more.
            this.check_again();
            named.list(BTreeSet::new())
        })
        .await??;
        self.give_key().await?;
        Ok(list)
    }

    pub(crate) async fn secrets_remove(
        self: &Arc<Self>,
        request: RemoveSecret,
    ) -> Result<SecretList, Problem> {
        let this = self.clone();
        let list = blocking(move || {
            this.keys.named.remove(&request.name)?;
            this.check_again();
            this.keys.named.list(BTreeSet::new())
        })
        .await??;
        self.give_key().await?;
        Ok(list)
    }

    pub(crate) async fn python_find(self: &Arc<Self>, request: ReadPython) -> Result<PythonView, Problem> {
        let source = match &request.graph_id {
            Some(id) => Some(self.document(id)?.source()),
            None => None,
        };
        let folder = source.and_then(|source| Some(source.path?.parent()?.to_path_buf()));
        let this = self.clone();
        blocking(move || {
            let chosen = this.preferences.settings().python;
            let by = match (by_variable(), chosen.as_deref().and_then(program)) {
                (Some(_), _) => Some(PythonChosenBy::Variable),
                (None, Some(_)) => Some(PythonChosenBy::Settings),
                (None, None) => None,
            };
            // Without a project there is still the computer's interpreter to report.
            let folder = folder.unwrap_or_else(|| this.documents.graphs_dir.clone());
            match python::find(&this.environment(Some(folder))) {
                Ok(found) => PythonView {
                    program: Some(found.program.to_string_lossy().into_owned()),
                    chosen_by: by.unwrap_or(if found.of_project {
                        PythonChosenBy::Project
                    } else {
                        PythonChosenBy::Computer
                    }),
                    problem: None,
                },
                Err((message, remedy)) => PythonView {
                    program: None,
                    chosen_by: by.unwrap_or(PythonChosenBy::Computer),
                    problem: Some(Problem::new("no-python", message).remedy(remedy)),
                },
            }
        })
        .await
    }
}
