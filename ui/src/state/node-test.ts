/** The node whose test was asked for: the head of the inspector asks, the test opens. */
import { create } from "zustand";

export const useTestAsked = create<{ node: string | null }>(() => ({ node: null }));

export const askForTest = (node: string): void => useTestAsked.setState({ node });
