/** Copies an answer as text for a report: the same button on every answer, in the window's words. */
import { Check, ClipboardCopy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../../components/IconButton";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { copyText } from "./CopyButton";

interface Props {
  /** What the answer says, as Markdown. */
  text(): string;
}

export function CopyAnswer({ text }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1200);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : ClipboardCopy;
  return (
    <IconButton
      size="small"
      label={t(copied ? "report.copied" : "report.copy")}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text()).then(setCopied);
      }}
      data-testid={debugIds.copyAnswer}
    >
      <Icon size={14} aria-hidden />
    </IconButton>
  );
}
