/** Class strings that several parts of the canvas share. */
import type { NoteColour } from "./notes";

export const canvasClass =
  "@container-size relative min-h-0 min-w-0 flex-1 overflow-clip bg-canvas focus-visible:outline-none focus-visible:after:pointer-events-none focus-visible:after:absolute focus-visible:after:inset-0 focus-visible:after:z-9 focus-visible:after:border focus-visible:after:border-focus";
/** Words by the pointer. */
export const wireHintClass =
  "absolute top-0 left-0 z-20 flex w-max max-w-76 gap-2 py-1.5 px-2.5 border border-failed rounded-md bg-surface-2 text-xs pointer-events-none";
export const cardClass =
  "group/card relative size-full cursor-default rounded-lg border border-line-strong bg-surface-2 text-text hover:border-line-field data-[state=asking]:border-asking data-[state=asking]:outline-1 data-[state=asking]:outline-asking data-[state=done]:border-[color-mix(in_oklab,var(--done)_60%,var(--line-strong))] data-[state=failed]:border-failed data-[state=failed]:outline-1 data-[state=failed]:outline-failed data-[state=next]:border-dashed data-[state=next]:border-running data-[state=running]:border-running data-[state=running]:outline-1 data-[state=running]:outline-running data-[state=waiting]:border-running data-selected:border-accent! data-selected:outline-2! data-selected:-outline-offset-1 data-selected:outline-accent! data-disabled:border-dashed data-disabled:border-line-field data-refused:border-dashed data-refused:border-failed data-[diff=added]:border-done! data-[diff=added]:outline-2 data-[diff=added]:outline-done data-[diff=removed]:border-dashed data-[diff=removed]:border-failed! data-[diff=removed]:outline-1 data-[diff=removed]:outline-failed data-[diff=changed]:border-asking! data-[diff=changed]:outline-2 data-[diff=changed]:outline-asking data-[lit=none]:opacity-35 data-[lit=reads]:border-accent data-[lit=writes]:border-accent data-[lit=both]:border-accent";
/** In the middle drawing it grows away from its port, as far as its word needs. */
export const endPillClass =
  "relative grid size-full cursor-default place-items-center rounded-[14px] border border-line-strong data-refused:border-dashed data-refused:border-failed bg-surface-2 text-xs font-semibold text-text-2 in-data-[drawing=middle]:absolute in-data-[drawing=middle]:top-1/2 in-data-[drawing=middle]:-translate-y-1/2 in-data-[drawing=middle]:data-[end=start]:right-0 in-data-[drawing=middle]:h-[max(100%,calc(16px*var(--unzoom)))] in-data-[drawing=middle]:w-[max(100%,calc(38px*var(--unzoom)))] in-data-[drawing=middle]:text-[length:calc(11px*var(--unzoom))]/none data-[state=running]:border-running data-[state=running]:outline-1 data-[state=running]:outline-running data-selected:border-accent! data-selected:outline-2! data-selected:-outline-offset-1 data-selected:outline-accent!";
/** In the middle drawing the head is all of the card over its ports; the name stands where the wires meet the card. */
export const cardHeadClass =
  "flex h-10.5 items-center gap-2 pr-2.5 pl-2 in-data-quiet:opacity-62 in-data-disabled:opacity-50 in-data-[drawing=middle]:absolute in-data-[drawing=middle]:inset-x-0 in-data-[drawing=middle]:top-0 in-data-[drawing=middle]:bottom-(--ports) in-data-[drawing=middle]:h-auto in-data-[drawing=middle]:items-start in-data-[drawing=middle]:pt-[max(1px,calc(21px-8.5px*var(--unzoom)))] in-data-[drawing=middle]:gap-[calc(4px*var(--unzoom))] in-data-[drawing=middle]:px-[calc(5px*var(--unzoom))]";
/** The name and what stands under it, beside the icon. */
export const cardWordsClass =
  "flex min-w-0 flex-1 flex-col in-data-[drawing=middle]:min-h-[calc(17px*var(--unzoom))] in-data-[drawing=middle]:justify-center";
export const cardNameClass =
  "text-[length:max(13px,calc(11.4px*var(--unzoom,1)))]/[17px] font-semibold truncate in-data-[drawing=middle]:text-[length:calc(12px*var(--unzoom))]/[1.15] in-data-[drawing=middle]:whitespace-normal in-data-[drawing=middle]:line-clamp-(--lines)";
/** In the middle drawing it makes room for a name that is not read whole beside it. */
export const cardIconClass =
  "flex-none grid place-items-center rounded-md bg-surface-4 text-text-2 size-7 in-data-[group=models]:bg-accent-soft in-data-[group=models]:text-accent-text in-data-[group=people]:bg-asking-soft in-data-[group=people]:text-asking in-data-[group=knowledge]:bg-done-soft in-data-[group=knowledge]:text-done in-data-[group=code]:bg-paused-soft in-data-[group=code]:text-paused in-data-[drawing=middle]:h-[calc(17px*var(--unzoom))] in-data-[drawing=middle]:[--spare:calc(214px-(31px+var(--name,0px))*var(--unzoom))] in-data-[drawing=middle]:[--wide:min(calc(17px*var(--unzoom)),calc(17px*var(--unzoom)+var(--spare)))] in-data-[drawing=middle]:w-[clamp(0px,calc((var(--wide)-11px*var(--unzoom))*999),var(--wide))] in-data-[drawing=middle]:mr-[clamp(calc(-4px*var(--unzoom)),calc((var(--wide)-11px*var(--unzoom))*999),0px)] in-data-[drawing=middle]:overflow-hidden in-data-[drawing=middle]:rounded-[calc(4px*var(--unzoom))] in-data-[drawing=middle]:[&_svg]:size-[max(0px,min(calc(12px*var(--unzoom)),var(--wide)))]";
