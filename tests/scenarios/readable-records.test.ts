import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { rowsWith } from '../support/marked-rows.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';
import { codeOf, door, startTalk, type Talk } from './conversations.fixture.ts';

type Body = ApiResponse['body'];

let talk: Talk;
beforeAll(async () => {
  talk = await startTalk();
});
afterAll(() => talk.stop());

const list = async (query: string, key = talk.testKey): Promise<Body[]> => {
  const answer = await talk.call('GET', `/v1/conversations?limit=100&${query}`, { key });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
};
const ids = async (query: string, key?: string) => (await list(query, key)).map(({ id }) => id);

/** Begins a conversation and waits until it rests. */
async function said(message: string, body: Record<string, unknown> = {}, key = talk.testKey): Promise<Body> {
  const { id } = await talk.begin({ message, ...body }, key);
  return talk.rest(id, key);
}

/** Sends a message that goes straight to a task, and returns the ended task. */
async function work(message: string, body: Record<string, unknown> = {}): Promise<Body> {
  const { id } = await talk.begin({ message, hand_off: 'always', ...body });
  await talk.rest(id);
  const [task] = (await talk.call('GET', `/v1/tasks?conversation_id=${id}`)).body.data;
  return (await talk.call('GET', `/v1/tasks/${task.id}`)).body;
}

describe('the preview of a conversation', () => {
  it('is the first words of its first message, in one line of at most 200 characters [REC-700]', async () => {
    const empty = await talk.begin();
    expect(empty.preview).toBeNull();
    await talk.tell(empty.id, '  Where is\n\nmy   order?  ');
    await talk.tell(empty.id, 'And the invoice?');
    expect((await talk.show(empty.id)).preview).toBe('Where is my order?');

    const long = await talk.begin({ message: `Please read ${'all of this '.repeat(60)}` });
    expect([...long.preview].length).toBeLessThanOrEqual(200);
    expect(long.preview).toMatch(/^Please read all of this .* (all|of|this)…$/);
    const emoji = await talk.begin({ message: '🦜'.repeat(300) });
    expect(emoji.preview).toBe(`${'🦜'.repeat(199)}…`);
    expect((await list('')).slice(0, 3).map(({ preview }) => preview)).toEqual([
      emoji.preview,
      long.preview,
      'Where is my order?',
    ]);
  });

  it('names the files of a message without text [REC-700]', async () => {
    const raw = new FormData();
    raw.append('file', new Blob(['a,b'], { type: 'text/csv' }), 'orders.csv');
    const { body: file } = await talk.call('POST', '/v1/files?user_id=ann', { raw });
    const { preview } = await talk.begin({ user_id: 'ann', attachments: [{ file_id: file.id }] });
    expect(preview).toBe('orders.csv');
  });

  it('is read from the first message of a conversation that an older version started [REC-700]', async () => {
    const { id } = await said('Started long ago');
    await query(talk.connectionString, 'DELETE FROM conversation_previews WHERE conversation_id = $1', [id]);
    expect((await talk.show(id)).preview).toBe('Started long ago');
    expect((await list('')).find((each) => each.id === id)?.preview).toBe('Started long ago');
  });
});

describe('last_error', () => {
  it('says why the last turn failed, until one succeeds [REC-701]', async () => {
    talk.script(() => ({ fail: 400 }));
    const failed = await said('This fails');
    expect(failed).toMatchObject({ status: 'idle', last_error: { code: 'model_error' } });
    expect(await ids('failed=true')).toEqual([failed.id]);
    expect(await ids('failed=false')).not.toContain(failed.id);
    const session = await talk.call('POST', '/v1/sessions', {
      body: { chat: true, user_id: 'bob', conversation_id: (await said('Bob fails', { user_id: 'bob' })).id },
    });
    const { body: seen } = await talk.call('GET', `/v1/conversations/${session.body.conversation_id}`, {
      key: session.body.token,
    });
    expect(seen).toMatchObject({ preview: 'Bob fails', last_error: { code: 'model_error' } });
    expect(seen.last_error.message).not.toContain('400');

    talk.script(() => ({ text: 'Hello.' }));
    await talk.tell(failed.id, 'Again');
    expect((await talk.show(failed.id)).last_error).toBeNull();
    expect(await ids('failed=true')).not.toContain(failed.id);
  });

  it('is null after a person stopped the reply [REC-701]', async () => {
    const shut = door();
    talk.script(async () => {
      await shut.opened;
      return { text: 'Late.' };
    });
    const { id } = await talk.begin({ message: 'Stop this' });
    await talk.call('POST', `/v1/conversations/${id}/stop`);
    shut.open();
    expect(await talk.rest(id)).toMatchObject({ last_error: null });
    talk.script(() => ({ text: 'Hello.' }));
  });
});

