//! The ways to two checkpoints, beside each other: where they parted, and what ran on one side only.

use std::collections::BTreeSet;

use superstep::checkpoint::{CheckpointHead, Source, StorageError};
use superstep::inspect::Lineage;
use superstep::{CheckpointId, Checkpointer, ThreadId, Value};

use crate::threads::align::common;
use crate::wire::{NodeCount, PathComparison, PathStep, PathStretch};

/// Steps of a way that are compared, the newest ones.
const MAX_STEPS: usize = 2_000;

/// A checkpoint of a thread, to which a path leads.
#[derive(Clone, Copy, Debug)]
pub struct PathEnd<'a> {
    /// The thread.
    pub thread: &'a ThreadId,
    /// The checkpoint.
    pub head: &'a CheckpointHead,
}

/// Steps of a path, the oldest first.
struct StepPath {
    steps: Vec<PathStep>,
    /// There are older ones.
    is_cut: bool,
}

/// Returns the newest checkpoint that both continue, which only checkpoints of one thread can have, and the paths from
/// there.
pub async fn paths(
    saver: &dyn Checkpointer,
    left: PathEnd<'_>,
    right: PathEnd<'_>,
) -> Result<(Option<CheckpointId>, PathComparison), StorageError> {
    if left.thread == right.thread {
        let mut lineage = Lineage::from(saver, left.thread, [left.head.clone(), right.head.clone()]);
        let ancestor = lineage.common_ancestor(&left.head.id, &right.head.id).await?;
        let lefts = path(&mut lineage, left.head, ancestor.as_ref()).await?;
        let rights = path(&mut lineage, right.head, ancestor.as_ref()).await?;
        return Ok((ancestor, side_by_side(&lefts, &rights)));
    }
    let mut lineage = Lineage::from(saver, left.thread, [left.head.clone()]);
    let lefts = path(&mut lineage, left.head, None).await?;
    let mut lineage = Lineage::from(saver, right.thread, [right.head.clone()]);
    let rights = path(&mut lineage, right.head, None).await?;
    Ok((None, side_by_side(&lefts, &rights)))
}

/// Returns the steps to a checkpoint, after `from`.
async fn path(
    lineage: &mut Lineage<'_>,
    head: &CheckpointHead,
    from: Option<&CheckpointId>,
) -> Result<StepPath, StorageError> {
    if from == Some(&head.id) {
        return Ok(StepPath {
            steps: Vec::new(),
            is_cut: false,
        });
    }
    let (line, more) = lineage.line(head, MAX_STEPS).await?;
    let (mut steps, mut child) = (Vec::new(), head);
    for parent in &line {
        steps.push(step(child, Some(parent)));
        child = parent;
        if from == Some(&parent.id) {
            break;
        }
    }
    let is_whole = from == Some(&child.id);
    if !is_whole && !more {
        steps.push(step(child, None));
    }
    steps.reverse();
    Ok(StepPath {
        steps,
        is_cut: more && !is_whole,
    })
}

fn step(to: &CheckpointHead, from: Option<&CheckpointHead>) -> PathStep {
    let edited_as = to.metadata.user.get("as_node").and_then(Value::as_str);
    let mut ran: Vec<&str> = match (to.metadata.source, from) {
        (Source::Loop, Some(from)) => from.next.iter().map(|node| &**node).collect(),
        (Source::Update, _) => edited_as.into_iter().collect(),
        _ => Vec::new(),
    };
    ran.sort_unstable();
    let nodes = ran.chunk_by(|a, b| a == b).map(|same| NodeCount {
        node: same[0].to_owned(),
        runs: u32::try_from(same.len()).unwrap_or(u32::MAX),
        rerouted: false,
    });
    PathStep {
        id: to.id.to_string(),
        step: i32::try_from(to.metadata.step).unwrap_or(i32::MAX),
        source: to.metadata.source.as_str().to_owned(),
        nodes: nodes.collect(),
    }
}

fn nodes_of(steps: &[PathStep]) -> BTreeSet<&str> {
    // An edit as a node did not run it.
    let ran = steps.iter().filter(|step| step.source == Source::Loop.as_str());
    ran.flat_map(|step| &step.nodes)
        .map(|count| count.node.as_str())
        .collect()
}

fn side_by_side(left_path: &StepPath, right_path: &StepPath) -> PathComparison {
    let (left, right) = (&left_path.steps, &right_path.steps);
    let (in_left, in_right) = (nodes_of(left), nodes_of(right));
    let only = |these: &BTreeSet<&str>, others: &BTreeSet<&str>| -> Vec<String> {
        these.difference(others).map(ToString::to_string).collect()
    };
    let (only_left, only_right) = (only(&in_left, &in_right), only(&in_right, &in_left));
    let pairs = common(left.len(), right.len(), |a, b| {
        (&left[a].source, &left[a].nodes) == (&right[b].source, &right[b].nodes)
    });
    let mut stretches: Vec<PathStretch> = Vec::new();
    let mut put = |same: bool, lefts: &[PathStep], rights: &[PathStep]| {
        if lefts.is_empty() && rights.is_empty() {
            return;
        }
        match stretches.last_mut() {
            Some(last) if last.same == same => {
                last.left.extend_from_slice(lefts);
                last.right.extend_from_slice(rights);
            }
            _ => stretches.push(PathStretch {
                same,
                left: lefts.to_vec(),
                right: rights.to_vec(),
            }),
        }
    };
    let (mut left_at, mut right_at) = (0, 0);
    for (a, b) in pairs {
        put(false, &left[left_at..a], &right[right_at..b]);
        put(true, &left[a..=a], &right[b..=b]);
        (left_at, right_at) = (a + 1, b + 1);
    }
    put(false, &left[left_at..], &right[right_at..]);
    PathComparison {
        stretches,
        only_left,
        only_right,
        cut: left_path.is_cut || right_path.is_cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(nodes: &[&str]) -> StepPath {
        let step = |(place, node): (usize, &&str)| PathStep {
            id: place.to_string(),
            step: i32::try_from(place).expect("a few steps"),
            source: "loop".into(),
            nodes: vec![NodeCount {
                node: (*node).to_owned(),
                runs: 1,
                rerouted: false,
            }],
        };
        StepPath {
            steps: nodes.iter().enumerate().map(step).collect(),
            is_cut: false,
        }
    }

    fn print(left: &[&str], right: &[&str]) -> Vec<String> {
        let shown = |steps: &[PathStep]| -> String {
            let nodes = steps.iter().map(|step| step.nodes[0].node.as_str());
            nodes.collect::<Vec<_>>().join(" ")
        };
        let compared = side_by_side(&steps(left), &steps(right));
        let mut lines: Vec<String> = compared
            .stretches
            .iter()
            .map(|stretch| {
                let sign = if stretch.same { "=" } else { "|" };
                format!("{} {sign} {}", shown(&stretch.left), shown(&stretch.right))
            })
            .collect();
        lines.push(format!("{:?} {:?}", compared.only_left, compared.only_right));
        lines
    }

    #[test]
    fn steps_of_the_same_nodes_stand_beside_each_other() {
        assert_eq!(
            print(&["a", "b", "c", "d"], &["a", "c", "d", "e"]),
            ["a = a", "b | ", "c d = c d", " | e", r#"["b"] ["e"]"#]
        );
        assert_eq!(print(&[], &["a"]), [" | a", r#"[] ["a"]"#]);
        assert_eq!(print(&[], &[]), ["[] []"]);
        assert_eq!(
            print(&["a", "a", "b"], &["a", "b"]),
            ["a = a", "a | ", "b = b", "[] []"],
            "a round more is no node of one side"
        );
    }
}
