//! Expressions about a moment: over its state, the step that led to it and its run.

use std::collections::BTreeSet;
use std::sync::Arc;

use superstep::value::Object;
use superstep::{Name, Value};
use superstep_nodes::expression::{Expression, Scope};

use super::thread_history::{NeededParts, ThreadHistory};
use crate::base::values;
use crate::session;
use crate::wire::{Evaluated, Problem};
use superstep_document::{Join, Text, text};

/// Steps at which expressions could not be evaluated.
#[derive(Debug, Default)]
pub(super) struct UnknownSteps {
    pub(super) count: u64,
    pub(super) reason: Option<String>,
}

impl UnknownSteps {
    /// Counts a value that could not be evaluated.
    pub(super) fn note_message(&mut self, message: Option<&str>) {
        if let Some(message) = message {
            self.count += 1;
            self.reason.get_or_insert_with(|| message.to_owned());
        }
    }

    /// Adds what another thread had.
    pub(super) fn add(&mut self, other: UnknownSteps) {
        self.count += other.count;
        self.reason = self.reason.take().or(other.reason);
    }
}

/// An expression that uses only names that are there.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    expression: Arc<Expression>,
    uses_task: bool,
    /// What it needs of checkpoints.
    pub(super) wanted: NeededParts,
}

/// The names of conditions and columns beside `state`.
pub(super) const NAMES: &[&str] = &["task", "run"];

impl Condition {
    pub(super) fn compile(source: &str, place: &str, names: &[&str]) -> Result<Self, Problem> {
        let expression = Expression::compile(source, place)
            .map_err(|error| Problem::invalid(error.message.clone()).remedy(error.remedy))?;
        let uses = &expression.uses().names;
        let unknown: BTreeSet<&str> = (uses.iter().map(String::as_str))
            .filter(|name| !names.contains(name))
            .collect();
        if let Some(name) = unknown.into_iter().next() {
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            return Err(
                Problem::invalid(text!("{place}: there is no `{name}` here.", place, name)).remedy(text!(
                    "Use `state` and {names}.",
                    names = Text::list(Join::Comma, known)
                )),
            );
        }
        let uses_task = uses.contains("task");
        // The state before a step, and what was written in it, are looked into by names that only the evaluation knows.
        let of_steps = ["before", "writes"].iter().any(|name| uses.contains(*name));
        let wanted = match expression.uses().whole || of_steps {
            true => NeededParts::Whole,
            false => NeededParts::Keys(
                expression
                    .uses()
                    .keys
                    .iter()
                    .map(|key| Name::from(key.as_str()))
                    .collect(),
            ),
        };
        Ok(Self {
            wanted,
            expression: Arc::new(expression),
            uses_task,
        })
    }

    /// Returns whether the condition is true of a checkpoint; for a step of several nodes, whether it is true of one of
    /// them.
    pub(super) fn holds(
        &self,
        past: &ThreadHistory<'_>,
        place: usize,
        state: &Object,
        unknown: &mut UnknownSteps,
    ) -> bool {
        let scope = scope(past, place, state);
        let ran = past.ran(place);
        if !self.uses_task || ran.is_empty() {
            let scope = scope.with("task", Value::Object(Object::new()));
            return self.truth(&scope, unknown);
        }
        ran.into_iter()
            .any(|node| self.truth(&scope.clone().with("task", task(node, 1)), unknown))
    }

    fn truth(&self, scope: &Scope, unknown: &mut UnknownSteps) -> bool {
        self.expression.truth(scope).unwrap_or_else(|error| {
            unknown.note_message(Some(&error.message));
            false
        })
    }

    /// Returns whether the condition uses this name.
    pub(super) fn uses(&self, name: &str) -> bool {
        self.expression.uses().names.contains(name)
    }

    /// Returns whether the condition is false. A condition that cannot be evaluated is not false.
    pub(super) fn is_false(&self, scope: &Scope, unknown: &mut UnknownSteps) -> bool {
        match self.expression.truth(scope) {
            Ok(holds) => !holds,
            Err(error) => {
                unknown.note_message(Some(&error.message));
                false
            }
        }
    }

    /// Evaluates the expression at a moment.
    pub(super) fn value(&self, scope: &Scope) -> Evaluated {
        match self.expression.eval(scope) {
            Ok(value) => Evaluated {
                value: Some(values::view(&value)),
                message: None,
            },
            Err(error) => Evaluated {
                value: None,
                message: Some(error.message.into()),
            },
        }
    }

    /// Evaluates the expression at a checkpoint, with the first of the nodes that led there.
    pub(super) fn value_at(&self, past: &ThreadHistory<'_>, place: usize, state: &Object) -> Evaluated {
        let scope = scope(past, place, state);
        let node = past.ran(place).into_iter().next();
        let task = node.map_or_else(|| Value::Object(Object::new()), |node| task(node, 1));
        self.value(&scope.with("task", task))
    }
}

/// Builds the task of a node, with the number of its tasks in one step.
pub(super) fn task(node: &Name, count: u32) -> Value {
    superstep::json!({"node": &**node, "count": count})
}

/// Builds `state` and `run` of a checkpoint.
pub(super) fn scope(past: &ThreadHistory<'_>, place: usize, state: &Object) -> Scope {
    let head = &past.heads[place];
    let run = superstep::json!({
        "id": session::run_id(head).unwrap_or_default(),
        "step": head.metadata.step,
    });
    Scope::new(&Value::Object(state.clone())).with("run", run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_says_which_keys_it_needs() {
        let wanted = |source: &str| {
            Condition::compile(source, "t", &["before", "writes", "task", "run"])
                .unwrap()
                .wanted
        };
        let keys = |keys: &[&str]| NeededParts::Keys(keys.iter().map(|key| Name::from(*key)).collect());
        assert_eq!(wanted("state.n > 2 and state.order.total"), keys(&["n", "order"]));
        assert_eq!(wanted("run.step > 3"), keys(&[]));
        for whole in [
            "state|length",
            "state[run.id]",
            "state.n > before.n",
            "writes.n",
            "state.n ~ state",
        ] {
            assert_eq!(wanted(whole), NeededParts::Whole, "{whole}");
        }
        let both = wanted("state.n").and(&wanted("state.m"));
        assert_eq!(both, keys(&["m", "n"]));
        assert_eq!(NeededParts::Heads.and(&wanted("state.n")), keys(&["n"]));
        assert_eq!(wanted("state.n").and(&NeededParts::Whole), NeededParts::Whole);
    }
}
