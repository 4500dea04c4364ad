/** Copies a text and says so on itself, without a note elsewhere. */
import { Check, Copy, Link2 } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../../components/IconButton";
import { showToast } from "../../state/toasts";
import { t } from "../../lib/texts";

/** Copying can be refused (no permission, no focus); then it must not look done. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) showToast({ tone: "problem", text: t("debug.copy.refused") });
    return done;
  }
}

interface Props {
  text: string | (() => string);
  label: string;
  size?: number;
  /** A path has another icon than a value: the two often stand side by side. */
  path?: boolean;
}

export function CopyButton({ text, label, size = 13, path = false }: Props) {
  const Icon = path ? Link2 : Copy;
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1200);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      size="small"
      label={copied ? t("debug.copy.done") : label}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(typeof text === "function" ? text() : text).then(setCopied);
      }}
    >
      {copied ? <Check size={size} /> : <Icon size={size} />}
    </IconButton>
  );
}