export const cardSubClass =
  "flex gap-1.5 justify-between text-2xs/[15px] text-text-3 in-data-[drawing=middle]:hidden";
export const lineLabelClass =
  "line-label pointer-events-auto absolute top-0 left-0 h-5 origin-top-left overflow-x-clip text-ellipsis whitespace-nowrap rounded-[10px] border border-line-strong bg-surface-2 text-center font-mono leading-4.5 text-text-2 hover:border-line-field hover:text-text data-default:font-sans data-default:italic data-[form=each]:rounded-sm data-[form=when]:rounded-sm data-[state=active]:border-running data-[state=active]:text-running data-[state=taken]:border-edge-strong data-[state=taken]:text-text data-failed:border-failed! data-failed:text-failed! data-selected:border-accent! data-selected:bg-accent-soft data-selected:text-accent-text!";
export const disabledMarkClass =
  "absolute -top-3 left-2 inline-flex items-center gap-1 h-4 px-1.5 rounded-lg border border-line-field border-dashed bg-surface-2 text-[10px] font-semibold text-text-2 in-data-[drawing=middle]:origin-top-left in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)]";
export const portRowsClass =
  "in-data-disabled:opacity-50 absolute inset-x-0 bottom-0 border-t border-line py-1 pl-2.5 pr-3.5";
export const portCaptionClass =
  "block h-5 w-full truncate text-left font-mono text-[10.5px]/5 text-text-3 hover:text-text in-data-[drawing=middle]:invisible";
export const portRowClass =
  "flex h-5 items-center justify-end text-[length:clamp(11px,calc(11.4px*var(--unzoom,1)),20px)]/5 data-else:italic data-open:text-text-3 [&[data-open]_button]:text-text-3";
export const portLabelClass =
  "max-w-full overflow-x-clip text-ellipsis whitespace-nowrap rounded-[3px] px-1 in-data-small:opacity-0 text-text-2 hover:bg-surface-3 hover:text-text data-taken:font-semibold data-taken:text-text data-failed:text-failed! data-selected:bg-accent-soft data-selected:text-accent-text!";
/** Under the card that is pointed at or selected, at a size that can be read. */
export const waysClass =
  "pointer-events-none absolute top-full right-0 z-10 mt-[calc(3px*var(--unzoom))] hidden origin-top-right rounded-md border border-line-strong bg-surface-2 px-2 py-1 text-xs/4.5 whitespace-nowrap text-text-2 [scale:var(--unzoom)] group-hover/card:block group-data-selected/card:block";
/** The port of a failure; hollow while it leads nowhere. */
export const errorPortClass = "bg-failed! [&.port-open]:bg-surface-2! [&.port-open]:border-failed!";
/** A port that is there with the card that is pointed at or selected. */
export const hiddenPortClass =
  "pointer-events-none! opacity-0 group-hover/card:pointer-events-auto! group-hover/card:opacity-100 group-data-selected/card:pointer-events-auto! group-data-selected/card:opacity-100 [&.connectingfrom]:opacity-100 in-data-[drawing=middle]:hidden";
export const linePlusClass =
  "pointer-events-auto absolute top-0 left-0 z-5 grid size-5 origin-center place-items-center rounded-full border border-line-field bg-surface-2 text-text-2 hover:border-accent hover:bg-accent hover:text-surface-2";
export const lineCountClass =
  "absolute top-0 left-0 origin-top-left px-1 rounded-sm bg-canvas text-text-2 text-[length:max(11px,calc(11.4px*var(--unzoom,1)))]/[1.27] font-semibold pointer-events-none";
/** A difference between two versions: its sign in its colour. */
export const diffSignClass =
  "inline-grid size-4 flex-none place-items-center rounded-full border border-canvas bg-surface-4 font-mono text-xs/none font-bold text-canvas data-[diff=added]:bg-done data-[diff=removed]:bg-failed data-[diff=changed]:bg-asking in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)]";
/** A line of a graph that is compared, by the `data-diff` of what holds it. */
export const diffLineClass =
  "in-data-diff:stroke-[2.5]! in-data-[diff=added]:stroke-done! in-data-[diff=changed]:stroke-asking! in-data-[diff=removed]:stroke-failed! in-data-[diff=removed]:[stroke-dasharray:6_4]!";
/** A note, or the card of a folded frame. */
export const noteClass =
  "relative flex size-full flex-col overflow-hidden rounded-lg border text-text data-selected:border-accent! data-selected:outline-2! data-selected:-outline-offset-1 data-selected:outline-accent!";
export const noteCards: Readonly<Record<NoteColour, string>> = {
  yellow: "border-asking bg-asking-soft",
  green: "border-done bg-done-soft",
  blue: "border-running bg-running-soft",
  purple: "border-paused bg-paused-soft",
  red: "border-failed bg-failed-soft",
  gray: "border-line-field bg-surface-3",
};
