import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';

/** An unreachable tool server, and the reason. */
export type ServerAway = { slug: string; code: string; message: string };

/** Calls each server of a version once, in parallel, as a task would. Most versions have none. */
export async function serversAway(
  client: Client,
  servers: readonly { id: string; slug: string }[],
  signal: AbortSignal | undefined,
): Promise<ServerAway[]> {
  const checked = await Promise.all(
    servers.map(async ({ id, slug }) => {
      const { error } = await client.mcpServers.check({ server_id: id }, { signal }).catch(unchecked);
      // A user's own secret cannot be checked here. A missing secret of the company is rejected by the apply.
      return error && error.code !== 'secret_missing' ? [{ slug, ...error }] : [];
    }),
  );
  return checked.flat();
}

/** The version remains valid if the check of its servers fails. */
function unchecked(failure: unknown): { error: { code: string; message: string } } {
  if (!(failure instanceof VestraError)) throw failure;
  return { error: { code: failure.code, message: failure.message } };
}
