import { VestraError } from '@vestra/sdk/errors';
import { describe, expect, it } from 'vitest';
import { type AnswerRequest, type EdgeRequest, ownClient } from './own-client.ts';

const encoder = new TextEncoder();

/** A client of a caller with these headers, of an app that answers like this, and what the app was asked. */
function clientOf(headers: Record<string, string>, answer: () => Response = () => Response.json({})) {
  const asked: { request: Request; ip: string }[] = [];
  const gone = new AbortController();
  const app: AnswerRequest = (request, ip) => {
    asked.push({ request, ip });
    return answer();
  };
  const incoming = { headers: new Headers(headers), ip: '192.0.2.7', signal: gone.signal } as EdgeRequest;
  return { client: ownClient(app, incoming), asked, gone };
}

const credential = {
  authorization: 'Bearer vk_test_1',
  cookie: '__Host-vestra=abc',
  'x-csrf-token': 'csrf',
  'service-mode': 'live',
  'service-org': 'org_1',
};

describe('a call of an edge [MCP-151]', () => {
  it('carries the credential of whoever called, their address, and nothing else of their request', async () => {
    const others = { host: 'evil.example', origin: 'https://evil.example', 'x-forwarded-for': '203.0.113.1' };
    const { client, asked } = clientOf({ ...credential, ...others, 'idempotency-key': 'k', accept: '*/*' });
    await client.me.get();
    const [{ request, ip }] = asked as [(typeof asked)[0]];
    expect(Object.fromEntries(request.headers)).toEqual(credential);
    expect(ip).toBe('192.0.2.7');
  });

  it('has no credential where the caller had none', async () => {
    const { client, asked } = clientOf({});
    await client.me.get();
    expect([...(asked[0]?.request.headers ?? [])]).toEqual([]);
  });

  it('bears an Idempotency-Key only where the caller gave one', async () => {
    const { client, asked } = clientOf(credential);
    await client.conversations.create({ user_id: 'ada' });
    await client.conversations.create({ user_id: 'ada' }, { idempotencyKey: 'theirs' });
    expect(asked.map(({ request }) => request.headers.get('idempotency-key'))).toEqual([null, 'theirs']);
  });

  it('is made once, whatever the answer', async () => {
    const error = { type: 'rate_limited', code: 'rate_limited', message: 'Later.', retry_after_ms: 1 };
    const { client, asked } = clientOf(credential, () => Response.json({ error }, { status: 429 }));
    await expect(client.me.get()).rejects.toThrow(VestraError);
    expect(asked).toHaveLength(1);
  });
});

describe('a stream of an edge [MCP-151]', () => {
  /** One event, then silence; `open` counts those that nobody has let go. */
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

  it('ends when the caller goes, and is let go', async () => {
    const { streams, answer } = streaming();
    const { client, asked, gone } = clientOf(credential, answer);
    const seen: number[] = [];
    for await (const { seq } of await client.conversations.events({ conversation_id: 'conv_1' })) {
      seen.push(seq);
      gone.abort();
    }
    expect([seen, streams.open, asked.length, asked[0]?.request.signal.aborted]).toEqual([[1], 0, 1, true]);
  });

  it('is let go by whoever has heard enough', async () => {
    const { streams, answer } = streaming();
    const { client } = clientOf(credential, answer);
    for await (const _ of await client.conversations.events({ conversation_id: 'conv_1' })) break;
    expect(streams.open).toBe(0);
  });

  it('that was cut before its first event begins no second turn', async () => {
    const cut = () => new Response('', { headers: { 'content-type': 'text/event-stream' } });
    const { client, asked } = clientOf(credential, cut);
    const events = await client.conversations.create({ message: 'Hi', stream: true });
    await expect(events.next()).rejects.toThrow('The server is restarting.');
    expect(asked).toHaveLength(1);
  });
});
