import type { Agent } from 'undici';
import { callPath, sealHeader } from './call-address.ts';
import { PeerAway, PeerLost } from './call-failure.ts';
import type { CallSeal } from './call-seal.ts';
import { decodeMessages, encodeBody } from './messages.ts';

/** A process of this server and where the others reach it. */
export type Peer = { id: string; address: string };

/** Calls another process and answers what it says, message by message. */
export type AskProcess = (peer: Peer, name: string, body: unknown, signal: AbortSignal) => AsyncIterable<unknown>;

const connectMs = 3_000;
/** Three beats of the other side. */
const silentMs = 15_000;
const mostBytes = 64 * 1024 * 1024;

export function createAskProcess(seal: CallSeal): { ask: AskProcess; close: () => Promise<void> } {
  let agent: Promise<Agent> | undefined;

  /** With the first call: most servers are one process, and call no other. */
  async function openAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    return new Agent({ connect: { timeout: connectMs }, headersTimeout: silentMs, bodyTimeout: silentMs });
  }

  async function* ask(peer: Peer, name: string, given: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
    const body = encodeBody(given);
    agent ??= openAgent();
    const opened = await agent;
    const { origin, pathname } = new URL(`${peer.address.replace(/\/+$/, '')}${callPath}${name}`);
    const asked = opened.request({
      origin,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', [sealHeader]: seal.seal({ to: peer.id, name }, body) },
      body,
      signal,
    });
    const answer = await asked.catch((error: unknown) => {
      signal.throwIfAborted();
      throw hasNotArrived(error) ? new PeerAway(reasonOf(error)) : new PeerLost(reasonOf(error));
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new PeerAway(
        `what answers there (status ${answer.statusCode}) is not that process, or its clock or master key differs`,
      );
    }
    try {
      yield* decodeMessages(answer.body, mostBytes);
    } catch (error) {
      signal.throwIfAborted();
      throw new PeerLost(reasonOf(error));
    }
  }

  return { ask, close: async () => (await agent)?.destroy() };
}

const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const hasNotArrived = (error: unknown) => beforeSending.has((error as { code?: string } | null)?.code ?? '');

const reasonOf = (error: unknown) => {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
};
