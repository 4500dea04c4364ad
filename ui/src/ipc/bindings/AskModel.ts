import type { CheckpointRef } from "./CheckpointRef";
import type { ModelRecording } from "./ModelRecording";
export type AskModel = { graphId: string, node?: string, at?: CheckpointRef, state: Record<string, any>, model: string, request: Record<string, any>, recording?: ModelRecording, work: string, };
