//! What runs published: kept in batches, so that a past run is read as it was seen while it ran. Of each run the newest
//! events are kept, of all runs together the newest batches.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::params;

use super::{BackgroundWriter, Ledger};
use crate::base::files;
use crate::wire::{AppEvent, Json, Problem};

/// Events that are kept of a run, and that are read of a thread.
const MAX_EVENTS: u64 = 10_000;
/// Bytes of JSON that are kept of a run, and that are read of a thread.
const MAX_BYTES: u64 = 8 << 20;
/// Bytes of JSON that are kept of all runs together.
const MAX_BYTES_OF_ALL: u64 = 256 << 20;
/// Events that are written without waiting for more.
const BATCH: usize = 512;
/// Bytes of JSON that are written together; something larger that a node emitted is not kept.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// Bytes of streamed text that are written without waiting for more.
const BATCH_TEXT: usize = 256 << 10;

/// The events of one run on their way to the ledger.
#[derive(Debug)]
pub(crate) struct RunLog {
    thread_id: String,
    run_id: String,
    keeper: Arc<BackgroundWriter>,
    waiting: Mutex<PendingEvents>,
    written: Mutex<StoredBatches>,
}

/// Events that are not written yet.
#[derive(Debug, Default)]
struct PendingEvents {
    events: Vec<AppEvent>,
    /// By task and message, where its newest piece is.
    pieces: HashMap<(String, String), usize>,
    text: usize,
}

/// Batches that were written.
#[derive(Debug, Default)]
struct StoredBatches {
    /// Row, events and bytes of each, the oldest first.
    batches: VecDeque<(i64, u64, u64)>,
    /// Of these batches.
    events: u64,
    bytes: u64,
    /// All events of the run so far.
    total: u64,
}

/// Events that are kept of the runs of a thread.
#[derive(Debug, Default)]
pub(crate) struct StoredEvents {
    /// The oldest first.
    pub(crate) events: Vec<AppEvent>,
    /// There were older ones.
    pub(crate) left_out: bool,
    /// The last batch.
    pub(crate) last: i64,
}

impl RunLog {
    pub(crate) fn new(keeper: Arc<BackgroundWriter>, thread_id: &str, run_id: &str) -> Arc<Self> {
        Arc::new(Self {
            thread_id: thread_id.to_owned(),
            run_id: run_id.to_owned(),
            keeper,
            waiting: Mutex::default(),
            written: Mutex::default(),
        })
    }

    /// Adds an event, and gives it to others before anybody can read the log again.
    pub(crate) fn emit(self: &Arc<Self>, event: AppEvent, others: impl FnOnce(AppEvent)) {
        let mut waiting = self.waiting.lock();
        let begins = waiting.events.is_empty();
        waiting.push(event.clone());
        if waiting.events.len() >= BATCH || waiting.text >= BATCH_TEXT {
            self.hand_in(&mut waiting);
        } else if begins {
            self.keeper.soon(self.clone());
        }
        others(event);
    }

    /// Hands in what came so far, and does something before more can come.
    pub(crate) fn hand_in_and(self: &Arc<Self>, then: impl FnOnce()) {
        let mut waiting = self.waiting.lock();
        self.hand_in(&mut waiting);
        then();
    }

    /// Submits the waiting events. What is submitted later is written later: it is taken, and given to the thread,
    /// under one lock. Events are for viewing: a run does not fail because they could not be written.
    fn hand_in(self: &Arc<Self>, waiting: &mut PendingEvents) {
        let events = std::mem::take(waiting).events;
        if events.is_empty() {
            return;
        }
        let log = self.clone();
        self.keeper.then(move |ledger| {
            if let Err(problem) = log.keep(ledger, &events) {
                tracing::warn!(thread = log.thread_id, %problem, "what the run did was not recorded");
            }
        });
    }

