import type { Hono } from 'hono';

export const clientDocumentPath = '/oauth/client.json';

/**
 * What this server is as an OAuth client, for authorization servers that know a client by the address of such a document
 * (Client ID Metadata Document). It holds no secret: whoever signs in proves it by PKCE and by the redirect address.
 */
export const clientDocumentPage =
  ({ publicUrl, redirectUri }: { publicUrl: string; redirectUri: string }) =>
  (app: Hono) => {
    const document = {
      client_id: `${publicUrl}${clientDocumentPath}`,
      client_name: 'Vestra',
      client_uri: publicUrl,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    app.get(clientDocumentPath, (context) => {
      context.header('cache-control', 'public, max-age=3600');
      return context.json(document);
    });
  };
