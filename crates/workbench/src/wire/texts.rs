//! Texts of problems as they were made: the patterns that an interface has in other languages, and what is filled into them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use superstep_document::{Join, Text, TextForm};
use ts_rs::TS;

use super::Problem;

/// The texts of a problem or a diagnostic that have values filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ProblemTexts {
    /// Of what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<TextPattern>,
    /// Of what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remedy: Option<TextPattern>,
}

/// An English text with places such as `{name}`, and what stands there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TextPattern {
    /// The text.
    pub pattern: String,
    /// By place.
    pub args: BTreeMap<String, TextArg>,
}

/// Argument at a place of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum TextArg {
    /// The same in every language.
    Plain(String),
    /// A text of its own.
    Pattern(TextPattern),
    /// One thing after another.
    List(TextList),
}

/// One thing after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TextList {
    /// What stands between them.
    pub join: TextJoin,
    /// The things.
    pub list: Vec<TextArg>,
}

/// Separator between the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TextJoin {
    /// A comma.
    Comma,
    /// A space: one sentence after another.
    Space,
    /// "and"
    And,
    /// "or"
    Or,
}

impl TextArg {
    fn of(text: &Text) -> Self {
        match text.form() {
            TextForm::Plain => Self::Plain(text.to_string()),
            TextForm::Pattern(pattern, args) => Self::Pattern(TextPattern {
                pattern: pattern.to_string(),
                args: args
                    .iter()
                    .map(|(name, value)| (name.to_string(), Self::of(value)))
                    .collect(),
            }),
            TextForm::List(join, list) => Self::List(TextList {
                join: match join {
                    Join::Comma => TextJoin::Comma,
                    Join::Space => TextJoin::Space,
                    Join::And => TextJoin::And,
                    Join::Or => TextJoin::Or,
                },
                list: list.iter().map(Self::of).collect(),
            }),
        }
    }
}

impl From<&TextArg> for Text {
    fn from(arg: &TextArg) -> Self {
        match arg {
            TextArg::Plain(plain) => plain.into(),
            TextArg::Pattern(pattern) => pattern.into(),
            TextArg::List(TextList { join, list }) => {
                let join = match join {
                    TextJoin::Comma => Join::Comma,
                    TextJoin::Space => Join::Space,
                    TextJoin::And => Join::And,
                    TextJoin::Or => Join::Or,
                };
                Text::list(join, list)
            }
        }
    }
}

impl From<&TextPattern> for Text {
    fn from(TextPattern { pattern, args }: &TextPattern) -> Self {
        let args = args
            .iter()
            .map(|(name, value)| (name.clone().into(), value.into()));
        Text::filled(pattern.clone().into(), args.collect())
    }
}

impl TextPattern {
    /// Returns the pattern of a text that has values filled in; `None` for a text without values, which is a pattern
    /// itself.
    fn of(text: &Text) -> Option<Self> {
        match TextArg::of(text) {
            TextArg::Pattern(pattern) if !pattern.args.is_empty() => Some(pattern),
            _ => None,
        }
    }
}

impl ProblemTexts {
    /// Returns the patterns of a message and of a remedy, if there is one.
    pub(crate) fn of(message: &Text, remedy: Option<&Text>) -> Option<Box<Self>> {
        let [message, remedy] = [Some(message), remedy].map(|text| text.and_then(TextPattern::of));
        (message.is_some() || remedy.is_some()).then(|| Box::new(Self { message, remedy }))
    }
}

impl Problem {
    /// Returns the message as a text to be inserted into another text.
    pub(crate) fn message_text(&self) -> Text {
        let pattern = self.texts.as_ref().and_then(|texts| texts.message.as_ref());
        pattern.map_or_else(
            || Text::filled(self.message.clone().into(), Vec::new()),
            Text::from,
        )
    }

    /// Returns the remedy as a text to be placed beside another text.
    pub(crate) fn remedy_text(&self) -> Option<Text> {
        let remedy = self.remedy.as_ref()?;
        let pattern = self.texts.as_ref().and_then(|texts| texts.remedy.as_ref());
        Some(pattern.map_or_else(|| Text::filled(remedy.clone().into(), Vec::new()), Text::from))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use superstep_document::text;

    use super::*;

    #[test]
    fn a_problem_crosses_with_what_its_texts_were_made_of() {
        let names = Text::list(Join::Or, ["`a`", "`b`"]);
        let message = text!("{what} leads to {names}.", what = text!("An edge"), names);
        let problem = Problem::new("x", message).remedy(text!("Remove it."));
        let sent = serde_json::to_value(&problem).unwrap();
        let what = json!({"pattern": "An edge", "args": {}});
        let names = json!({"join": "or", "list": ["`a`", "`b`"]});
        let pattern = json!({"pattern": "{what} leads to {names}.", "args": {"what": what, "names": names}});
        assert_eq!(
            sent,
            json!({"code": "x", "message": "An edge leads to `a` or `b`.", "remedy": "Remove it.",
                "texts": {"message": pattern}})
        );
        let received: Problem = serde_json::from_value(sent).unwrap();
        assert_eq!(received.message_text(), problem.message_text());
        assert_eq!(received.message_text(), "An edge leads to `a` or `b`.");
        let wrapped = received.with_message(text!(
            "Row {row}: {message}",
            row = 2,
            message = problem.message_text()
        ));
        assert_eq!(wrapped.message, "Row 2: An edge leads to `a` or `b`.");
        assert_eq!(wrapped.remedy.as_deref(), Some("Remove it."));
    }

    #[test]
    fn texts_without_values_cross_alone() {
        let problem = Problem::new("x", text!("It is empty.")).remedy("As another program says.".to_owned());
        let sent = serde_json::to_value(&problem).unwrap();
        assert_eq!(
            sent,
            json!({"code": "x", "message": "It is empty.", "remedy": "As another program says."})
        );
    }
}
