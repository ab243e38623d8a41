import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@vestra/sdk/client';
import { ask } from '@vestra/sdk/commands/ask';
import { functionEndpoint } from '@vestra/sdk/function-endpoint';
import {
  defineFunction,
  type FunctionContext,
  type ServeEvent,
  type ServeOptions,
  serveFunctions,
  ToolError,
} from '@vestra/sdk/functions';
import type { StreamEvent } from '@vestra/sdk/stream';
import { signWebhook } from '@vestra/sdk/webhook';
import { answering, startReceiver } from '@vestra/server/automation/webhooks/receiver.fixture';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import { connectMcp } from '../../packages/server/src/edges/mcp/client.fixture.ts';
import { runAtTerminal, runCli, startCli } from '../support/cli.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { calling, type Desk, findsStock, inTurn, paperDesk, resultsIn, startDesk } from './interactions.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk);
});
afterAll(() => desk.stop());

const takePath = '/v1/deployments/desk/tool-calls/take';
const take = (body: Record<string, unknown> = {}, key = desk.testKey) =>
  desk.call('POST', takePath, { key, body: { functions: ['find_stock'], ...body } });
const renew = (callId: string, body: Record<string, unknown>, key = desk.testKey) =>
  desk.call('POST', `/v1/tool-calls/${callId}/renew`, { key, body });
const release = (callId: string, claimId: string, key = desk.testKey) =>
  desk.call('POST', `/v1/tool-calls/${callId}/release`, { key, body: { claim_id: claimId } });

/** The results of its calls that the model read last, without the marks around them. */
const lastResults = () => resultsIn(desk.asked.at(-1)).map((output) => output.split('\n').slice(1, -1).join('\n'));

/** Expires the lease of a call, as if its worker had died. */
const endLease = (callId: string) =>
  desk.sql(`UPDATE interactions SET taken_until = now() - interval '1 second' WHERE id = $1`, [callId]);

const code = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

