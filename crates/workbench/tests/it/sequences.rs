//! Sequences at random of two programs, an editor, git and crashes on graph files: nothing that was on disk, and nothing
//! that was kept of an edit, is lost. The model knows texts by a mark that each carries, and nothing of how they are kept.
//!
//! `SUPERSTEP_SEQUENCES` is the number of files, `SUPERSTEP_SEED` the first seed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::Problem;

/// Files of which the sequences go on beside each other, in one folder.
const FILES: usize = 6;
/// Steps for each file.
const STEPS: usize = 14;

/// Numbers that look drawn (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

/// Returns the mark of a text: `<m…>`.
fn mark_of(text: &str) -> Option<&str> {
    let from = text.find("<m")?;
    let length = text[from..].find('>')?;
    Some(&text[from..=from + length])
}

fn graph(name: &str) -> String {
    let graph = json!({
        "format": "superstep/1",
        "name": name,
        "nodes": {"a": {"kind": "assign", "config": {"set": {}}}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__"}]
    });
    serde_json::to_string_pretty(&graph).unwrap()
}

/// What is known of one file.
#[derive(Default)]
struct File {
    path: PathBuf,
    /// What it holds.
    disk: Option<String>,
    /// What it held at some time, for somebody who goes back.
    past: Vec<String>,
    /// Marks of texts that must be found: what was written over...
    must: BTreeSet<String>,
    /// ...and what was edited and never saved.
    unsaved: BTreeSet<String>,
    /// What happened, for whoever reads a failure.
    log: String,
}

impl File {
    /// Another program writes or removes it.
    fn write(&mut self, text: Option<String>) {
        match &text {
            Some(text) => fs::write(&self.path, text).unwrap(),
            None => {
                let _ = fs::remove_file(&self.path);
            }
        }
        let _ = writeln!(
            self.log,
            "outside: {:?}",
            text.as_deref().map(|text| mark_of(text))
        );
        self.past.extend(text.clone());
        self.disk = text;
    }

    fn note_must(&mut self, text: &str) {
        self.must.extend(mark_of(text).map(str::to_owned));
    }

    /// Notes what a program has written.
    fn see_saved(&mut self) {
        let now = fs::read_to_string(&self.path).ok();
        if now != self.disk {
            if let Some(replaced) = self.disk.take() {
                self.note_must(&replaced);
            }
            if let Some(now) = &now {
                self.note_must(now);
                self.past.push(now.clone());
            }
            self.disk = now;
        }
    }
}

/// A program with a data folder that it shares with the other one.
struct Program {
    app: Option<App>,
    data: PathBuf,
}

impl Program {
    fn app(&self) -> &App {
        self.app.as_ref().unwrap()
    }

    async fn call(&self, command: &str, request: Value) -> Result<Value, Problem> {
        self.app().workbench.call(command, request).await
    }

    /// Opens the file, unless it is open.
    async fn open(&self, file: &File) -> Option<Value> {
        self.call("graph.open", json!({"path": file.path})).await.ok()
    }

    /// Ends as a kill ends it: nothing is written any more.
    async fn crash(&mut self) {
        let app = self.app.take().unwrap();
        let left = Arc::downgrade(&app.workbench);
        drop(app);
        while left.strong_count() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.app = Some(App::open(&self.data).await);
    }

    /// Returns every text of a file that this program can show: the open one, and the versions.
    async fn shown(&self, file: &File) -> String {
        let Some(view) = self.open(file).await else {
            return String::new();
        };
        let id = &view["graphId"];
        let versions = self.app().ok("graph.versions", json!({"graphId": id})).await;
        let mut all = view.to_string();
        for version in versions["versions"].as_array().unwrap() {
            let of = json!({"graphId": id, "id": version["id"]});
            // One that is thinned out meanwhile is not there any more.
            if let Ok(version) = self.call("graph.version", of).await {
                all.push_str(&version.to_string());
            }
        }
        all
    }
}

/// Returns the mark of what an open document holds.
fn mark_in(view: &Value) -> Option<String> {
    let of_text = view.get("text").and_then(Value::as_str).and_then(mark_of);
    let of_name = || view["name"].as_str().and_then(mark_of);
    of_text.or_else(of_name).map(str::to_owned)
}

async fn edit(program: &Program, view: &Value, name: &str) -> Result<Value, Problem> {
    let id = &view["graphId"];
    if view.get("text").is_some() {
        let text = json!({"graphId": id, "baseRev": view["rev"], "text": format!("no graph {name}")});
        return program.call("graph.writeText", text).await;
    }
    let from = &view["records"][0];
    let mut to = from["value"].clone();
    to["name"] = name.into();
    let ops = json!([{"id": "doc", "from": from["value"], "to": to}]);
    let patch = json!({"graphId": id, "baseRev": view["rev"], "ops": ops});
    program.call("graph.apply", patch).await
}

/// Saves as a person does who is asked about a file that was changed outside.
async fn save(program: &Program, file: &mut File, id: &Value, dice: &mut Dice) {
    let saved = program.call("graph.save", json!({"graphId": id})).await;
    let Err(problem) = saved else {
        file.log.push_str("saved\n");
        return;
    };
    if problem.code != "changed-on-disk" {
        let _ = writeln!(file.log, "not saved: {}", problem.code);
        return;
    }
    match dice.below(4) {
        0 => file.log.push_str("asked, and left\n"),
        1 => {
            program
                .app()
                .ok("graph.save", json!({"graphId": id, "overwrite": true}))
                .await;
            file.log.push_str("written over\n");
        }
        2 => {
            let view = program.app().ok("graph.get", json!({"graphId": id})).await;
            if program.call("graph.revert", json!({"graphId": id})).await.is_ok() {
                file.must.extend(mark_in(&view));
                file.log.push_str("taken from disk\n");
            }
        }
        _ => {
            if let Ok(disk) = program.call("graph.disk", json!({"graphId": id})).await {
                let joined = json!({"graphId": id, "seen": disk["seen"]});
                let joined = program.call("graph.save", joined).await;
                let _ = writeln!(file.log, "joined: {}", joined.is_ok());
            }
        }
    }
}

/// Waits until what is not saved of a document is kept beside it.
async fn wait_until_kept(data: &Path, mark: &str) {
    let is_kept = || {
        let slots = fs::read_dir(data.join("autosave"))
            .into_iter()
            .flatten()
            .flatten();
        let files = slots.flat_map(|slot| fs::read_dir(slot.path()).into_iter().flatten().flatten());
        let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains(mark))
    };
    while !is_kept() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn step(programs: &mut [Program; 2], files: &mut [File], dice: &mut Dice, next: &mut usize) {
    let at = dice.below(files.len());
    let who = dice.below(2);
    *next += 1;
    let name = format!("<m{next}>");
    let program = &programs[who];
    let file = &mut files[at];
    match dice.below(16) {
        0..=2 => file.write(Some(graph(&name))),
        3 => {
            let text = match dice.below(4) {
                0 => format!("{{\"name\": \"{name}\","),
                1 => format!("[\"{name}\"]"),
                2 => format!("<<<<<<< ours\n{name}\n=======\n>>>>>>> theirs\n"),
                _ => String::new(),
            };
            file.write(Some(text));
        }
        4 => file.write(None),
        5 if !file.past.is_empty() => {
            let text = file.past[dice.below(file.past.len())].clone();
            file.write(Some(text));
        }
        6..=10 => {
            if let Some(view) = program.open(file).await
                && edit(program, &view, &name).await.is_ok()
            {
                // What a person changes is not lost.
                file.unsaved.retain(|mark| Some(mark) != mark_in(&view).as_ref());
                let _ = writeln!(file.log, "program {who}: edited to {name}");
            }
        }
        11..=13 => {
            if let Some(view) = program.open(file).await {
                let _ = write!(file.log, "program {who}: ");
                save(program, file, &view["graphId"], dice).await;
                file.see_saved();
            }
        }
        14 => {
            if let Some(view) = program.open(file).await {
                let unsaved = view["rev"] != view["savedRev"];
                program
                    .app()
                    .ok("graph.close", json!({"graphId": view["graphId"]}))
                    .await;
                file.unsaved.extend(mark_in(&view).filter(|_| unsaved));
                let _ = writeln!(file.log, "program {who}: closed");
            }
        }
        _ => {
            if let Some(view) = program.open(file).await
                && view["rev"] != view["savedRev"]
                && let Some(mark) = mark_in(&view)
            {
                wait_until_kept(&program.data, &mark).await;
                file.unsaved.insert(mark);
            }
            programs[who].crash().await;
            for file in files {
                let _ = writeln!(file.log, "program {who}: killed");
            }
        }
    }
}

/// Whatever happened: the file holds what it was given last, and what must be found is found.
async fn check(programs: &[Program; 2], file: &mut File, seed: u64) {
    let now = fs::read_to_string(&file.path).ok();
    assert_eq!(
        now, file.disk,
        "seed {seed}: somebody wrote the file\n{}",
        file.log
    );
    if file.must.is_empty() && file.unsaved.is_empty() {
        return;
    }
    // Only what is open has versions to show.
    if file.disk.is_none() {
        file.write(Some(graph("again")));
    }
    // What killed programs left is shown by the one that opens the file, or is a version when that saves.
    let mut shown = file.disk.clone().unwrap_or_default();
    for program in programs {
        let Some(view) = program.open(file).await else {
            continue;
        };
        shown.push_str(&program.shown(file).await);
        let over = json!({"graphId": view["graphId"], "overwrite": true});
        if program.call("graph.save", over).await.is_ok() {
            shown.push_str(&program.shown(file).await);
        }
    }
    for mark in file.must.union(&file.unsaved) {
        assert!(
            shown.contains(mark.as_str()),
            "seed {seed}: {mark} is lost\n{}",
            file.log
        );
    }
}

fn given(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|value| value.parse().ok());
    given.unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_sequence_of_programs_editors_and_crashes_loses_what_was_on_disk() {
    let files = given("SUPERSTEP_SEQUENCES", 36);
    let first = given("SUPERSTEP_SEED", 1);
    for seed in first..first + files.div_ceil(FILES as u64) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut programs = [None, None].map(|app| Program {
            app,
            data: data.clone(),
        });
        for program in &mut programs {
            program.app = Some(App::open(&data).await);
        }
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut next = 0;
        let mut files: Vec<File> = Vec::new();
        for n in 0..FILES {
            let mut file = File {
                path: folder.path().join(format!("{n}.json")),
                ..File::default()
            };
            file.write(Some(graph(&format!("<m{n}-first>"))));
            files.push(file);
        }
        for _ in 0..FILES * STEPS {
            step(&mut programs, &mut files, &mut dice, &mut next).await;
        }
        for file in &mut files {
            check(&programs, file, seed).await;
        }
        for program in programs {
            program.app.unwrap().close().await;
        }
    }
}
