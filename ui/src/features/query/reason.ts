/** Why a moment was found, where no place in its state says so. */
import type { MomentReason } from "../../ipc/bindings/MomentReason";
import { t, type TextKey } from "../../lib/texts";

const REASONS: Readonly<Partial<Record<MomentReason, TextKey>>> = {
  title: "query.reason.title",
  error: "query.reason.error",
  question: "query.reason.question",
};

export function reasonText(reason: MomentReason): string | undefined {
  const key = REASONS[reason];
  return key === undefined ? undefined : t(key);
}