const functionsPage = readFileSync(join(import.meta.dirname, '../../docs/functions.md'), 'utf8');
const blocksOfPage = (language: string) =>
  [...functionsPage.matchAll(new RegExp(`^\`\`\`${language}(?: [^\\n]*)?\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block as string,
  );

describe('calls of functions that wait', () => {
  it('are each claimed once by concurrent workers, across conversations [FUN-001]', async () => {
    desk.script(findsStock);
    const talks = await Promise.all([1, 2, 3, 4].map(() => desk.waiting()));
    const answers = await Promise.all(Array.from({ length: 8 }, () => take({ limit: 2 })));
    const taken = answers.flatMap(({ body }) => body.data);
    expect(taken.map(({ call_id }) => call_id).sort()).toEqual(talks.map(({ interaction }) => interaction.id).sort());
    expect(taken[0]).toMatchObject({ name: 'find_stock', arguments: { sku: 'A4' }, attempt: 1, task_id: null });
    expect((await take()).body.data).toEqual([]);
    for (const { call_id } of taken) await desk.answer(call_id, { output: 7 });
    for (const { conversationId } of talks) await desk.rest(conversationId);
  });

  it('are taken again after the lease, and an old claim holds them no more [FUN-002] [FUN-005]', async () => {
    desk.script(findsStock);
    const { conversationId } = await desk.waiting();
    const [first] = (await take()).body.data;
    await endLease(first.call_id);
    // No other worker has taken it: a worker that was only slow still holds it.
    expect((await renew(first.call_id, { claim_id: first.claim_id })).status).toBe(200);
    expect((await take()).body.data).toEqual([]);
    await endLease(first.call_id);
    const [second] = (await take()).body.data;
    expect(second).toMatchObject({ call_id: first.call_id, arguments: { sku: 'A4' }, attempt: 2 });
    expect(code(await renew(first.call_id, { claim_id: first.claim_id }))).toEqual([409, 'tool_call_taken']);
    expect(code(await release(first.call_id, first.claim_id))).toEqual([409, 'tool_call_taken']);

    expect((await release(second.call_id, second.claim_id)).body).toEqual({ call_id: second.call_id, released: true });
    const [third] = (await take()).body.data;
    expect(third).toMatchObject({ call_id: first.call_id, attempt: 3 });
    await desk.answer(third.call_id, { output: 7 });
    expect(code(await renew(third.call_id, { claim_id: third.claim_id }))).toEqual([409, 'already_answered']);
    await desk.rest(conversationId);
  });

  it('are awaited, and returned as soon as one arrives [FUN-003]', async () => {
    desk.script(findsStock);
    const waiting = take({ wait_s: 60, functions: ['order_paper', 'find_stock'] });
    const { conversationId } = await desk.waiting();
    const [call] = (await waiting).body.data;
    expect(call).toMatchObject({ name: 'find_stock', conversation_id: conversationId });
    await desk.answer(call.call_id, { output: 7 });
    await desk.rest(conversationId);
  });

  it('are those of the own org and mode, and no session token reaches them [FUN-004]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting({ user_id: 'ada' });
    const other = await makeOtherOrg(desk);
    const session = await desk.call('POST', '/v1/sessions', {
      body: { user_id: 'ada', conversation_id: conversationId, chat: true },
    });
    const { token } = session.body;
    expect(code(await take({}, other))).toEqual([404, 'deployment_not_found']);
    expect((await take({}, desk.liveKey)).body.data).toEqual([]);
    expect(code(await take({}, token))).toEqual([403, 'session_scope']);
    const [call] = (await take()).body.data;
    expect(call.call_id).toBe(interaction.id);
    for (const [key, refused] of [
      [other, [404, 'interaction_not_found']],
      [desk.liveKey, [404, 'interaction_not_found']],
      [token, [403, 'session_scope']],
    ] as const) {
      expect(code(await renew(call.call_id, { claim_id: call.claim_id }, key))).toEqual(refused);
      expect(code(await renew(call.call_id, { claim_id: call.claim_id, progress: 'Hi' }, key))).toEqual(refused);
      expect(code(await release(call.call_id, call.claim_id, key))).toEqual(refused);
    }
    await desk.answer(call.call_id, { output: 7 });
    await desk.rest(conversationId);
  });

  it('cannot be claimed once they are cancelled or expired [FUN-005] [FUN-006]', async () => {
    desk.script(findsStock);
    const [cancelled, late] = [await desk.waiting(), await desk.waiting()];
    const [first] = (await take()).body.data;
    expect(first.call_id).toBe(cancelled.interaction.id);
    await desk.call('POST', `/v1/interactions/${first.call_id}/cancel`);
    expect(code(await renew(first.call_id, { claim_id: first.claim_id }))).toEqual([409, 'already_answered']);
    await desk.sql(`UPDATE interactions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      late.interaction.id,
    ]);
    expect((await take({ limit: 5 })).body.data).toEqual([]);
    expect(code(await renew(late.interaction.id, { claim_id: 'x' }))).toEqual([409, 'interaction_expired']);
    for (const { conversationId } of [cancelled, late]) await desk.rest(conversationId);
  });

  it('report their progress on the stream, without their arguments [FUN-007]', async () => {
    desk.script(findsStock);
    const { conversationId } = await desk.waiting({ user_id: 'ada' });
    const [call] = (await take()).body.data;
    await renew(call.call_id, { claim_id: call.claim_id, progress: 'Looking on the shelf' });
    await renew(call.call_id, { claim_id: call.claim_id, progress: 'Looking on the shelf' });
    const told = (await desk.log(conversationId)).filter(({ type }) => type === 'tool_call.progress');
    expect(told.map(({ data }) => data)).toEqual([
      { call_id: call.call_id, name: 'find_stock', text: 'Looking on the shelf' },
    ]);
    const session = await desk.call('POST', '/v1/sessions', {
      body: { user_id: 'ada', conversation_id: conversationId, chat: true },
    });
    const shown = await desk.call('GET', `/v1/conversations/${conversationId}`, { key: session.body.token });
    expect(shown.body.pending_tool_calls).toEqual([
      { call_id: call.call_id, name: 'find_stock', task_id: null, progress: 'Looking on the shelf' },
    ]);
    await desk.answer(call.call_id, { output: 7 });
    await desk.rest(conversationId);
  });
});

