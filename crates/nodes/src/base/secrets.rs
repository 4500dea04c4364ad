//! What nobody is to read: values of keys and of environment variables that graphs are given. Each is noted where it is
//! first read, and taken out of everything that comes back from outside: answers, errors, output of programs, log lines.
//!
//! The list belongs to the process and not to a graph, because a log line does not say which graph it is about.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::LazyLock;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use superstep::graph::Interrupted;
use superstep::value::Object;
use superstep::{Command, Node, NodeContext, NodeError, NodeOutput, Packet, Target, Value, async_trait};

/// What stands where a secret was.
pub const HIDDEN: &str = "[secret]";

/// Shorter values are in too many words to be taken out of them.
const SHORTEST: usize = 6;

/// Rounds of a digest. Stored names depend on it.
const ROUNDS: u32 = 20_000;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// JSON text may hold JSON text: the arguments of a tool call within a frame of an answer within a file of events.
const NESTED: usize = 3;

/// End of a text that is searched for secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextEnd {
    /// More may follow.
    Open,
    /// Nothing follows.
    Final,
}

/// Secrets in all the forms that they are looked for in.
#[derive(Default)]
struct Known {
    forms: BTreeSet<String>,
    /// Forms in base64, as they stand in headers of the kind `Basic`. Looked for where they are whole: a text that comes
    /// in pieces is not held back for the beginning of one, because nearly every text ends in one.
    encoded: BTreeSet<String>,
    /// Where none begins, none is looked for.
    firsts: BTreeSet<u8>,
}

impl Known {
    /// Copies `text` to `clean` without secrets and says how far it came: when the end is open, what is left may
    /// still become a secret. The longest one is taken where several begin.
    fn strip(
        &self,
        text: &str,
        end: TextEnd,
        clean: &mut String,
        mut found: impl FnMut(Range<usize>),
    ) -> usize {
        let (mut copied, mut at) = (0, 0);
        while let Some(&byte) = text.as_bytes().get(at) {
            if !self.firsts.contains(&byte) {
                at += 1;
                continue;
            }
            // A first byte of UTF-8 is no later one, so a character begins here.
            let rest = text.get(at..).unwrap_or_default();
            let mut whole = 0;
            for form in &self.encoded {
                if form.len() > whole && rest.starts_with(form.as_str()) {
                    whole = form.len();
                }
            }
            for form in &self.forms {
                if end == TextEnd::Open && form.len() > rest.len() && form.starts_with(rest) {
                    clean.push_str(&text[copied..at]);
                    return at;
                }
                if form.len() > whole && rest.starts_with(form.as_str()) {
                    whole = form.len();
                }
            }
            if whole == 0 {
                at += 1;
                continue;
            }
            clean.push_str(&text[copied..at]);
            clean.push_str(HIDDEN);
            found(at..at + whole);
            at += whole;
            copied = at;
        }
        clean.push_str(&text[copied..]);
        text.len()
    }

    fn is_in(&self, text: &str) -> bool {
        let mut all = self.forms.iter().chain(&self.encoded);
        all.any(|form| text.contains(form.as_str()))
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(fields) => fields
                .iter()
                .any(|(name, field)| self.is_in(name) || self.is_in_value(field)),
            _ => false,
        }
    }
}

/// Variable that lets debuggers and crash reports look at the memory of this program all the same.
pub const READABLE: &str = "SUPERSTEP_DEBUGGABLE";

/// Keeps other programs of the same person from reading the memory and the environment of this one, where keys are: no
/// debugger is let in, and no core dump is written. On Linux only; [`READABLE`] set to anything leaves it as it is.
pub fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(READABLE).is_none() {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!("the memory of this program can be read by others: {error}");
        }
    }
}

fn known() -> RwLockReadGuard<'static, Known> {
    KNOWN.read()
}

