export type WhatIfLimit = { seconds?: number, tokens?: number, cost?: number };
