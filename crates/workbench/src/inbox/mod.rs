//! Questions that wait for a person or for a time: their list and number, one of them, what an answer would lead to, answers that are held,
//! and deadlines.

pub(crate) mod count;
pub(crate) mod deadlines;
pub(crate) mod desk;
pub(crate) mod held;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod preview;
pub(crate) mod question;

/// Questions of all threads, as this program counts and answers them.
#[derive(Debug, Default)]
pub(crate) struct AnswerDesk {
    holding: held::Holding,
    counted: tokio::sync::Mutex<count::CountedQuestions>,
}
