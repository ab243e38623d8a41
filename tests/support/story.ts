import { routes } from '@vestra/contract/api';
import { type ExampleCall, exampleId, exampleTime, exampleUrl } from '@vestra/contract/examples/step';
import { type IdPrefix, idPrefixes } from '@vestra/contract/ids';
import type { Route } from '@vestra/contract/route';
import { expect } from 'vitest';
import type { z } from 'zod';
import type { TestServer } from './server.ts';

/** A response: its status, its schema, and its body in the names of the examples. */
type Told = { status: number; schema: z.ZodType; answer: unknown };

/**
 * Sends the calls of the story to a server: what examples name is put in as the server knows it, and taken out again. A reply
 * that calls a function of the shop is answered late, since nobody serves the function; `holds: false` does not wait for it.
 */
export function storyteller(server: TestServer) {
  const names = exampleNames(server.url);
  let sessionToken = '';
  let consoleHeaders: Record<string, string> = {};

  return async (step: ExampleCall, { holds = true } = {}): Promise<Told> => {
    const route = routeOf(step.operation);
    const { Prefer: _, ...unhurried } = step.headers ?? {};
    const { params = {}, query = {} } = names.toReal({ params: step.params, query: step.query }) as ExampleCall;
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const response = await fetch(`${server.url}${path}?${search}`, {
      method: route.method,
      headers: { ...credentialOf(step), ...(holds ? step.headers : unhurried), ...(step.body !== undefined && json) },
      ...bodyOf(names.toReal(step.body), step.file),
    });
    const read = await contentOf(response);
    remember(response, read);
    if (!holds && step.operation === 'conversations.send') await untilItRests(String(params.conversation_id));
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    const schema = isStream ? (route.streamed as z.ZodType) : route.response;
    return { status: response.status, schema, answer: names.toExample(read) };
  };

  async function untilItRests(id: string): Promise<void> {
    const look = async () => (await server.call('GET', `/v1/conversations/${id}`)).body;
    await expect.poll(async () => (await look()).status, { interval: 25 }).toMatch(/idle|waiting/);
    // The next calls name what the reply asks for.
    names.toExample(await look());
  }

  function credentialOf({ as }: ExampleCall): Record<string, string> {
    if (as === 'nobody') return {};
    if (as === 'console') return consoleHeaders;
    const bearer = as === 'session' ? sessionToken : as === 'live' ? server.liveKey : server.testKey;
    return { authorization: `Bearer ${bearer}` };
  }

  function remember(response: Response, read: unknown): void {
    const { token, csrf_token } = (read ?? {}) as { token?: string; csrf_token?: string };
    if (token?.startsWith('vst_')) sessionToken = token;
    const cookie = response.headers.get('set-cookie')?.split(';', 1)[0];
    if (cookie && csrf_token) consoleHeaders = { cookie, 'x-csrf-token': csrf_token };
  }
}

const json = { 'content-type': 'application/json' };

export function routeOf(operation: string): Route {
  const row = routes.find(({ name }) => name === operation);
  if (!row) throw new Error(`There is no operation ${operation}.`);
  return row.route;
}

function bodyOf(body: unknown, file: ExampleCall['file']): { body?: string | FormData } {
  if (!file) return body === undefined ? {} : { body: JSON.stringify(body) };
  const form = new FormData();
  form.append('file', new Blob([file.text], { type: 'text/plain' }), file.name);
  return { body: form };
}

/** Of a stream, its first event. */
async function contentOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  if (type.startsWith('text/event-stream')) return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? 'null');
  return type.includes('json') ? JSON.parse(text) : text;
}

/**
 * Maps values that differ between servers to those of an example: ids in the order of their appearance, times, the
 * server's address, and secrets.
 */
function exampleNames(url: string) {
  const real = new Map<string, string>();
  const shown = new Map<string, string>();
  const counts = new Map<string, number>();

  const named = (value: string, kind: string, nameOf: (count: number) => string): string => {
    const known = shown.get(value);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    shown.set(value, nameOf(count));
    real.set(nameOf(count), value);
    return nameOf(count);
  };

  const ids = new RegExp(`\\b(${idPrefixes.join('|')})_[0-9a-hjkmnp-tv-z]{24}\\b`, 'g');
  const toExampleText = (text: string): string =>
    text
      .replaceAll(url, exampleUrl)
      .replace(ids, (id, prefix: IdPrefix) => named(id, prefix, (count) => exampleId(prefix, count)))
      .replace(/I am the offline stand-in:[^\n]*\n+/g, '')
      .replace(/\bmsg_resp_\w{12,}/g, 'msg_resp_1_0')
      .replace(/\bresp_\w{12,}/g, (id) => named(id, 'resp', (count) => `resp_${count}`))
      .replace(/(?<=[#?&]token=)[\w-]{20,}/g, (token) => named(token, 'token', (count) => `token_${count}`))
      .replace(/\b(vk_test|vk_live|whsec|vst)_[\w+/=-]{16,}/g, '$1_…')
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, exampleTime);

  const fields: Readonly<Record<string, (value: never) => unknown>> = {
    claim_id: (value: string) => named(value, 'claim', (count) => `claim_${count}`),
    csrf_token: () => 'csrf_…',
    last4: () => 'a1b2',
    ip: () => '203.0.113.7',
    next_cursor: (value: string | null) => (value === null ? null : 'WyIyMDI2…'),
    duration_ms: (value: number | null) => (value === null ? null : 12),
  };

  const walk = (value: unknown, text: (text: string) => unknown, field?: string): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map((each) => walk(each, text, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, text, name)]));
  };

  return {
    toReal: (value: unknown) => walk(value, (text) => real.get(text) ?? text),
    toExample: (value: unknown) =>
      masked(walk(masked(value, fields), toExampleText), { created: secondsToExample, created_at: secondsToExample }),
  };
}

/** OpenAI's clients count seconds where ours read a text. */
const secondsToExample = (value: never) => (typeof value === 'number' ? 1_794_820_200 : value);

function masked(value: unknown, fields: Readonly<Record<string, (value: never) => unknown>>): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, fields));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      Object.hasOwn(fields, name) && typeof each !== 'object' ? fields[name]?.(each as never) : masked(each, fields),
    ]),
  );
}
