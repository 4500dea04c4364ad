//! The worker's side: a process that runs one program after the other. One that does not end is ended with its process: by
//! the system when it works for too long, else by the process that started this one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde::Serialize;

use super::frames::{self, FieldRequest};
use super::inputs::Argument;
use super::machine::{Program, ProgramLine, Received, run};
use super::modules::Files;
use super::workers::path_of;
use super::{CodeError, JavaScriptSource};
use crate::base::processor::{bound_processor_time, write_no_core_dump};
use crate::programs::requests::{Ending, Notice, ProgramRequest};

/// Stack of the thread that runs programs.
const STACK: usize = 4 * 1024 * 1024;
/// Processor time that a program has to end by itself after its limit. Then it is at work in a function that looks at no
/// limit, and the system ends the process.
const SPARE: Duration = Duration::from_millis(500);
/// Frames that wait for a program.
const WAITING: usize = 64;

/// Runs programs until the input ends; false when that went wrong.
pub(crate) fn work() -> bool {
    write_no_core_dump();
    let serving = std::thread::Builder::new().stack_size(STACK);
    let served = serving.spawn(|| match pipes() {
        Ok((input, output)) => FrameServer::new(input, output).serve(),
        Err(_) => false,
    });
    served.is_ok_and(|served| served.join().unwrap_or(false))
}

/// Opens standard input and output without Rust's wrappers around them.
fn pipes() -> io::Result<(File, File)> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
}

type RawFrame = (u8, Vec<u8>);

/// Source of frames. A program that waits for something must not exceed its time limit, so from then on a thread reads;
/// until then there is none, which saves most calls a thread switch.
enum Input {
    Pipe(BufReader<File>),
    Thread(Receiver<RawFrame>),
    Ended,
}

struct FrameServer {
    input: RefCell<Input>,
    output: RefCell<File>,
    /// Number of the call that is at work.
    call: Cell<u64>,
}

impl FrameServer {
    fn new(input: File, output: File) -> Rc<Self> {
        Rc::new(Self {
            input: RefCell::new(Input::Pipe(BufReader::with_capacity(64 * 1024, input))),
            output: RefCell::new(output),
            call: Cell::default(),
        })
    }

    fn serve(self: Rc<Self>) -> bool {
        if self.output.borrow_mut().write_all(frames::GREETING).is_err() {
            return false;
        }
        let mut programs = HashMap::new();
        while let Some((letter, content)) = self.next() {
            // What else comes is for a call that has ended.
            if letter == frames::CALL && !self.call(content, &mut programs) {
                return false;
            }
        }
        true
    }

    fn next(&self) -> Option<RawFrame> {
        match &mut *self.input.borrow_mut() {
            Input::Pipe(pipe) => frames::read(pipe).ok().flatten(),
            Input::Thread(frames) => frames.recv().ok(),
            Input::Ended => None,
        }
    }

    fn call(self: &Rc<Self>, content: Vec<u8>, programs: &mut HashMap<u64, JavaScriptSource>) -> bool {
        let content: Rc<[u8]> = content.into();
        let Some((head, place, given)) = frames::opened(&content) else {
            return false;
        };
        self.call.set(head.call);
        if head.forget {
            programs.clear();
        }
        if let Some((text, parameters)) = head.source {
            programs.insert(head.program, JavaScriptSource::new(text, parameters));
        }
        let (Some(source), Ok(place)) = (programs.get(&head.program), std::str::from_utf8(&content[place]))
        else {
            return false;
        };
        let given: Vec<Argument> = given
            .into_iter()
            .map(|shape| Argument::Sent {
                call: content.clone(),
                shape,
            })
            .collect();
        let folders = head
            .folders
            .map(|(root, folder)| (path_of(root), path_of(folder)));
        let program = Program {
            source,
            given: &given,
            files: folders.map(|(root, folder)| Files::in_folders(root, folder)),
            place,
        };
        bound_processor_time(Some(head.limits.timeout.saturating_add(SPARE)));
        let mut reported = false;
        let line = Box::new(WorkerLine(self.clone()));
        run(&program, head.limits, &Arc::default(), line, |end| {
            reported = self.ended(end)
        });
        // What comes with the next call may be large, and reading it is not what this one did.
        bound_processor_time(None);
        reported
    }

    fn ended(&self, end: Result<Ending<String>, CodeError>) -> bool {
        let frame = match end {
            Ok(Ending::Ok(json)) => frames::frame(frames::OK, |frame| {
                frame.extend(json.into_bytes());
                Ok(())
            }),
            Ok(Ending::Error(fault)) => frames::frame_of(frames::FAILED, &CodeError::from(fault)),
            Ok(Ending::Asks(_)) => frames::frame(frames::ASKS, |_| Ok(())),
            Err(error) => frames::frame_of(frames::FAILED, &error),
        };
        let frame = frame.or_else(|cause| {
            frames::frame_of(frames::FAILED, &CodeError::NotJson(format!("too much: {cause}")))
        });
        frame.is_ok_and(|frame| self.write(&frame))
    }

    fn send(&self, letter: u8, content: &impl Serialize) -> bool {
        frames::frame_of(letter, content).is_ok_and(|frame| self.write(&frame))
    }

