//! What people answered: who, when, at which checkpoint, and what they noted. It is kept with its thread.

use std::sync::Arc;

use crate::Workbench;
use crate::base::{blocking, files, table};
use crate::ledger::{AnswerRow, PastAnswer};
use crate::threads::listing::page_size;
use crate::wire::{
    AnswerList, AnswerState, AnswerView, AnswersExported, AnswersVerified, ExportAnswers, ListAnswers,
    Problem, VerifyAnswers, WithdrawQuestion,
};
use superstep_document::text;

/// Answers of a page when nobody says how many.
const PAGE: usize = 200;
/// Answers that are read at once for a file.
const AT_ONCE: usize = 2_000;

impl Workbench {
    pub(crate) async fn answers_list(self: &Arc<Self>, request: ListAnswers) -> Result<AnswerList, Problem> {
        let limit = page_size(request.limit, PAGE);
        let mut found = self
            .past_answers(&request, request.before, limit.saturating_add(1))
            .await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.row.id);
        let answers = found.into_iter().map(Into::into).collect();
        Ok(AnswerList { answers, next })
    }

    pub(crate) async fn answers_verify(
        self: &Arc<Self>,
        request: VerifyAnswers,
    ) -> Result<AnswersVerified, Problem> {
        let this = self.clone();
        let noted = request.noted.map(|noted| noted.trim().to_owned());
        let noted = noted.filter(|noted| !noted.is_empty());
        blocking(move || this.ledger.verify_answers(noted.as_deref())).await?
    }

    pub(crate) async fn answers_export(
        self: &Arc<Self>,
        request: ExportAnswers,
    ) -> Result<AnswersExported, Problem> {
        let path = files::absolute(&request.path)?;
        let mut csv =
            String::from("when,who,state,graph,node,thread,title,checkpoint,question,answer,note\r\n");
        let (mut answers, mut before) = (0, None);
        loop {
            let page = self.past_answers(&request.which, before, AT_ONCE).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.row.id);
            answers += u32::try_from(page.len()).unwrap_or(u32::MAX);
            page.iter().for_each(|one| write_line(&mut csv, one));
        }
        let written = path.clone();
        blocking(move || files::write_atomic(&written, csv.as_bytes()))
            .await?
            .map_err(|error| Problem::file(text!("write"), &path, &error))?;
        Ok(AnswersExported {
            path: path.to_string_lossy().into_owned(),
            answers,
        })
    }

    async fn past_answers(
        self: &Arc<Self>,
        which: &ListAnswers,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<PastAnswer>, Problem> {
        let (this, which, place) = (self.clone(), which.clone(), self.database.place());
        blocking(move || {
            let words = which.words.as_deref().unwrap_or_default();
            let words: Vec<&str> = words.split_whitespace().collect();
            let thread = which.thread_id.as_deref();
            this.ledger
                .past_answers(Some(&place), &words, thread, before, limit)
        })
        .await?
    }

    /// Notes that a question was taken back, and why.
    pub(super) fn note_withdrawn(&self, row: AnswerRow, request: &WithdrawQuestion) {
        let withdrawn = AnswerRow {
            state: AnswerState::Withdrawn,
            note: request.why.clone(),
            ..row
        };
        if let Err(problem) = self.ledger.keep_answers(&[withdrawn]) {
            tracing::warn!(thread = request.thread_id, %problem, "the withdrawal was not noted");
        }
    }
}

/// Writes a line of the table of answers.
fn write_line(csv: &mut String, one: &PastAnswer) {
    let PastAnswer {
        row,
        title,
        graph_name,
    } = one;
    let answer = match &row.answer {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null if row.state == AnswerState::Withdrawn => String::new(),
        other => other.to_string(),
    };
    let state = serde_json::to_value(row.state).unwrap_or_default();
    let cells = [
        row.at.as_str(),
        row.person.as_deref().unwrap_or_default(),
        state.as_str().unwrap_or_default(),
        graph_name,
        &row.node,
        &row.thread_id,
        title,
        &row.checkpoint_id,
        &row.question,
        &answer,
        row.note.as_deref().unwrap_or_default(),
    ];
    table::write_cells(csv, cells);
}

impl From<PastAnswer> for AnswerView {
    fn from(past: PastAnswer) -> Self {
        let PastAnswer {
            row,
            title,
            graph_name,
        } = past;
        Self {
            id: row.id,
            thread_id: row.thread_id,
            thread_title: title,
            graph_name,
            checkpoint_id: row.checkpoint_id,
            node: row.node,
            question: row.question,
            answer: row.answer,
            person: row.person,
            note: row.note,
            at: row.at,
            state: row.state,
            problem: row.problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cell_is_no_formula_and_keeps_its_quotes() {
        let row = AnswerRow {
            id: 1,
            thread_id: "t".into(),
            checkpoint_id: "c".into(),
            interrupt_id: "i".into(),
            node: "ask".into(),
            question: "=HYPERLINK(\"x\")".into(),
            answer: json!({"ok": true}),
            person: Some("Ada".into()),
            note: Some("a, \"b\"\nc".into()),
            at: "2026-01-01".into(),
            due: 0,
            instance: String::new(),
            state: AnswerState::Given,
            start: String::new(),
            problem: None,
        };
        let (title, graph_name) = ("Case".to_owned(), "Desk".to_owned());
        let mut csv = String::new();
        write_line(
            &mut csv,
            &PastAnswer {
                row,
                title,
                graph_name,
            },
        );
        assert_eq!(
            csv,
            "\"2026-01-01\",\"Ada\",\"given\",\"Desk\",\"ask\",\"t\",\"Case\",\"c\",\"'=HYPERLINK(\"\"x\"\")\",\
             \"{\"\"ok\"\":true}\",\"a, \"\"b\"\"\nc\"\r\n"
        );
    }
}
