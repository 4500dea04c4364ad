/** Dialogs of the window, each drawn while it is asked for, and what follows the graph without being seen. */
import { FindDialogs } from "../features/find";
import { SettingsDialog } from "../features/settings";
import { StorageDialogs } from "../features/storage";
import { MemoryDialog } from "../features/memory";
import { QueryDialog, ProbeDialog } from "../features/query";
import { OverviewDialog } from "../features/overview";
import { PlaygroundDialog } from "../features/playground";
import { CheckDialog, InvariantKeeper } from "../features/invariants";
import { AddRowDialog, EvaluationKeeper, EvaluationsDialog } from "../features/evaluations";
import { MakeTestDialog, TestKeeper, TestsDialog } from "../features/tests";
import { StaleKeeper } from "../features/state-view";
import { WhatIfDialog } from "../features/what-if";
import { ExportDialog, CodeDialog } from "../features/export";
import { VariantDialogs } from "../features/inspector/VariantsMenu";
import { BlockDialog, ExtractDialog, ImportDialog } from "../features/structure";
import { TypesDialog } from "../features/state-schema";
import { EffectsDialog, HotEditDialog } from "../features/run";
import { TrustDialogs } from "../features/trust";
import { TakeOverDialog } from "../features/take-over";
import { BreakpointDialog } from "../features/breakpoints";
import { PriceDialog } from "../features/connections";
import { SeenDialogs } from "../features/seen";
import { HelpDialogs } from "../features/help";

export function Dialogs() {
  return (
    <>
      <FindDialogs />
      <SettingsDialog />
      <StorageDialogs />
      <MemoryDialog />
      <QueryDialog />
      <OverviewDialog />
      <PlaygroundDialog />
      <ProbeDialog />
      <CheckDialog />
      <InvariantKeeper />
      <MakeTestDialog />
      <TestsDialog />
      <TestKeeper />
      <EvaluationsDialog />
      <AddRowDialog />
      <EvaluationKeeper />
      <StaleKeeper />
      <WhatIfDialog />
      <ExportDialog />
      <CodeDialog />
      <VariantDialogs />
      <BlockDialog />
      <ExtractDialog />
      <ImportDialog />
      <TypesDialog />
      <EffectsDialog />
      <HotEditDialog />
      <TrustDialogs />
      <TakeOverDialog />
      <BreakpointDialog />
      <PriceDialog />
      <SeenDialogs />
      <HelpDialogs />
    </>
  );
}
