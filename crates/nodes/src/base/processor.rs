//! Processor time: what the thread of a program has taken, and bounds of a helper process. The clock on the wall says how
//! busy the computer is, not how much a program does.

#[cfg(any(test, not(unix)))]
use std::cell::Cell;
use std::time::Duration;
#[cfg(any(test, not(unix)))]
use std::time::Instant;

/// Measures the processor time of the thread that started it, and that alone may read it.
#[derive(Debug)]
pub(crate) struct ThreadClock {
    #[cfg(unix)]
    began: Duration,
    #[cfg(not(unix))]
    steps: StepClock,
}

impl ThreadClock {
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(unix)]
            began: thread_time(),
            #[cfg(not(unix))]
            steps: StepClock::start(Instant::now()),
        }
    }

    /// Returns the processor time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        #[cfg(unix)]
        {
            thread_time().saturating_sub(self.began)
        }
        #[cfg(not(unix))]
        self.steps.elapsed(Instant::now())
    }

    /// Leaves out what the thread has just waited: where the system says nothing, that is not seen otherwise.
    pub(crate) fn skip_wait(&self) {
        #[cfg(not(unix))]
        self.steps.skip_wait(Instant::now());
    }
}

#[cfg(unix)]
fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Longest time between two readings that counts. A thread that works is read more often; one that is not read for longer
/// got no processor.
#[cfg(any(test, not(unix)))]
const MAX_STEP: Duration = Duration::from_millis(5);

/// Estimates the processor time of a thread that reads it often while it works.
#[cfg(any(test, not(unix)))]
#[derive(Debug)]
struct StepClock {
    counted: Cell<Duration>,
    read: Cell<Instant>,
}

#[cfg(any(test, not(unix)))]
impl StepClock {
    fn start(now: Instant) -> Self {
        Self {
            counted: Cell::default(),
            read: Cell::new(now),
        }
    }

    fn elapsed(&self, now: Instant) -> Duration {
        let step = now.saturating_duration_since(self.read.replace(now));
        let counted = self.counted.get() + step.min(MAX_STEP);
        self.counted.set(counted);
        counted
    }

    fn skip_wait(&self, now: Instant) {
        self.read.set(now);
    }
}

/// Lets the system end this process when it takes more than this processor time from now on, in whole seconds rounded
/// up; without a time nothing ends it. Nothing where the system offers no such bound.
pub(crate) fn bound_processor_time(time: Option<Duration>) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        use rustix::time::{ClockId, clock_gettime};
        let until = time.map(|time| {
            let used = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
            let until = used.saturating_add(time);
            until
                .as_secs()
                .saturating_add(u64::from(until.subsec_nanos() > 0))
        });
        let maximum = getrlimit(Resource::Cpu).maximum;
        let current = match (until, maximum) {
            (Some(until), Some(maximum)) => Some(until.min(maximum)),
            (until, maximum) => until.or(maximum),
        };
        // Where it cannot be set, the process that started this one ends it later.
        let _ = setrlimit(Resource::Cpu, Rlimit { current, maximum });
    }
    #[cfg(not(unix))]
    let _ = time;
}

/// Returns whether a process was ended by the bound of [`bound_processor_time`].
pub(crate) fn exceeded_processor_time(status: std::process::ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

/// Lets this process leave no core dump: the system writes one of every process that takes too much processor time.
pub(crate) fn write_no_core_dump() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        // Where neither can be set, a dump is a nuisance and no fault.
        let _ = setrlimit(Resource::Core, none);
    }
    // A program that collects dumps is given them whatever the limit is.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_system_says_nothing_time_without_a_processor_hardly_counts() {
        let mut now = Instant::now();
        let clock = StepClock::start(now);
        for _ in 0..1000 {
            now += Duration::from_millis(1);
            clock.elapsed(now);
        }
        assert_eq!(clock.elapsed(now), Duration::from_secs(1), "it works");
        now += Duration::from_secs(600);
        assert_eq!(
            clock.elapsed(now),
            Duration::from_secs(1) + MAX_STEP,
            "other programs have the processor"
        );
        now += Duration::from_secs(600);
        clock.skip_wait(now);
        assert_eq!(clock.elapsed(now), Duration::from_secs(1) + MAX_STEP, "it waits");
    }

    #[cfg(unix)]
    #[test]
    fn a_thread_that_waits_takes_no_processor_time() {
        let clock = ThreadClock::start();
        std::thread::sleep(Duration::from_millis(200));
        let waited = clock.elapsed();
        assert!(waited < Duration::from_millis(100), "{waited:?}");
        while clock.elapsed() < waited + Duration::from_millis(5) {
            std::hint::spin_loop();
        }
    }
}
