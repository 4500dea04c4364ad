/** Puts the parts of the window together. No logic: what happens at the start is in `shell/boot.ts`. */
import { AppProviders } from "./components/AppProviders";
import { Shell } from "./shell/Shell";

export function App() {
  return (
    <AppProviders>
      <Shell />
    </AppProviders>
  );
}
