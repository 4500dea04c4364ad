/** Puts the parts of the window together, again for each language and with other shortcuts. No logic: what happens at the start is in `shell/boot.ts`. */
import { AppProviders } from "./components/AppProviders";
import { Shell } from "./shell/Shell";
import { useSpoken } from "./state/language";
import { useShownKeys } from "./state/custom-keys";

export function App() {
  const spoken = useSpoken((language) => language.spoken);
  const turn = useShownKeys((keys) => keys.turn);
  return (
    <AppProviders key={`${spoken}/${turn}`}>
      <Shell />
    </AppProviders>
  );
}
