import type { Client } from '@modelcontextprotocol/client';
import { type McpTarget, type SessionLimits, type SessionParts, withSession } from './session.ts';

const megabyte = 1_048_576;
/** A stream on which next to nothing is said. */
const usual: Omit<SessionLimits, 'timeoutMs'> = { maxRequests: 20, maxBytes: megabyte, maxParts: 10_000 };

/** For the handshake, and to part from a server that keeps sessions until it is told. */
const besidesMs = 5_000;

/** Whether the server says within `forMs` that its tools or resources have changed. */
export function hearChange(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { signal, forMs }: { signal: AbortSignal; forMs: number },
): Promise<boolean> {
  const heard = Promise.withResolvers<boolean>();
  const over = setTimeout(() => heard.resolve(false), forMs);
  return withSession(
    { ...parts, limits: { ...usual, ...limits, timeoutMs: forMs + besidesMs } },
    target,
    signal,
    async (client) => {
      if (client.getProtocolEra() !== 'modern') return heard.promise;
      const stream = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
      return Promise.race([heard.promise, stream.closed.then(() => false)]);
    },
    { prepare: (client) => onListChange(client, () => heard.resolve(true)), mayListen: true },
  ).finally(() => clearTimeout(over));
}

export function onListChange(client: Client, changed: () => void): void {
  client.setNotificationHandler('notifications/tools/list_changed', changed);
  client.setNotificationHandler('notifications/resources/list_changed', changed);
}
