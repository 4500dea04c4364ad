export type OfflineAnswer = "recording" | "script";
