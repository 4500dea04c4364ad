/** The name of a thread while it is changed. */
import { useRef, useState } from "react";
import { noteThread } from "../../debugger/model/thread-list";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { showProblem } from "../../state/toasts";

export function RenameThread({ thread, onDone }: { thread: ThreadView; onDone(): void }) {
  const [title, setTitle] = useState(thread.title);
  const done = useRef(false);
  const commit = async () => {
    if (done.current) return;
    done.current = true;
    onDone();
    const next = title.trim();
    if (next === "" || next === thread.title) return;
    try {
      noteThread(await rpc("thread.rename", { threadId: thread.threadId, title: next }));
    } catch (problem) {
      showProblem(problem);
    }
  };
  return (
    <input
      className="w-full rounded-sm border border-line-field bg-surface-2 px-1 text-sm"
      value={title}
      autoFocus
      spellCheck
      aria-label={t("debug.rename")}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setTitle(event.target.value)}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onBlur={() => void commit()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") void commit();
        if (event.key === "Escape") {
          done.current = true;
          onDone();
        }
      }}
    />
  );
}
