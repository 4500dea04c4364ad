/** Puts the parts of the window together, again for each language. No logic: what happens at the start is in `shell/boot.ts`. */
import { AppProviders } from "./components/AppProviders";
import { Shell } from "./shell/Shell";
import { useSpoken } from "./state/language";

export function App() {
  const spoken = useSpoken((language) => language.spoken);
  return (
    <AppProviders key={spoken}>
      <Shell />
    </AppProviders>
  );
}