/// Notes a secret, also as JSON text and addresses have it, and the parts in which one of several lines is printed.
pub fn note(secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST || known().forms.contains(secret) {
        return;
    }
    let mut parts = Vec::new();
    parts_of(secret, &mut parts);
    let mut known = KNOWN.write();
    for part in &parts {
        known.forms.extend(written_forms(part));
    }
    known.forms.extend(written_forms(secret));
    known.encoded.extend(in_base64(secret));
    known.firsts = known
        .forms
        .iter()
        .chain(&known.encoded)
        .filter_map(|form| form.bytes().next())
        .collect();
}

/// Forgets a secret of one line that is worth nothing any more: tokens are renewed for as long as a program runs, and each
/// one more is looked for in every text.
pub(crate) fn forget(secret: &str) {
    let mut known = KNOWN.write();
    for form in written_forms(secret) {
        known.forms.remove(&form);
    }
    for form in in_base64(secret) {
        known.encoded.remove(&form);
    }
}

/// Returns a text as it is, and as JSON text and addresses have it.
fn written_forms(text: &str) -> impl Iterator<Item = String> {
    let in_json = |text: &String| {
        let json = Json::from(text.as_str()).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let encoded = crate::base::text::percent_encoded(text);
    // A query has another encoding than a path.
    let in_query = encoded
        .replace("%20", "+")
        .replace('~', "%7E")
        .replace("%2A", "*");
    std::iter::successors(Some(text.to_owned()), move |form| Some(in_json(form)))
        .take(1 + NESTED)
        .chain([encoded, in_query])
}

/// Collects what a secret is printed in when it is not printed as a whole: the lines of a key, and the secret fields of
/// a JSON text such as a service account. A line break may be written out as `\n`.
fn parts_of(secret: &str, parts: &mut Vec<String>) {
    if secret.contains(['\n', '\r']) || secret.contains("\\n") {
        let lines = secret.lines().flat_map(|line| line.split("\\n"));
        let lines = lines.flat_map(|line| line.split('\r')).map(str::trim);
        parts.extend(lines.filter(|line| holds_value(line)).map(str::to_owned));
    }
    if secret.starts_with(['{', '['])
        && let Ok(json) = serde_json::from_str(secret)
    {
        secret_fields(&json, parts);
    }
}

/// Collects the texts of fields whose names say that they are secret.
fn secret_fields(json: &Json, parts: &mut Vec<String>) {
    const NAMES: [&str; 4] = ["key", "pass", "secret", "token"];
    match json {
        Json::Array(items) => items.iter().for_each(|item| secret_fields(item, parts)),
        Json::Object(fields) => {
            for (name, field) in fields {
                let name = name.to_lowercase();
                match field {
                    // `token_uri` is public.
                    Json::String(text) if text.contains("://") => {}
                    Json::String(text) if NAMES.iter().any(|part| name.contains(part)) => {
                        let text = text.trim();
                        if text.len() >= SHORTEST {
                            parts.push(text.to_owned());
                        }
                        parts_of(text, parts);
                    }
                    other => secret_fields(other, parts),
                }
            }
        }
        _ => {}
    }
}

/// Returns whether a part is long enough, and more than the armour of a key or the beginning of a JSON list.
fn holds_value(part: &str) -> bool {
    let armour = |mark: &str| {
        let inner = part.split_once(mark).map(|(_, rest)| rest.trim_end());
        inner.is_some_and(|inner| inner.ends_with("-----") || inner.ends_with("-----\""))
    };
    part.len() >= SHORTEST && !(armour("-----BEGIN ") || armour("-----END ")) && !part.ends_with(['{', '['])
}

/// Returns the base64 forms of a secret, by itself and behind something such as a user name: the characters that are
/// made of nothing else.
fn in_base64(secret: &str) -> Vec<String> {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend(secret.as_bytes());
        let own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let text = engine.encode(&bytes);
            forms.extend(text.get(own.clone()).map(str::to_owned));
        }
    }
    forms
}

