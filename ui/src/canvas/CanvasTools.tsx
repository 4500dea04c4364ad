/** The floating tools: zoom, fit, arrange, minimap. */
import { Map as MapIcon, Maximize, Minus, Network, Plus } from "lucide-react";
import { IconButton } from "../components/IconButton";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { LineLegend } from "./LineLegend";
import { ZoomValue } from "./layers";
import { useMinimap } from "./store";
import type { ViewHub } from "./view";

const key = (id: string) => shortcutOf(id);

export function CanvasTools({ hub }: { hub: ViewHub }) {
  const minimap = useMinimap();
  return (
    <div
      className="absolute left-2 bottom-2 z-10 flex max-w-[calc(100%-16px)] flex-wrap items-center gap-0.5 p-0.5 border border-line rounded-lg bg-surface-1"
      role="toolbar"
      aria-label={t("canvas.tools")}
      data-testid={shellIds.canvasTools}
    >
      <IconButton
        size="small"
        side="top"
        label={t("canvas.zoomOut")}
        shortcut={key("view.zoomOut")}
        onClick={() => runCommand("view.zoomOut")}
        data-testid={shellIds.zoomOut}
      >
        <Minus size={14} aria-hidden />
      </IconButton>
      <button
        type="button"
        className="min-w-11.5 h-5.5 pointer-coarse:h-6 rounded-sm text-text-2 text-xs/inherit text-center hover:bg-surface-3 hover:text-text"
        title={t("canvas.actualSize")}
        onClick={() => runCommand("view.actualSize")}
        data-testid={shellIds.zoomValue}
      >
        <ZoomValue hub={hub} />
      </button>
      <IconButton
        size="small"
        side="top"
        label={t("canvas.zoomIn")}
        shortcut={key("view.zoomIn")}
        onClick={() => runCommand("view.zoomIn")}
        data-testid={shellIds.zoomIn}
      >
        <Plus size={14} aria-hidden />
      </IconButton>
      <span className="w-px h-3.5 mx-0.75 bg-line" />
      <IconButton
        size="small"
        side="top"
        label={t("shell.menu.fit")}
        shortcut={key("view.fit")}
        onClick={() => runCommand("view.fit")}
        data-testid={shellIds.fit}
      >
        <Maximize size={14} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        side="top"
        label={t("shell.menu.layout")}
        shortcut={key("view.layout")}
        onClick={() => runCommand("view.layout")}
        data-testid={shellIds.autoLayout}
      >
        <Network size={14} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        side="top"
        label={t("canvas.minimap")}
        shortcut={key("view.minimap")}
        pressed={minimap}
        onClick={() => runCommand("view.minimap")}
      >
        <MapIcon size={14} aria-hidden />
      </IconButton>
      <LineLegend />
      <a
        className="px-1 text-[10px] text-text-3 hover:text-text-2 [@container_(max-width:420px)]:hidden"
        href="https://reactflow.dev"
        target="_blank"
        rel="noopener noreferrer"
      >
        React Flow
      </a>
    </div>
  );
}
