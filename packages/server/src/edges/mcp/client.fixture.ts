import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Both revisions of the protocol that the endpoint supports. */
export const revisions = ['2026-07-28', '2025-11-25'] as const;
type Revision = (typeof revisions)[number];

/** The official client over a real socket. */
export async function connectMcp(
  url: string,
  key: string,
  revision: Revision | 'auto' = '2026-07-28',
  { headers = {}, search = '' }: { headers?: Record<string, string>; search?: string } = {},
): Promise<Client> {
  const mode = revision === '2026-07-28' ? { pin: revision } : revision === 'auto' ? 'auto' : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/v1/mcp${search}`), { requestInit }));
  return client;
}
