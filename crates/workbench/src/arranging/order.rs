//! The order in the layers: as few crossings as the budget finds. Items go to the middle of what they are linked to, layer
//! by layer and back; then neighbours change places where that helps.

use super::boxes::{Budget, Stopped};
use super::layers::Layered;

/// Sweeps without a better order after which no better one is expected.
const PATIENCE: usize = 6;
/// Rounds of changing neighbours.
const MAX_ROUNDS: usize = 12;

/// Most orders whose drawings may be compared.
const MAX_KEPT: usize = 12;

/// The items of each layer, from the top.
type Order = Vec<Vec<usize>>;

/// Computes orders of the items with few crossings, the best one first.
pub(super) fn orders(graph: &mut Layered, budget: &mut Budget<'_>) -> Result<Vec<Order>, Stopped> {
    let work = graph.items.len() + 2 * graph.spans.len();
    let mut kept = vec![(crossings(graph), graph.layers.clone())];
    let mut best = kept[0].0;
    let mut tired = 0;
    for round in 0.. {
        if tired == PATIENCE || !budget.spend(work)? {
            break;
        }
        let direction = if round % 2 == 0 {
            Direction::Down
        } else {
            Direction::Up
        };
        let ties = if round % 4 >= 2 {
            Ties::Reversed
        } else {
            Ties::Kept
        };
        sweep(graph, direction, ties);
        keep(graph, &mut kept);
        if !switch(graph, budget)? {
            break;
        }
        let now = keep(graph, &mut kept);
        tired = if now < best { 0 } else { tired + 1 };
        best = best.min(now);
    }
    Ok(kept.into_iter().map(|(_, order)| order).collect())
}

/// Notes the order that is there, among the best ones; answers its crossings.
fn keep(graph: &Layered, kept: &mut Vec<(u64, Order)>) -> u64 {
    let now = crossings(graph);
    let at = kept.partition_point(|(other, _)| *other <= now);
    let known = || {
        kept.iter()
            .any(|(other, order)| *other == now && *order == graph.layers)
    };
    if at < MAX_KEPT && !known() {
        kept.insert(at, (now, graph.layers.clone()));
        kept.truncate(MAX_KEPT);
    }
    now
}

/// Places of the items in their layers.
fn ranks(graph: &Layered) -> Vec<usize> {
    let mut rank = vec![0; graph.items.len()];
    for layer in &graph.layers {
        for (at, &index) in layer.iter().enumerate() {
            rank[index] = at;
        }
    }
    rank
}

/// Direction of a sweep: against the layers before an item, or against those behind it.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Down,
    Up,
}

/// Order of items with the same middle: as they are, or the other way round.
#[derive(Clone, Copy, PartialEq)]
enum Ties {
    Kept,
    Reversed,
}

/// Brings every item to the middle of its links, layer by layer.
fn sweep(graph: &mut Layered, direction: Direction, ties: Ties) {
    let down = direction == Direction::Down;
    let mut rank: Vec<f64> = ranks(graph).into_iter().map(|at| at as f64).collect();
    let depth = graph.layers.len();
    let order: Vec<usize> = if down {
        (1..depth).collect()
    } else {
        (0..depth.saturating_sub(1)).rev().collect()
    };
    for layer in order {
        let mut wanted: Vec<(f64, usize)> = graph.layers[layer]
            .iter()
            .map(|&index| {
                (
                    middle(graph, &rank, index, direction).unwrap_or(rank[index]),
                    index,
                )
            })
            .collect();
        if ties == Ties::Reversed {
            // Among equals the other order is tried, too.
            wanted.reverse();
        }
        wanted
            .sort_by(|(one, a), (other, b)| (graph.part[*a].cmp(&graph.part[*b])).then(one.total_cmp(other)));
        graph.layers[layer] = wanted.into_iter().map(|(_, index)| index).collect();
        for (at, &index) in graph.layers[layer].iter().enumerate() {
            rank[index] = at as f64;
        }
    }
}

/// Returns the mean place of what an item is linked to; a port further down counts a little more.
fn middle(graph: &Layered, rank: &[f64], index: usize, direction: Direction) -> Option<f64> {
    let down = direction == Direction::Down;
    let spans = if down {
        &graph.before[index]
    } else {
        &graph.after[index]
    };
    if spans.is_empty() {
        return None;
    }
    let sum: f64 = spans
        .iter()
        .map(|&span| {
            let span = &graph.spans[span];
            if down {
                rank[span.from] + fraction(span.out, graph.items[span.from].height)
            } else {
                rank[span.to] + 0.5
            }
        })
        .sum();
    Some(sum / spans.len() as f64)
}

