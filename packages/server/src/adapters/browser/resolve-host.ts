import { lookup } from 'node:dns/promises';

/** `localhost` and every name under it are this machine, whether or not its resolver knows them (RFC 6761). */
export async function resolveHost(host: string): Promise<readonly { address: string }[]> {
  if (/(^|\.)localhost\.?$/.test(host)) return [{ address: '127.0.0.1' }];
  return lookup(host, { all: true });
}