describe('the list of conversations', () => {
  it('is filtered by deployment, version, user, status and time, and by several at once [REC-702]', async () => {
    await talk.apply({ name: 'front', instructions: 'Greet.' });
    await talk.apply({ name: 'front', instructions: 'Greet well.' });
    const before = await said('To the desk', { user_id: 'cleo' });
    const first = await said('To the front', { user_id: 'cleo', deployment: 'front@1' });
    const second = await said('To the front again', { user_id: 'dora', deployment: 'front' });
    expect(await ids('deployment=front')).toEqual([second.id, first.id]);
    expect(await ids(`deployment=${second.deployment_id}`)).toEqual([second.id, first.id]);
    expect(await ids('deployment=front@1')).toEqual([first.id]);
    expect(await ids('deployment=front&user_id=dora')).toEqual([second.id]);
    expect(await ids('deployment=nowhere')).toEqual([]);
    expect(await ids(`created_after=${first.created_at}&user_id=cleo`)).toEqual([first.id]);
    expect(await ids(`created_before=${first.created_at}&user_id=cleo`)).toEqual([before.id]);
    expect(await ids('created_before=2001-01-01')).toEqual([]);
    const [page] = [await talk.call('GET', '/v1/conversations?deployment=front&limit=1')];
    const next = await talk.call('GET', `/v1/conversations?deployment=front&limit=1&cursor=${page?.body.next_cursor}`);
    expect([page?.body.data[0].id, next.body.data[0].id, next.body.next_cursor]).toEqual([second.id, first.id, null]);

    const shut = door();
    talk.script(async (request) => {
      const isTask = request.tools.some(({ name }) => name === 'save_output');
      if (JSON.stringify(request.messages).includes('Ask me')) {
        return { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] };
      }
      await shut.opened;
      return { text: isTask ? 'Done.' : 'Hello.' };
    });
    const replying = await talk.begin({ message: 'Take your time' });
    const working = await talk.begin({ message: 'Work on it', hand_off: 'always' });
    const waiting = await talk.begin({ message: 'Ask me' });
    await talk.until(`/v1/conversations/${waiting.id}`, ({ status }) => status === 'waiting');
    expect(await ids('status=replying')).toEqual([replying.id]);
    expect(await ids('status=working')).toEqual([working.id]);
    expect(await ids('status=waiting')).toEqual([waiting.id]);
    expect(await ids('status=idle&deployment=front')).toEqual([second.id, first.id]);
    shut.open();
    talk.script(() => ({ text: 'Hello.' }));
    for (const { id } of [replying, working]) await talk.rest(id);
  });

  it('is searched by the starts of words, in any language and order [REC-703]', async () => {
    const refund = await said('I want a REFUND for order A-4711, ada@acme.example');
    const umlaut = await said('Ärger mit der Rückgabe');
    const japanese = await said('返品手続について教えてください');
    const other = await said('Refund the other one');
    expect(await ids('q=refund')).toEqual([other.id, refund.id]);
    expect(await ids('q=order refu')).toEqual([refund.id]);
    expect(await ids('q=a-4711')).toEqual([refund.id]);
    expect(await ids('q=ada@acme.example')).toEqual([refund.id]);
    expect(await ids(`q=${encodeURIComponent('ÄRGER rückg')}`)).toEqual([umlaut.id]);
    expect(await ids(`q=${encodeURIComponent('手続')}`)).toEqual([japanese.id]);
    for (const none of ['refund nothing', '???', "' | 'x", '\\', ':*', '&']) {
      expect([none, await ids(`q=${encodeURIComponent(none)}`)]).toEqual([none, []]);
    }
  });

  it('shows nothing of another org or mode under any filter [REC-702]', async () => {
    const { id } = await said('Only here: pomegranate');
    const other = await makeOtherOrg(talk);
    for (const key of [other, talk.liveKey]) {
      for (const filter of [
        'q=pomegranate',
        'status=idle',
        'deployment=desk&failed=false',
        'created_after=2001-01-01',
      ]) {
        expect([filter, (await ids(filter, key)).includes(id)]).toEqual([filter, false]);
      }
    }
  });

  it.each(['status=asleep', 'failed=1', 'q=', `q=${'a'.repeat(201)}`, 'created_after=yesterday'])(
    'refuses %s [REC-702]',
    async (filter) => {
      expect(codeOf(await talk.call('GET', `/v1/conversations?${filter}`))).toEqual([400, 'invalid_query']);
    },
  );

  it('refuses a reference that names no deployment [REC-702]', async () => {
    expect(codeOf(await talk.call('GET', '/v1/conversations?deployment=@2'))).toEqual([400, 'invalid_deployment']);
  });
});

