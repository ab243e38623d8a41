import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

export const loopbackRedirect = 'http://127.0.0.1:43117/callback';

/** The official client with OAuth, and its storage. With `clientId` it does not register. */
export function heldClient(
  { url }: { url: string },
  { clientId, search = '' }: { clientId?: string; search?: string } = {},
) {
  let information: OAuthClientInformationMixed | undefined = clientId ? { client_id: clientId } : undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  let opened: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: loopbackRedirect,
    clientMetadata: { client_name: 'Desk helper', redirect_uris: [loopbackRedirect] },
    state: () => 'state of the client',
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given;
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given;
    },
    redirectToAuthorization: (url) => {
      opened = url;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovered,
    saveDiscoveryState: (state) => {
      discovered = state;
    },
    invalidateCredentials: (what) => {
      if (what === 'all' || what === 'tokens') tokens = undefined;
    },
  };
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${url}/v1/mcp${search}`), { authProvider: provider });
  return {
    provider,
    /** The address to which it sent the browser. */
    opened: () => opened as URL,
    verifier: () => verifier,
    clientId: () => information?.client_id as string,
    tokens: () => tokens as Required<OAuthTokens>,
    finish: (back: URL) => transport().finishAuth(back.searchParams),
    async connect(): Promise<Client> {
      const client = new Client({ name: 'held', version: '1' });
      await client.connect(transport());
      return client;
    },
  };
}

export type HeldClient = ReturnType<typeof heldClient>;
