//! How good an arrangement is to look at: crossings of its wires and their length, as straight lines between the ports.
//! The interface's tests measure ELK the same way (`ui/src/canvas/layout-figures.ts`).

use super::boxes::{LayoutBox, Link};

/// The fewer the better, crossings first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Figures {
    pub(super) crossings: u64,
    pub(super) length: f64,
}

/// Measures places. A wire behind a box that is not at its end is a crossing, too. Wires that share an end do not cross
/// there; those that lead back have lanes of their own.
pub(super) fn figures(boxes: &[LayoutBox], links: &[Link], places: &[(f64, f64)]) -> Figures {
    let wires: Vec<[(f64, f64); 2]> = links
        .iter()
        .map(|link| {
            let ((x, y), (to, top)) = (places[link.from], places[link.to]);
            [
                (x + boxes[link.from].width, y + link.port),
                (to, top + boxes[link.to].port),
            ]
        })
        .collect();
    let forward: Vec<_> = wires.iter().filter(|[from, to]| to.0 >= from.0 + 8.0).collect();
    let mut crossings = 0;
    for (index, one) in forward.iter().enumerate() {
        for other in &forward[index + 1..] {
            let joined = one[0] == other[0] || one[1] == other[1] || one[1] == other[0];
            crossings += u64::from(!joined && cross(one, other));
        }
        let behind = boxes
            .iter()
            .zip(places)
            .filter(|(each, place)| is_behind(one, each, **place));
        crossings += behind.count() as u64;
    }
    let length = wires
        .iter()
        .map(|[a, b]| (b.0 - a.0).abs() + (b.1 - a.1).abs())
        .sum();
    Figures { crossings, length }
}

/// Returns whether a wire to the right passes between the left and the right side of a box at the box's height.
fn is_behind([from, to]: &[(f64, f64); 2], each: &LayoutBox, (x, y): (f64, f64)) -> bool {
    if x < from.0 || x + each.width > to.0 {
        return false;
    }
    let at = |place: f64| from.1 + (to.1 - from.1) * (place - from.0) / (to.0 - from.0);
    let (left, right) = (at(x), at(x + each.width));
    left.max(right) > y && left.min(right) < y + each.height
}

fn cross(one: &[(f64, f64); 2], other: &[(f64, f64); 2]) -> bool {
    let side = |[p, q]: &[(f64, f64); 2], r: (f64, f64)| {
        let turn = (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
        turn.partial_cmp(&0.0)
    };
    side(one, other[0]) != side(one, other[1]) && side(other, one[0]) != side(other, one[1])
}
