//! graph-flow: a runner of task after task, without super-steps, channels or checkpoints a step. A floor for what
//! calling a task costs, not an equal.

use std::sync::Arc;

use async_trait::async_trait;
use graph_flow::fanout::FanOutTask;
use graph_flow::{Context, Graph, GraphBuilder, NextAction, Session, Task, TaskResult};

use crate::{Job, cannot, extra_edges, timed};

struct Step {
    name: String,
    counts: bool,
    last: bool,
}

#[async_trait]
impl Task for Step {
    fn id(&self) -> &str {
        &self.name
    }
    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        if self.counts {
            context.set("n", context.get::<usize>("n").unwrap_or(0) + 1)?;
        }
        let next = if self.last {
            NextAction::End
        } else {
            NextAction::ContinueAndExecute
        };
        Ok(TaskResult::new(None, next))
    }
}

fn step(name: String, counts: bool, last: bool) -> Arc<Step> {
    Arc::new(Step { name, counts, last })
}

fn chain(n: usize, extra: bool) -> Graph {
    let mut graph = GraphBuilder::new("chain");
    for i in 0..n {
        graph = graph.add_task(step(format!("n{i}"), false, i + 1 == n));
        if i > 0 {
            graph = graph.add_edge(format!("n{}", i - 1), format!("n{i}"));
        }
    }
    if extra {
        for (from, to) in extra_edges(n) {
            graph = graph.add_edge(format!("n{from}"), format!("n{to}"));
        }
    }
    graph.build().expect("it builds")
}

fn counter(limit: usize) -> Graph {
    GraphBuilder::new("loop")
        .add_task(step("n0".into(), true, false))
        .add_task(step("b".into(), true, false))
        .add_task(step("end".into(), false, true))
        .add_edge("n0", "b")
        .add_conditional_edge(
            "b",
            move |c| c.get::<usize>("n").unwrap_or(0) < limit,
            "n0",
            "end",
        )
        .build()
        .expect("it builds")
}

pub async fn run(job: &Job) {
    let n = job.size;
    if job.saver != "none" {
        cannot(job);
    }
    if job.workload == "compile" {
        let build = || async move {
            timed(async {
                std::hint::black_box(chain(n, true));
                n
            })
            .await
        };
        return job.measure(build).await;
    }
    if job.workload == "send" {
        let workers = || {
            (0..n)
                .map(|i| step(format!("w{i}"), false, true) as Arc<dyn Task>)
                .collect()
        };
        return job
            .measure(|| {
                let fan = FanOutTask::new("fan", workers());
                async move {
                    timed(async {
                        fan.run(Context::new()).await.expect("it runs");
                        n
                    })
                    .await
                }
            })
            .await;
    }
    let graph = Arc::new(match job.workload.as_str() {
        "chain" => chain(n, false),
        "loop" => counter(n),
        _ => cannot(job),
    });
    let chain = job.workload == "chain";
    job.measure(|| {
        let graph = graph.clone();
        async move {
            let mut session = Session::new_from_task("s".into(), "n0");
            timed(async {
                graph.execute_session(&mut session).await.expect("it runs");
                if chain {
                    1
                } else {
                    session.context.get("n").unwrap_or(0)
                }
            })
            .await
        }
    })
    .await;
}
