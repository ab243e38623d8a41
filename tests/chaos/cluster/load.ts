import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { type Client, createClient } from '@vestra/sdk/client';
import { isPassing, VestraError } from '@vestra/sdk/errors';
import { serveTools } from '../../../packages/server/src/agents/mcp-client/tool-server.fixture.ts';
import { startReceiver } from '../../../packages/server/src/automation/webhooks/receiver.fixture.ts';

/** Responses that the clients received and effects that others saw. The checks compare the database with them. */
export type Witness = {
  /** Of each conversation the tokens that were accepted in it, in order. */
  conversations: Map<string, string[]>;
  /** How often a tool that changes something ran for a token. */
  touched: Map<string, number>;
  batchId: string | null;
  webhooks: Awaited<ReturnType<typeof startReceiver>>;
  /** Answers that a client must never see, whatever dies. */
  wrongAnswers: string[];
  statuses: Map<number, number>;
  /** When a plain message was sent and when its reply was there. */
  probes: { sentAt: number; answeredAt: number }[];
  progress: { turns: number; items: number };
};

export type Load = {
  env: Record<string, string>;
  witness: Witness;
  /** Makes the deployment, the receiver and the batch. */
  prepare: (to: { url: string; key: string }) => Promise<void>;
  /** So many turns and the batch, spread over about this time; probes go on until `stopProbing`. */
  run: (options: { turns: number; items: number; overMs: number; clients: number }) => Promise<void>;
  stopProbing: () => Promise<void>;
  close: () => Promise<void>;
};

