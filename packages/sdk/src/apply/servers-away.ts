import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';

/** A tool server that cannot be called now, and why. */
export type ServerAway = { slug: string; code: string; message: string };

/** Calls each server of a version once, side by side, as a task would. A version may name none, and most do. */
export async function serversAway(
  client: Client,
  servers: readonly { id: string; slug: string }[],
  signal: AbortSignal | undefined,
): Promise<ServerAway[]> {
  const checked = await Promise.all(
    servers.map(async ({ id, slug }) => {
      const { error } = await client.mcpServers.check({ server_id: id }, { signal }).catch(unchecked);
      // Of each user's own secret nobody can say here whether it is stored; one of the company's is refused by the apply.
      return error && error.code !== 'secret_missing' ? [{ slug, ...error }] : [];
    }),
  );
  return checked.flat();
}

/** The version stands, whatever becomes of the look at its servers. */
function unchecked(failure: unknown): { error: { code: string; message: string } } {
  if (!(failure instanceof VestraError)) throw failure;
  return { error: { code: failure.code, message: failure.message } };
}