fn fraction(port: f64, height: f64) -> f64 {
    if height > 0.0 {
        (port / height).clamp(0.0, 1.0) * 0.9
    } else {
        0.5
    }
}

/// Counts the pairs of spans between neighbouring layers that cross.
pub(super) fn crossings(graph: &Layered) -> u64 {
    let rank = ranks(graph);
    let mut sum = 0;
    let mut ends: Vec<usize> = Vec::new();
    for (layer, items) in graph.layers.iter().enumerate() {
        ends.clear();
        for &index in items {
            let mut spans: Vec<(f64, usize)> = graph.after[index]
                .iter()
                .filter(|&&span| graph.spans[span].short)
                .map(|&span| (graph.spans[span].out, rank[graph.spans[span].to]))
                .collect();
            spans.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            ends.extend(spans.into_iter().map(|(_, to)| to));
        }
        let width = graph.layers.get(layer + 1).map_or(0, Vec::len);
        sum += inversions(&ends, width);
    }
    sum
}

/// Counts the pairs of numbers under `width` of which the greater stands first, using a tree of sums.
fn inversions(numbers: &[usize], width: usize) -> u64 {
    let mut tree = vec![0u64; width + 1];
    let mut sum = 0;
    for (seen, &number) in numbers.iter().enumerate() {
        let mut at = number + 1;
        let mut smaller = 0;
        while at > 0 {
            smaller += tree[at];
            at &= at - 1;
        }
        sum += seen as u64 - smaller;
        let mut at = number + 1;
        while at <= width {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    sum
}

/// Lets neighbours change places where that takes crossings away; `false` when the budget ends.
fn switch(graph: &mut Layered, budget: &mut Budget<'_>) -> Result<bool, Stopped> {
    let mut rank = ranks(graph);
    let mut sides = SpanEnds::default();
    let work = graph.items.len() + 4 * graph.spans.len();
    for _ in 0..MAX_ROUNDS {
        if !budget.spend(work)? {
            return Ok(false);
        }
        let mut changed = false;
        for layer in 0..graph.layers.len() {
            for at in 1..graph.layers[layer].len() {
                let (one, other) = (graph.layers[layer][at - 1], graph.layers[layer][at]);
                if graph.part[one] != graph.part[other] {
                    continue;
                }
                let (now, then) = sides.compare(graph, &rank, one, other);
                if then < now {
                    graph.layers[layer].swap(at - 1, at);
                    rank.swap(one, other);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    Ok(true)
}

/// Ends of the spans of two neighbours, from the top; kept so that a comparison allocates nothing.
#[derive(Default)]
struct SpanEnds {
    one: Vec<(usize, u64)>,
    other: Vec<(usize, u64)>,
}

impl SpanEnds {
    /// Counts the crossings between the spans of two neighbours, in their current order and swapped.
    fn compare(&mut self, graph: &Layered, rank: &[usize], one: usize, other: usize) -> (u64, u64) {
        let (mut now, mut then) = (0, 0);
        for before in [true, false] {
            ends(graph, rank, one, before, &mut self.one);
            ends(graph, rank, other, before, &mut self.other);
            now += above(&self.other, &self.one);
            then += above(&self.one, &self.other);
        }
        (now, then)
    }
}

/// Collects where the spans of an item end, on one side of it.
fn ends(graph: &Layered, rank: &[usize], index: usize, before: bool, found: &mut Vec<(usize, u64)>) {
    let spans = if before {
        &graph.before[index]
    } else {
        &graph.after[index]
    };
    found.clear();
    found.extend(
        spans
            .iter()
            .map(|&span| &graph.spans[span])
            .filter(|span| span.short)
            .map(|span| {
                if before {
                    (rank[span.from], span.out as u64)
                } else {
                    (rank[span.to], 0)
                }
            }),
    );
    found.sort_unstable();
}

/// Counts the pairs in which the one of `low` is above the one of `high`.
fn above(low: &[(usize, u64)], high: &[(usize, u64)]) -> u64 {
    let mut under = 0;
    let mut sum = 0;
    for end in low {
        while under < high.len() && high[under] <= *end {
            under += 1;
        }
        sum += (high.len() - under) as u64;
    }
    sum
}
