import { VestraError } from '@vestra/sdk/errors';
import { describe, expect, it } from 'vitest';
import { apiClientFor, type EdgeRequest, type HandleRequest } from './api-client.ts';

const encoder = new TextEncoder();

/** A client for a caller with these headers, with the requests that the app received. */
function clientOf(headers: Record<string, string>, answer: () => Response = () => Response.json({})) {
  const asked: { request: Request; ip: string }[] = [];
  const gone = new AbortController();
  const app: HandleRequest = (request, ip) => {
    asked.push({ request, ip });
    return answer();
  };
  const incoming = { headers: new Headers(headers), ip: '192.0.2.7', signal: gone.signal } as EdgeRequest;
  return { client: apiClientFor(app, incoming), asked, gone };
}

const credential = {
  authorization: 'Bearer vk_test_1',
  cookie: '__Host-vestra=abc',
  'x-csrf-token': 'csrf',
  'service-mode': 'live',
  'service-org': 'org_1',
};

describe('an API request of an edge [MCP-151]', () => {
  it('carries only the credential and address of the client', async () => {
    const others = { host: 'evil.example', origin: 'https://evil.example', 'x-forwarded-for': '203.0.113.1' };
    const { client, asked } = clientOf({ ...credential, ...others, 'idempotency-key': 'k', accept: '*/*' });
    await client.me.get();
    const [{ request, ip }] = asked as [(typeof asked)[0]];
    expect(Object.fromEntries(request.headers)).toEqual(credential);
    expect(ip).toBe('192.0.2.7');
  });

  it('has no credential if the client had none', async () => {
    const { client, asked } = clientOf({});
    await client.me.get();
    expect([...(asked[0]?.request.headers ?? [])]).toEqual([]);
  });

  it('has an Idempotency-Key only if the client sent one', async () => {
    const { client, asked } = clientOf(credential);
    await client.conversations.create({ user_id: 'ada' });
    await client.conversations.create({ user_id: 'ada' }, { idempotencyKey: 'theirs' });
    expect(asked.map(({ request }) => request.headers.get('idempotency-key'))).toEqual([null, 'theirs']);
  });

  it('is sent once, whatever the response', async () => {
    const error = { type: 'rate_limited', code: 'rate_limited', message: 'Later.', retry_after_ms: 1 };
    const { client, asked } = clientOf(credential, () => Response.json({ error }, { status: 429 }));
    await expect(client.me.get()).rejects.toThrow(VestraError);
    expect(asked).toHaveLength(1);
  });
});

describe('a stream of an edge [MCP-151]', () => {
  /** One event, then silence. `open` counts unfinished streams. */
  function streaming() {
    const streams = { open: 0 };
    const answer = () => {
      streams.open += 1;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          controller.enqueue(encoder.encode('data: {"seq":1,"type":"turn.started","turn_id":"t"}\n\n')),
        cancel: () => {
          streams.open -= 1;
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    return { streams, answer };
  }

  it('ends and is released when the client disconnects', async () => {
    const { streams, answer } = streaming();
    const { client, asked, gone } = clientOf(credential, answer);
    const seen: number[] = [];
    for await (const { seq } of await client.conversations.events({ conversation_id: 'conv_1' })) {
      seen.push(seq);
      gone.abort();
    }
    expect([seen, streams.open, asked.length, asked[0]?.request.signal.aborted]).toEqual([[1], 0, 1, true]);
  });

  it('is released when its reader stops', async () => {
    const { streams, answer } = streaming();
    const { client } = clientOf(credential, answer);
    for await (const _ of await client.conversations.events({ conversation_id: 'conv_1' })) break;
    expect(streams.open).toBe(0);
  });

  it('starts no second turn if it was cut before its first event', async () => {
    const cut = () => new Response('', { headers: { 'content-type': 'text/event-stream' } });
    const { client, asked } = clientOf(credential, cut);
    const events = await client.conversations.create({ message: 'Hi', stream: true });
    await expect(events.next()).rejects.toThrow('The server is restarting.');
    expect(asked).toHaveLength(1);
  });
});
