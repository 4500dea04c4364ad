//! What an expression gives with the state of a checkpoint or with values of a person, for the line below its field.
//! Expressions reach no file, network or program and are bounded in work, so that they need nobody's permission.

use std::sync::Arc;

use superstep::Value;
use superstep_nodes::expression::{Expression, ExpressionError, Scope, Template};

use crate::Workbench;
use crate::base::{blocking, values};
use crate::wire::{Evaluate, Evaluated, Problem};

fn evaluate(text: &str, template: bool, scope: &Scope) -> Result<Value, ExpressionError> {
    const PLACE: &str = "the field";
    match template {
        true => Ok(Template::compile(text, PLACE)?.render(scope)?.into()),
        false => Expression::compile(text, PLACE)?.eval(scope),
    }
}

impl Workbench {
    pub(crate) async fn expression_evaluate(
        self: &Arc<Self>,
        request: Evaluate,
    ) -> Result<Evaluated, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let mut state = values::initial(&source.document);
        if let Some(at) = &request.at {
            for (name, value) in self.state_at(at).await?.iter() {
                state.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in request.state {
            state.insert(name, Value::from(value));
        }
        blocking(move || {
            let mut scope = Scope::new(&Value::Object(state));
            for (name, value) in request.variables {
                scope = scope.with(name, Value::from(value));
            }
            match evaluate(&request.text, request.template, &scope) {
                Ok(value) => Evaluated {
                    value: Some(values::view(&value)),
                    message: None,
                },
                Err(error) => Evaluated {
                    value: None,
                    message: Some(error.message.into()),
                },
            }
        })
        .await
    }
}
