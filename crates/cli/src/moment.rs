//! A moment of a thread, as a person names it: a thread, a step of its newest branch, a checkpoint, or a link.

use superstep::ThreadId;
use superstep::checkpoint::CheckpointHead;
use superstep::inspect::Lineage;

use crate::fault::Fault;
use crate::out::quoted;
use crate::place::Store;

/// A thread at a checkpoint.
pub(crate) struct Moment {
    pub(crate) thread: ThreadId,
    pub(crate) head: CheckpointHead,
    /// It was asked for as the thread is now, with what the tasks of an open step have finished.
    pub(crate) is_now: bool,
}

/// Finds a moment by how a person names it: THREAD, THREAD@STEP, THREAD@CHECKPOINT or a link that the app copied.
pub(crate) async fn moment(store: &Store, text: &str) -> Result<Moment, Fault> {
    if text.starts_with("superstep:") {
        let (thread, checkpoint) = link(text).ok_or_else(|| {
            Fault::usage(format!(
                "{text} is no link to a moment: it looks like superstep://thread/THREAD?at=CHECKPOINT. Copy it again in the app."
            ))
        })?;
        return at(store, thread.as_str().into(), checkpoint.as_deref()).await;
    }
    // A thread may be called anything, also what looks like a moment of another one.
    let whole = ThreadId::from(text);
    match (store.newest(&whole).await?, text.rsplit_once('@')) {
        (Some(head), _) => Ok(Moment {
            thread: whole,
            head,
            is_now: true,
        }),
        (None, Some((thread, place))) if !thread.is_empty() => match place.parse() {
            Ok(step) => at_step(store, thread.into(), step).await,
            Err(_) => at(store, thread.into(), Some(place)).await,
        },
        (None, _) => Err(store.no_thread(&whole)),
    }
}

async fn at(store: &Store, thread: ThreadId, checkpoint: Option<&str>) -> Result<Moment, Fault> {
    let newest = store.head(&thread).await?;
    let head = match checkpoint {
        Some(id) => store.has(&thread, id).await?,
        None => newest,
    };
    Ok(Moment {
        thread,
        head,
        is_now: checkpoint.is_none(),
    })
}

/// Finds a step of the branch that ends in the newest checkpoint.
async fn at_step(store: &Store, thread: ThreadId, step: i64) -> Result<Moment, Fault> {
    let newest = store.head(&thread).await?;
    let is_it = |head: &CheckpointHead| head.metadata.step == step;
    let found = match is_it(&newest) {
        true => Some(newest.clone()),
        false => {
            let mut lineage = Lineage::from(&*store.saver, &thread, [newest.clone()]);
            let (line, _) = lineage.line(&newest, usize::MAX).await?;
            line.into_iter().find(is_it)
        }
    };
    let head = found.ok_or_else(|| {
        Fault::usage(format!(
            "The newest branch of thread {thread} has no step {step}; it ends with step {}. A checkpoint names a moment of \
             any branch: list them with `superstep history {}{}`.",
            newest.metadata.step,
            quoted(thread.as_str()),
            store.option
        ))
    })?;
    Ok(Moment {
        thread,
        head,
        is_now: false,
    })
}

/// Parses the thread and checkpoint of a link; its other parts are for the app only.
fn link(text: &str) -> Option<(String, Option<String>)> {
    let rest = text.strip_prefix("superstep://thread/")?;
    let (thread, query) = rest.split_once('?').unwrap_or((rest, ""));
    let thread = decoded(thread).filter(|thread| !thread.is_empty())?;
    match query.split('&').find_map(|part| part.strip_prefix("at=")) {
        Some(id) => Some((thread, Some(decoded(&id.replace('+', " "))?))),
        None => Some((thread, None)),
    }
}

/// Decodes percent-encoded text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_a_thread_and_perhaps_a_checkpoint() {
        let some = |thread: &str, at: Option<&str>| Some((thread.to_owned(), at.map(str::to_owned)));
        assert_eq!(link("superstep://thread/t1"), some("t1", None));
        assert_eq!(
            link("superstep://thread/a%20thread%2F1?task=x&at=c+1"),
            some("a thread/1", Some("c 1"))
        );
        for wrong in [
            "superstep://graph/t",
            "superstep://thread/",
            "superstep://thread/%E0%A4%A",
            "superstep://thread/%zz",
            "superstep://thread/%€",
            "superstep://thread/%ff",
        ] {
            assert_eq!(link(wrong), None, "{wrong}");
        }
    }
}