    fn keep(&self, ledger: &Ledger, events: &[AppEvent]) -> Result<(), Problem> {
        let mut written = self.written.lock();
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for batch in batches(events) {
            let first = written.total;
            written.total += batch.events;
            written.events += batch.events;
            written.bytes += batch.json.len() as u64;
            kept.push((first, batch));
        }
        while written.events > MAX_EVENTS || written.bytes > MAX_BYTES {
            let (events, bytes) = match written.batches.pop_front() {
                Some((row, events, bytes)) => {
                    gone.push(row);
                    (events, bytes)
                }
                // More came at once than is kept.
                None => {
                    let (_, batch) = kept.remove(0);
                    (batch.events, batch.json.len() as u64)
                }
            };
            written.events -= events;
            written.bytes -= bytes;
        }
        let mut rows = Vec::with_capacity(kept.len());
        for (first, batch) in kept {
            let Ok(body) = zstd::encode_all(&batch.json[..], 1) else {
                continue;
            };
            rows.push((first, batch.events, batch.json.len() as u64, body));
        }
        let stored = ledger.with(|c| {
            let transaction = c.transaction()?;
            let mut stored = Vec::with_capacity(rows.len());
            for (first, events, size, body) in &rows {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO run_events (thread_id, run_id, first, events, size, until, body)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?;
                insert.execute(params![
                    self.thread_id,
                    self.run_id,
                    *first as i64,
                    *events as i64,
                    *size as i64,
                    files::now_ms() as i64,
                    body
                ])?;
                stored.push((transaction.last_insert_rowid(), *events, *size));
            }
            for row in gone {
                transaction
                    .prepare_cached("DELETE FROM run_events WHERE id = ?1")?
                    .execute([row])?;
            }
            transaction.commit()?;
            Ok(stored)
        })?;
        written.batches.extend(stored);
        Ok(())
    }
}

/// Events as they are written together.
struct Batch {
    events: u64,
    /// An array.
    json: Vec<u8>,
}

fn batches(events: &[AppEvent]) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for event in events {
        let json = serde_json::to_vec(event).unwrap_or_default();
        let json = match event {
            _ if json.len() <= MAX_BATCH_BYTES => json,
            AppEvent::Custom {
                thread_id,
                node,
                task_id,
                at,
                ..
            } => {
                let shortened = AppEvent::Custom {
                    thread_id: thread_id.clone(),
                    node: node.clone(),
                    task_id: task_id.clone(),
                    value: format!("{} MB, too large to be kept", json.len() >> 20).into(),
                    at: *at,
                };
                serde_json::to_vec(&shortened).unwrap_or_default()
            }
            _ => json,
        };
        let fits = |batch: &&mut Batch| {
            batch.events < BATCH as u64 && batch.json.len() + json.len() <= MAX_BATCH_BYTES
        };
        match batches.last_mut().filter(fits) {
            Some(batch) => {
                batch.json.pop();
                batch.json.push(b',');
                batch.json.extend_from_slice(&json);
                batch.json.push(b']');
                batch.events += 1;
            }
            None => batches.push(Batch {
                events: 1,
                json: [b"[", &json[..], b"]"].concat(),
            }),
        }
    }
    batches
}

impl PendingEvents {
    /// Adds an event. Pieces of a message are merged; one of another kind begins another entry, so that their order
    /// stays.
    fn push(&mut self, event: AppEvent) {
        if let AppEvent::Token {
            task_id,
            message_id,
            piece,
            ..
        } = &event
        {
            self.text += piece.text().len();
            let key = (task_id.clone(), message_id.clone());
            let earlier = self.pieces.get(&key).and_then(|at| self.events.get_mut(*at));
            if let Some(AppEvent::Token { piece: earlier, .. }) = earlier
                && earlier.join(piece)
            {
                return;
            }
            self.pieces.insert(key, self.events.len());
        }
        self.events.push(event);
    }
}

/// Decodes events of a batch, as those of this thread. What another release wrote and this one does not know is
/// omitted.
fn events(body: &[u8], thread_id: &str) -> Vec<AppEvent> {
    let json = zstd::decode_all(body).unwrap_or_default();
    let events: Vec<Json> = serde_json::from_slice(&json).unwrap_or_default();
    let event = |mut event: Json| {
        let place = match event.get_mut("run") {
            Some(run) => run.get_mut("threadId"),
            None => event.get_mut("threadId"),
        };
        *place? = thread_id.into();
        serde_json::from_value(event).ok()
    };
    events.into_iter().filter_map(event).collect()
}

