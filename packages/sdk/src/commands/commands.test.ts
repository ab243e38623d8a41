import { compositeCommands } from '@vestra/contract/commands';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../client.ts';
import { answer } from './answer.ts';
import { ask } from './ask.ts';
import { embed } from './embed.ts';
import { events } from './events.ts';

/** A client with these replies, and the requests that were sent. */
function clientOf(reply: (url: URL, signal: AbortSignal) => unknown) {
  const sent: { url: URL; body: Record<string, unknown> }[] = [];
  const client = createClient({
    baseUrl: 'https://vestra.example.com',
    fetch: async (input, init) => {
      const url = new URL(String(input));
      sent.push({ url, body: init?.body ? JSON.parse(String(init.body)) : {} });
      const said = await reply(url, init?.signal as AbortSignal);
      return said instanceof Response ? said : Response.json(said);
    },
  });
  return { client, sent };
}

/** The default of a field in the command's row of the contract. */
function defaultOf(command: string, field: string): unknown {
  const input: Record<string, { parse: (value: unknown) => unknown }> =
    compositeCommands.find(({ name }) => name === command)?.input ?? {};
  return input[field]?.parse(undefined);
}

const silent = () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });

describe('a command', () => {
  it('uses the defaults of its row [MCP-150]', async () => {
    const { client, sent } = clientOf(() => ({ data: [], next_cursor: null }));
    await embed(client, {});
    await events(client, {});
    expect([sent[0]?.body.chat, Number(sent[1]?.url.searchParams.get('limit'))]).toEqual([
      defaultOf('embed', 'chat'),
      defaultOf('events', 'limit'),
    ]);
    const clock = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    await ask(client, { message: 'Hi' }).catch(() => {});
    expect(clock).toHaveBeenCalledWith(Number(defaultOf('ask', 'wait_s')) * 1000);
    clock.mockRestore();
  });

  it('`answer` rejects the call if too many interactions are pending [MCP-150]', async () => {
    let page = 0;
    const { client, sent } = clientOf(() => {
      page += 1;
      const own = page === 3 ? [{ id: 'int_own', user_id: null }] : [];
      return { data: [...own, { id: `int_${page}`, user_id: 'ada' }], next_cursor: `page-${page}` };
    });
    const refused = answer(client, { approve: true });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'interaction' });
    expect(sent.map(({ url }) => url.pathname)).toEqual(Array(10).fill('/v1/interactions'));
  });

  it("`events` returns none for a task without a conversation, not the org's [MCP-150]", async () => {
    const { client, sent } = clientOf(() => ({ conversation_id: null }));
    await expect(events(client, { task: 'task_1' })).rejects.toMatchObject({ code: 'conversation_not_found' });
    expect(sent.map(({ url }) => url.pathname)).toEqual(['/v1/tasks/task_1']);
  });

  it("`ask` reports the state of the message after its time, and throws the caller's abort reason", async () => {
    const late = ask(clientOf(silent).client, { message: 'Hi', wait_s: 0.01 });
    await expect(late).rejects.toMatchObject({ code: 'timeout', status: 504 });
    const gone = new AbortController();
    const left = ask(
      clientOf(() => {
        gone.abort(new Error('left'));
        return silent();
      }).client,
      { message: 'Hi' },
      { signal: gone.signal },
    );
    await expect(left).rejects.toThrow('left');
  });
});
