/** The dialogs about a LangGraph program's threads, each drawn while it is asked for. */
import { useSeenAsked } from "../../state/seen-dialogs";
import { t } from "../../lib/texts";
import { SecretDialog } from "../secrets";
import { AddressDialog } from "./AddressDialog";
import { CopyDialog } from "./CopyDialog";
import { DebugDialog } from "./DebugDialog";
import { LaidDialog } from "./LaidDialog";

/** The secret that holds the key, called as the variable that LangGraph itself takes it from. */
const KEY = "LANGGRAPH_AES_KEY";

export function SeenDialogs() {
  const { address, laid, copy, key, code } = useSeenAsked();
  return (
    <>
      {address !== null && (
        <AddressDialog
          begun={address.text}
          go={address.go}
          onClose={() => useSeenAsked.setState({ address: null })}
        />
      )}
      {key && (
        <SecretDialog
          name={KEY}
          title={t("seen.key.title")}
          description={t("seen.key.help")}
          onClose={() => useSeenAsked.setState({ key: false })}
        />
      )}
      {laid !== null && <LaidDialog graphId={laid} onClose={() => useSeenAsked.setState({ laid: null })} />}
      {code !== null && <DebugDialog at={code} onClose={() => useSeenAsked.setState({ code: null })} />}
      {copy !== null && <CopyDialog {...copy} onClose={() => useSeenAsked.setState({ copy: null })} />}
    </>
  );
}
