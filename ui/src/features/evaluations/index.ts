/** Evaluations of the open graph: rows of a data set through its variants, counted and compared. */
export { AddRowDialog } from "./AddRowDialog";
export { EvaluationKeeper } from "./EvaluationKeeper";
export { EvaluationsDialog } from "./EvaluationsDialog";