    fn write(&self, frame: &[u8]) -> bool {
        self.output.borrow_mut().write_all(frame).is_ok()
    }
}

/// Reads from a thread of its own.
fn reading(mut pipe: BufReader<File>) -> io::Result<Receiver<RawFrame>> {
    let (send, frames) = sync_channel(WAITING);
    std::thread::Builder::new().spawn(move || {
        while let Ok(Some(frame)) = frames::read(&mut pipe) {
            if send.send(frame).is_err() {
                return;
            }
        }
        // Nobody is there any more for whom a program could work.
        std::process::exit(0);
    })?;
    Ok(frames)
}

struct WorkerLine(Rc<FrameServer>);

impl ProgramLine for WorkerLine {
    fn request(&self, request: ProgramRequest) -> bool {
        self.0.send(frames::REQUEST, &request)
    }

    fn receive(&self, wait: Duration) -> Result<Received, RecvTimeoutError> {
        let mut input = self.0.input.borrow_mut();
        if matches!(*input, Input::Pipe(_))
            && let Input::Pipe(pipe) = std::mem::replace(&mut *input, Input::Ended)
        {
            *input = Input::Thread(reading(pipe).map_err(|_| RecvTimeoutError::Disconnected)?);
        }
        let Input::Thread(frames) = &*input else {
            return Err(RecvTimeoutError::Disconnected);
        };
        let (letter, content) = frames.recv_timeout(wait)?;
        match letter {
            frames::PART => Ok(Received::Part(content)),
            _ => match serde_json::from_slice::<frames::AddressedMessage<Notice>>(&content) {
                Ok(word) if word.call == self.0.call.get() => Ok(Received::Notice(word.message)),
                // It was for a call that has ended.
                Ok(_) => Err(RecvTimeoutError::Timeout),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            },
        }
    }

    fn want(&self, argument: usize, name: &str) -> bool {
        let name = name.to_owned();
        self.0.send(frames::WANT, &FieldRequest { argument, name })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use superstep::{Value, json};

    use super::super::Limits;
    use super::super::frames::CallHead;
    use super::*;

    /// Creates the frame of a call of a program that the worker has, or of one that is sent with it.
    fn call(program: u64, source: Option<&str>, state: Value) -> Vec<u8> {
        let head = CallHead {
            call: 1,
            program,
            source: source.map(|source| (source.to_owned(), "state, ctx".to_owned())),
            forget: false,
            // Processor time is bounded for the whole process, and other tests run in it too.
            limits: Limits::new(Duration::from_secs(24 * 3600), 64 << 20),
            folders: None,
            place: 0,
            given: Vec::new(),
        };
        let place = json!({"context": {"node": "n"}, "config": {}, "store": false});
        frames::call(head, &place, &[state]).unwrap()
    }

    /// Runs a worker with this input; returns whether it ended well, and the frames it wrote.
    fn served(input: &[u8]) -> (bool, Vec<(char, String)>) {
        let (mut from, mut to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.write_all(input).unwrap();
        from.rewind().unwrap();
        let well = FrameServer::new(from, to.try_clone().unwrap()).serve();
        to.rewind().unwrap();
        let mut greeting = [0; frames::GREETING.len()];
        to.read_exact(&mut greeting).unwrap();
        assert_eq!(greeting, frames::GREETING);
        let read = std::iter::from_fn(|| frames::read(&mut to).unwrap());
        let shown = read.map(|(letter, content)| (char::from(letter), String::from_utf8(content).unwrap()));
        (well, shown.collect())
    }

    #[test]
    fn each_call_is_answered_until_the_input_ends() {
        let input = [
            call(1, Some("return {n: state.n + 1}"), json!({"n": 1})),
            call(2, Some("throw new Error('no stock')"), json!({})),
            call(1, None, json!({"n": 5})),
        ];
        let (well, answers) = served(&input.concat());
        assert!(well, "{answers:?}");
        let letters: String = answers.iter().map(|(letter, _)| letter).collect();
        assert_eq!(letters, "ofo");
        assert!(answers[0].1.contains(r#"{"n":2}"#), "{answers:?}");
        assert!(answers[1].1.contains("no stock"), "{answers:?}");
        assert!(answers[2].1.contains(r#"{"n":6}"#), "{answers:?}");
    }

    #[test]
    fn a_program_that_was_never_sent_ends_the_worker() {
        let input = [call(7, None, json!({})), call(1, Some("return {}"), json!({}))];
        assert_eq!(served(&input.concat()), (false, Vec::new()));
    }

    #[test]
    fn large_fields_that_no_program_looks_at_are_not_read() {
        let marked = format!("MARK{}", "x".repeat(10_000));
        let broken = |source: &str| {
            let mut frame = call(1, Some(source), json!({"n": 1, "text": marked.clone()}));
            let at = frame.windows(4).position(|some| some == b"MARK").unwrap();
            frame[at - 1] = b'?';
            served(&frame).1.remove(0)
        };
        assert!(broken("return {n: state.n}").1.contains(r#"{"n":1}"#));
        assert_eq!(broken("return {n: state.text.length}").0, 'f');
    }
}
