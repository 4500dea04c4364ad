export type WhatIfBranch = { grid: string, row: number, repeat: number };
