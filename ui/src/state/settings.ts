/** Which part of Settings is open; opened from menus, the palette and problems that settings can mend. */
import { create } from "zustand";

export type SettingsTab = "general" | "keyboard" | "connections" | "secrets" | "storage" | "trust";

export const useSettingsAsked = create<{ tab: SettingsTab | null }>(() => ({ tab: null }));

export const showSettings = (tab: SettingsTab = "general"): void => useSettingsAsked.setState({ tab });
