//! Machines that wait for their program. Every call has a machine of its own, so that nothing is left from the one before;
//! making one takes longer than most programs, so a thread that ran a program makes the next one when nobody waits.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rquickjs::{Context, Error, Function, Persistent, Result, Runtime};
use superstep_bytecode::Bytecode;

/// What a program finds around it.
const PRELUDE: &str = include_str!("prelude.js");
/// Its name in stack traces.
const NAME: &str = "superstep";
/// Most machines that wait, of all threads together; each takes some 150 KB.
const MAX_MACHINES: usize = 8;

static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NEXT: RefCell<Option<WaitingMachine>> = const { RefCell::new(None) };
}

/// A machine in which nothing has run but what a program finds around it. The fields are dropped in their order.
pub(super) struct ReadyMachine {
    /// Makes what stands around a program.
    pub(super) prelude: Persistent<Function<'static>>,
    pub(super) context: Context,
    pub(super) runtime: Runtime,
}

/// It is counted for as long as it waits: until it is taken, or its thread ends.
struct WaitingMachine(Option<ReadyMachine>);

impl Drop for WaitingMachine {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ReadyMachine {
    /// Takes the waiting machine, or creates a new one.
    pub(super) fn take() -> Result<Self> {
        let waiting = NEXT.take().and_then(|mut waiting| waiting.0.take());
        waiting.map_or_else(Self::new, Ok)
    }

    fn new() -> Result<Self> {
        let runtime = Runtime::new()?;
        let context = Context::full(&runtime)?;
        let prelude = context.with(|ctx| {
            let (module, _) = prelude()?.declare(&ctx)?.eval()?;
            let install: Function = module.get("default")?;
            Ok::<_, Error>(Persistent::save(&ctx, install))
        })?;
        Ok(Self {
            prelude,
            context,
            runtime,
        })
    }

    /// Makes the next one of this thread.
    pub(super) fn prepare() {
        let counted = WAITING.fetch_add(1, Ordering::Relaxed);
        let mut waiting = WaitingMachine(None);
        if counted < MAX_MACHINES {
            // Where none can be made, the next call says why.
            waiting.0 = Self::new().ok();
            NEXT.set(Some(waiting));
        }
    }
}

fn prelude() -> Result<&'static Bytecode> {
    static READ: OnceLock<Bytecode> = OnceLock::new();
    match READ.get() {
        Some(read) => Ok(read),
        None => {
            let read = Bytecode::of(NAME, PRELUDE)?;
            Ok(READ.get_or_init(|| read))
        }
    }
}
