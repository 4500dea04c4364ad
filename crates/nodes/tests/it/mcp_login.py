"""A server that wants a login, and its authorization server, of the Python SDK. python mcp_login.py PORT

POST /control changes how they behave, GET /seen says what they were asked."""
import json
import sys
import time
import uuid
from urllib.parse import parse_qsl

import uvicorn
from mcp.server.auth.provider import (AccessToken, AuthorizationCode, AuthorizeError, RefreshToken, TokenError,
                                      construct_redirect_uri)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import JSONResponse, PlainTextResponse

PORT = int(sys.argv[1])
HERE = f"http://127.0.0.1:{PORT}"

behaviour = {"deny": False, "lifetime": 3600, "issuer": None, "iss": None, "hide": [], "servers": None, "register": True,
             "lose_refresh": False, "name_scopes": True}
seen = {"authorize": [], "token": [], "register": 0, "mcp": []}
clients, codes, tokens, refreshes = {}, {}, {}, {}
required = ["notes"]


def issue(client, scopes, resource):
    # What is hidden begins with what no other test says.
    access, refresh = f"~access-{uuid.uuid4().hex}", f"~refresh-{uuid.uuid4().hex}"
    tokens[access] = AccessToken(token=access, client_id=client, scopes=scopes, resource=resource)
    refreshes[refresh] = RefreshToken(token=refresh, client_id=client, scopes=scopes, resource=resource)
    return OAuthToken(access_token=access, refresh_token=None if behaviour["lose_refresh"] else refresh,
                      expires_in=behaviour["lifetime"], scope=" ".join(scopes))


class Provider:
    async def get_client(self, client_id):
        return clients.get(client_id)

    async def register_client(self, info):
        seen["register"] += 1
        clients[info.client_id] = info

    async def authorize(self, client, params):
        seen["authorize"].append({"scopes": params.scopes, "resource": params.resource, "state": params.state})
        if behaviour["deny"]:
            raise AuthorizeError("access_denied", "The person said no.")
        code = f"code-{uuid.uuid4().hex}"
        codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or list(required), expires_at=time.time() + 300, client_id=client.client_id,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource)
        more = {"iss": behaviour["iss"]} if behaviour["iss"] else {}
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state, **more)

    async def load_authorization_code(self, client, code):
        return codes.get(code)

    async def exchange_authorization_code(self, client, code):
        del codes[code.code]
        return issue(client.client_id, code.scopes, code.resource)

    async def load_refresh_token(self, client, token):
        return refreshes.get(token)

    async def exchange_refresh_token(self, client, refresh, scopes):
        # Each is good for one renewal.
        if refreshes.pop(refresh.token, None) is None:
            raise TokenError("invalid_grant")
        return issue(client.client_id, scopes, refresh.resource)

    async def load_access_token(self, token):
        return tokens.get(token)

    async def revoke_token(self, token):
        pass


server = MCPServer("notes", auth_server_provider=Provider(), auth=AuthSettings(
    issuer_url=HERE, resource_server_url=f"{HERE}/mcp", required_scopes=required, validate_token_resource=True,
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["notes", "write", "offline_access"])))


@server.tool(annotations={"readOnlyHint": True})
def notes() -> str:
    return "one note"


@server.custom_route("/control", methods=["POST"])
async def control(request):
    asked = await request.json()
    for name, value in asked.items():
        if name == "revoke":
            for name in value:
                {"access": tokens, "refresh": refreshes}[name].clear()
        elif name == "forget_clients":
            clients.clear()
        elif name == "require":
            server.settings.auth.required_scopes[:] = value
        elif name == "client":
            clients[value["client_id"]] = OAuthClientInformationFull(**value)
        else:
            behaviour[name] = value
    return JSONResponse({})


@server.custom_route("/seen", methods=["GET"])
async def looked(request):
    return JSONResponse(seen)


def edited(path, body):
    """The answer at a path, as it is to be shown."""
    if path.startswith("/.well-known/oauth-authorization-server"):
        body = json.loads(body)
        body["token_endpoint_auth_methods_supported"] = ["none", "client_secret_post"]
        if behaviour["issuer"]:
            body["issuer"] = behaviour["issuer"]
        if not behaviour["register"]:
            body.pop("registration_endpoint", None)
        return json.dumps(body).encode()
    if path.startswith("/.well-known/oauth-protected-resource"):
        body = {**json.loads(body), "scopes_supported": ["notes"]}
        if behaviour["servers"]:
            body["authorization_servers"] = behaviour["servers"]
        return json.dumps(body).encode()
    return body


class Edge:
    """Notes what is asked, and answers as odd servers do."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path, body = scope["path"], b""
        if path == "/token":
            while True:
                part = await receive()
                body += part.get("body", b"")
                if not part.get("more_body"):
                    break
            seen["token"].append(dict(parse_qsl(body.decode())))
            given = [{"type": "http.request", "body": body, "more_body": False}]
            inner, receive = receive, None

            async def receive():
                return given.pop() if given else await inner()
        if path == "/mcp":
            headers = dict(scope["headers"])
            seen["mcp"].append(headers.get(b"authorization", b"").decode())
        if any(path.startswith(it) for it in behaviour["hide"]):
            return await PlainTextResponse("not here", 404)(scope, receive, send)
        if not path.startswith("/.well-known/"):
            bare, named = "challenge" in behaviour["hide"], f", scope=\"{' '.join(server.settings.auth.required_scopes)}\""

            async def say(message):
                if message["type"] == "http.response.start":
                    asks = [it for it in message["headers"] if it[0].lower() == b"www-authenticate"]
                    rest = [it for it in message["headers"] if it not in asks]
                    if message["status"] == 403 and behaviour["name_scopes"]:
                        asks = [(name, value + named.encode()) for name, value in asks]
                    message["headers"] = rest + ([] if bare else asks)
                await send(message)

            return await self.app(scope, receive, say)
        start, parts = {}, []

        async def take(message):
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self.app(scope, receive, take)
        body = b"".join(parts)
        shown = edited(path, body) if start["status"] == 200 else body
        start["headers"] = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        start["headers"].append((b"content-length", str(len(shown)).encode()))
        await send(start)
        await send({"type": "http.response.body", "body": shown})


uvicorn.run(Edge(server.streamable_http_app(host="127.0.0.1")), host="127.0.0.1", port=PORT, log_level="warning")
