/** The login to an MCP server at an address: signing in on its page in the browser, and out. */
import { LogIn, LogOut } from "lucide-react";
import { Button } from "../../components/Button";
import { hintClass, linkClass } from "../../components/recipes";
import type { McpServer } from "../../ipc/bindings/McpServer";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { cancelSignIn, signIn, signOut, useServers } from "./useServers";

/** The code of a problem that signing in mends. */
const WANTED = "mcp-sign-in";

export function ServerLogin({ server }: { readonly server: McpServer }) {
  const { failed, signingIn } = useServers();
  const { name } = server;
  if (signingIn?.server === name) {
    const { page } = signingIn;
    return (
      <div className="flex flex-col gap-2" role="status" data-testid={safetyIds.serverSignInWaits}>
        <p className={hintClass}>{t("servers.signIn.waits")}</p>
        {page !== null && !page.opened && (
          <a
            className={`${linkClass} text-xs`}
            href={page.address}
            target="_blank"
            rel="noopener noreferrer"
            data-testid={safetyIds.serverSignInPage}
          >
            {t("servers.signIn.page")}
          </a>
        )}
        <div>
          <Button
            size="small"
            onClick={() => void cancelSignIn(name)}
            disabled={page === null}
            data-testid={safetyIds.serverSignInCancel}
          >
            {t("servers.signIn.cancel")}
          </Button>
        </div>
      </div>
    );
  }
  if (failed.get(name)?.code === WANTED)
    return (
      <div>
        <Button
          size="small"
          variant="primary"
          icon={<LogIn size={13} aria-hidden />}
          disabled={signingIn !== null}
          onClick={() => void signIn(name)}
          data-testid={safetyIds.serverSignIn}
        >
          {t("servers.signIn")}
        </Button>
      </div>
    );
  if (server.signedIn !== true) return null;
  return (
    <div className="flex items-center gap-2">
      <p className={hintClass}>{t("servers.signedIn")}</p>
      <Button
        size="small"
        icon={<LogOut size={13} aria-hidden />}
        onClick={() => void signOut(name)}
        data-testid={safetyIds.serverSignOut}
      >
        {t("servers.signOut")}
      </Button>
    </div>
  );
}
