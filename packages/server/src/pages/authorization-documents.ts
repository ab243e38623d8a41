import { grantScopes } from '@vestra/contract/mcp-grants';
import type { Hono } from 'hono';

type Authorization = { issuer: string; resource: string };

const resourcePath = '/.well-known/oauth-protected-resource';
const serverPath = '/.well-known/oauth-authorization-server';

export const resourceMetadataOf = ({ issuer }: Authorization): string => `${issuer}${resourcePath}/v1/mcp`;

/**
 * Tells MCP clients how to authorize: the protected resource (RFC 9728) and the authorization server (RFC 8414). Also
 * served with a path appended, as clients request it if the server is below a path.
 */
export const authorizationDocuments =
  ({ issuer, resource }: Authorization) =>
  (app: Hono) => {
    const protectedResource = {
      resource,
      authorization_servers: [issuer],
      scopes_supported: grantScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Vestra',
      resource_documentation: `${issuer}/docs/guide/mcp`,
    };
    const server = {
      issuer,
      authorization_endpoint: `${issuer}/console/authorize`,
      token_endpoint: `${issuer}/v1/oauth/token`,
      registration_endpoint: `${issuer}/v1/oauth/register`,
      revocation_endpoint: `${issuer}/v1/oauth/revoke`,
      scopes_supported: grantScopes,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${issuer}/docs/guide/mcp`,
    };
    for (const [path, document] of [
      [resourcePath, protectedResource],
      [serverPath, server],
    ] as const) {
      for (const each of [path, `${path}/*`]) app.get(each, (context) => context.json(document, 200, headers));
    }
  };

const headers = {
  'cache-control': 'public, max-age=300',
  // Clients in web pages read these documents too. They contain no personal data.
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export const clientDocumentPath = '/oauth/client.json';

/**
 * This server as an OAuth client, for authorization servers that accept a Client ID Metadata Document. It contains no
 * secret: PKCE and the redirect address protect the sign-in.
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

/** The documents of this server as its own authorization server. */
export function authorizationOf(publicUrl: string) {
  const issuer = publicUrl.replace(/\/+$/, '');
  return { issuer, resource: `${issuer}/v1/mcp` };
}
