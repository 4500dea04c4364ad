//! What a graph may use of the world around it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::graph_files::GraphCount;
use super::logins::Logins;
use super::version::GraphSources;
use crate::base::access::Grants;
use crate::models::{ModelSettings, Providers, Recording, TestAnswers, Variables};

/// Parts of the outside world that a graph may use.
#[derive(Clone)]
pub struct Environment {
    /// Folder of the graph file, when it is saved.
    pub folder: Option<PathBuf>,
    /// The project's folder, when the graph is one of several in it: files are looked for in there only.
    pub project: Option<PathBuf>,
    /// Reads environment variables and secrets; model keys come from there.
    pub variables: Variables,
    /// Reads environment variables alone: what is shown to people, such as the host of an address, is made of these.
    pub shown_variables: Variables,
    /// Connections to model servers and prices, as the person set them up.
    pub models: Arc<ModelSettings>,
    /// Keys of model connections by the connection's name, from the system's keychain.
    pub keychain: Variables,
    /// Logins of the person to servers, where they can be kept.
    pub logins: Option<Arc<dyn Logins>>,
    /// What its owner lets it touch; nothing, unless set otherwise.
    pub grants: Grants,
    /// Whether models answer from an earlier run, when that is not for the nodes to say.
    pub recording: Option<Recording>,
    /// The recorded answers of the test that plays the graph.
    pub test_answers: Option<Arc<TestAnswers>>,
    /// The model that answers where nodes name the scripted one.
    pub stand_in: Option<String>,
    /// Texts of graph files as an earlier version of the graph had them, in place of the files.
    #[doc(hidden)]
    pub earlier: Arc<BTreeMap<PathBuf, String>>,
    /// Graphs that the outermost one has led to; counted from zero for each document.
    #[doc(hidden)]
    pub graphs: GraphCount,
}

impl Environment {
    /// Creates the environment from that of the process and the folder of the graph file.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }
    /// Allows graph files of this folder as well.
    pub fn in_project(mut self, project: PathBuf) -> Self {
        self.project = Some(project);
        self
    }
    /// Returns the folder that bounds the files a graph may name.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_deref().or(self.folder.as_deref())
    }
    /// Returns the environment of the graph in `file`, which a graph here runs.
    pub(crate) fn at(&self, file: &Path) -> Self {
        Self {
            folder: file.parent().map(Path::to_path_buf),
            project: self.root().map(Path::to_path_buf),
            ..self.clone()
        }
    }
    /// Returns the environment of a document that no other one runs.
    pub(crate) fn outermost(&self) -> Self {
        Self {
            graphs: GraphCount::default(),
            ..self.clone()
        }
    }
    /// Sets other variables.
    pub fn with_variables(
        mut self,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.variables = Arc::new(variables);
        self.shown_variables = self.variables.clone();
        self
    }
    /// Adds secrets by name: a variable that is not set, or set to nothing, has the value of the secret of its name, which
    /// is never shown.
    pub fn with_secrets(mut self, secrets: Variables) -> Self {
        let given = self.shown_variables.clone();
        self.variables = Arc::new(move |name| {
            let own = given(name);
            match own.as_deref() {
                None | Some("") => match secrets(name) {
                    Some(secret) => {
                        crate::base::secrets::note(&secret);
                        Some(secret)
                    }
                    None => own,
                },
                Some(_) => own,
            }
        });
        self
    }
    /// Returns the model providers of a graph here.
    pub(crate) fn providers(&self) -> Providers {
        Providers::new(self.variables.clone(), self.models.clone())
            .with_keychain(self.keychain.clone())
            .with_grants(self.grants.clone())
    }
    /// Sets the connections to model servers and prices.
    pub fn with_models(mut self, models: ModelSettings) -> Self {
        self.models = Arc::new(models);
        self
    }
    /// Sets whether models answer from an earlier run, regardless of their nodes' settings.
    pub fn with_recording(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }
    /// Sets the recorded answers of the test that plays the graph.
    pub fn with_test_answers(mut self, answers: impl Into<Option<Arc<TestAnswers>>>) -> Self {
        self.test_answers = answers.into();
        self
    }
    /// Uses graph files as they were in an earlier version of the graph.
    pub fn at_version(mut self, version: &GraphSources) -> Self {
        let root = self.root().and_then(|root| root.canonicalize().ok());
        let graphs = version.files.iter().filter(|(name, _)| name.ends_with(".json"));
        let graphs = root.into_iter().flat_map(|root| {
            let graphs = graphs.clone();
            graphs.map(move |(name, text)| (root.join(name), text.clone()))
        });
        self.earlier = Arc::new(graphs.collect());
        self
    }
    /// Sets the source of model connections' keys, by the connection's name.
    pub fn with_keychain(mut self, keychain: Variables) -> Self {
        self.keychain = keychain;
        self
    }
    /// Sets where logins to servers are kept.
    pub fn with_logins(mut self, logins: Arc<dyn Logins>) -> Self {
        self.logins = Some(logins);
        self
    }
    /// Sets what the graph's owner lets it touch.
    pub fn with_grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            folder: None,
            project: None,
            variables: Arc::new(|name| std::env::var(name).ok()),
            shown_variables: Arc::new(|name| std::env::var(name).ok()),
            models: Arc::default(),
            keychain: Arc::new(|_| None),
            logins: None,
            grants: Grants::none(),
            recording: None,
            test_answers: None,
            stand_in: None,
            earlier: Arc::default(),
            graphs: GraphCount::default(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