export async function createLoad(): Promise<Load> {
  const touched = new Map<string, number>();
  const model = await startScriptedModelServer({ respond });
  const shop = await serveTools(
    [
      { name: 'touch', inputSchema: { type: 'object' } },
      { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    ],
    async (name, given) => {
      const token = String(given.token);
      if (name === 'touch') touched.set(token, (touched.get(token) ?? 0) + 1);
      await sleep(5);
      return `${name} ${token}`;
    },
  );
  const witness: Witness = {
    conversations: new Map(),
    touched,
    batchId: null,
    webhooks: await startReceiver(),
    wrongAnswers: [],
    statuses: new Map(),
    probes: [],
    progress: { turns: 0, items: 0 },
  };
  let client: Client;
  let isProbing = true;
  let probing: Promise<void> = Promise.resolve();

  /** Counts what came back; what no failure of a machine excuses is kept. */
  const watchedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { status } = response;
    witness.statuses.set(status, (witness.statuses.get(status) ?? 0) + 1);
    if (status === 500 || (status === 503 && !response.headers.has('retry-after') && !isOfProxy(response))) {
      const { pathname } = new URL(String(input));
      witness.wrongAnswers.push(`${init?.method} ${pathname} answered ${status}: ${await response.clone().text()}`);
    }
    return response;
  };

  return {
    env: {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
      OPENAI_COMPATIBLE_MODELS: 'scripted',
      VESTRA_DEFAULT_MODEL: 'compatible/scripted',
      VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
      VESTRA_REQUESTS_PER_MINUTE: '1000000',
      VESTRA_ASK_FOR_MODELS: '0',
      VESTRA_COMPUTER: 'off',
    },
    witness,

    async prepare({ url, key }) {
      client = createClient({ baseUrl: url, key, fetch: watchedFetch, retries: 60, timeoutMs: 60_000 });
      const tools = [
        { mcp: shop.url, name: 'shop', run_without_asking: ['touch'] },
        { function: 'act', description: 'Acts on the token.', input: { token: 'string' } },
      ];
      await client.deployments.put({ deployment_id: 'desk', promote: 'now', name: 'desk', memory: 'none', tools });
      await client.webhooks.create({ url: witness.webhooks.url, events: ['*'] });
      probing = probe();
    },

    async run({ turns, items, overMs, clients }) {
      const { id: batchId } = await client.batches.create({
        items: Array.from({ length: items }, (_, at) => ({ user_id: `item-${at}`, message: `plain item ${at}` })),
        concurrency: 10,
      });
      witness.batchId = batchId;
      const startedAt = performance.now();
      let next = 0;
      const talk = async () => {
        while (next < turns) {
          // Two messages to a conversation, the second behind the first.
          const at = next;
          next += 2;
          await sleep(Math.max(0, startedAt + (overMs * at) / turns - performance.now()));
          await converse(Math.min(2, turns - at), at % 8 === 0);
        }
      };
      await Promise.all([...Array.from({ length: clients }, talk), untilBatchEnds(batchId, items)]);
    },

    async stopProbing() {
      isProbing = false;
      await probing;
    },

    async close() {
      await model.close();
      await shop.close();
      await witness.webhooks.stop();
    },
  };

  /** Messages of one person, each answered in all that it waits for until its turn has settled. */
  async function converse(messages: number, isStreamed: boolean): Promise<void> {
    let conversationId: string | null = null;
    for (let said = 0; said < messages; said++) {
      const token = randomUUID();
      const message = `token ${token}`;
      if (conversationId === null) conversationId = await begin({ message, user_id: `u-${token}` });
      else await client.conversations.send({ conversation_id: conversationId, message });
      witness.conversations.set(conversationId, [...(witness.conversations.get(conversationId) ?? []), token]);
      if (isStreamed) await Promise.all([answerAll(conversationId), followToEnd(conversationId, said + 1)]);
      else await answerAll(conversationId);
      witness.progress.turns += 1;
    }
  }

  async function begin(fields: { message: string; user_id: string }): Promise<string> {
    return (await client.conversations.create(fields)).id;
  }

  async function answerAll(id: string): Promise<void> {
    for (let pauseMs = 200; ; pauseMs = Math.min(2_000, pauseMs * 1.5)) {
      const shown = await client.conversations.get({ conversation_id: id });
      if (shown.status === 'idle') return;
      for (const { interaction_id } of shown.open_interactions) {
        await answer(interaction_id, { approve: true, present_user: true });
      }
      for (const { call_id } of shown.pending_tool_calls) await answer(call_id, { output: { ok: true } });
      await sleep(pauseMs);
    }
  }

  /** Without an Idempotency-Key: that it was answered already says that the first attempt got through. */
  async function answer(interaction_id: string, given: Given): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await client.interactions.answer({ interaction_id, ...given });
        return;
      } catch (error) {
        if (error instanceof VestraError && error.status === 409) return;
        if (!isPassing(error)) throw error;
        await client.backOff(Math.min(attempt, 3));
      }
    }
  }

  /** Every event once and in order, over all that dies in between. */
  async function followToEnd(conversation_id: string, turns: number): Promise<void> {
    for (let after = 0; ; ) {
      try {
        const events = await client.conversations.events({ conversation_id, after });
        let settled = 0;
        for await (const event of events) {
          if (event.seq !== after + 1)
            witness.wrongAnswers.push(`${conversation_id}: ${event.seq} came after ${after}`);
          after = event.seq;
          if (event.type === 'turn.settled' && ++settled === turns) return;
        }
      } catch (error) {
        // The SDK gives up after a minute without a server.
        if (!isPassing(error)) throw error;
      }
      if (after > 0) return followRest(conversation_id, after);
    }
  }

  async function followRest(conversation_id: string, after: number): Promise<void> {
    const page = await client.conversations.events({ conversation_id, format: 'json', after, limit: 1 });
    const [first] = page.data;
    if (first && first.seq !== after + 1) witness.wrongAnswers.push(`${conversation_id}: ${first.seq} after ${after}`);
  }

  /** A plain message at a time, as long as the run lasts: how long somebody waits for an answer after each blow. */
  async function probe(): Promise<void> {
    while (isProbing) {
      const sentAt = performance.now();
      const token = randomUUID();
      const id = await begin({ message: `plain ${token}`, user_id: `probe-${token}` });
      await answerAll(id);
      witness.probes.push({ sentAt, answeredAt: performance.now() });
      await sleep(300);
    }
  }

  async function untilBatchEnds(batch_id: string, items: number): Promise<void> {
    for (;;) {
      const shown = await client.batches.get({ batch_id });
      witness.progress.items = items - shown.counts.queued - shown.counts.running;
      if (shown.completed_at !== null) return;
      await sleep(1_000);
    }
  }
}

type Given = { approve: boolean; present_user: boolean } | { output: unknown };

/** HAProxy answers 503 by itself where no process is left; it knows no time to name. */
const isOfProxy = ({ headers }: Response) => !headers.has('request-id');

/** Reads, touches, acts with approval and reports it: each step may be the last before a process dies. */
function respond({ messages, tools }: NormalisedRequest): ScriptedAnswer {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[last];
  const said = asked?.role === 'user' ? asked.text : '';
  const chunkDelayMs = 3;
  if (said.includes('plain')) return { text: ['Well ', 'received.'], chunkDelayMs };
  const token = /token (\S+)/.exec(said)?.[1] ?? 'none';
  const steps = messages.slice(last).filter(({ role }) => role === 'tool').length;
  const named = (name: string) => tools.find((each) => each.name.endsWith(name))?.name ?? name;
  switch (steps) {
    case 0:
      return { calls: [{ name: named('look'), arguments: { token } }] };
    case 1:
      return { text: ['One ', 'moment.'], calls: [{ name: named('touch'), arguments: { token } }], chunkDelayMs };
    case 2:
      return { calls: [{ name: 'act', arguments: { token } }] };
    default:
      return { text: ['All ', 'done ', `with ${token}.`], chunkDelayMs };
  }
}
