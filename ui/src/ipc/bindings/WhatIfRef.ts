export type WhatIfRef = { threadId: string, id: string };
