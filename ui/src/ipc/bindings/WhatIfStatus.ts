export type WhatIfStatus = "queued" | "running" | "done" | "asked" | "held" | "failed" | "limit" | "stopped";