impl Ledger {
    /// Returns what is kept of the runs of a thread: the newest of it, or what came after a batch.
    pub(crate) fn events(&self, thread_id: &str, after: Option<i64>) -> Result<StoredEvents, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT id, first, events, size, body FROM run_events WHERE thread_id = ?1 AND id > ?2 ORDER BY id DESC",
            )?;
            let mut rows = statement.query(params![thread_id, after.unwrap_or(0)])?;
            let mut kept = StoredEvents {
                last: after.unwrap_or(0),
                ..StoredEvents::default()
            };
            let (mut count, mut bytes, mut batches) = (0, 0, Vec::new());
            let mut oldest = 0;
            while let Some(row) = rows.next()? {
                kept.last = kept.last.max(row.get(0)?);
                count += row.get::<_, i64>(2)?.unsigned_abs();
                bytes += row.get::<_, i64>(3)?.unsigned_abs();
                if !batches.is_empty() && (count > MAX_EVENTS || bytes > MAX_BYTES) {
                    kept.left_out = true;
                    break;
                }
                oldest = row.get::<_, i64>(1)?;
                batches.push(row.get::<_, Vec<u8>>(4)?);
            }
            kept.left_out |= after.is_none() && oldest > 0;
            kept.events = batches
                .iter()
                .rev()
                .flat_map(|body| events(body, thread_id))
                .collect();
            Ok(kept)
        })
    }

    /// Forgets the oldest batches of all threads when there is too much.
    pub(crate) fn trim_events(&self) -> Result<(), Problem> {
        self.trim_events_to(MAX_BYTES_OF_ALL)
    }

    fn trim_events_to(&self, most: u64) -> Result<(), Problem> {
        self.with(|c| {
            let sum: f64 = c
                .prepare_cached("SELECT total(size) FROM run_events")?
                .query_row([], |row| row.get(0))?;
            #[expect(clippy::cast_precision_loss, reason = "a limit, not an account")]
            if sum > most as f64 {
                c.execute(
                    "DELETE FROM run_events WHERE id <= (SELECT max(id) FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) \
                     AS newer FROM run_events) WHERE newer > ?1)",
                    [most as i64],
                )?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ThreadRow;
    use crate::wire::TokenPiece;

    struct Place {
        ledger: Arc<Ledger>,
        keeper: Arc<BackgroundWriter>,
        _dir: tempfile::TempDir,
    }

    fn place() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Arc::new(Ledger::open(&dir.path().join("workbench.db")).unwrap());
        let served = ledger.clone();
        Place {
            ledger,
            keeper: Arc::new(BackgroundWriter::start(move || Ok(served)).unwrap()),
            _dir: dir,
        }
    }

    fn custom(n: usize, length: usize) -> AppEvent {
        AppEvent::Custom {
            thread_id: "t".into(),
            node: n.to_string(),
            task_id: None,
            value: "x".repeat(length).into(),
            at: 1.0,
        }
    }

    fn token(task: &str, piece: TokenPiece) -> AppEvent {
        AppEvent::Token {
            thread_id: "t".into(),
            task_id: task.into(),
            node: "n".into(),
            message_id: "m".into(),
            piece,
            at: 1.0,
        }
    }

    fn nodes(kept: &StoredEvents) -> Vec<&str> {
        fn node(event: &AppEvent) -> &str {
            match event {
                AppEvent::Custom { node, .. } => node,
                _ => "?",
            }
        }
        kept.events.iter().map(node).collect()
    }

    #[test]
    fn a_message_is_one_entry_and_its_parts_keep_their_order() {
        let place = place();
        let log = RunLog::new(place.keeper.clone(), "t", "r");
        let text = |text: &str| TokenPiece::Text { text: text.into() };
        let call = |text: &str| TokenPiece::Call {
            index: 0,
            name: None,
            text: text.into(),
        };
        for piece in [text("a"), text("b"), call("c"), text("d"), text("e")] {
            log.emit(token("x", piece), drop);
            log.emit(token("y", text("z")), drop);
        }
        log.hand_in_and(|| {});
        place.keeper.finish();
        let kept = place.ledger.events("t", None).unwrap();
        let shown = kept.events.iter().map(|event| match event {
            AppEvent::Token { task_id, piece, .. } => format!("{task_id}:{}", piece.text()),
            other => format!("{other:?}"),
        });
        assert_eq!(shown.collect::<Vec<_>>(), ["x:ab", "y:zzzzz", "x:c", "x:de"]);
    }

    #[test]
    fn the_newest_of_a_run_is_kept_and_it_is_reported_that_older_ones_are_not() {
        let place = place();
        let log = RunLog::new(place.keeper.clone(), "t", "r");
        let all = 2 * MAX_EVENTS as usize;
        for n in 0..all {
            log.emit(custom(n, 1), drop);
        }
        log.hand_in_and(|| {});
        place.keeper.finish();
        let kept = place.ledger.events("t", None).unwrap();
        assert!(kept.left_out);
        assert!(kept.events.len() <= MAX_EVENTS as usize && kept.events.len() > all / 2 - 2 * BATCH);
        assert_eq!(nodes(&kept).last(), Some(&(all - 1).to_string().as_str()));
        let rows: i64 = place
            .ledger
            .with(|c| c.query_row("SELECT sum(events) FROM run_events", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(
            rows as usize,
            kept.events.len(),
            "the rest is not in the file either"
        );
    }

    #[test]
    fn the_size_of_a_run_and_of_all_runs_is_bounded() {
        let place = place();
        let log = RunLog::new(place.keeper.clone(), "t", "r");
        for n in 0..24 {
            log.emit(custom(n, 600_000), drop);
        }
        log.emit(custom(24, 3 << 20), drop);
        log.hand_in_and(|| {});
        place.keeper.finish();
        let kept = place.ledger.events("t", None).unwrap();
        assert!(kept.left_out);
        let newest: Vec<String> = (11..=24).map(|n| n.to_string()).collect();
        assert_eq!(nodes(&kept), newest);
        assert!(
            matches!(kept.events.last(), Some(AppEvent::Custom { value, .. }) if value == "3 MB, too large to be kept")
        );
        place.ledger.trim_events_to(1 << 20).unwrap();
        assert_eq!(nodes(&place.ledger.events("t", None).unwrap()), ["23", "24"]);
    }

    #[test]
    fn it_goes_with_its_thread_is_copied_with_it_and_forgotten_with_its_past() {
        let place = place();
        for run in ["1", "2"] {
            let log = RunLog::new(place.keeper.clone(), "t", run);
            log.emit(custom(run.len(), 1), drop);
            log.hand_in_and(|| {});
        }
        place.keeper.finish();
        let first = place.ledger.events("t", None).unwrap();
        assert_eq!((first.events.len(), first.left_out), (2, false));
        assert_eq!(
            place.ledger.events("t", Some(first.last)).unwrap().events.len(),
            0
        );
        let row = ThreadRow {
            thread_id: "u".into(),
            title: String::new(),
            graph_name: String::new(),
            graph_key: String::new(),
            created_at: String::new(),
        };
        place.ledger.thread_copied("t", &row, "p").unwrap();
        place.ledger.delete_thread("t").unwrap();
        assert_eq!(place.ledger.events("t", None).unwrap().events.len(), 0);
        let copied = place.ledger.events("u", None).unwrap();
        assert!(matches!(&copied.events[..], [AppEvent::Custom { thread_id, .. }, _] if thread_id == "u"));
        // Events and checkpoints have times in milliseconds: this one is surely later.
        std::thread::sleep(std::time::Duration::from_millis(5));
        let later = uuid::Uuid::now_v7().to_string();
        place
            .ledger
            .forget_before("u", "00000000-0000-7000-8000-000000000000")
            .unwrap();
        assert_eq!(place.ledger.events("u", None).unwrap().events.len(), 2);
        place.ledger.forget_before("u", &later).unwrap();
        assert_eq!(place.ledger.events("u", None).unwrap().events.len(), 0);
    }

    #[test]
    fn what_was_reported_is_handed_in_when_enough_has_come() {
        let text = |length: usize| TokenPiece::Text {
            text: "x".repeat(length),
        };
        let mut waiting = PendingEvents::default();
        waiting.push(token("x", text(3)));
        waiting.push(token("x", text(4)));
        waiting.push(custom(1, 1));
        assert_eq!((waiting.text, waiting.events.len()), (7, 2));
        let place = place();
        let log = RunLog::new(place.keeper.clone(), "t", "r");
        log.emit(token("x", text(BATCH_TEXT - 1)), drop);
        assert_eq!(log.waiting.lock().events.len(), 1);
        log.emit(token("x", text(1)), drop);
        assert_eq!(log.waiting.lock().events.len(), 0, "text counts");
        for n in 0..BATCH - 1 {
            log.emit(custom(n, 1), drop);
        }
        assert_eq!(log.waiting.lock().events.len(), BATCH - 1);
        log.emit(custom(BATCH, 1), drop);
        assert_eq!(log.waiting.lock().events.len(), 0, "so does their number");
        place.keeper.finish();
        assert_eq!(place.ledger.events("t", None).unwrap().events.len(), BATCH + 1);
    }

    #[test]
    fn a_batch_is_a_list_of_bounded_size() {
        let read = |batch: &Batch| serde_json::from_slice::<Vec<Json>>(&batch.json).unwrap().len();
        let few: Vec<AppEvent> = (0..3).map(|n| custom(n, 1)).collect();
        let made = batches(&few);
        assert_eq!((made.len(), made[0].events, read(&made[0])), (1, 3, 3));
        let many: Vec<AppEvent> = (0..BATCH + 1).map(|n| custom(n, 1)).collect();
        let made = batches(&many);
        assert_eq!(
            made.iter().map(|batch| batch.events).collect::<Vec<_>>(),
            [BATCH as u64, 1]
        );
        let large: Vec<AppEvent> = (0..3).map(|n| custom(n, MAX_BATCH_BYTES / 2)).collect();
        let made = batches(&large);
        assert_eq!(
            made.iter().map(read).collect::<Vec<_>>(),
            [1, 1, 1],
            "two do not fit"
        );
        let exact = serde_json::to_vec(&custom(1, 0)).unwrap().len();
        let fits = batches(&[custom(1, MAX_BATCH_BYTES - exact)]);
        assert_eq!(
            fits[0].json.len(),
            MAX_BATCH_BYTES + 2,
            "as large as may be, and its brackets"
        );
        let cut = batches(&[custom(1, MAX_BATCH_BYTES - exact + 1)]);
        assert!(cut[0].json.len() < 200, "one byte more is not kept");
    }

    #[test]
    fn of_several_runs_the_newest_events_are_read() {
        let place = place();
        let tell = |run: &str, events: std::ops::Range<usize>, length: usize| {
            let log = RunLog::new(place.keeper.clone(), "t", run);
            for n in events {
                log.emit(custom(n, length), drop);
            }
            log.hand_in_and(|| {});
        };
        let half = MAX_EVENTS as usize / 2;
        tell("1", 0..half, 1);
        tell("2", half..2 * half, 1);
        // Whatever is emitted until here is written before what is emitted next.
        tell("3", 2 * half..2 * half + BATCH, 1);
        place.keeper.finish();
        let kept = place.ledger.events("t", None).unwrap();
        assert!(kept.left_out);
        assert!(
            kept.events.len() <= MAX_EVENTS as usize && kept.events.len() > MAX_EVENTS as usize - 2 * BATCH
        );
        assert_eq!(
            nodes(&kept).last(),
            Some(&(2 * half + BATCH - 1).to_string().as_str())
        );
        let after = place.ledger.events("t", Some(kept.last - 1)).unwrap();
        assert_eq!(
            (after.events.len(), after.left_out, after.last),
            (BATCH, false, kept.last)
        );
    }

    #[test]
    fn of_large_runs_as_much_is_read_as_may_be() {
        let place = place();
        for run in 0..3 {
            let log = RunLog::new(place.keeper.clone(), "t", &run.to_string());
            for n in 0..4 {
                log.emit(custom(10 * run + n, 900_000), drop);
            }
            log.hand_in_and(|| {});
        }
        place.keeper.finish();
        let kept = place.ledger.events("t", None).unwrap();
        assert!(kept.left_out);
        assert_eq!(
            nodes(&kept),
            ["3", "10", "11", "12", "13", "20", "21", "22", "23"]
        );
    }
}
