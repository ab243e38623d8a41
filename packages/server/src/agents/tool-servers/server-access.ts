import { createHash } from 'node:crypto';
import type { AwayReason } from '@vestra/contract/missing-tools';
import type { McpTarget } from '../mcp-client/session.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { ServerRow } from './tables.ts';

/** What of a server decides how its tools are called and whether they may be. */
export type ServerRules = Pick<ServerRow, 'slug' | 'deny' | 'require_approval' | 'sampling'>;

/** A server as it is called for one user now, or why it cannot be. */
export type ServerAccess =
  | {
      ok: true;
      server: ServerRules;
      target: McpTarget;
      hide: (text: string) => string;
      fingerprint: string;
      /** The server did not take the credentials: another way to it. Null where there is none. */
      refused: (() => Promise<ServerAccess>) | null;
      /** Whether the credentials are the user's own: where they are refused, nobody else is concerned. */
      isPersonal: boolean;
    }
  | ServerAway;

export type ReachableServer = Extract<ServerAccess, { ok: true }>;

export type ServerAway = {
  ok: false;
  server: ServerRules;
  reason: AwayReason;
  /** For the org, not for the model. It names hosts and secrets, and shows no value of any. */
  message: string;
  /** Whether it is away for this user alone. */
  isPersonal: boolean;
};

/** As they stand, and as they stand within JSON, an address or a text of base64. */
export function hiding(values: readonly string[]): (text: string) => string {
  if (values.length === 0) return (text) => text;
  const forms = values
    .map((value) => value.trim())
    .flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.toWellFormed()),
      ...(value.length >= 8 ? [Buffer.from(value).toString('base64').replace(/=+$/, '')] : []),
    ]);
  const distinct = [...new Set(forms)];
  return (text) => hideSecrets(text, distinct);
}

/** Another URL, another secret and another user make another server. */
export const fingerprintOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');
