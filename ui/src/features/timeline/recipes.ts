/** What comes after the moment that is shown: its words stay readable, its marks are faint. */
export const LATER = "text-text-2 italic [&_svg]:opacity-50";

/** How high a row is. */
export const ROW = 28;
