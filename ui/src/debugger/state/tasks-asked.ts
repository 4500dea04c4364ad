/** Somebody asked from elsewhere for the tasks of the selected node: the panel of the moment shows them when it is there. */
import { create } from "zustand";

export const useTasksAsked = create<{ readonly asked: boolean }>(() => ({ asked: false }));

export const askForTasks = (): void => useTasksAsked.setState({ asked: true });