describe('serveFunctions', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  /** Serves until the test is over. */
  async function serve(functions: ServeOptions['functions'], options: Partial<ServeOptions> = {}) {
    const events: ServeEvent[] = [];
    const stopping = new AbortController();
    const client = createClient({ baseUrl: desk.url, key: desk.testKey });
    const started = Promise.withResolvers<void>();
    const ended = serveFunctions(client, {
      deployment: 'desk',
      functions,
      signal: stopping.signal,
      onEvent(event) {
        events.push(event);
        if (event.type === 'started') started.resolve();
      },
      ...options,
    });
    const stop = () => {
      stopping.abort();
      return ended;
    };
    stops.push(stop);
    await Promise.race([started.promise, ended]);
    return { events, stop };
  }

  it('lets one agent ask another for the same person, once for repeated calls [FUN-041]', async () => {
    const tool = {
      function: 'ask_billing',
      description: 'Asks billing.',
      input: { question: 'string' },
      read_only: true,
    };
    await desk.apply({ name: 'front', memory: 'none', tools: [tool] });
    await desk.apply({ name: 'billing', memory: 'none', instructions: 'You are billing.' });
    const asksBilling = inTurn(calling('ask_billing', { question: 'What does she owe?' }), { text: 'You owe 40.' });
    desk.script((request) =>
      request.system.join().includes('You are billing.') ? { text: 'She owes 40.' } : asksBilling(request),
    );
    const client = createClient({ baseUrl: desk.url, key: desk.testKey });
    // As the page about functions has it.
    const folder = await mkdtemp(join(tmpdir(), 'vestra-functions-'));
    await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
    await writeFile(
      join(folder, 'ask-billing.ts'),
      blocksOfPage('ts').find((block) => block.includes('ask_billing')) ?? '',
    );
    Object.assign(process.env, { VESTRA_URL: desk.url, VESTRA_KEY: desk.testKey });
    const page = await import(join(folder, 'ask-billing.ts'));
    const ask_billing = {
      ...page.ask_billing,
      async run(...given: unknown[]) {
        expect(await page.ask_billing.run(...given)).toBe('She owes 40.');
        return page.ask_billing.run(...given);
      },
    };
    await serve({ ask_billing }, { deployment: 'front' });
    const message = { deployment: 'front', user: 'olga', message: 'What do I owe?' };
    const asked = await ask(client, message);
    expect(asked.reply?.text).toBe('You owe 40.');
    expect(lastResults()).toEqual(['She owes 40.']);
    const { data } = await client.conversations.list({ user_id: 'olga' });
    expect(data).toHaveLength(2);
    await rm(folder, { recursive: true });
  });

  it('answers replies, work and batches, a few at once [FUN-010]', async () => {
    desk.script(findsStock);
    let running = 0;
    let most = 0;
    const two = Promise.withResolvers<void>();
    await serve(
      {
        find_stock: async ({ sku }: { sku: string }, { progress }) => {
          most = Math.max(most, ++running);
          if (running === 2) two.resolve();
          progress(`Looking for ${sku.toLowerCase()}`);
          await two.promise;
          running -= 1;
          return { sku, sheets: 12 };
        },
      },
      { concurrency: 2 },
    );
    const talks = await Promise.all([1, 2, 3].map(() => desk.say({ message: 'Go on' })));
    const task = await desk.work({});
    const batch = await desk.call('POST', '/v1/batches', { body: { deployment: 'desk', items: [{ message: 'Go' }] } });
    for (const { id } of talks) await desk.rest(id);
    expect(task).toMatchObject({ status: 'done', result: { text: 'Found.' } });
    await desk.until(`/v1/batches/${batch.body.id}`, ({ counts }) => counts.succeeded === 1);
    expect(most).toBe(2);
    expect(lastResults()).toEqual(['{"sku":"A4","sheets":12}']);
    const log = await desk.log(talks[0].id);
    expect(log.find(({ type }) => type === 'tool_call.progress')?.data.text).toBe('Looking for a4');
  });

  it('reports failures to the agent without their details [FUN-011]', async () => {
    const outcomes = ['secret', 'told', 'answered'];
    const served = await serve({
      find_stock: defineFunction({
        input: z.object({ sku: z.string().max(2) }),
        run: () => {
          const outcome = outcomes.shift();
          if (outcome === 'secret') throw new Error('connect postgres://shop:hunter2@db');
          if (outcome === 'told') throw new ToolError('The shelf is being counted.');
          return 7n;
        },
      }),
    });
    const read: string[] = [];
    for (const sku of ['A4', 'A4', 'A4', 'A4-heavy']) {
      desk.script(inTurn(calling('find_stock', { sku }), { text: 'Done.' }));
      const { id } = await desk.say({ message: 'Go on' });
      await desk.rest(id);
      read.push(...lastResults());
    }
    expect(read.slice(0, 3)).toEqual(['The function failed.', 'The shelf is being counted.', 'The function failed.']);
    expect(read[3]).toMatch(/^The arguments do not fit\. sku: .*2 characters/);
    expect(served.events.filter(({ type }) => type === 'failed')).toHaveLength(4);
  });

  it('reports at its start the differences from the deployment [FUN-012]', async () => {
    const { events } = await serve({
      find_stock: defineFunction({ input: z.strictObject({ shelf: z.string() }), run: () => 7 }),
      find_shelf: () => 1,
    });
    const [started] = events;
    expect(started?.type === 'started' && started.warnings).toEqual([
      '`desk` declares no function `find_shelf`: the agent does not call it.',
      '`desk` declares `order_paper`, and nothing here answers it.',
      '`find_stock` needs `shelf`, which the deployment does not declare.',
      '`find_stock` does not accept `sku`, which the deployment declares.',
    ]);
    await expect(serve({ find_stock: () => 7 }, { deployment: 'no-such' })).rejects.toMatchObject({
      code: 'deployment_not_found',
    });
    stops.pop();
  });

  it('types a function by its schema [FUN-013]', () => {
    defineFunction({
      input: z.object({ sku: z.string(), sheets: z.coerce.number().optional() }),
      run: (input, context) => {
        expectTypeOf(input).toEqualTypeOf<{ sku: string; sheets?: number | undefined }>();
        expectTypeOf(context).toEqualTypeOf<FunctionContext>();
      },
    });
  });

  it('waits for running calls when it stops, and then releases them [FUN-015]', async () => {
    desk.script(findsStock);
    const begun = Promise.withResolvers<AbortSignal>();
    const { stop } = await serve(
      { find_stock: (_input, { signal }) => new Promise(() => begun.resolve(signal)) },
      { graceMs: 1 },
    );
    const { id } = await desk.say({ message: 'Go on' });
    const signal = await begun.promise;
    await stop();
    expect(signal.aborted).toBe(true);
    const [again] = (await take()).body.data;
    expect(again).toMatchObject({ conversation_id: id, attempt: 2 });
    await desk.answer(again.call_id, { output: 7 });
    await desk.rest(id);
  });

  it('of two servers, one killed in mid-call: the other answers, once [FUN-014]', async () => {
    desk.script(findsStock);
    const folder = await mkdtemp(join(tmpdir(), 'vestra-functions-'));
    const notes = join(folder, 'notes');
    await writeFile(notes, '');
    const start = async (env: Record<string, string>) => {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'function-server.fixture.ts')], {
        env: {
          PATH: process.env.PATH,
          BASE_URL: desk.url,
          KEY: desk.testKey,
          DEPLOYMENT: 'desk',
          NOTES: notes,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      return child;
    };
    const hangs = await start({});
    const { conversationId, interaction } = await desk.waiting();
    await expect.poll(() => readFile(notes, 'utf8')).toContain('hangs');
    const answers = await start({ ANSWER: 'lives' });
    hangs.kill('SIGKILL');
    await once(hangs, 'exit');
    await endLease(interaction.id);
    // The news of another call has the living server look again, before its own next look.
    const other = await desk.say({ message: 'Go on' });
    await Promise.all([desk.rest(conversationId), desk.rest(other.id)]);
    const begun = (await readFile(notes, 'utf8')).split('\n').filter((line) => line.includes(interaction.id));
    expect(begun).toEqual([`hangs ${interaction.id} 1`, `lives ${interaction.id} 2`]);
    const log = await desk.log(conversationId);
    expect(log.filter(({ type }) => type === 'interaction.resolved')).toHaveLength(1);
    answers.kill('SIGTERM');
    await once(answers, 'exit');
    await rm(folder, { recursive: true });
  });
});