/// Returns the text without secrets.
pub fn redact(text: &str) -> Cow<'_, str> {
    let known = known();
    if !known.is_in(text) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    known.strip(text, TextEnd::Final, &mut clean, |_| ());
    Cow::Owned(clean)
}

/// Returns the name of something stored, without secrets: beside the mark is a digest, so that names which differ in
/// nothing but a secret stay different, in every process that looks for them.
pub(crate) fn redact_name(name: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    {
        let known = known();
        if !known.is_in(name) {
            return Cow::Borrowed(name);
        }
        known.strip(name, TextEnd::Final, &mut String::new(), |secret| {
            found.push(secret)
        });
    }
    let (mut clean, mut copied) = (String::with_capacity(name.len()), 0);
    for secret in found {
        clean.push_str(&name[copied..secret.start]);
        clean.push_str(&format!("[secret {}]", digest(&name[secret.clone()])));
        copied = secret.end;
    }
    clean.push_str(&name[copied..]);
    Cow::Owned(clean)
}

/// Computes six digits that are the same for the same secret. They are too few to find out what it is, and making them
/// takes long enough that a reader cannot try many guesses.
fn digest(secret: &str) -> String {
    static MADE: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock();
    let make = || {
        let mut hash = Sha256::digest(secret.as_bytes());
        for round in 0..ROUNDS {
            let mut next = Sha256::new_with_prefix(b"superstep: name of a stored item");
            next.update(round.to_le_bytes());
            next.update(secret.as_bytes());
            next.update(hash);
            hash = next.finalize();
        }
        hash[..3].iter().map(|byte| format!("{byte:02x}")).collect()
    };
    made.entry(secret.to_owned()).or_insert_with(make).clone()
}

/// Filter that removes secrets from a text that comes in pieces. A tail that may be the beginning of a secret is held
/// back until the next piece arrives; together the pieces are the whole text without secrets.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    held: String,
    /// Where in it one piece ends and the next begins.
    seams: Vec<usize>,
    /// Was there a secret that no piece had in itself?
    spelled_out: bool,
}

impl Pieces {
    /// Returns the text that can be emitted after this piece.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if !self.held.is_empty() {
            self.seams.push(self.held.len());
        }
        self.held.push_str(piece);
        self.released(TextEnd::Open)
    }

    /// Returns the text that was held back, when nothing more follows.
    pub(crate) fn rest(&mut self) -> String {
        self.released(TextEnd::Final)
    }

    fn released(&mut self, end: TextEnd) -> String {
        let mut clean = String::with_capacity(self.held.len());
        let seams = &mut self.seams;
        let mut spelled_out = self.spelled_out;
        let emitted = known().strip(&self.held, end, &mut clean, |secret| {
            spelled_out |= seams
                .iter()
                .any(|seam| secret.start < *seam && *seam < secret.end);
        });
        self.spelled_out = spelled_out;
        self.held.drain(..emitted);
        seams.retain_mut(|seam| {
            let stays = *seam > emitted;
            *seam = seam.saturating_sub(emitted);
            stays
        });
        clean
    }

    /// Returns whether the pieces hold parts of a secret, so that removing it from each of them leaves it there.
    pub(crate) fn in_parts(&self) -> bool {
        self.spelled_out || (self.held.len() >= SHORTEST && !self.seams.is_empty())
    }
}

/// Returns the value without secrets, names of fields included.
pub fn redact_value(value: &Value) -> Value {
    // What holds none, and nearly everything does not, stays shared.
    let holds = known().is_in_value(value);
    match holds {
        true => replaced(value),
        false => value.clone(),
    }
}

fn replaced(value: &Value) -> Value {
    match value {
        Value::String(text) => match redact(text) {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(text) => text.into(),
        },
        Value::Array(items) => Value::Array(items.iter().map(replaced).collect()),
        Value::Object(fields) => {
            let field =
                |(name, field): (&std::sync::Arc<str>, &Value)| (redact(name).into_owned(), replaced(field));
            Value::Object(fields.iter().map(field).collect::<Object>())
        }
        other => other.clone(),
    }
}

