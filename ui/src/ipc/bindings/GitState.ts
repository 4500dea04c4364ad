
export type GitState = "none" | "new" | "tracked" | "refused";
