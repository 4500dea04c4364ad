//! Commands at work: how many at once, and for which of them one answer is for many.
//!
//! Beyond a number of requests of one command the next wait in the order in which they came. Each command has a number of
//! its own, because some take as long as a model or a run does, and the command that ends those must not wait for them. What
//! every interface loads again upon the same event is read once for all who wait for it together.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use superstep_workbench::wire::{Json, Problem};
use superstep_workbench::{Workbench, commands};
use tokio::sync::{OnceCell, Semaphore};

use crate::problem;

/// Requests of one command that are worked on at once.
const MAX_AT_ONCE: usize = 32;

/// An answer, which many may be given.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    fn of(answered: &Result<Json, Problem>) -> Self {
        let (status, body) = match answered {
            Ok(answer) => (StatusCode::OK, serde_json::to_vec(answer)),
            Err(found) => (problem::status(found), serde_json::to_vec(found)),
        };
        match body {
            Ok(body) => Self {
                status,
                body: body.into(),
            },
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                Self {
                    status: StatusCode::INTERNAL_SERVER_ERROR,
                    body: Bytes::new(),
                }
            }
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "no-store"),
        ];
        (self.status, headers, self.body).into_response()
    }
}

/// A command and the bytes of its request.
type Question = (String, Bytes);

/// Those who ask the same question.
#[derive(Debug, Default)]
struct Askers {
    /// Held while the answer is made; those who wait for it get it in the order in which they came.
    turn: tokio::sync::Mutex<()>,
    /// The answer for who asks now. It is not begun yet: an answer is never older than the question.
    next: Mutex<Arc<OnceCell<Answer>>>,
}

/// The commands at work.
#[derive(Debug)]
pub(crate) struct Requests {
    turns: HashMap<&'static str, Semaphore>,
    askers: Mutex<HashMap<Question, Arc<Askers>>>,
}

impl Requests {
    pub(crate) fn new() -> Self {
        let turns = commands::COMMANDS
            .iter()
            .map(|command| (*command, Semaphore::new(MAX_AT_ONCE)));
        Self {
            turns: turns.collect(),
            askers: Mutex::default(),
        }
    }

    /// Answers a request when it is its turn.
    pub(crate) async fn answer(&self, workbench: &Arc<Workbench>, command: String, body: Bytes) -> Answer {
        if !commands::SHARED.contains(&command.as_str()) {
            return self.work(workbench, &command, &body).await;
        }
        let question = (command, body);
        let askers = self.askers.lock().entry(question.clone()).or_default().clone();
        let answer = askers.next.lock().clone();
        let turn = askers.turn.lock().await;
        let make = || {
            // Who asks from now on waits for another answer.
            *askers.next.lock() = Arc::default();
            self.work(workbench, &question.0, &question.1)
        };
        let answer = answer.get_or_init(make).await.clone();
        drop(turn);
        let mut all = self.askers.lock();
        // Nobody else waits: there are the one in the map and this one.
        if Arc::strong_count(&askers) == 2 {
            all.remove(&question);
        }
        answer
    }

    async fn work(&self, workbench: &Arc<Workbench>, command: &str, body: &Bytes) -> Answer {
        let request = match body.is_empty() {
            true => Ok(Json::Null),
            false => serde_json::from_slice(body),
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => {
                let found = Problem::invalid(format!("The request of {command} is not JSON: {error}."));
                return Answer::of(&Err(found.remedy("Send a JSON object as the body.")));
            }
        };
        // A command that there is not is refused at once.
        let _turn = match self.turns.get(command) {
            Some(turns) => turns.acquire().await.ok(),
            None => None,
        };
        Answer::of(&workbench.call(command, request).await)
    }
}
