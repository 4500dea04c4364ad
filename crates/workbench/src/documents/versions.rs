//! Versions of a document: those that runs keep with their threads, saved and automatic copies, and those with a name, as one
//! list; what a version holds, also one of a commit; going back to one.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::checkpoint::{GraphVersion, ThreadQuery};
use superstep::run::iso8601;
use superstep::value::Object;
use superstep::{Checkpointer, Value};
use superstep_document::{Document, Section};
use superstep_nodes::{GraphSources, document_hash};

use super::autosave::{AutosaveSlot, Named};
use super::git_history::{blob_of, blob_text};
use super::opening::of_file;
use super::{OpenDocument, records};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::base::notes::checked_note;
use crate::session::of_graph;
use crate::wire::{
    FileNow, GraphRef, GraphVersionView, GraphVersions, GraphView, NameVersion, PackageChange, Problem,
    ReadVersion, RestoreGraph, VersionContent, VersionFile,
};
use superstep_document::text;

/// Threads of a graph whose versions are listed, those that changed last.
const MAX_THREADS: usize = 1_000;
/// Versions that are listed.
const MAX_VERSIONS: usize = 200;
/// Letters of a name.
const MAX_NAME: usize = 120;

/// Location of a version, as its id states it.
enum VersionId<'a> {
    Copy(&'a str),
    Named(&'a str),
    /// What the file held in a commit.
    Commit(&'a str),
    /// The version, and a thread that keeps it.
    Run(&'a str, &'a str),
}

impl<'a> VersionId<'a> {
    fn of(id: &'a str) -> Option<Self> {
        let (kind, rest) = id.split_once(':')?;
        match kind {
            "copy" => Some(Self::Copy(rest)),
            "named" => Some(Self::Named(rest)),
            "git" => blob_of(rest).map(Self::Commit),
            "run" => rest
                .split_once('@')
                .map(|(version, thread)| Self::Run(version, thread)),
            _ => None,
        }
    }
}

/// Returns the id of a version that a thread keeps.
pub(crate) fn id_in_thread(version: &str, thread: &str) -> String {
    format!("run:{version}@{thread}")
}

fn missing() -> Problem {
    Problem::not_found(text!("That version is not there any more.")).remedy(text!("Choose another version."))
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the versions that the newest runs of a graph's threads ran, each with the thread that changed last.
async fn of_threads(saver: &dyn Checkpointer, keys: &[String]) -> Result<Vec<GraphVersionView>, Problem> {
    let mut by_version: BTreeMap<String, (String, u32)> = BTreeMap::new();
    let mut order = Vec::new();
    for key in keys {
        let query = ThreadQuery::new()
            .filter(of_graph(Object::new(), key))
            .limit(MAX_THREADS);
        for thread in saver.threads(&query).await? {
            let Some(version) = GraphVersion::of(&thread.head) else {
                continue;
            };
            let known = by_version.entry(version.to_owned()).or_insert_with(|| {
                order.push(version.to_owned());
                (thread.thread.to_string(), 0)
            });
            known.1 += 1;
        }
    }
    let mut versions = Vec::new();
    for version in order.into_iter().take(MAX_VERSIONS) {
        let Some((thread, threads)) = by_version.remove(&version) else {
            continue;
        };
        let Some(head) = GraphVersion::head(saver, &thread.as_str().into(), &version).await? else {
            continue;
        };
        let facts = &head.metadata.user;
        let count = |name: &str| facts.get(name).and_then(Value::as_i64).unwrap_or_default();
        versions.push(GraphVersionView {
            id: id_in_thread(&version, &thread),
            name: None,
            note: None,
            at: head.ts.clone(),
            nodes: u32::try_from(count("nodes")).unwrap_or_default(),
            edges: u32::try_from(count("edges")).unwrap_or_default(),
            hash: facts.get("document").and_then(Value::as_str).map(str::to_owned),
            threads,
            thread_id: Some(thread),
            saved: false,
            is_text: false,
        });
    }
    Ok(versions)
}

/// Adds versions with a name and copies to those of threads; what says the same is one version.
fn with_copies(mut versions: Vec<GraphVersionView>, slot: &AutosaveSlot) -> Vec<GraphVersionView> {
    for named in slot.named_versions() {
        let note = Some(named.note).filter(|note| !note.is_empty());
        let of_it = |version: &&mut GraphVersionView| version.hash.as_deref() == Some(&named.hash);
        if let Some(known) = versions.iter_mut().find(of_it) {
            known.name = Some(named.name);
            known.note = note;
            continue;
        }
        let (document, _) = Document::parse(&named.text);
        versions.push(GraphVersionView {
            id: format!("named:{}", named.hash),
            name: Some(named.name),
            note,
            at: named.at,
            nodes: small(document.section(Section::Nodes).len()),
            edges: small(document.section(Section::Edges).len()),
            hash: Some(named.hash),
            threads: 0,
            thread_id: None,
            saved: false,
            is_text: document.source().is_some(),
        });
    }
    for copy in slot.copies() {
        let same = |version: &&mut GraphVersionView| copy.hash.is_some() && version.hash == copy.hash;
        if let Some(known) = versions.iter_mut().find(same) {
            known.saved = true;
            known.at = std::mem::take(&mut known.at).max(iso8601(copy.at));
            continue;
        }
        let is_text = copy.nodes == 0
            && copy.edges == 0
            && slot
                .read_copy(&copy.id())
                .is_some_and(|text| Document::parse(&text).0.source().is_some());
        versions.push(GraphVersionView {
            id: format!("copy:{}", copy.id()),
            name: None,
            note: None,
            at: iso8601(copy.at),
            nodes: small(copy.nodes),
            edges: small(copy.edges),
            hash: copy.hash,
            threads: 0,
            thread_id: None,
            saved: true,
            is_text,
        });
    }
    versions.sort_by(|a, b| b.at.cmp(&a.at));
    versions
}

fn differences(kept: &GraphSources, now: &GraphSources) -> (Vec<VersionFile>, Vec<PackageChange>) {
    let file = |path: &String, now: FileNow| VersionFile {
        path: path.clone(),
        now,
    };
    let then = kept.files.iter().map(|(path, text)| match now.files.get(path) {
        Some(other) if other == text => file(path, FileNow::Same),
        Some(_) => file(path, FileNow::Changed),
        None => file(path, FileNow::Gone),
    });
    let since = now.files.keys().filter(|path| !kept.files.contains_key(*path));
    let files = then.chain(since.map(|path| file(path, FileNow::Added))).collect();
    let names: std::collections::BTreeSet<&String> =
        kept.packages.keys().chain(now.packages.keys()).collect();
    let packages = names.into_iter().filter_map(|name| {
        let (before, after) = (kept.packages.get(name), now.packages.get(name));
        (before != after).then(|| PackageChange {
            name: name.clone(),
            before: before.cloned(),
            after: after.cloned(),
        })
    });
    (files, packages.collect())
}

impl Workbench {
    pub(crate) async fn graph_versions(
        self: &Arc<Self>,
        request: GraphRef,
    ) -> Result<GraphVersions, Problem> {
        let open = self.document(&request.graph_id)?;
        let key = open.key();
        let mut keys = self.ledger.drafts_of(&key)?;
        keys.insert(0, key);
        let saver = self.saver();
        let (of_threads, unread) = match of_threads(&*saver, &keys).await {
            Ok(versions) => (versions, None),
            Err(problem) => (Vec::new(), Some(problem.message)),
        };
        blocking(move || {
            let (slot, document) = {
                let state = open.state.lock();
                (state.slot.clone(), state.document.clone())
            };
            GraphVersions {
                versions: with_copies(of_threads, &slot),
                // As the copies name theirs.
                current: document_hash(&Document::parse(&document.file_text()).0),
                unread,
            }
        })
        .await
    }

    /// Returns what a version consists of: of a copy, only the document is kept.
    async fn version_sources(
        self: &Arc<Self>,
        open: &Arc<OpenDocument>,
        id: &str,
    ) -> Result<GraphSources, Problem> {
        let slot = open.state.lock().slot.clone();
        let of_text = |text: String| GraphSources {
            document: text,
            ..GraphSources::default()
        };
        match VersionId::of(id).ok_or_else(missing)? {
            VersionId::Copy(copy) => {
                let copy = copy.to_owned();
                let text = blocking(move || slot.read_copy(&copy)).await?;
                text.map(of_text).ok_or_else(missing)
            }
            VersionId::Named(hash) => {
                let hash = hash.to_owned();
                let named = blocking(move || slot.named_versions()).await?;
                let named = named.into_iter().find(|named| named.hash == hash);
                named.map(|named| of_text(named.text)).ok_or_else(missing)
            }
            VersionId::Commit(blob) => {
                let path = open.source().path.ok_or_else(missing)?;
                let text = blob_text(&path, blob).await?;
                text.map(of_text).ok_or_else(missing)
            }
            VersionId::Run(version, thread) => {
                let kept = GraphVersion::read(&*self.saver(), &thread.into(), version).await?;
                let kept = kept.and_then(|kept| GraphSources::read(&kept.content));
                kept.ok_or_else(missing)
            }
        }
    }

    pub(crate) async fn graph_version(
        self: &Arc<Self>,
        request: ReadVersion,
    ) -> Result<VersionContent, Problem> {
        let open = self.document(&request.graph_id)?;
        let sources = self.version_sources(&open, &request.id).await?;
        let of_run = matches!(VersionId::of(&request.id), Some(VersionId::Run(..)));
        let this = self.clone();
        blocking(move || {
            let (files, packages) = match of_run {
                true => differences(&sources, &this.consists_of(&open.source()).sources),
                false => Default::default(),
            };
            let (document, _) = of_file(&sources.document);
            VersionContent {
                records: records(&document),
                text: document.source().map(str::to_owned),
                files,
                packages,
                redacted: sources.redacted,
            }
        })
        .await
    }

    pub(crate) async fn graph_name_version(
        self: &Arc<Self>,
        request: NameVersion,
    ) -> Result<GraphVersions, Problem> {
        let open = self.document(&request.graph_id)?;
        let (text, at) = match &request.id {
            None => (open.state.lock().document.file_text(), None),
            Some(id) => {
                let known = self.graph_versions(GraphRef {
                    graph_id: request.graph_id.clone(),
                });
                let known = known.await?.versions.into_iter().find(|known| known.id == *id);
                let sources = self.version_sources(&open, id).await?;
                (sources.document, known.map(|known| known.at))
            }
        };
        let name = request.name.as_deref().map(|name| {
            let words: Vec<&str> = name.split_whitespace().collect();
            words.join(" ").chars().take(MAX_NAME).collect::<String>()
        });
        if name.as_deref() == Some("") {
            return Err(Problem::invalid(text!("The name is empty.")).remedy(text!("Type a name.")));
        }
        let note = request.note.as_deref().map(checked_note).transpose()?;
        let slot = open.state.lock().slot.clone();
        blocking(move || {
            let (document, _) = Document::parse(&text);
            let hash = document_hash(&document);
            let at = at.unwrap_or_else(files::now);
            let done = match name {
                Some(name) => {
                    let note = note.unwrap_or_else(|| slot.note_of(&hash));
                    slot.name(&Named {
                        hash,
                        name,
                        note,
                        at,
                        text,
                    })
                }
                None => slot.unname(&hash),
            };
            done.map_err(|e| Problem::at(text!("name a version in"), text!("the data folder"), &e))
        })
        .await??;
        let graph_id = request.graph_id;
        self.graph_versions(GraphRef { graph_id }).await
    }

    pub(crate) async fn graph_restore(self: &Arc<Self>, request: RestoreGraph) -> Result<GraphView, Problem> {
        let open = self.document(&request.graph_id)?;
        let sources = self.version_sources(&open, &request.version).await?;
        let (restored, of_text) = of_file(&sources.document);
        if sources.redacted {
            return Err(Problem::new(
                "version-redacted",
                text!("Secrets were taken out of that version, so it cannot take the graph's place."),
            )
            .remedy(text!("Look at it, and change the graph by hand.")));
        }
        let (slot, current) = {
            let state = open.state.lock();
            (state.slot.clone(), state.text_as_read())
        };
        // The way back from going back.
        let _ = blocking(move || slot.keep(&current)).await;
        self.change(&open, None, |state| {
            (state.document, state.of_text) = (restored, of_text);
            Ok(())
        })
        .await?;
        Ok(open.view())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_version_that_is_no_graph_is_told_from_an_empty_graph() {
        let root = tempfile::tempdir().unwrap();
        let slot = AutosaveSlot::of_path(&root.path().join("autosave"), Path::new("/g/one.json"));
        for text in [
            r#"{"format": "superstep/1", "name": "Empty"}"#,
            r#"{"format": "superstep/1", "nodes": {"a": {}}, "#,
        ] {
            slot.keep(text).unwrap();
        }
        let found = with_copies(Vec::new(), &slot);
        let facts: Vec<(u32, bool)> = found
            .iter()
            .map(|version| (version.nodes, version.is_text))
            .collect();
        assert_eq!(facts, [(0, true), (0, false)], "newest first");
    }
}
