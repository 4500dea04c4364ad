/** The storage dialog with its tabs, and the two small questions that menus ask. */
import { Database, HardDrive, ShieldCheck, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { Tabs } from "../../components/Tabs";
import { TextArea, TextField } from "../../components/TextField";
import { rpc } from "../../ipc/client";
import { storageIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { askBookmark, askPrune, showStorage, useStorageAsked, type StorageTab } from "../../state/storage";
import { showProblem } from "../../state/toasts";
import { CheckTab } from "./CheckTab";
import { CleanTab } from "./CleanTab";
import { DatabaseTab } from "./DatabaseTab";
import { PruneDialog } from "./Prune";
import { SizeTab } from "./SizeTab";

const ICONS = { size: HardDrive, clean: Trash2, check: ShieldCheck, database: Database };
const TABS = ["size", "clean", "check", "database"] as const satisfies readonly StorageTab[];

export function StorageDialogs() {
  const tab = useStorageAsked((asked) => asked.tab);
  const prune = useStorageAsked((asked) => asked.prune);
  const bookmark = useStorageAsked((asked) => asked.bookmark);
  useEffect(
    () =>
      registerCommands([
        {
          id: "storage.open",
          title: t("storage.open"),
          group: t("storage.group"),
          run: () => showStorage("size"),
        },
      ]),
    [],
  );
  return (
    <>
      <Dialog
        open={tab !== null}
        onClose={() => useStorageAsked.setState({ tab: null })}
        title={t("storage.title")}
        size="large"
        data-testid={storageIds.dialog}
      >
        {tab !== null && (
          <div className="flex flex-col h-[min(620px,calc(100vh-170px))] min-h-0">
            <Tabs
              label={t("storage.title")}
              value={tab}
              onChange={(next) => useStorageAsked.setState({ tab: next as StorageTab })}
              tabs={TABS.map((id) => {
                const Icon = ICONS[id];
                return { id, label: t(`storage.tab.${id}`), icon: <Icon size={13} aria-hidden /> };
              })}
            />
            <div
              className="flex flex-1 flex-col gap-3 min-h-0 pt-3 overflow-y-auto"
              data-testid={storageIds.tab(tab)}
            >
              {tab === "size" && <SizeTab />}
              {tab === "clean" && <CleanTab />}
              {tab === "check" && <CheckTab />}
              {tab === "database" && <DatabaseTab />}
            </div>
          </div>
        )}
      </Dialog>
      {prune !== null && <PruneDialog {...prune} onClose={() => askPrune(null)} />}
      {bookmark !== null && <BookmarkDialog {...bookmark} onClose={() => askBookmark(null)} />}
    </>
  );
}

interface BookmarkProps {
  threadId: string;
  checkpointId: string;
  name: string;
  note: string;
  onClose(): void;
}

function BookmarkDialog({ threadId, checkpointId, name, note, onClose }: BookmarkProps) {
  const [text, setText] = useState(name);
  const [about, setAbout] = useState(note);
  const set = async () => {
    try {
      await rpc("thread.bookmark", {
        threadId,
        checkpointId,
        name: text,
        ...(about.trim() !== "" && { note: about }),
      });
      onClose();
    } catch (problem) {
      showProblem(problem);
    }
  };
  return (
    <FormDialog
      onClose={onClose}
      title={t(name === "" ? "storage.bookmark.title" : "storage.bookmark.editTitle")}
      description={t("storage.bookmark.text")}
      save={t(name === "" ? "storage.bookmark.set" : "storage.bookmark.save")}
      isDone={text.trim() !== ""}
      onSave={() => void set()}
      className="gap-3"
      data-testid={storageIds.bookmark}
    >
      <Field label={t("storage.bookmark.name")}>
        <TextField value={text} onChange={setText} data-testid={storageIds.bookmarkName} />
      </Field>
      <Field label={t("storage.bookmark.note")}>
        <TextArea
          value={about}
          onChange={setAbout}
          minRows={3}
          maxRows={10}
          data-testid={storageIds.bookmarkNote}
        />
      </Field>
    </FormDialog>
  );
}
