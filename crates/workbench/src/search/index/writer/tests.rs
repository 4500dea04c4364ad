//! What the index leaves out and forgets, and that a search finds the same with it.

use superstep::checkpoint::{Keep, Pruning};
use superstep::{
    ChannelSpec, Input, MemorySaver, NodeContext, NodeOutput, RunConfig, START, StateGraph, Value,
};

use super::super::super::words::Words;
use super::super::super::{Desk, Folder};
use super::super::reader::SearchedThreads;
use super::*;
use crate::wire::FindMoments;

struct Trial {
    dir: tempfile::TempDir,
    saver: Arc<MemorySaver>,
    folder: Arc<Folder>,
}

impl Trial {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            saver: Arc::default(),
            folder: Arc::new(Folder::open(None, |_| None).unwrap()),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("index.db")
    }

    /// Runs a thread that writes a text.
    async fn says(&self, thread: &str, text: &str) {
        let node = |_: NodeContext, state: Value| async move {
            Ok(NodeOutput::update([(
                "said",
                state.get("text").cloned().unwrap_or_default(),
            )]))
        };
        let graph = StateGraph::new()
            .channel("text", ChannelSpec::last_value())
            .channel("said", ChannelSpec::last_value())
            .node("say", node)
            .edge(START, "say")
            .compile()
            .unwrap()
            .with_checkpointer(self.saver.clone());
        let input = Input::value(superstep::json!({"text": text}));
        graph.invoke(input, RunConfig::on(thread)).await.unwrap();
    }

    fn writer(&self) -> Writer {
        Writer::open(&self.path()).unwrap().expect("nobody else writes")
    }

    async fn catch_up(&self, writer: &mut Writer, removed: bool) {
        while writer.more(&*self.saver, &*self.folder, removed).await.unwrap() {}
        writer.more(&*self.saver, &*self.folder, removed).await.unwrap();
    }

    /// Returns whether the bytes of the word are anywhere in the files of the index.
    fn holds(&self, word: &str) -> bool {
        let files = fs::read_dir(self.dir.path()).unwrap();
        files
            .map(|file| fs::read(file.unwrap().path()).unwrap())
            .any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
    }

    async fn find(&self, words: &str, index: bool) -> Vec<String> {
        let mut desk = Desk::new(self.saver.clone(), self.folder.clone());
        if index {
            desk = desk.with_index(Some(self.path()));
        }
        let mut request = FindMoments {
            words: Some(words.to_owned()),
            limit: 3,
            ..FindMoments::default()
        };
        let mut found = Vec::new();
        loop {
            let answer = desk.find(&request, &[]).await.unwrap();
            found.extend(
                answer
                    .moments
                    .into_iter()
                    .map(|moment| format!("{} {}", moment.thread_id, moment.step)),
            );
            request.after = answer.progress.next;
            if request.after.is_none() {
                return found;
            }
        }
    }

    /// Counts the threads that the index does not leave out.
    async fn candidates(&self, words: &str) -> usize {
        let words = Words::read(words).unwrap();
        let threads = SearchedThreads::all(self.saver.clone(), ThreadQuery::default());
        let threads = threads.with_index(self.path(), &words, Vec::new()).await;
        let (mut after, mut count) = (None, 0);
        loop {
            let page = threads.page(after.as_ref()).await.unwrap();
            count += page.threads.len();
            after = page.then;
            if after.is_none() {
                return count;
            }
        }
    }
}

#[tokio::test]
async fn a_search_finds_the_same_with_an_index_at_any_time() {
    let trial = Trial::new();
    for n in 0..(BATCH * 2 + 7) {
        let word = if n % 5 == 0 { "marmot" } else { "otter" };
        trial
            .says(&format!("t{n}"), &format!("A {word} sleeps {n}"))
            .await;
    }
    let mut writer = trial.writer();
    for step in 0..5 {
        let more = writer.more(&*trial.saver, &*trial.folder, false).await.unwrap();
        assert_eq!(more, step < 3, "two batches, the rest, and nothing more: {step}");
        trial.says(&format!("late{step}"), "A late marmot").await;
        for words in ["marmot", "otter 13", "sleep", "late", "nothing"] {
            assert_eq!(
                trial.find(words, true).await,
                trial.find(words, false).await,
                "{words} at {step}"
            );
        }
    }
    trial.catch_up(&mut writer, false).await;
    assert_eq!(
        trial.candidates("nothing").await,
        0,
        "the index leaves out what does not have the words"
    );
    assert_eq!(trial.candidates("late").await, 5);
    // A thread that grew is found by what it had and by what came.
    trial.says("t1", "It dreams of the sea").await;
    trial.catch_up(&mut writer, false).await;
    for words in ["otter", "dreams sea"] {
        assert!(
            trial
                .find(words, true)
                .await
                .iter()
                .any(|found| found.starts_with("t1 ")),
            "{words}"
        );
    }
}

