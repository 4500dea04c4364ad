/** Class strings that several components share. The look of a single component is written in that component. */
const ICON_BUTTON =
  "inline-flex shrink-0 items-center justify-center border transition-[background-color] data-disabled:cursor-not-allowed data-disabled:opacity-50";

const ICON_VARIANTS = {
  ghost:
    "border-transparent text-text-2 aria-pressed:bg-accent-soft aria-pressed:text-accent-text not-data-disabled:hover:bg-surface-3 not-data-disabled:hover:text-text not-data-disabled:active:bg-surface-4 data-popup-open:bg-surface-4",
  secondary:
    "border-line-strong bg-surface-2 text-text-2 aria-pressed:text-accent-text not-data-disabled:hover:bg-surface-3 not-data-disabled:hover:text-text not-data-disabled:active:bg-surface-4",
  primary:
    "border-transparent bg-accent text-on-accent not-data-disabled:hover:bg-surface-3 not-data-disabled:hover:text-text not-data-disabled:active:bg-surface-4",
  danger:
    "border-transparent text-text-2 not-data-disabled:hover:bg-failed-soft not-data-disabled:hover:text-failed",
};

const ICON_SIZES = { small: "size-5.5 rounded-sm pointer-coarse:size-6", normal: "size-7 rounded-md" };

/** A button that is only an icon. */
export function iconButton(
  size: keyof typeof ICON_SIZES = "normal",
  variant: keyof typeof ICON_VARIANTS = "ghost",
): string {
  return `${ICON_BUTTON} ${ICON_SIZES[size]} ${ICON_VARIANTS[variant]}`;
}

export const helpClass =
  "text-2xs text-text-3 text-pretty wrap-anywhere [&_code]:text-2xs/inherit [&_code]:px-0.75 [&_code]:rounded-[3px] [&_code]:bg-surface-4 [&_code]:text-text-2";
export const problemsClass =
  "[&_code]:text-2xs/inherit [&_code]:px-0.75 [&_code]:rounded-[3px] [&_code]:bg-surface-4 [&_code]:text-text-2 flex flex-col gap-0.5 text-xs [&_li]:flex [&_li]:gap-1.25 [&_li]:text-failed [&_li]:wrap-anywhere [&_li[data-severity=warning]]:text-asking [&_li[data-severity=hint]]:text-text-3 [&_svg]:shrink-0 [&_svg]:mt-0.5";
export const inspectorSentenceClass =
  "[&_code]:text-2xs/inherit [&_code]:px-0.75 [&_code]:rounded-[3px] [&_code]:bg-surface-4 [&_code]:text-text-2 py-2 px-2.5 rounded-md bg-surface-3 text-xs/4.5 text-text wrap-anywhere text-pretty";
/** The frame of a control that is written in. */
export const inputClass =
  "flex min-h-7 w-full min-w-0 items-center gap-1.5 rounded-md border border-line-field bg-surface-2 text-left text-text not-focus-within:hover:border-text-3 focus-within:border-focus focus-within:outline-1 focus-within:outline-offset-0 focus-within:outline-focus has-aria-invalid:border-failed aria-invalid:border-failed data-disabled:opacity-60 data-invalid:border-failed";

/** The text in that frame. */
export const inputTextClass = (mono = false): string => (mono ? "font-mono text-xs/4.5" : "text-sm/4.5");

/** The element in that frame that takes the keys. */
export const innerInputClass = "h-6.5 min-w-0 flex-1 bg-transparent text-inherit outline-none";

export const popupClass =
  "outline-none bg-surface-2 text-text border border-line rounded-lg shadow-popup text-sm/4.5 select-none";
export const optionClass =
  "outline-none flex items-start gap-1.5 py-1.25 pr-2 pl-1.5 rounded-[5px] [&>svg]:shrink-0 [&>svg]:mt-0.5 [&>svg]:text-text-2 data-highlighted:bg-surface-3 data-disabled:opacity-50";
