/** The graph as a picture: how it will look, in which theme, and where it goes. */
import { ClipboardCopy, Download } from "lucide-react";
import { useEffect, useState } from "react";
import { hasMarks, pngScale, withFonts, type Drawn, type Theme } from "../../canvas/picture";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { EmptyState } from "../../components/EmptyState";
import { hintClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { structureIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { copyPicture, drawNow, lookNow, savePicture, usePictureLook, type PictureForm } from "./picture";

const THEMES: readonly Theme[] = ["light", "dark"];

type Work = PictureForm | "copy";

export function PictureTab() {
  const look = usePictureLook();
  const { theme, marks } = lookNow();
  const [drawn, setDrawn] = useState<Drawn | null | undefined>();
  useEffect(() => {
    let live = true;
    void look;
    void drawNow().then((next) => live && setDrawn(next));
    return () => {
      live = false;
    };
  }, [look]);
  const [working, setWorking] = useState<Work | null>(null);
  const scale = drawn ? pngScale(drawn) : null;
  const doing = (work: Work, run: () => Promise<unknown>) => () => {
    setWorking(work);
    void run().finally(() => setWorking(null));
  };
  if (drawn === undefined) return <Spinner label={t("picture.drawing")} />;
  if (drawn === null) return <EmptyState title={t("picture.empty")}>{t("picture.emptyHelp")}</EmptyState>;
  return (
    <div className="flex min-h-0 flex-col gap-3 pt-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Tabs
          look="segmented"
          label={t("picture.theme")}
          value={theme}
          onChange={(next) => usePictureLook.setState({ theme: next as Theme })}
          tabs={THEMES.map((id) => ({ id, label: t(`picture.theme.${id}`) }))}
        />
        {hasMarks() && (
          <Checkbox
            checked={marks}
            onChange={(next) => usePictureLook.setState({ marks: next })}
            data-testid={structureIds.pictureMarks}
          >
            {t("picture.marks")}
          </Checkbox>
        )}
        <Checkbox
          checked={look.carry}
          onChange={(next) => usePictureLook.setState({ carry: next })}
          data-testid={structureIds.pictureCarry}
        >
          {t("picture.carry")}
        </Checkbox>
      </div>
      {look.carry && <p className={hintClass}>{t("picture.carryHelp")}</p>}
      <Preview drawn={drawn} />
      <p className={hintClass} data-testid={structureIds.pictureSize}>
        {scale === null
          ? `${t("picture.tooLarge")} ${t("picture.tooLarge.remedy")}`
          : t("picture.size", {
              width: Math.round(drawn.width * scale),
              height: Math.round(drawn.height * scale),
            })}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          icon={<ClipboardCopy size={14} aria-hidden />}
          busy={working === "copy"}
          disabled={scale === null}
          onClick={doing("copy", copyPicture)}
          data-testid={structureIds.pictureCopy}
        >
          {t("picture.copy")}
        </Button>
        {(["svg", "png"] as const).map((form) => (
          <Button
            key={form}
            variant={form === "png" ? "primary" : "secondary"}
            icon={<Download size={14} aria-hidden />}
            busy={working === form}
            disabled={form === "png" && scale === null}
            onClick={doing(form, () => savePicture(form))}
            data-testid={structureIds.pictureSave(form)}
          >
            {t(`picture.save.${form}`)}
          </Button>
        ))}
      </div>
    </div>
  );
}

function Preview({ drawn }: { drawn: Drawn }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let live = true;
    void withFonts(drawn).then((svg) => {
      if (!live) return;
      made = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      setUrl(made);
    });
    return () => {
      live = false;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [drawn]);
  return (
    <div className="grid h-72 min-h-0 place-items-center overflow-hidden rounded-md border border-line bg-surface-0 p-2">
      {url !== null && (
        <img
          src={url}
          alt={t("picture.preview")}
          className="max-h-full max-w-full object-contain"
          data-testid={structureIds.picturePreview}
        />
      )}
    </div>
  );
}