#[tokio::test]
async fn what_is_deleted_is_forgotten_and_damage_is_repaired() {
    let trial = Trial::new();
    trial.says("keeps", "a public word").await;
    trial.says("goes", "the confidential codename").await;
    let mut writer = trial.writer();
    trial.catch_up(&mut writer, false).await;
    let vocabulary = |writer: &Writer| writer.file.as_ref().unwrap().vocabulary();
    assert!(vocabulary(&writer).contains(&"codename".to_owned()));
    trial.saver.delete_thread(&"goes".into()).await.unwrap();
    assert!(
        trial.find("codename", true).await.is_empty(),
        "what is gone is not found"
    );
    drop(writer);
    let mut writer = trial.writer();
    trial.catch_up(&mut writer, true).await;
    let words = vocabulary(&writer);
    assert!(
        words.contains(&"public".to_owned()) && !words.contains(&"codename".to_owned()),
        "{words:?}"
    );

    assert!(
        Writer::open(&trial.path()).unwrap().is_none(),
        "one program writes"
    );
    drop(writer);
    fs::write(trial.path(), b"this is no database").unwrap();
    assert_eq!(
        trial.find("public", true).await.len(),
        2,
        "without an index all threads are read"
    );
    let mut writer = trial.writer();
    trial.catch_up(&mut writer, false).await;
    assert_eq!(trial.candidates("nothing").await, 0, "it was made again");
    assert_eq!(trial.find("public", true).await.len(), 2);
}

#[tokio::test]
async fn what_another_program_removes_is_forgotten_when_all_is_compared() {
    let trial = Trial::new();
    trial.says("deleted", "xylophone beneath the stairs").await;
    trial.says("pruned", "zirconium beneath the stairs").await;
    trial.says("pruned", "nothing of note").await;
    trial.says("stays", "a public word").await;
    let mut writer = trial.writer();
    trial.catch_up(&mut writer, false).await;
    for word in ["xylophone", "zirconium"] {
        assert_eq!(trial.candidates(word).await, 1, "{word}");
        assert!(trial.holds(word), "{word}");
    }

    trial.saver.delete_thread(&"deleted".into()).await.unwrap();
    let past = Pruning::threads(["pruned".into()], Keep::Latest);
    let removal = superstep::inspect::prune(&*trial.saver, &past).await.unwrap();
    assert!(removal.checkpoints > 0, "the first text is gone from the thread");
    // Nobody says so to this program: it sees it when it compares all threads the next time.
    trial.catch_up(&mut writer, false).await;
    assert!(trial.holds("xylophone"), "nothing was compared yet");
    assert!(
        trial.find("xylophone", true).await.is_empty(),
        "and yet not found"
    );
    writer.compared = None;
    trial.catch_up(&mut writer, false).await;
    for word in ["xylophone", "zirconium"] {
        assert_eq!(trial.candidates(word).await, 0, "{word}");
        assert!(!trial.holds(word), "no byte of {word} is left in the files");
    }
    assert_eq!(
        trial.candidates("note").await,
        1,
        "what is left of a thread is found"
    );
    assert_eq!(trial.candidates("public").await, 1);

    // A thread that went on after it was pruned is a newer one: nothing is compared, and its words are another's.
    trial.says("pruned", "rhinoceros in the hall").await;
    trial.catch_up(&mut writer, false).await;
    let past = Pruning::threads(["pruned".into()], Keep::Latest);
    superstep::inspect::prune(&*trial.saver, &past).await.unwrap();
    for text in ["one", "two", "three"] {
        trial.says("pruned", text).await;
    }
    let past = Pruning::threads(["pruned".into()], Keep::Latest);
    superstep::inspect::prune(&*trial.saver, &past).await.unwrap();
    trial.says("pruned", "four").await;
    trial.catch_up(&mut writer, false).await;
    assert!(!trial.holds("rhinoceros"), "no byte is left in the files");
    assert_eq!(trial.candidates("four").await, 1);
}

#[tokio::test]
async fn a_thread_that_grows_often_keeps_all_its_words() {
    let trial = Trial::new();
    trial.says("long", "marmots were first").await;
    let mut writer = trial.writer();
    trial.catch_up(&mut writer, false).await;
    // As if it had grown a thousand times.
    writer
        .with(|file| file.set_parts("long", super::super::file::MAX_PARTS - 1))
        .await
        .unwrap();
    for text in ["second", "third", "fourth"] {
        trial.says("long", text).await;
        trial.catch_up(&mut writer, false).await;
        for word in ["marmots", text] {
            assert_eq!(trial.candidates(word).await, 1, "{word} after {text}");
        }
    }
}

#[tokio::test]
async fn newer_threads_are_listed_up_to_the_newest_known_one_of_many() {
    let dir = tempfile::tempdir().unwrap();
    // A saver that waits, so that a list without an end can be broken off.
    let url = format!("sqlite:{}", dir.path().join("t.db").display());
    let saver = superstep_storage::open(&url).await.unwrap().checkpointer;
    let store = async |number: usize| {
        let draft = superstep_suites::Draft::root(superstep_suites::id(number as u64));
        draft.store(&*saver, &format!("t{number}"), "").await.unwrap();
    };
    for number in 1..=LISTED + 1 {
        store(number).await;
    }
    let newest = list(&*saver, None, 1).await.unwrap()[0].head.id.to_string();
    for count in 0..3 {
        if count > 0 {
            store(LISTED + 1 + count).await;
        }
        let found = tokio::time::timeout(Duration::from_secs(20), newer(&*saver, &newest)).await;
        let found = found.expect("known threads end the list").unwrap();
        let names: Vec<&str> = found.iter().map(|thread| thread.thread.as_str()).collect();
        let expected: Vec<String> = (1..=count)
            .rev()
            .map(|more| format!("t{}", LISTED + 1 + more))
            .collect();
        assert_eq!(names, expected);
    }
}
