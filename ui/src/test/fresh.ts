/** Before each test file: modules and clock are new ones, as in a thread of its own. */
import { vi } from "vitest";

vi.resetModules();
vi.useRealTimers();