describe('a task', () => {
  it('carries the message that started it, and a title from it [REC-704]', async () => {
    const ask = `Compare the prices of all parrots in Lisbon and write a table that says which is best.\n${'Now. '.repeat(90)}`;
    const task = await work(ask);
    expect(task).toMatchObject({
      ask,
      title: 'Compare the prices of all parrots in Lisbon and write a table that says which…',
    });
    const [listed] = (await talk.call('GET', `/v1/tasks?conversation_id=${task.conversation_id}`)).body.data;
    expect(listed.ask).toMatch(/^Compare .*…$/s);
    expect([...listed.ask].length).toBe(280);
    const started = (await talk.log(task.conversation_id)).find(({ type }) => type === 'task.started');
    expect(started?.data.task).toMatchObject({ ask, title: task.title });
  });

  it('has the title of its hand-off or its plan, if it has one [REC-704]', async () => {
    talk.script(({ tools, messages }) => {
      const did = JSON.stringify(messages);
      if (tools.some(({ name }) => name === 'hand_off_to_work')) {
        return { calls: [{ name: 'hand_off_to_work', arguments: { title: 'Parrot prices', task: 'Compare them.' } }] };
      }
      if (did.includes('rename it') && !did.includes('The plan is shown')) {
        const steps = [{ content: 'Look', status: 'pending' }];
        return { calls: [{ name: 'update_plan', arguments: { title: 'Prices of parrots', steps } }] };
      }
      return { text: 'Done.' };
    });
    const { id } = await talk.begin({ message: 'Compare parrots' });
    await talk.rest(id);
    const [handedOff] = (await talk.call('GET', `/v1/tasks?conversation_id=${id}`)).body.data;
    expect([handedOff.title, handedOff.ask]).toEqual(['Parrot prices', 'Compare parrots']);
    expect((await work('Compare, and rename it')).title).toBe('Prices of parrots');
    talk.script(() => ({ text: 'Hello.' }));
  });

  it('shows the message of its turn if an older version created it [REC-704]', async () => {
    const { id } = await work('An old ask');
    await query(talk.connectionString, 'UPDATE tasks SET ask = NULL WHERE id = $1', [id]);
    expect((await talk.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ ask: 'An old ask', title: 'An old ask' });
    expect((await talk.call('GET', '/v1/tasks?limit=1')).body.data[0]).toMatchObject({ ask: 'An old ask' });
  });

  it.each<[plan: string[], shown: string[]]>([
    [
      ['pending', 'pending'],
      ['completed', 'completed'],
    ],
    [
      ['completed', 'in_progress'],
      ['completed', 'completed'],
    ],
    [
      ['completed', 'pending'],
      ['completed', 'pending'],
    ],
  ])('that is done shows the plan %j as %j [REC-705]', async (plan, shown) => {
    talk.script(({ messages }) => {
      if (JSON.stringify(messages).includes('The plan is shown')) return { text: 'Done.' };
      const steps = plan.map((status, at) => ({ content: `Step ${at}`, status }));
      return { calls: [{ name: 'update_plan', arguments: { steps } }] };
    });
    const task = await work('Do both');
    const completed = (await talk.log(task.conversation_id)).find(({ type }) => type === 'task.completed');
    for (const { progress } of [task, completed?.data.task]) {
      expect(progress.map(({ status }: Body) => status)).toEqual(shown);
    }
    talk.script(() => ({ text: 'Hello.' }));
  });

  it('begins with a line in the user’s locale, then in the language of the deployment [TASK-240]', async () => {
    await talk.apply({ name: 'kiosk', instructions: 'Help.', language: 'de' });
    await talk.call('POST', '/v1/users', { body: { user_id: 'fleur', locale: 'fr' } });
    const lineOf = async (body: Record<string, unknown>) => {
      const { id } = await talk.begin({ message: 'Do it', hand_off: 'always', ...body });
      await talk.rest(id);
      return (await talk.messages(id))[1].text;
    };
    expect(await lineOf({ user_id: 'fleur' })).toContain('résultat');
    expect(await lineOf({ user_id: 'fleur', deployment: 'kiosk' })).toContain('résultat');
    expect(await lineOf({ user_id: 'gwen', deployment: 'kiosk' })).toContain('Ergebnis');
    expect(await lineOf({ user_id: 'gwen' })).toMatch(/^I am on it/);
    const batch = await talk.call('POST', '/v1/batches', {
      body: {
        items: [
          { user_id: 'fleur', message: 'Do it' },
          { user_id: 'gwen', message: 'Do it' },
        ],
      },
    });
    await talk.until(`/v1/batches/${batch.body.id}`, ({ status }) => status === 'completed');
    const { data: items } = (await talk.call('GET', `/v1/batches/${batch.body.id}/items`)).body;
    const lines = await Promise.all(
      items.map(async (item: Body) => (await talk.messages(item.conversation_id))[1].text),
    );
    expect(lines).toEqual([expect.stringContaining('résultat'), expect.stringMatching(/^I am on it/)]);
  });
});

