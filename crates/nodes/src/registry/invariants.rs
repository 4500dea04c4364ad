//! Invariants of a document as the engine checks them: where each is looked at, and what its expression sees.

use superstep::run::{Breakpoint, BreakpointPlace, WhenBroken};
use superstep::{Name, Value};
use superstep_document::{Diagnostic, Document, Edge, Invariant, NOTE, WhenBroken as Then};

use crate::expression::{Expression, Scope};

/// Returns the names that an invariant sees besides `state`.
pub fn names(invariant: &Invariant) -> &'static [&'static str] {
    match invariant.record.split_once(':') {
        Some(("key", _)) => &["old", "new", "writer", "task", "run"],
        Some(_) => &["old", "task", "run"],
        None => &["old", "run"],
    }
}

/// Returns the places at which an invariant is checked: none if its record is not part of the graph that runs.
pub fn places(document: &Document, record: &str) -> Vec<BreakpointPlace> {
    match record.split_once(':') {
        None => vec![BreakpointPlace::Watch],
        Some(("key", name)) => vec![BreakpointPlace::Key(name.into())],
        Some(("node", name)) => {
            let runs = document.nodes().any(|(id, spec)| id == name && spec.kind != NOTE);
            runs.then(|| BreakpointPlace::After(name.into()))
                .into_iter()
                .collect()
        }
        Some((_, id)) => {
            let edge = document.edges().find(|(edge, _)| *edge == id);
            edge.map_or_else(Vec::new, |(_, edge)| of_edge(&edge))
        }
    }
}

fn of_edge(edge: &Edge) -> Vec<BreakpointPlace> {
    let mut places = Vec::new();
    for from in edge.sources() {
        for to in edge.targets() {
            let (from, to): (Name, Name) = (from.into(), to.into());
            places.push(BreakpointPlace::Edge { from, to });
        }
    }
    places
}

/// Returns the variables of an expression about a moment, from what the engine passes to its conditions.
pub fn scope_of(seen: &Value, names: &[&'static str]) -> Scope {
    let mut scope = Scope::new(&seen["state"]);
    for name in names {
        if let Some(value) = seen.get(name) {
            scope = scope.with(*name, value.clone());
        }
    }
    scope
}

/// Converts an invariant to the engine's breakpoints.
pub(super) fn points(document: &Document, invariant: &Invariant) -> Result<Vec<Breakpoint>, Diagnostic> {
    let names = names(invariant);
    let mut points = Vec::new();
    for place in places(document, &invariant.record) {
        let must = Expression::compile(&invariant.must, "an invariant").map_err(|error| {
            let record = invariant.record.clone();
            Diagnostic::error("expression-syntax", record, error.message, error.remedy)
                .at(invariant.pointer())
        })?;
        let holds = move |seen: &Value| {
            must.truth(&scope_of(seen, names))
                .map_err(|error| error.message.into())
        };
        let then = match invariant.when_broken {
            Then::Tell => WhenBroken::Tell,
            Then::Pause => WhenBroken::Pause,
            Then::Fail => WhenBroken::Fail,
        };
        points.push(Breakpoint::invariant(
            invariant.id(),
            place,
            holds,
            invariant.says(),
            then,
        ));
    }
    Ok(points)
}