export const menuHeadingClass = "pt-1.5 px-2 pb-0.5 text-2xs font-semibold text-text-3";
/** Beside what is not in its file; quiet where only places of nodes are not. */
export const dirtyDotClass =
  "size-1.75 flex-none rounded-full bg-asking data-moved:border data-moved:border-text-3 data-moved:bg-transparent";
/** What a node stands among, beside its name in a search. */
export const searchCategoryClass = "ml-1.5 shrink-0 text-[10px]/inherit font-normal text-text-3";
export const groupClass = "flex flex-col gap-2.5 pl-2.5 border-l-2 border-line min-w-0";
export const itemsClass = "flex flex-col gap-1.5 min-w-0";
export const itemClass = "flex gap-1 items-start min-w-0";
export const cardClass = "border border-line rounded-md bg-surface-1 min-w-0";
/** Around a card whose head holds fields, not a title to press. */
export const fieldCardClass =
  "min-w-0 rounded-md border border-line bg-surface-1 [&>:first-child]:pt-2 [&>:first-child]:pr-1 [&>:first-child]:pb-1.5 [&>:first-child]:pl-2.5";
export const cardHeadClass = "flex items-center gap-1 min-h-7.5 pr-1 pl-0.5";
export const cardToggleClass =
  "flex items-center gap-1 flex-1 min-w-0 h-7 px-1 rounded-sm text-left text-xs/inherit [&>svg]:text-text-3 [&>svg]:shrink-0";
export const cardTitleClass = "truncate [&_b]:font-medium [&_b]:mr-1.5 [&_b]:text-text-3 [&_b]:tabular-nums";
export const cardBodyClass = "flex flex-col gap-2.5 pt-0.5 px-2.5 pb-2.5";
export const panelClass = "flex flex-col h-full min-h-0 min-w-0 bg-surface-1";
export const panelBarClass = "flex items-center gap-1.5 p-2 shrink-0";
export const sectionClass = "flex min-w-0 flex-col gap-2.5 p-3 not-first:border-t not-first:border-line";
export const sectionTitleClass =
  "flex items-center justify-between gap-2 min-h-5.5 text-xs font-semibold text-text";
export const linkClass = "text-accent-text underline underline-offset-2 decoration-1 rounded-[3px]";
export const inspectorHeadClass = "flex min-w-0 items-start gap-1 [&>button]:mt-0.75";
export const inspectorEdgeNameClass =
  "flex flex-wrap items-center gap-y-1 gap-x-1.5 flex-1 min-w-0 min-h-7 text-base font-semibold wrap-anywhere";
export const settingsRowClass = "flex items-center justify-between gap-3 min-h-7 [&>span]:shrink-0";
export const settingsPartClass =
  "flex flex-col gap-2 pt-2.5 pb-3.5 [&+&]:border-t [&+&]:border-line [&>h3]:text-xs/inherit [&>h3]:font-semibold [&>h3]:text-text-2";
export const hintClass = "text-xs/[17px] text-text-3 text-pretty";
export const storageFormClass =
  "flex flex-col gap-3 max-w-140 [&_:is(section,form)]:flex [&_:is(section,form)]:flex-col [&_:is(section,form)]:items-stretch [&_:is(section,form)]:gap-2 [&_section>button]:self-start [&_h3]:text-xs/inherit [&_h3]:font-semibold [&_h3]:text-text-2";
export const storageActionsClass = "flex items-center gap-2 pt-1";

/** Of a list, the frame of the focus is round the row that its keys are for: round the list, its rows would lie over it. */
export const rowsClass =
  "focus-visible:-outline-offset-2 focus-visible:has-[[aria-selected=true]]:outline-none focus-visible:[&_[aria-selected=true]]:outline-2 focus-visible:[&_[aria-selected=true]]:-outline-offset-2 focus-visible:[&_[aria-selected=true]]:outline-focus";
