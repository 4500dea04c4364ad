export type WhatIfScorer = { expression?: string, model?: string, rubric?: string };
