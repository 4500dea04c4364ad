/** The shapes that say what a checkpoint is: each is another without its colour. */
import type { Mark } from "../../debugger/timeline/forks";
import type { TextKey } from "../../lib/texts";

export type Shape = Mark | "bookmark";

export const SHAPES: readonly { readonly shape: Shape; readonly text: TextKey }[] = [
  { shape: "step", text: "forks.mark.step" },
  { shape: "input", text: "forks.mark.input" },
  { shape: "edit", text: "forks.mark.edit" },
  { shape: "fork", text: "forks.mark.fork" },
  { shape: "question", text: "forks.mark.question" },
  { shape: "answer", text: "forks.mark.answer" },
  { shape: "stop", text: "forks.mark.stop" },
  { shape: "error", text: "forks.mark.error" },
  { shape: "bookmark", text: "forks.mark.bookmark" },
];

type Pen = CanvasRenderingContext2D;

function path(pen: Pen, points: readonly (readonly [number, number])[], x: number, y: number): void {
  pen.beginPath();
  for (const [dx, dy] of points) pen.lineTo(x + dx, y + dy);
  pen.closePath();
}

/** A sign inside of a shape, in the colour of what is behind it. */
function sign(pen: Pen, x: number, y: number, color: string, lines: readonly (readonly number[])[]): void {
  pen.strokeStyle = color;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const [x1 = 0, y1 = 0, ...rest] of lines) {
    pen.moveTo(x + x1, y + y1);
    for (let at = 0; at < rest.length; at += 2) pen.lineTo(x + (rest[at] ?? 0), y + (rest[at + 1] ?? 0));
  }
  pen.stroke();
}

/** At most 14 pixels high and wide, around a point. */
export function shape(pen: Pen, kind: Shape, x: number, y: number, color: string, behind: string): void {
  pen.fillStyle = color;
  pen.strokeStyle = color;
  switch (kind) {
    case "input":
      path(
        pen,
        [
          [-5, -6],
          [6, 0],
          [-5, 6],
        ],
        x,
        y,
      );
      pen.fill();
      return;
    case "edit":
      path(
        pen,
        [
          [0, -6.5],
          [6.5, 0],
          [0, 6.5],
          [-6.5, 0],
        ],
        x,
        y,
      );
      pen.fill();
      return;
    case "fork":
      pen.beginPath();
      pen.arc(x, y, 4.5, 0, Math.PI * 2);
      pen.fillStyle = behind;
      pen.fill();
      pen.lineWidth = 2.5;
      pen.stroke();
      return;
    case "question":
      // A speech bubble that nobody has answered: empty but for its mark.
      path(
        pen,
        [
          [-7, -6.5],
          [7, -6.5],
          [7, 4],
          [-1, 4],
          [-4, 7],
          [-4, 4],
          [-7, 4],
        ],
        x,
        y,
      );
      pen.fill();
      sign(pen, x, y, behind, [
        [-2.2, -3, 0, -4.6, 2.2, -3, 0, -0.8, 0, -0.2],
        [0, 1.8, 0, 2],
      ]);
      return;
    case "answer":
      path(
        pen,
        [
          [-7, -6.5],
          [7, -6.5],
          [7, 4],
          [4, 4],
          [4, 7],
          [1, 4],
          [-7, 4],
        ],
        x,
        y,
      );
      pen.fill();
      sign(pen, x, y, behind, [[-3, -1.2, -0.8, 1, 3.2, -3.6]]);
      return;
    case "stop":
      path(
        pen,
        [
          [-2.8, -6.5],
          [2.8, -6.5],
          [6.5, -2.8],
          [6.5, 2.8],
          [2.8, 6.5],
          [-2.8, 6.5],
          [-6.5, 2.8],
          [-6.5, -2.8],
        ],
        x,
        y,
      );
      pen.fill();
      sign(pen, x, y, behind, [
        [-1.8, -2.6, -1.8, 2.6],
        [1.8, -2.6, 1.8, 2.6],
      ]);
      return;
    case "error":
      pen.beginPath();
      pen.roundRect(x - 6, y - 6, 12, 12, 2);
      pen.fill();
      sign(pen, x, y, behind, [
        [-2.6, -2.6, 2.6, 2.6],
        [2.6, -2.6, -2.6, 2.6],
      ]);
      return;
    case "bookmark":
      path(
        pen,
        [
          [-3, -5],
          [3, -5],
          [3, 4],
          [0, 1.5],
          [-3, 4],
        ],
        x,
        y,
      );
      pen.fill();
      pen.strokeStyle = behind;
      pen.lineWidth = 1;
      pen.stroke();
      return;
    default:
      pen.beginPath();
      pen.arc(x, y, 4.5, 0, Math.PI * 2);
      pen.fill();
  }
}