describe('deletion', () => {
  it('of a task removes its ask and title, and its error from the conversation [REC-706]', async () => {
    talk.script(() => ({ fail: 400 }));
    const task = await work('Fail at the tamarind', {});
    const path = `/v1/conversations/${task.conversation_id}`;
    expect((await talk.show(task.conversation_id)).last_error).toEqual(task.error);
    await talk.call('DELETE', `/v1/tasks/${task.id}`);
    talk.script(() => ({ text: 'Hello.' }));
    expect(await talk.show(task.conversation_id)).toMatchObject({ preview: 'Fail at the tamarind', last_error: null });
    expect((await rowsWith(talk, 'tamarind')).tasks).toBeUndefined();

    await talk.call('DELETE', path);
    expect(await rowsWith(talk, 'tamarind')).toEqual({});
    expect(await ids('q=tamarind')).toEqual([]);
  });

  it('of a user removes previews, asks and errors of all their conversations [REC-706]', async () => {
    talk.script(() => ({ fail: 400 }));
    await said('Kumquat one', { user_id: 'hugo' });
    await work('Kumquat two', { user_id: 'hugo' });
    talk.script(() => ({ text: 'Hello.' }));
    expect(await ids('q=kumquat')).toHaveLength(2);
    await talk.call('DELETE', '/v1/users/hugo');
    await talk.until('/v1/events?type=user.deleted', ({ data }) => data.length === 1);
    expect(await ids('q=kumquat')).toEqual([]);
    // Also the words of the search, which are in lower case.
    expect(await rowsWith(talk, 'umquat')).toEqual({});
  });
});
