//! The work of one task of a super-step: what it is given, and how it is tried.

use std::borrow::Cow;

use futures::future::Either;
use tracing::{Instrument, Span};

use super::Loop;
use crate::base::timeout::Timeout;
use crate::graph::call::TaskFn;
use crate::graph::context::{NodeContext, interrupt_id};
use crate::graph::recorder::Recorder;
use crate::graph::rules::Rules;
use crate::graph::task::Origin;
use crate::policy::limits::Gate;
use crate::run::steps::attempt::{self};
use crate::stream::metrics::Activity;
use crate::task::spans::{self, Ending};
use crate::task::{self, Task, TaskOutcome, TaskWork};
use crate::value::Value;

impl Loop {
    /// Executes the work of one task, with its attempts. The future is self-contained, so that it can be moved to
    /// another thread.
    pub(super) fn execute(&self, place: usize) -> impl Future<Output = TaskOutcome> + Send + 'static {
        let task = &self.open.tasks[place];
        let previous = self
            .setup
            .plan
            .previous_channel
            .and_then(|channel| self.live.value(channel))
            .cloned();
        let (head, shared) = (task.head.clone(), self.setup.shared.clone());
        let mut context = NodeContext::new(
            head,
            place,
            shared,
            self.resumed.resuming,
            self.answers_of(task),
            previous,
            self.recorder(task),
        );
        let decided = self.open.decided.get(&place);
        if let Some(decided) = decided {
            context = context.decided(&decided.answers, decided.key.clone());
        }
        let work = TaskWork {
            state: self.live.state.clone(),
            input: task.input.clone(),
            call: self.open.calls.work.get(&place).cloned(),
            instead: decided.and_then(|decided| decided.instead.clone()).map(Box::new),
        };
        let content_limit = self.setup.shared.config.content_limit;
        let span = if self.is_hidden(task) {
            Span::none()
        } else {
            spans::task(task, self.progress.step, content_limit)
        };
        let meter = self.setup.shared.config.metrics.clone();
        let rules = self.rules(task, work.call.as_deref());
        if rules.is_none() && meter.is_none() && span.is_disabled() {
            // Nobody watches: what is left is the work itself.
            return Either::Left(async move { work.run(&context, None).await });
        }
        let mut ending = Ending::of(&span);
        let plan = self.setup.plan.clone();
        let watched = async move {
            let attempt = |context: NodeContext, fallback| {
                let busy = meter.as_ref().map(|meter| meter.enter(Activity::Node));
                let work = work.clone();
                async move {
                    let _busy = busy;
                    work.run(&context, fallback).await
                }
            };
            let outcome = attempt::run(rules, context, attempt).await;
            ending.task(&outcome.end);
            ending.output(|| task::result_view(&plan, &outcome.writes), content_limit);
            outcome
        };
        Either::Right(Box::pin(watched.instrument(span)))
    }

    /// Returns the recorder of a task's work, in runs that record it.
    fn recorder(&self, task: &Task) -> Option<Recorder> {
        let is_recorded = self.setup.shared.config.record && !task.is_start();
        is_recorded.then(|| {
            let before = task.node.and_then(|node| self.progress.records.get(&node));
            Recorder::after(before.cloned())
        })
    }

    /// Answers that were given to the task: stored ones, then one that names its question by id.
    pub(super) fn answers_of(&self, task: &Task) -> Vec<Value> {
        let by_id = self.setup.shared.answers.by_id.get();
        let by_id = by_id.filter(|answers| !answers.is_empty());
        if self.resumed.given.is_empty() && by_id.is_none() {
            return Vec::new();
        }
        let mut given = self.resumed.given.get(task.id()).cloned().unwrap_or_default();
        if let Some(by_id) = by_id {
            // An answer by id goes to the task's next question; the id of its first question is accepted as well.
            let ns = task.ns();
            let own = interrupt_id(&ns, given.len());
            let first = interrupt_id(&ns, 0);
            if let Some(answer) = by_id.get(own.as_str()).or_else(|| by_id.get(first.as_str())) {
                given.push(answer.clone());
            }
        }
        given
    }

    /// Returns the rules by which the task is tried; None when only its work has to be done.
    fn rules(&self, task: &Task, call: Option<&TaskFn>) -> Option<Rules> {
        if self.is_beyond(task) {
            return None;
        }
        let (rules, kind, places) = match (task.node, call) {
            (Some(node), _) => {
                let more = self.setup.plan.node(node).more();
                let places = more.places.as_ref();
                (Cow::Borrowed(&more.rules), more.kind.as_ref(), places)
            }
            (None, Some(call)) => {
                let default = self.setup.plan.of_calls().map(|more| more.rules.retry.clone());
                let rules = Rules {
                    retry: match (call.options.retry.is_empty(), default) {
                        (true, Some(default)) => default,
                        _ => call.options.retry.clone().into(),
                    },
                    timeout: call.options.timeout,
                    ..Rules::default()
                };
                (
                    Cow::Owned(rules),
                    call.options.kind.as_ref(),
                    call.options.places.as_ref(),
                )
            }
            (None, None) => return None,
        };
        let own = match task.origin {
            Origin::Packet(place) => self.live.packet(place).and_then(|packet| packet.get("timeout")),
            _ => None,
        };
        let run = &self.setup.shared.run_id;
        let of_node = places.map(|places| Gate::new(places.clone(), run));
        let of_kind = kind.and_then(|kind| self.setup.limits.gate(kind, run));
        if rules.is_plain() && own.is_none() && of_node.is_none() && of_kind.is_none() {
            return None;
        }
        let mut rules = rules.into_owned();
        rules.timeout = own.map(Timeout::from_json).or(rules.timeout);
        rules.gates = of_node.into_iter().chain(of_kind).collect();
        (!rules.is_plain()).then_some(rules)
    }
}
