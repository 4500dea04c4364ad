//! Places of nodes in layers, for graphs that are too large for the interface to arrange by itself: `graph.arrange`. It
//! knows boxes and the links between them, no documents and no canvas. Its work has a bound, can be stopped, and for the
//! same boxes and links gives the same places.

pub(crate) mod boxes;
mod figures;
mod layers;
mod order;
mod places;

use std::sync::Arc;

use self::boxes::{Budget, End, LayoutBox, Link, Stopped};
use crate::Workbench;
use crate::base::blocking;
use crate::wire::{ArrangeGraph, Arranged, Problem};
use superstep_document::text;

/// More boxes or links than this are refused: no canvas shows them.
const MAX_PARTS: usize = 400_000;

/// Computes the left and upper sides of all boxes, in layers from left to right.
pub(crate) fn arrange(
    boxes: &[LayoutBox],
    links: &[Link],
    budget: &mut Budget<'_>,
) -> Result<Vec<(f64, f64)>, Stopped> {
    let mut layered = layers::layered(boxes, links);
    let orders = order::orders(&mut layered, budget)?;
    let mut best: Option<(figures::Figures, Vec<(f64, f64)>)> = None;
    for order in orders {
        layered.layers = order;
        let found = places::positions(boxes, &layered, &places::heights(&layered, budget)?);
        // Of a large graph the order with the fewest crossings is taken as it is.
        if links.len() > MAX_COMPARED {
            return Ok(found);
        }
        let (figures, found) = polished(boxes, links, &mut layered, found, budget)?;
        if best.as_ref().is_none_or(|(least, _)| figures < *least) {
            best = Some((figures, found));
        }
    }
    Ok(best.map(|(_, places)| places).unwrap_or_default())
}

/// Changes neighbours of a layer as long as the drawing gets better by it: fewest crossings of the order are not yet
/// fewest in the drawing, where long links are not bent.
fn polished(
    boxes: &[LayoutBox],
    links: &[Link],
    layered: &mut layers::Layered,
    mut places: Vec<(f64, f64)>,
    budget: &mut Budget<'_>,
) -> Result<(figures::Figures, Vec<(f64, f64)>), Stopped> {
    let mut best = figures::figures(boxes, links, &places);
    loop {
        let before = best;
        for layer in 0..layered.layers.len() {
            for at in 1..layered.layers[layer].len() {
                if best.crossings == 0 || !budget.spend(links.len() * links.len())? {
                    return Ok((best, places));
                }
                layered.layers[layer].swap(at - 1, at);
                let other = places::positions(boxes, layered, &places::heights(layered, budget)?);
                let figures = figures::figures(boxes, links, &other);
                if figures < best {
                    (best, places) = (figures, other);
                } else {
                    layered.layers[layer].swap(at - 1, at);
                }
            }
        }
        if best >= before {
            return Ok((best, places));
        }
    }
}

/// With more links than this only one order is placed: comparing the drawings would cost too much.
const MAX_COMPARED: usize = 120;

/// What an arrangement may cost: some seconds of work for ten thousand boxes.
const MAX_COST: u64 = 40_000_000;

impl Workbench {
    pub(crate) async fn graph_arrange(self: &Arc<Self>, request: ArrangeGraph) -> Result<Arranged, Problem> {
        let (boxes, links) = read(&request)?;
        let workbench = self.clone();
        blocking(move || {
            let job = workbench.job(request.work);
            let on_progress = |done, total| job.at(done, total);
            let positions =
                arrange(&boxes, &links, &mut Budget::new(MAX_COST, &on_progress)).map_err(|Stopped| {
                    Problem::new(
                        "cancelled",
                        text!("The arrangement was cancelled. The nodes stay where they are."),
                    )
                })?;
            Ok(Arranged {
                positions: positions.into_iter().map(|(x, y)| [x, y]).collect(),
            })
        })
        .await?
    }
}

/// Reads the boxes and links of a request, whose numbers may be anything.
fn read(request: &ArrangeGraph) -> Result<(Vec<LayoutBox>, Vec<Link>), Problem> {
    let count = request.boxes.len();
    if count > MAX_PARTS || request.links.len() > MAX_PARTS {
        return Err(Problem::invalid(text!(
            "A graph of more than {most} nodes or edges cannot be arranged.",
            most = MAX_PARTS
        ))
        .remedy(text!("Arrange a selection of its nodes.")));
    }
    let size = |value: f64| {
        if value.is_finite() {
            value.clamp(0.0, 100_000.0)
        } else {
            0.0
        }
    };
    let boxes = request
        .boxes
        .iter()
        .map(|each| LayoutBox {
            width: size(each.width),
            height: size(each.height),
            port: size(each.port),
            end: match (each.first, each.last) {
                (true, _) => Some(End::First),
                (_, true) => Some(End::Last),
                _ => None,
            },
        })
        .collect();
    let links = request.links.iter().map(|link| {
        let known = (link.from as usize) < count && (link.to as usize) < count;
        known
            .then_some(Link {
                from: link.from as usize,
                to: link.to as usize,
                port: size(link.port),
            })
            .ok_or_else(|| Problem::invalid(text!("A link names a box that is not in the list.")))
    });
    Ok((boxes, links.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests;
