/** Searches that have a name: opening, saving and removing them. All windows have the same. */
import { Bookmark, BookmarkPlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Menu } from "../../components/Menu";
import { TextField } from "../../components/TextField";
import { queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { MOST_SAVED, queryOf, requestOf, savedOf, withSaved, type Query } from "./query";

export function SavedQueries({ query, onOpen }: { query: Query; onOpen(query: Query): void }) {
  const saved = useSession((session) => session.appInfo?.settings.queries) ?? [];
  const setSettings = useSession((session) => session.setSettings);
  const [name, setName] = useState<string | null>(null);
  const asks = requestOf(query, "", 0) !== null;
  const save = () => {
    const title = name?.trim() ?? "";
    setName(null);
    if (title === "") return;
    const next = withSaved(saved, savedOf(query, title));
    if (next.length > MOST_SAVED) showToast({ tone: "info", text: t("query.saved.many", { n: MOST_SAVED }) });
    else void setSettings({ queries: next });
  };
  return (
    <div className="flex min-h-7 shrink-0 items-center gap-1">
      <Menu
        trigger={
          <Button
            size="small"
            variant="ghost"
            icon={<Bookmark size={13} aria-hidden />}
            disabled={saved.length === 0}
            data-testid={queryIds.saved}
          >
            {t("query.saved")}
          </Button>
        }
        entries={[
          ...saved.map((one) => ({
            id: `open-${one.name}`,
            label: one.name,
            run: () => onOpen(queryOf(one)),
          })),
          { id: "line", separator: true as const },
          { id: "remove", heading: t("query.saved.remove") },
          ...saved.map((one) => ({
            id: `remove-${one.name}`,
            label: one.name,
            icon: <Trash2 size={13} aria-hidden />,
            run: () => void setSettings({ queries: saved.filter((other) => other !== one) }),
          })),
        ]}
      />
      {name === null ? (
        <Button
          size="small"
          variant="ghost"
          icon={<BookmarkPlus size={13} aria-hidden />}
          disabled={!asks}
          onClick={() => setName("")}
          data-testid={queryIds.save}
        >
          {t("query.saved.save")}
        </Button>
      ) : (
        <TextField
          autoFocus
          className="max-w-60"
          aria-label={t("query.saved.name")}
          placeholder={t("query.saved.name")}
          value={name}
          onChange={setName}
          onCommit={save}
          data-testid={queryIds.saveName}
        />
      )}
    </div>
  );
}
