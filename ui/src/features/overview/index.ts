export { OverviewDialog } from "./OverviewDialog";