describe('an address that answers functions', () => {
  const path = '/v1/deployments/desk/function-endpoint';
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let secret: string;
  beforeAll(async () => {
    receiver = await startReceiver();
    const made = await desk.call('PUT', path, { body: { url: receiver.url } });
    expect(made).toMatchObject({ status: 200, body: { url: receiver.url, mode: 'test', last_failure: null } });
    secret = made.body.secret;
  });
  afterAll(() => receiver.stop());

  const answerWith = (...answers: Parameters<typeof answering>[]) => {
    receiver.received.length = 0;
    receiver.answer = (response, request) =>
      answering(...((answers.length > 1 ? answers.shift() : answers[0]) as Parameters<typeof answering>))(
        response,
        request,
      );
  };
  const json = { 'content-type': 'application/json' };

  it('is called signed, and its answer is the function’s [FUN-020]', async () => {
    desk.script(findsStock);
    answerWith([200, json, '{"output":{"sheets":7}}']);
    const { id } = await desk.say({ message: 'Go on', user_id: 'ada' });
    await desk.rest(id);
    expect(lastResults()).toEqual(['{"sheets":7}']);
    const [request] = receiver.received;
    const read = new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
    expect(read).toMatchObject({ name: 'find_stock', arguments: { sku: 'A4' }, conversation_id: id, user_id: 'ada' });
    expect(request?.headers['webhook-id']).toBe((read as { call_id: string }).call_id);
    expect(receiver.received).toHaveLength(1);
    const audit = await desk.call('GET', '/v1/audit-log?limit=1');
    expect(audit.body.data[0]).toMatchObject({ action: 'interaction.answered', actor: { type: 'system' } });
  });

  it('is called again with the same id after a temporary failure, and not after a permanent one [FUN-021]', async () => {
    desk.script(findsStock);
    answerWith([503], [200, json, '{"error":"No such shelf."}']);
    const { id } = await desk.say({ message: 'Go on' });
    await desk.rest(id);
    expect(lastResults()).toEqual(['No such shelf.']);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    expect((await desk.call('GET', path)).body.last_failure.message).toBe('The address answered 503.');

    desk.script(findsStock);
    answerWith([404, {}, 'hunter2']);
    const refused = await desk.say({ message: 'Go on' });
    await desk.rest(refused.id);
    expect(lastResults()).toEqual(['The function failed.']);
    expect(receiver.received).toHaveLength(1);
  });

  it('is not called for a call that was cancelled [FUN-022]', async () => {
    desk.script(findsStock);
    answerWith([503]);
    const { conversationId, interaction } = await desk.waiting();
    await expect.poll(() => receiver.received.length).toBe(1);
    await desk.call('POST', `/v1/interactions/${interaction.id}/cancel`);
    await desk.rest(conversationId);
    answerWith([200, json, '{"output":1}']);
    const { id } = await desk.say({ message: 'Go on' });
    await desk.rest(id);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).not.toContain(interaction.id);
  });

  it('is called for calls left by a dead process, and may answer later [FUN-023]', async () => {
    desk.script(findsStock);
    answerWith([202]);
    const first = await desk.waiting();
    await expect.poll(() => receiver.received.length).toBe(1);
    expect((await take()).body.data).toEqual([]);
    // As after `kill -9` of the process that called: the row alone knows of it.
    await endLease(first.interaction.id);
    answerWith([200, json, '{"output":7}']);
    const other = await desk.say({ message: 'Go on' });
    await Promise.all([desk.rest(first.conversationId), desk.rest(other.id)]);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    expect(bodies.find(({ call_id }) => call_id === first.interaction.id)).toMatchObject({ attempt: 2 });
  });

  it('is not called for functions of a message, nor for another org or mode [FUN-024] [FUN-004]', async () => {
    desk.script(inTurn(calling('find_shelf'), { text: 'Done.' }));
    answerWith([200, json, '{"output":1}']);
    const other = await makeOtherOrg(desk);
    expect(code(await desk.call('GET', path, { key: other }))).toEqual([404, 'deployment_not_found']);
    expect(code(await desk.call('GET', path, { key: desk.liveKey }))).toEqual([404, 'function_endpoint_not_found']);
    await desk.call('PUT', path, { key: desk.liveKey, body: { url: `${receiver.url}/live` } });
    const tools = [{ name: 'find_shelf', description: 'Find.', input_schema: { type: 'object' }, read_only: true }];
    const { conversationId, interaction } = await desk.waiting({ tools });
    expect(interaction.details.declared_by).toBe('message');
    desk.script(findsStock);
    const seen = await desk.say({ message: 'Go on' });
    await desk.rest(seen.id);
    expect(receiver.received.map((each) => [each.path, JSON.parse(each.body).name])).toEqual([['/in', 'find_stock']]);
    await desk.answer(interaction.id, { output: 1 });
    await desk.rest(conversationId);
  });

  it('may be served by `functionEndpoint`, which refuses unsigned requests [FUN-026]', async () => {
    desk.script(findsStock);
    const heard: unknown[] = [];
    const client = createClient({ baseUrl: desk.url, key: desk.testKey });
    const answer = functionEndpoint({
      secret,
      client,
      functions: {
        find_stock: (_input, { progress }) => {
          progress('On the ladder');
          throw new Error('hunter2');
        },
      },
      onError: (error) => heard.push(error),
    });
    const statuses: number[] = [];
    receiver.answer = async (response, { body, headers }) => {
      const request = (secrets: Record<string, unknown>) =>
        new Request(receiver.url, { method: 'POST', body, headers: { ...headers, ...secrets } as HeadersInit });
      const forged = await answer(request({ 'webhook-id': 'call_other' }));
      statuses.push(forged.status);
      const given = await answer(request({}));
      response.writeHead(given.status, json).end(await given.text());
    };
    const { id } = await desk.say({ message: 'Go on' });
    await desk.rest(id);
    expect([statuses, lastResults(), heard]).toEqual([[400], ['The function failed.'], [new Error('hunter2')]]);
  });

  it('gets a new secret beside the old one, and is called no more when it is taken away [FUN-025]', async () => {
    desk.script(findsStock);
    answerWith([200, json, '{"output":1}']);
    expect((await desk.call('PUT', path, { body: { url: receiver.url } })).body).not.toHaveProperty('secret');
    const rolled = await desk.call('POST', `${path}/roll-secret`);
    const { id } = await desk.say({ message: 'Go on' });
    await desk.rest(id);
    const [request] = receiver.received;
    for (const each of [secret, rolled.body.secret]) {
      new Webhook(each).verify(request?.body ?? '', request?.headers as Record<string, string>);
    }
    expect((await desk.call('DELETE', path)).body).toMatchObject({ object: 'function_endpoint', deleted: true });
    const after = await desk.waiting();
    const [call] = (await take({ wait_s: 10 })).body.data;
    await desk.answer(call.call_id, { output: 1 });
    await desk.rest(after.conversationId);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('vestra functions serve', () => {
  it('answers with what a module exports, restarts when it changes, and lets calls end [FUN-030]', async () => {
    desk.script(findsStock);
    const folder = await mkdtemp(join(tmpdir(), 'vestra-functions-'));
    const file = join(folder, 'stock.mjs');
    const answers = (text: string) => writeFile(file, `export const find_stock = ({ sku }) => sku + ${text};`);
    await answers('" is on shelf 1"');
    const env = { VESTRA_URL: desk.url, VESTRA_KEY: desk.testKey };
    const serving = startCli(['functions', 'serve', 'stock.mjs', '--deployment', 'desk', '--watch'], {
      cwd: folder,
      env,
    });
    await serving.until(({ err }) => err.includes('Answering find_stock.'));
    expect(serving.err()).toContain('`desk` declares `order_paper`, and nothing here answers it.');
    const first = await desk.say({ message: 'Go on' });
    await desk.rest(first.id);
    expect(lastResults()).toEqual(['A4 is on shelf 1']);

    await answers('" is on');
    await serving.until(({ err }) => err.includes('SyntaxError'));
    await answers('" is on shelf 2"');
    await serving.until(({ err }) => err.split('Answering').length === 3);
    const second = await desk.say({ message: 'Go on' });
    await desk.rest(second.id);
    expect(lastResults()).toEqual(['A4 is on shelf 2']);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toBe(0);

    const missing = await runCli(['functions', 'serve', 'none.mjs', '--deployment', 'desk'], { cwd: folder, env });
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('There is no file none.mjs.')]);
    await rm(folder, { recursive: true });
  });
});

describe('asking an agent that calls functions', () => {
  const env = () => ({ VESTRA_URL: desk.url, VESTRA_KEY: desk.testKey });
  const client = () => createClient({ baseUrl: desk.url, key: desk.testKey });
  const typed = ['ask', 'How much paper?', '--deployment', 'desk'];
  const hint = 'Nobody is answering find_stock: run `vestra functions serve <file>`.';
  const findsTwice = inTurn(calling('find_stock', { sku: 'A4' }), calling('find_stock', { sku: 'A5' }), {
    text: 'Found.',
  });

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vestra-functions-'));
    // Each call waits until the test opens the gate.
    const source = `
      import { existsSync, watch } from 'node:fs';
      export const find_stock = ({ sku }) => new Promise((resolve) => {
        const watching = watch('.', look);
        look();
        function look() {
          if (!existsSync('gate')) return;
          watching.close();
          resolve(sku + ' is on shelf 1');
        }
      });`;
    await writeFile(join(folder, 'stock.mjs'), source);
  });
  beforeEach(() => writeFile(join(folder, 'gate'), ''));
  afterAll(() => rm(folder, { recursive: true }));

  async function serveFile() {
    const serving = startCli(['functions', 'serve', 'stock.mjs', '--deployment', 'desk'], { cwd: folder, env: env() });
    await serving.until(({ err }) => err.includes('Answering find_stock.'));
    return {
      async stop() {
        serving.child.kill('SIGTERM');
        expect(await serving.ended).toBe(0);
      },
    };
  }

  it('waits for a process that serves them, in a pipe, at a terminal and with --json [FUN-660]', async () => {
    desk.script(findsTwice);
    const serving = await serveFile();
    const piped = await runCli(typed, { cwd: folder, env: env() });
    expect([piped.code, piped.out, piped.err]).toEqual([0, 'Found.\n', expect.stringMatching(/^conv_\w+ · \$\S+\n$/)]);
    const json = await runCli([...typed, '--json'], { cwd: folder, env: env() });
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      0,
      { status: 'settled', reply: { text: 'Found.' }, interactions: [], hint: null },
    ]);
    const shown = await runAtTerminal(typed, { cwd: folder, env: env() });
    expect(shown).toContain('Found.');
    expect(shown).not.toMatch(/Nobody is answering|Your function|vestra answer/);
    await serving.stop();
  });

  it('waits for them in a task, and through the SDK and the MCP tool alike [FUN-660, MCP-660]', async () => {
    desk.script(findsTwice);
    const serving = await serveFile();
    const given = { message: 'How much paper?', deployment: 'desk' };
    const settled = { status: 'settled', reply: { text: 'Found.' }, interactions: [], hint: null };
    const tools = await connectMcp(desk.url, desk.testKey);
    for (const hand_off of ['auto', 'always'] as const) {
      expect(await ask(client(), { ...given, hand_off })).toMatchObject(settled);
      const { structuredContent } = await tools.callTool({ name: 'ask', arguments: { ...given, hand_off } });
      expect(structuredContent).toMatchObject(settled);
    }
    await tools.close();
    await serving.stop();
  });

  it('reports a function that nobody answers, and continues once somebody does [FUN-661]', async () => {
    desk.script(findsStock);
    const asking = startCli(typed, { cwd: folder, env: env(), input: '' });
    await asking.until(({ err }) => err.includes(hint));
    const serving = await serveFile();
    expect([await asking.ended, asking.out()]).toEqual([0, 'Found.\n']);
    await serving.stop();
  });

  it('says through the SDK and the MCP tool how to serve them, and answers once a process does [FIRST-720]', async () => {
    desk.script(findsStock);
    const given = { message: 'How much paper?', deployment: 'desk', wait_s: 120 };
    const tools = await connectMcp(desk.url, desk.testKey);
    const said = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const onprogress = ({ message = '' }) => message.startsWith('Nobody') && said[1].resolve(message);
    const asking = [
      ask(client(), given, { onHint: said[0].resolve }),
      tools
        .callTool({ name: 'ask', arguments: given }, { onprogress, timeout: 120_000 })
        .then(({ structuredContent }) => structuredContent),
    ];
    const shown = runAtTerminal(typed, { cwd: folder, env: env() });
    // Nobody serves the function yet, and each says how to, while it waits.
    expect(await Promise.all(said.map(({ promise }) => promise))).toEqual([hint, hint]);
    const serving = await serveFile();
    for (const asked of await Promise.all(asking)) {
      expect(asked).toMatchObject({ status: 'settled', reply: { text: 'Found.' }, interactions: [], hint: null });
    }
    expect(await shown).toContain('Found.');
    await tools.close();
    await serving.stop();
  });

  it('raises no alarm while a process works on the call [FUN-662]', async () => {
    desk.script(findsStock);
    await rm(join(folder, 'gate'));
    const serving = await serveFile();
    // Opens the gate once the command has asked the server twice whether somebody has the call.
    let looks = 0;
    const between = createServer((given, response) => {
      const forwarded = request(desk.url + given.url, { method: given.method, headers: given.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        if (given.url?.startsWith('/v1/interactions/call_') && ++looks === 2) {
          answer.on('end', () => writeFile(join(folder, 'gate'), ''));
        }
      });
      given.pipe(forwarded);
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    const { port } = between.address() as AddressInfo;
    const shown = await runAtTerminal(typed, {
      cwd: folder,
      env: { ...env(), VESTRA_URL: `http://127.0.0.1:${port}` },
    });
    expect([looks, shown]).toEqual([2, expect.stringContaining('Found.')]);
    expect(shown).not.toMatch(/Nobody is answering|Your function|vestra answer/);
    between.close();
    await serving.stop();
  });

  it('returns the pending calls when the time is over [FUN-663, MCP-660]', async () => {
    desk.script(findsStock);
    await desk.apply({ ...paperDesk, name: 'slow', tools: [{ ...paperDesk.tools[0], timeout_s: 600 }] });
    const given = { message: 'How much paper?', deployment: 'slow' };
    const pending = { type: 'tool_call', status: 'pending', details: { tool_name: 'find_stock' } };
    const waiting = { status: 'waiting', interactions: [pending], hint };
    expect(await givenTime((wait_s) => ask(client(), { ...given, wait_s }))).toMatchObject(waiting);
    expect(await givenTime((wait_s) => ask(client(), { ...given, wait_s, hand_off: 'always' }))).toMatchObject(waiting);

    const tools = await connectMcp(desk.url, desk.testKey);
    const byTool = async (wait_s: number) => {
      const { structuredContent, content } = await tools.callTool({ name: 'ask', arguments: { ...given, wait_s } });
      return isTooEarly(JSON.stringify(content)) ? tooEarly : (structuredContent as Waited);
    };
    expect(await givenTime(byTool)).toMatchObject(waiting);
    await tools.close();

    const words = ['ask', given.message, '--deployment', 'slow', '--wait-s'];
    const json = await givenTime(async (wait_s) => {
      const { code, out, err } = await runCli([...words, String(wait_s), '--json'], { cwd: folder, env: env() });
      return isTooEarly(out + err) ? tooEarly : { code, ...JSON.parse(out) };
    });
    expect(json).toMatchObject({ code: 5, ...waiting });
    const piped = await givenTime(async (wait_s) => {
      const ran = await runCli([...words, String(wait_s)], { cwd: folder, env: env() });
      return { ...ran, ...(isTooEarly(ran.err) ? tooEarly : { status: 'waiting' }) };
    });
    const called =
      /^(! Nobody .*\n)?\? Your function find_stock is called:\n {4}\S+: A4\n {2}vestra answer call_\w+ --output/;
    expect(piped).toMatchObject({ code: 5, out: '', err: expect.stringMatching(called) });
    expect(piped.err).toContain(hint);
  });

  it('gives no hint for a call that a process has taken when the time is over [FUN-663]', async () => {
    desk.script(findsStock);
    const asked = await givenTime(async (wait_s) => {
      const asking = ask(client(), { message: 'How much paper?', deployment: 'desk', wait_s });
      // On a slow machine its time may be over before the call is made.
      asking.catch(() => {});
      expect((await take({ wait_s: 60 })).body.data).toHaveLength(1);
      return asking;
    });
    expect(asked).toMatchObject({ interactions: [{ taken_until: expect.any(String) }], hint: null });
    for (const { id } of asked.interactions) await desk.answer(id, { output: 7 });
    await desk.rest(asked.conversation_id);
  });

  type Waited = { status: string };

  const tooEarly = { status: 'replying' };
  const isTooEarly = (said: string) => /turn had not begun in time|The agent continues\./.test(said);

  /** Asks again with more time if the call had not been made in time: how fast the machine is says nothing here. */
  async function givenTime<Result extends Waited>(asking: (waitSeconds: number) => Promise<Result>): Promise<Result> {
    for (const seconds of [2, 10, 60]) {
      const asked = await asking(seconds).catch((error: Error) => {
        if (isTooEarly(error.message)) return tooEarly;
        throw error;
      });
      if (asked.status !== 'replying' && asked.status !== 'working') return asked as Result;
    }
    return asking(120);
  }

  it('returns at once if a person has to answer, beside a call and after one [FUN-664]', async () => {
    const question = { name: 'ask_question', arguments: { question: 'Which size?' } };
    desk.script(inTurn({ calls: [{ name: 'find_stock', arguments: { sku: 'A4' } }, question] }, { text: 'Done.' }));
    const given = { message: 'Order', deployment: 'desk' };
    const mixed = await ask(client(), given, { untilEnd: true });
    expect([mixed.status, mixed.interactions.map(({ type }) => type).sort()]).toEqual([
      'waiting',
      ['question', 'tool_call'],
    ]);

    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), calling('order_paper', { sheets: 5 }), { text: 'Done.' }));
    const serving = await serveFile();
    const approval = await ask(client(), given, { untilEnd: true });
    expect([approval.status, approval.interactions.map(({ type }) => type)]).toEqual(['waiting', ['approval']]);
    await serving.stop();
    desk.script(() => ({ text: 'Done.' }));
    for (const { id } of [...mixed.interactions, ...approval.interactions]) {
      await desk.call('POST', `/v1/interactions/${id}/cancel`);
    }
    for (const { conversation_id } of [mixed, approval]) await desk.rest(conversation_id);
  });

  it("returns the agent's reply after a call that was not answered in time [FUN-665]", async () => {
    desk.script(findsStock);
    const expire = (event: StreamEvent) =>
      event.type === 'tool_call.created' &&
      void desk.sql(`UPDATE interactions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
        event.data.call.call_id,
      ]);
    const asked = await ask(client(), { message: 'Go on', deployment: 'desk' }, { untilEnd: true, onEvent: expire });
    expect(asked).toMatchObject({ status: 'settled', reply: { text: 'Found.' }, interactions: [], hint: null });
  });

  it('shows on an interaction whether a process has taken the call [FUN-666]', async () => {
    desk.script(findsStock);
    const { conversationId, interaction } = await desk.waiting();
    expect(interaction).not.toHaveProperty('taken_until');
    const [call] = (await take()).body.data;
    const now = async () => (await desk.call('GET', `/v1/interactions/${interaction.id}`)).body;
    expect((await now()).taken_until).toBe(call.taken_until);
    await endLease(call.call_id);
    expect(await now()).not.toHaveProperty('taken_until');
    const [again] = (await take()).body.data;
    await desk.answer(again.call_id, { output: 7 });
    expect(await now()).not.toHaveProperty('taken_until');
    await desk.rest(conversationId);
  });

  it('holds `Prefer: wait` for them, and not for a function of the message [MSG-660]', async () => {
    desk.script(findsStock);
    const serving = await serveFile();
    const { id } = await desk.say({ deployment: 'desk' });
    const path = `/v1/conversations/${id}/messages`;
    const headers = { prefer: 'wait=120' };
    const held = await desk.call('POST', path, { headers, body: { message: 'Go on' } });
    expect([held.status, held.body.reply?.text]).toEqual([200, 'Found.']);
    desk.script(inTurn(calling('find_shelf'), { text: 'Done.' }));
    const tools = [{ name: 'find_shelf', description: 'Find.', input_schema: { type: 'object' }, read_only: true }];
    const asking = await desk.call('POST', path, { headers, body: { message: 'Go on', tools } });
    expect([asking.status, asking.body.status, asking.body.interactions.length]).toEqual([202, 'waiting', 1]);
    await desk.answer(asking.body.interactions[0], { output: 1 });
    await desk.rest(id);
    await serving.stop();
  });
});

describe('docs/functions.md', () => {
  it('holds as it is written [FUN-040]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vestra-functions-'));
    await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
    const [service = ''] = blocksOfPage('yaml');
    const [functions = '', server = '', endpoint = ''] = blocksOfPage('ts');
    const files = { 'service.yaml': service, 'functions.ts': functions, 'server.ts': server, 'endpoint.ts': endpoint };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const env = { VESTRA_URL: desk.url, VESTRA_KEY: desk.testKey };
    const applied = await runCli(['apply', '--promote', 'no'], { cwd: folder, env });
    expect([applied.code, applied.err]).toEqual([0, '']);
    const ask = async (number: string) => {
      desk.script(inTurn(calling('find_order', { number }), { text: 'Done.' }));
      const { id } = await desk.say({ message: 'Where is it?', deployment: 'shop' });
      await desk.rest(id);
      return lastResults();
    };

    const shown = blocksOfPage('console').find((block) => block.startsWith('$ vestra functions serve')) ?? '';
    const [typed = '', ...printed] = shown.trim().split('\n');
    const serving = startCli(typed.slice('$ vestra '.length).split(' '), { cwd: folder, env });
    await serving.until(({ err }) => printed.every((line) => err.includes(line)));
    expect(await ask('A-1')).toEqual(['{"number":"A-1","status":"shipped","total":40}']);
    expect(await ask('A-2')).toEqual(['There is no order A-2.']);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toBe(0);

    const own = spawn(process.execPath, ['server.ts'], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    await once(own.stderr, 'data');
    expect(await ask('A-1')).toEqual(['{"number":"A-1","status":"shipped","total":40}']);
    own.kill('SIGTERM');
    expect(await once(own, 'exit')).toEqual([0, null]);

    const secret = 'whsec_c2VjcmV0IG9mIHRoZSBzaG9wIGhlcmU=';
    vi.stubEnv('FUNCTIONS_SECRET', secret);
    const { POST } = await import(join(folder, 'endpoint.ts'));
    const body = JSON.stringify({ call_id: 'call_1', name: 'find_order', arguments: { number: 'A-1' } });
    const headers = await signWebhook({ id: 'call_1', body, secret });
    const answer = await POST(new Request('https://shop.example.com/functions', { method: 'POST', body, headers }));
    expect(await answer.json()).toEqual({ output: { number: 'A-1', status: 'shipped', total: 40 } });
    await rm(folder, { recursive: true });
  });
});