/// Returns the JSON without secrets.
pub(crate) fn redact_json(json: Json) -> Json {
    let text = json.to_string();
    match redact(&text) {
        Cow::Borrowed(_) => json,
        Cow::Owned(_) => Json::from(redact_value(&Value::from(json))),
    }
}

fn redact_output(output: NodeOutput) -> NodeOutput {
    match output {
        NodeOutput::Update(value) => NodeOutput::Update(redact_value(&value)),
        NodeOutput::Command(command) => NodeOutput::Command(Command {
            update: command.update.as_ref().map(redact_value),
            goto: command.goto.into_iter().map(redact_target).collect(),
            ..command
        }),
        NodeOutput::Many(outputs) => NodeOutput::Many(outputs.into_iter().map(redact_output).collect()),
        NodeOutput::Final { value, save } => NodeOutput::Final {
            value: redact_value(&value),
            save: redact_value(&save),
        },
    }
}

fn redact_target(target: Target) -> Target {
    match target {
        Target::Send(packet) => Target::Send(Packet {
            arg: redact_value(&packet.arg),
            ..packet
        }),
        node @ Target::Node(_) => node,
    }
}

/// Returns, without secrets, what a node or a task of one ended with instead of a result.
pub(crate) fn redact_error(error: NodeError) -> NodeError {
    match error {
        NodeError::Failed(mut failure) => {
            failure.message = redact(&failure.message).into_owned();
            NodeError::Failed(failure)
        }
        NodeError::Interrupt(Interrupted::Question { question, index }) => {
            NodeError::Interrupt(Interrupted::Question {
                question: redact_value(&question),
                index,
            })
        }
        other => other,
    }
}

/// Removes secrets from the result of a task before it is recorded.
pub(crate) fn redact_result(result: Result<Value, NodeError>) -> Result<Value, NodeError> {
    match result {
        Ok(value) => Ok(redact_value(&value)),
        Err(error) => Err(redact_error(error)),
    }
}

/// A node that touches the outside: whatever it brings back goes through here.
pub(crate) struct Redacted(pub(crate) std::sync::Arc<dyn Node>);

#[async_trait]
impl Node for Redacted {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        match self.0.run(context, input).await {
            Ok(output) => Ok(redact_output(output)),
            Err(error) => Err(redact_error(error)),
        }
    }
}

/// Writer that removes secrets from log lines; each write is one line or several whole ones.
#[derive(Clone, Copy, Debug)]
pub struct RedactedLog<W>(
    /// Where the lines go.
    pub W,
);

