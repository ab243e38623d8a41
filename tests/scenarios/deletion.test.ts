import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pollWithJob } from '../support/jobs.ts';
import { filesWith } from '../support/marked-files.ts';
import { rowsWith } from '../support/marked-rows.ts';
import type { ApiResponse } from '../support/server.ts';
import { idsIn, routesWith } from '../support/walk-routes.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';

type Body = ApiResponse['body'];

/**
 * Something that can be deleted, with the marker wherever it has text. `used` are conversations that have read it, and
 * `isClosed` if they take no further message.
 */
type Made = { remove: string[]; used?: string[]; isClosed?: boolean };

let desk: ComputerDesk;
let keys = 0;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(500).end());
});
let receiverUrl: string;
beforeAll(async () => {
  desk = await startComputerDesk({ VESTRA_COMPUTER_IDLE_SECONDS: '2' });
  await desk.apply({ name: 'desk', instructions: 'Be kind.' });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await desk.stop();
  receiver.closeAllConnections();
  receiver.close();
});

async function done(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Body> {
  // A stored response must not show a deleted object either.
  const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': `deletion-${keys++}` } : {};
  const answer = await desk.call(method, path, {
    headers: { ...key, ...headers },
    ...(body !== undefined && { body }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

/** Answers the background look and the reply, which makes these calls. */
const script = (...answers: ScriptedAnswer[]) =>
  desk.script((request) =>
    request.tools.length === 0
      ? { text: '{"facts": [], "outdated": []}' }
      : inTurn(...answers, { text: 'Done.' })(request),
  );

const say = (path: string, body: Record<string, unknown>) =>
  done('POST', `${path}/messages`, { message: 'Go on.', ...body }, { prefer: 'wait=60' });

/** A conversation in which the agent makes these calls. */
async function talk(userId: string, body: Record<string, unknown>, ...answers: ScriptedAnswer[]): Promise<string> {
  script(...answers);
  const { deployment = 'desk', ...rest } = body;
  const { id } = await done('POST', '/v1/conversations', { user_id: userId, deployment });
  const path = `/v1/conversations/${id}`;
  await say(path, rest);
  await desk.rest(id);
  return path;
}

const filesOf = async (path: string): Promise<Body[]> =>
  (await done('GET', `/v1/files?conversation_id=${path.split('/')[3]}`)).data;

/** Conversations in which a reply and a task search the notebooks and read the document of this title. */
async function readings(userId: string, deployment: string, title: string): Promise<string[]> {
  const reads = [calling('search_notebooks', { query: title }), calling('read_document', { document: title })];
  return [
    await talk(userId, { deployment }, ...reads),
    await talk(userId, { deployment, hand_off: 'always' }, ...reads),
  ];
}

const kinds: Record<string, (marker: string, userId: string) => Promise<Made>> = {
  memory: async (marker, userId) => {
    const { id } = await done('POST', '/v1/memory', { user_id: userId, text: `Likes ${marker}.` });
    const used = await talk(userId, {}, calling('recall', { query: 'likes' }));
    return { remove: [`/v1/memory/${id}?user_id=${userId}`], used: [used] };
  },
  'all memories': async (marker, userId) => {
    await done('POST', '/v1/memory', { user_id: userId, text: `Likes ${marker}.` });
    const used = await talk(userId, { hand_off: 'always' }, calling('recall', { query: 'likes' }));
    return { remove: [`/v1/memory?user_id=${userId}`], used: [used] };
  },
  task: async (marker, userId) => {
    const path = await talk(
      userId,
      { hand_off: 'always' },
      calling('run_command', { command: `echo ${marker}` }),
      calling('save_output', { filename: `${marker}.md`, content: marker }),
      { text: `Found ${marker}.` },
    );
    script(calling('read_conversation_file', { filename: `${marker}.md` }));
    await say(path, {});
    const { data } = await done('GET', `/v1/tasks?conversation_id=${path.split('/')[3]}`);
    return { remove: [`/v1/tasks/${data[0].id}`], used: [path] };
  },
  'uploaded file': async (marker, userId) => {
    const file_id = await desk.upload(`${marker}.txt`, marker, `?user_id=${userId}`);
    const path = await talk(
      userId,
      { attachments: [{ file_id }] },
      calling('read_conversation_file', { filename: `${marker}.txt` }),
    );
    script(calling('run_command', { command: 'ls uploads | wc -l' }));
    await say(path, { hand_off: 'always' });
    await desk.rest(path.split('/')[3] as string);
    return { remove: [`/v1/files/${file_id}`], used: [path] };
  },
  'file of a task': async (marker, userId) => {
    const path = await talk(
      userId,
      { hand_off: 'always' },
      calling('save_output', { filename: `${marker}.md`, content: marker }),
    );
    script(calling('read_conversation_file', { filename: `${marker}.md` }));
    await say(path, {});
    const [file] = await filesOf(path);
    return { remove: [`/v1/files/${file.id}`], used: [path] };
  },
  document: async (marker, userId) => {
    const { id } = await done('POST', '/v1/notebooks', { name: 'Notes', slug: 'plain-notes', description: 'Notes.' });
    const path = `/v1/notebooks/${id}/documents`;
    const document = await done('POST', path, { title: marker, text: `About ${marker}.` });
    await desk.apply({ name: 'reader', instructions: 'Be kind.', memory: 'none', knowledge: [{ notebook: id }] });
    const used = await readings(userId, 'reader', marker);
    // The version that was saved with the document keeps it.
    return { remove: ['/v1/deployments/reader', `${path}/${document.id}`], used, isClosed: true };
  },
  notebook: async (marker, userId) => {
    const { id } = await done('POST', '/v1/notebooks', { name: marker, slug: marker, description: marker });
    await done('POST', `/v1/notebooks/${id}/documents`, { title: marker, text: `About ${marker}.` });
    await desk.apply({ name: 'librarian', instructions: 'Be kind.', memory: 'none', knowledge: [{ notebook: id }] });
    return { remove: [`/v1/notebooks/${id}`], used: await readings(userId, 'librarian', marker) };
  },
  skill: async (marker, userId) => {
    const content = `---\nname: ${marker}\ndescription: About ${marker}.\n---\nSay ${marker}.`;
    const { id } = await done('POST', '/v1/skills', { files: [{ path: 'SKILL.md', content }] });
    await desk.apply({ name: 'skilled', instructions: 'Be kind.', memory: 'none', skills: [{ id }] });
    const reads = calling('use_skill', { name: marker });
    // The task places the skill on the computer of the user.
    const used = [
      await talk(userId, { deployment: 'skilled' }, reads),
      await talk(userId, { deployment: 'skilled', hand_off: 'always' }, reads),
    ];
    return { remove: [`/v1/skills/${id}`], used };
  },
  conversation: async (marker, userId) => {
    const path = await talk(userId, { message: marker, context: { page: marker } }, { text: marker });
    return { remove: [path] };
  },
  user: async (marker, userId) => {
    await done('POST', '/v1/users', { user_id: userId, name: marker, metadata: { about: marker } });
    await talk(userId, { message: marker }, calling('remember', { text: `Likes ${marker}.` }), { text: marker });
    return { remove: [`/v1/users/${userId}`] };
  },
  routine: async (marker, userId) => {
    const { id } = await done('POST', '/v1/routines', {
      user_id: userId,
      name: marker,
      ask: marker,
      every: 'day at 08:00',
    });
    script({ text: 'Done.' });
    const { conversation_id } = await done('POST', `/v1/routines/${id}/run`);
    await desk.rest(conversation_id);
    // The conversation of its runs stays, and is deleted for itself.
    return { remove: [`/v1/routines/${id}`, `/v1/conversations/${conversation_id}`] };
  },
  'batch item': async (marker, userId) => {
    script({ text: marker });
    const { id } = await done('POST', '/v1/batches', {
      deployment: 'desk',
      items: [{ user_id: userId, message: marker, context: { page: marker }, metadata: { label: marker } }],
    });
    await desk.until(`/v1/batches/${id}`, ({ status }) => status === 'completed');
    const { data } = await done('GET', `/v1/batches/${id}/items`);
    return { remove: [`/v1/conversations/${data[0].conversation_id}`] };
  },
  webhook: async (marker) => {
    const { id } = await done('POST', '/v1/webhooks', {
      url: `${receiverUrl}/${marker}`,
      description: marker,
      events: ['reply.completed'],
    });
    await done('POST', `/v1/webhooks/${id}/test`);
    return { remove: [`/v1/webhooks/${id}`] };
  },
  'deployment with a test run': async (marker) => {
    await desk.apply({ name: marker, instructions: marker, memory: 'none' });
    const path = `/v1/deployments/${marker}`;
    const { id } = await done('POST', `${path}/scenarios`, {
      name: marker,
      persona: marker,
      goal: marker,
      success_criteria: [marker],
    });
    script({ text: marker });
    const run = await done('POST', `${path}/test-runs`);
    await desk.until(`/v1/test-runs/${run.id}`, ({ status }) => status !== 'running' && status !== 'queued');
    return { remove: [`${path}/scenarios/${id}`, path] };
  },
  secret: async (marker) => {
    await done('PUT', '/v1/secrets/QUINCE', { value: marker });
    return { remove: ['/v1/secrets/QUINCE'] };
  },
  'tool server': async (marker) => {
    const { id } = await done('POST', '/v1/mcp-servers', {
      name: marker,
      slug: marker.slice(-20),
      url: `${receiverUrl}/${marker}`,
      auth: { type: 'headers', headers: { 'x-label': marker } },
    });
    return { remove: [`/v1/mcp-servers/${id}`] };
  },
};

/** Tables in which the marker may stay, and why. */
const allowed: Readonly<Record<string, string>> = {
  audit_entries: 'The audit log names what was deleted and by whom, until its own retention ends.',
};

const stem = 'quince-lagoon';
const markerOf = (kind: string) => `${stem}-${kind.replaceAll(' ', '-')}`;
const markersIn = (text: string) => text.match(new RegExp(`${stem}-[a-z-]+`, 'g')) ?? [];
const userOf = (kind: string) => `user-${kind.replaceAll(' ', '-')}`;

/** The tables that still have a marker, with the markers. */
async function rowsLeft(): Promise<string[][]> {
  const rows = Object.entries(await rowsWith(desk, stem)).filter(([table]) => !(table in allowed));
  const decoded = (row: string) => row.replace(/\\x([0-9a-f]+)/g, (_, hex) => Buffer.from(hex, 'hex').toString());
  return rows.map(([table, all]) => [table, ...new Set(all.map(decoded).flatMap(markersIn))]);
}

/** Where anything deleted is still found: the tables, the routes and the files, each with the kinds. */
async function tracesLeft(names: readonly string[]) {
  const { found, called } = await routesWith(desk, stem, names);
  return {
    rows: await rowsLeft(),
    // The audit log is allowed as a table.
    routes: found.filter((path) => !path.startsWith('/v1/audit-log')),
    files: await filesWith(desk.dataDir, stem),
    called,
  };
}

describe('a deletion of anything that can be deleted', () => {
  it('leaves nothing of it in any route, stream, prompt, table, file or computer [DEL-720, DEL-730]', async () => {
    const made: [kind: string, made: Made][] = [];
    for (const [kind, make] of Object.entries(kinds)) made.push([kind, await make(markerOf(kind), userOf(kind))]);
    const before = JSON.stringify(await rowsWith(desk, stem));
    // Values of secrets are stored encrypted alone.
    expect(Object.keys(kinds).filter((kind) => !before.includes(markerOf(kind)))).toEqual(['secret']);
    const names = [...new Set([...idsIn(before), ...made.flatMap(([kind]) => userOf(kind)), 'QUINCE', '1'])];
    const calls = (await tracesLeft(names)).called;
    expect(calls).toBeGreaterThan(200);

    for (const [, { remove }] of made) for (const path of remove) await done('DELETE', path);

    await pollWithJob(desk.connectionString, 'memory.keep', rowsLeft).toEqual([]);
    await expect.poll(() => filesWith(desk.dataDir, stem), { timeout: 30_000 }).toEqual([]);
    // A later message, in the conversations that have read it and in a new one of the same user.
    const prompts: string[] = [];
    for (const [kind, { used = [], isClosed }] of made) {
      script();
      for (const path of isClosed ? [] : used) await say(path, { message: 'And now?' });
      prompts.push(...desk.asked.map((request) => JSON.stringify(request)));
      await talk(userOf(kind), { message: 'And here?' });
      prompts.push(...desk.asked.map((request) => JSON.stringify(request)));
    }
    expect(prompts.length).toBeGreaterThan(made.length);
    expect(prompts.flatMap(markersIn)).toEqual([]);
    for (const path of made.flatMap(([, { used = [] }]) => used)) {
      const { last_event_seq: last } = await done('GET', path);
      const stream = await desk.stream('GET', `${path}/events`);
      await stream.waitFor(({ seq }) => seq >= last);
      stream.close();
      expect(markersIn(JSON.stringify(stream.seen))).toEqual([]);
    }
    expect(await tracesLeft(names)).toEqual({ rows: [], routes: [], files: [], called: calls });
  }, 1_200_000);
});
