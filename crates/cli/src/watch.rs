//! `--watch`: a command runs again whenever files change beside what it was given.
//!
//! Files are looked at by their times and sizes: that works on every disk, a network folder too, and a folder of graphs is small.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fault::Fault;
use crate::out;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Folders within folders that are looked into.
const MAX_DEPTH: usize = 10;
/// Files that are looked at.
const MAX_FILES: usize = 20_000;

type Look = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Returns the folder whose files matter for a path: of a test or an evaluation, that of its graph.
fn folder_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = whole.parent().map(Path::to_owned).unwrap_or_default();
    let is_beside = ["expect", "evaluations"]
        .iter()
        .any(|name| folder.file_name().is_some_and(|own| own == *name));
    match folder.parent() {
        Some(graph) if is_beside => graph.to_owned(),
        _ => folder,
    }
}

fn look_into(folder: &Path, depth: usize, look: &mut Look) {
    // A folder that is gone in this moment has no files.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') || name == "node_modules" || name == "target" {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            look_into(&entry.path(), depth + 1, look);
        } else if let Ok(about) = entry.path().metadata()
            && about.is_file()
            && look.len() < MAX_FILES
        {
            look.insert(entry.path(), (about.modified().ok(), about.len()));
        }
    }
}

fn look_at(folders: &[PathBuf], left_out: &[PathBuf]) -> Look {
    let mut look = Look::new();
    folders.iter().for_each(|folder| look_into(folder, 0, &mut look));
    look.retain(|path, _| !left_out.contains(path));
    look
}

/// Returns a file that is another one.
fn changed<'l>(before: &'l Look, now: &'l Look) -> Option<&'l Path> {
    let new = now.iter().find(|(path, about)| before.get(*path) != Some(about));
    let gone = before.keys().find(|path| !now.contains_key(*path));
    new.map(|(path, _)| path).or(gone).map(PathBuf::as_path)
}

/// Runs a command, and again at each change, until somebody stops the program. `left_out` are files that it writes itself.
pub(crate) async fn run_at_changes(
    paths: &[PathBuf],
    left_out: &[PathBuf],
    mut run: impl AsyncFnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let folders: Vec<PathBuf> = paths.iter().map(|path| folder_of(path)).collect();
    let left_out: Vec<PathBuf> = left_out
        .iter()
        .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()])
        .flatten()
        .collect();
    // What is changed while it runs counts once: a node that writes files would have it run without an end.
    let mut may_repeat = true;
    loop {
        let before = look_at(&folders, &left_out);
        if let Err(fault) = run().await {
            let message = fault.message();
            if !message.is_empty() {
                out::note(&message);
            }
        }
        out::note("Waiting for a change; Ctrl-C ends.");
        let after = look_at(&folders, &left_out);
        let mut is_late = false;
        let (mut known, mut what) = match changed(&before, &after) {
            Some(path) if may_repeat => {
                is_late = true;
                (after.clone(), path.to_owned())
            }
            _ => (after, PathBuf::new()),
        };
        may_repeat = !is_late;
        while what.as_os_str().is_empty() {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = look_at(&folders, &left_out);
            if let Some(path) = changed(&known, &now) {
                path.clone_into(&mut what);
                known = now;
            }
        }
        // An editor that writes several files is waited for.
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = look_at(&folders, &left_out);
            if changed(&known, &now).is_none() {
                break;
            }
            known = now;
        }
        out::line(&format!("\u{2500}\u{2500} {} changed", what.display()))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_new_other_or_gone_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path().to_owned()];
        let file = dir.path().join("expect/a.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let nothing = look_at(&folders, &[]);
        std::fs::write(&file, "1").unwrap();
        let one = look_at(&folders, &[]);
        assert_eq!(changed(&nothing, &one), Some(file.as_path()));
        assert_eq!(changed(&one, &one), None);
        assert_eq!(changed(&one, &nothing), Some(file.as_path()));
        std::fs::write(&file, "22").unwrap();
        assert_eq!(changed(&one, &look_at(&folders, &[])), Some(file.as_path()));
        assert_eq!(look_at(&folders, std::slice::from_ref(&file)), Look::new());
        assert_eq!(folder_of(&file), dir.path().canonicalize().unwrap());
    }
}