impl<W: Write> Write for RedactedLog<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(redact(&text).as_bytes())?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_of_text_values_and_logs() {
        note("marked-7f3a\"quoted\"");
        note("marked-7f3a");
        note("ab");
        let text = "a marked-7f3a\"quoted\" b marked-7f3a. ab %22 marked-7f3a%22quoted%22";
        assert_eq!(redact(text), "a [secret] b [secret]. ab %22 [secret]");
        let value = superstep::json!({"k-marked-7f3a": [1, "x marked-7f3a"], "n": null});
        assert_eq!(
            redact_value(&value),
            superstep::json!({"k-[secret]": [1, "x [secret]"], "n": null})
        );
        let json = serde_json::json!({"t": "marked-7f3a\"quoted\""}).to_string();
        assert_eq!(redact(&json), r#"{"t":"[secret]"}"#);
        let in_json = serde_json::json!({"frame": json}).to_string();
        assert_eq!(redact(&in_json), r#"{"frame":"{\"t\":\"[secret]\"}"}"#);
        let mut log = RedactedLog(Vec::new());
        log.write_all(b"key=marked-7f3a\n").unwrap();
        assert_eq!(log.0, b"key=[secret]\n");
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
    }

    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvLineOne4711/+a\nLineTwo0815abcdefgh\nx9==\n-----END PRIVATE KEY-----\n";

    #[test]
    fn lines_of_a_secret_are_hidden_and_its_armour_is_not() {
        note(PEM);
        assert_eq!(redact(PEM), "[secret]\n");
        assert_eq!(redact("read MIIEvLineOne4711/+a."), "read [secret].");
        assert_eq!(redact(&PEM.replace('\n', "\r\n")).matches(HIDDEN).count(), 2);
        assert_eq!(redact("at LineTwo0815abcdefgh\nx9=="), "at [secret]\nx9==");
        let json = serde_json::json!({"key": PEM.trim(), "line": "LineTwo0815abcdefgh"}).to_string();
        assert_eq!(redact(&json), r#"{"key":"[secret]","line":"[secret]"}"#);
        let nested = serde_json::json!({"frame": json}).to_string();
        assert!(!redact(&nested).contains("Line"), "{}", redact(&nested));
        // A part of the text with its line breaks written out.
        assert_eq!(redact("4711\\nLineTwo0815abcdefgh\\nx9"), "4711\\n[secret]\\nx9");
        assert_eq!(redact("/MIIEvLineOne4711%2F%2Ba"), "/[secret]");
        for public in ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"] {
            assert_eq!(redact(public), public);
        }
    }

    #[test]
    fn secret_fields_of_a_json_secret_are_hidden_by_themselves() {
        let key = PEM.replace("Line", "Account");
        let account = serde_json::json!({
            "type": "service_account", "project_id": "shop-account-1", "private_key_id": "id-of-key-4711",
            "private_key": key, "token_uri": "https://oauth.example.org/token", "inner": {"client_secret": "GOCSPX-1234"},
        });
        for text in [
            account.to_string(),
            serde_json::to_string_pretty(&account).unwrap(),
        ] {
            note(&text);
            assert_eq!(redact(&text), HIDDEN);
        }
        assert_eq!(redact(&key), "[secret]\n");
        assert_eq!(
            redact("AccountTwo0815abcdefgh, GOCSPX-1234, id-of-key-4711"),
            "[secret], [secret], [secret]"
        );
        for public in [
            "service_account of shop-account-1 at https://oauth.example.org/token",
            "\"inner\": {",
        ] {
            assert_eq!(redact(public), public);
        }
    }

    #[test]
    fn names_that_differ_in_a_secret_alone_stay_different_and_the_same() {
        note("#named-one-4711");
        note("#named-two-4711");
        let names = [
            "u #named-one-4711!",
            "u #named-two-4711!",
            "u #named-one-4711 #named-two-4711",
        ];
        let clean = names.map(|name| redact_name(name).into_owned());
        // Other processes find what is stored under these.
        assert_eq!(
            clean,
            [
                "u [secret 323d99]!",
                "u [secret 2a3ace]!",
                "u [secret 323d99] [secret 2a3ace]"
            ]
        );
        assert!(
            matches!(redact_name(&clean[0]), Cow::Borrowed(_)),
            "read and asked for again"
        );
    }

    #[test]
    fn secrets_are_found_in_base64_wherever_they_stand_in_it() {
        use base64::Engine;
        use base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let secret = "basic~\u{fc}?>-9b1c~~key";
        note(secret);
        for user in ["", "a:", "me:", "you:", "somebody:", ":"] {
            for after in ["", ":", "ab", "abc"] {
                for engine in [STANDARD, URL_SAFE] {
                    let text = format!("Basic {}", engine.encode(format!("{user}{secret}{after}")));
                    let clean = redact(&text);
                    assert!(clean.contains(HIDDEN), "{user}{after}: {clean}");
                    let left = clean.replace(HIDDEN, "").len() - "Basic ".len();
                    // The user, what is after it, and a character that is made of both at either end.
                    assert!(
                        left <= (user.len() + after.len()) * 4 / 3 + 6,
                        "{user}{after}: {clean}"
                    );
                }
            }
        }
    }

    /// Numbers that look random and are the same in every run.
    fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or(0) % below
        }
    }

    #[test]
    fn however_a_text_is_cut_its_pieces_hold_no_secret_and_nothing_is_lost() {
        for secret in [
            "split-aabaab",
            "split-aabaabaac",
            "split-\u{e9}\u{1f600}-\"x\"",
            "splitsplit-ab",
        ] {
            note(secret);
        }
        let parts = [
            "split-aabaab",
            "split-aabaabaac",
            "split-aabaabaa",
            "split-\u{e9}\u{1f600}-\"x\"",
            "split-\u{e9}\u{1f600}",
            "splitsplit-ab",
            "splitsplit-aabaab",
            "s",
            "spl",
            " and ",
            "\u{e9}",
            "a",
        ];
        let mut number = numbers(7);
        for _ in 0..1000 {
            let text: String = (0..1 + number(6)).map(|_| parts[number(parts.len())]).collect();
            let mut pieces = Pieces::default();
            let (mut message, mut from) = (String::new(), 0);
            while from < text.len() {
                let to = text.ceil_char_boundary((from + 1 + number(5)).min(text.len()));
                message.push_str(&pieces.push(&text[from..to]));
                assert!(
                    redact(&text[..to]).starts_with(&*message),
                    "{text}: {message} is more than can be emitted after {to} bytes"
                );
                // What is held back is the beginning of a secret and nothing else.
                let held = &pieces.held;
                assert!(
                    held.is_empty() || known().forms.iter().any(|form| form.starts_with(held.as_str())),
                    "{text}: {held}"
                );
                from = to;
            }
            message.push_str(&pieces.rest());
            assert_eq!(message, redact(&text), "{text}");
            assert!(!known().is_in(&message), "{text}: {message}");
        }
    }

    #[test]
    fn text_that_is_no_beginning_of_a_secret_is_not_held_back() {
        note("held-back-1");
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push("plain words "), "plain words ");
        assert_eq!(pieces.push("on the boo"), "on the boo");
        assert_eq!(pieces.push("k is held"), "k is ");
        assert_eq!(pieces.push("-bac"), "");
        assert_eq!(pieces.push("on"), "held-bacon");
        assert_eq!(pieces.push(" held-back-1 "), " [secret] ");
        note("held-back-1-longer");
        assert_eq!(
            (pieces.push("held-back-1"), pieces.push("!")),
            (String::new(), "[secret]!".into())
        );
        assert!(!pieces.in_parts(), "the piece has it in itself");
        assert_eq!(
            (pieces.push("held-ba"), pieces.push("ck-1.")),
            (String::new(), "[secret].".into())
        );
        assert!(pieces.in_parts());
        let mut unfinished = Pieces::default();
        for piece in ["held", "-ba"] {
            assert_eq!(unfinished.push(piece), "");
        }
        assert!(unfinished.in_parts(), "what comes may make it whole");
        assert_eq!(
            (pieces.push("held"), pieces.rest()),
            (String::new(), "held".into())
        );
    }

    #[test]
    fn questions_and_packets_are_emitted_without_secrets() {
        note("asked-4711");
        let value = superstep::json!({"q": "asked-4711"});
        let clean = superstep::json!({"q": "[secret]"});
        let question = Interrupted::Question {
            question: value.clone(),
            index: 0,
        };
        let NodeError::Interrupt(Interrupted::Question { question, .. }) =
            redact_error(NodeError::Interrupt(question))
        else {
            unreachable!()
        };
        assert_eq!(question, clean);
        let command = NodeOutput::from(Target::send("n", value));
        assert_eq!(redact_output(command), NodeOutput::from(Target::send("n", clean)));
    }
}
