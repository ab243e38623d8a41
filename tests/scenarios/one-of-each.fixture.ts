import type { ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import type { ApiResponse } from '../support/server.ts';
import type { ComputerDesk } from './computer.fixture.ts';
import { calling, inTurn } from './interactions.fixture.ts';

type Body = ApiResponse['body'];

/**
 * Something that can be deleted, with the marker wherever it has text. `used` are conversations that have read it, and
 * `isClosed` if they take no further message.
 */
export type Made = { remove: string[]; used?: string[]; isClosed?: boolean };

/** Creates one object of each kind that the API has. `receiverUrl`: an address that answers with 500. */
export function oneOfEach(desk: ComputerDesk, receiverUrl: string) {
  let keys = 0;

  async function done(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Body> {
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
    batch: async (marker, userId) => {
      script({ text: 'Done.' });
      const { id } = await done('POST', '/v1/batches', {
        deployment: 'desk',
        items: [{ user_id: userId, message: 'Hello', metadata: { label: marker } }],
        metadata: { label: marker },
      });
      await desk.until(`/v1/batches/${id}`, ({ status }) => status === 'completed');
      const { data } = await done('GET', `/v1/batches/${id}/items`);
      // The conversations of its items stay, and are deleted for themselves.
      return { remove: [`/v1/batches/${id}`, `/v1/conversations/${data[0].conversation_id}`] };
    },
    'test run': async (marker) => {
      const { id } = await done('POST', '/v1/deployments/desk/scenarios', {
        name: 'Opening hours',
        persona: marker,
        goal: marker,
        success_criteria: [marker],
      });
      script({ text: marker });
      const run = await done('POST', '/v1/deployments/desk/test-runs');
      await desk.until(`/v1/test-runs/${run.id}`, ({ finished_at }) => finished_at !== null);
      return { remove: [`/v1/deployments/desk/scenarios/${id}`, `/v1/test-runs/${run.id}`] };
    },
    replay: async (marker, userId) => {
      const path = await talk(userId, { message: 'Hello' }, { text: 'Good day.' });
      script({ text: marker });
      const replay = await done('POST', '/v1/deployments/desk/replays', { conversation_ids: [path.split('/').at(-1)] });
      await desk.until(`/v1/replays/${replay.id}`, ({ finished_at }) => finished_at !== null);
      return { remove: [`/v1/replays/${replay.id}`] };
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

  return { kinds, done, script, say, talk };
}
