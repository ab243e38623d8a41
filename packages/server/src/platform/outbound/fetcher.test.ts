import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { certificate } from './certificate.fixture.ts';
import type { Lookup } from './connector.ts';
import {
  answering,
  cleanups,
  describeFully,
  failureOf,
  outbound,
  serve,
  serveTcp,
  textOf,
  unusedPort,
} from './loopback.fixture.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a request', () => {
  it('sends method, headers and body, and returns the whole response', async () => {
    const { url, requests } = await serve(async (request, response) => {
      const body = await text(request);
      response.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
      response.end(`${request.method} ${request.url} ${body}`);
    });
    const answer = await outbound().fetch(`${url}/hook?x=1#part`, {
      method: 'post',
      headers: { 'Webhook-Id': 'evt_1', 'Content-Type': 'application/json' },
      body: '{"ü":1}',
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Buffer.from(answer.body).toString()).toBe('POST /hook?x=1 {"ü":1}');
    expect(requests[0]?.headers).toMatchObject({
      'webhook-id': 'evt_1',
      'content-type': 'application/json',
      'content-length': '8',
    });
  });

  it('sends its own User-Agent, and no header that would choose the host or the framing', async () => {
    const { url, requests } = await serve((_request, response) => response.end());
    await outbound().fetch(url, {
      headers: {
        'User-Agent': 'other',
        Host: 'internal.example.com',
        Connection: 'upgrade',
        'Transfer-Encoding': 'chunked',
        'Content-Length': '5',
        Upgrade: 'websocket',
      },
    });
    const headers = requests[0]?.headers;
    expect(headers).toMatchObject({ 'user-agent': 'Vestra/1.0', host: new URL(url).host, connection: 'keep-alive' });
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(headers).not.toHaveProperty('upgrade');
    expect(headers).not.toHaveProperty('content-length');
  });

  it('stores no cookies', async () => {
    const { url, requests } = await serve((_request, response) => response.setHeader('set-cookie', 'a=1').end());
    const { fetch } = outbound();
    await fetch(url);
    await fetch(url);
    expect(requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  it('reads no proxy settings', async () => {
    const proxy = await serve((_request, response) => response.end('proxy'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
      vi.stubEnv(name, proxy.url);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const { url } = await serve((_request, response) => response.end('direct'));
    expect(await textOf(outbound().fetch(url))).toBe('direct');
    expect(proxy.requests).toEqual([]);
  });

  it('refuses an invalid header value without repeating it', async () => {
    const { url, requests } = await serve((_request, response) => response.end());
    const { fetch, webFetch } = outbound();
    const headers = { authorization: 'Bearer hunter2\r\nx: y' };
    const failures = [await failureOf(fetch(url, { headers })), await failureOf(webFetch(url, { headers }))];
    for (const failure of failures) {
      expect(failure.reason).toBe('network');
      expect(describeFully(failure)).not.toContain('hunter2');
    }
    expect(failures[0]?.message).toBe('The header "authorization" holds characters that HTTP does not allow.');
    expect(requests).toEqual([]);
  });

  it('fails with the code of the network and without path, query or headers', async () => {
    const port = await unusedPort();
    const failure = await failureOf(
      outbound().fetch(`http://localhost:${port}/hooks/hunter2?token=hunter2`, { headers: { 'x-key': 'hunter2' } }),
    );
    expect(failure.reason).toBe('network');
    expect(failure.message).toBe('localhost could not be reached: ECONNREFUSED.');
    expect(describeFully(failure)).not.toContain('hunter2');
  });

  it('reads headers of any bytes', async () => {
    const { port } = await serveTcp((socket) => {
      const head = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-price: 5 €\r\nx-bytes: ');
      socket.end(Buffer.concat([head, Buffer.from([0x80, 0xff]), Buffer.from('\r\n\r\nok')]));
    });
    const answer = await outbound().fetch(`http://127.0.0.1:${port}/`);
    expect(answer.headers.get('x-bytes')).toBe('\u0080\u00ff');
    expect(Buffer.from(answer.headers.get('x-price') ?? '', 'latin1').toString()).toBe('5 €');
  });

  it('fails if the connection ends during the response, and names the status', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await failureOf(outbound().fetch(url))).toMatchObject({ reason: 'network', status: 200 });
  });
});

describe('an address that is not public', () => {
  it.each(['http', 'https'])('is refused in the URL, over %s, and no connection is opened', async (scheme) => {
    const { port, connections } = await serveTcp();
    const { fetch, webFetch } = outbound({ allowPrivate: false });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '0177.0.0.1', '[::ffff:127.0.0.1]', '0']) {
      for (const call of [fetch, webFetch]) {
        expect((await failureOf(call(`${scheme}://${host}:${port}/`))).reason).toBe('refused_address');
      }
    }
    expect(connections).toEqual([]);
  });

  it('is refused by the text of the URL alone, before its name is resolved', async () => {
    const lookup = answering(['127.0.0.1']);
    const { fetch, webFetch } = outbound({ allowPrivate: false, lookup });
    for (const url of [
      'https://printer.local/',
      'http://example.com/',
      'https://user:hunter2@example.com/',
      'nothing',
    ]) {
      for (const call of [fetch, webFetch]) {
        const failure = await failureOf(call(url));
        expect(failure.reason).toBe('refused_address');
        expect(describeFully(failure)).not.toContain('hunter2');
      }
    }
    expect(lookup.calls).toBe(0);
  });

  it('is refused when a name leads to it, and no connection is opened [WHD-020]', async () => {
    const { port, connections } = await serveTcp();
    const { fetch, webFetch } = outbound({ allowPrivate: false, lookup: answering(['127.0.0.1']) });
    for (const call of [fetch, webFetch]) {
      const failure = await failureOf(call(`https://hooks.example.com:${port}/?token=hunter2`));
      expect(failure.reason).toBe('refused_address');
      expect(describeFully(failure)).not.toMatch(/127\.0\.0\.1|hunter2/);
    }
    expect(connections).toEqual([]);
  });

  it('is reported like a name that does not exist [REQ-207]', async () => {
    const nowhere = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    const messages = [answering(['10.0.0.5']), nowhere].map(async (lookup) => {
      const { fetch } = outbound({ allowPrivate: false, lookup: lookup as ReturnType<typeof answering> });
      return (await failureOf(fetch('https://db.example.com/'))).message;
    });
    expect(new Set(await Promise.all(messages))).toEqual(
      new Set(['db.example.com could not be reached: it has no public address.']),
    );
  });

  it('is never reached by a name that changes its answer', async () => {
    const { port, connections } = await serveTcp();
    const lookup = answering(['93.184.215.14', '127.0.0.1'], ['127.0.0.1'], ['169.254.169.254', '127.0.0.1']);
    const { fetch } = outbound({ allowPrivate: false, lookup });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await failureOf(fetch(`https://hooks.example.com:${port}/`))).reason).toBe('refused_address');
    }
    expect(connections).toEqual([]);
  });

  it('is logged for the operator with the resolved address', async () => {
    const warn = vi.fn();
    const { fetch } = outbound({ allowPrivate: false, lookup: answering(['10.0.0.7']), log: { warn } });
    await failureOf(fetch('https://hooks.example.com/?token=hunter2'));
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { host: 'hooks.example.com', address: '10.0.0.7' },
      expect.stringContaining('refused'),
    );
  });
});

describe('a connection', () => {
  it('goes to the address of the one lookup made for it', async () => {
    const right = await serve((_request, response) => response.end('checked'), { address: '127.0.0.1' });
    const { port } = new URL(right.url);
    const wrong = await serve((_request, response) => response.end('other'), {
      address: '127.0.0.2',
      port: Number(port),
    });
    const lookup = answering(['127.0.0.1'], ['127.0.0.2']);
    expect(await textOf(outbound({ lookup }).fetch(`http://hooks.local:${port}/`))).toBe('checked');
    expect(wrong.requests).toEqual([]);
    expect(lookup.calls).toBe(1);
  });

  it('is used again for the same host, and for no other', async () => {
    const { url, requests, sockets } = await serve((_request, response) => response.end('ok'));
    const { port } = new URL(url);
    const names: Record<string, string> = { 'first.local': '127.0.0.1', 'second.local': '0.0.0.0' };
    const lookup: Lookup = async (hostname) => [{ address: names[hostname] ?? '' }];
    const { fetch } = outbound({ lookup });
    await fetch(`http://first.local:${port}/`);
    // A connection is free one turn of the event loop after its response.
    await setImmediate();
    await fetch(`http://first.local:${port}/`);
    expect(sockets).toHaveLength(1);
    // 0.0.0.0 and the open connection would reach the same server.
    expect((await failureOf(fetch(`http://second.local:${port}/`))).reason).toBe('refused_address');
    expect(requests).toHaveLength(2);
  });

  it('is checked again after the old one has closed', async () => {
    const { url, requests } = await serve((_request, response) => response.setHeader('connection', 'close').end('ok'));
    const { port } = new URL(url);
    const { fetch } = outbound({ lookup: answering(['127.0.0.1'], ['0.0.0.0']) });
    await fetch(`http://first.local:${port}/`);
    expect((await failureOf(fetch(`http://first.local:${port}/`))).reason).toBe('refused_address');
    expect(requests).toHaveLength(1);
  });

  it('ends when the fetcher is closed', async () => {
    const { url, requests } = await serve(() => {});
    const { fetch, close } = outbound();
    const running = failureOf(fetch(url));
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await close();
    expect((await running).reason).toBe('network');
  });
});

describe('over TLS', () => {
  // The same effect as NODE_EXTRA_CA_CERTS.
  beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), certificate.cert]));

  it('the certificate must be for the name in the URL, not for the address', async () => {
    const { port } = await serve((_request, response) => response.end('secure'), { tls: true });
    const { fetch } = outbound({ lookup: answering(['127.0.0.1']) });
    expect(await textOf(fetch(`https://hooks.example.com:${port}/`))).toBe('secure');
    const failure = await failureOf(fetch(`https://other.example.com:${port}/`));
    expect(failure).toMatchObject({ reason: 'tls', status: null });
    expect(failure.message).toBe('The TLS connection to other.example.com failed: ERR_TLS_CERT_ALTNAME_INVALID.');
  });

  it('refuses an untrusted certificate', async () => {
    const { port } = await serve((_request, response) => response.end('secure'), { tls: true });
    setDefaultCACertificates(getCACertificates('bundled'));
    cleanups.push(() => setDefaultCACertificates([...getCACertificates('bundled'), certificate.cert]));
    const { fetch } = outbound({ lookup: answering(['127.0.0.1']) });
    const failure = await failureOf(fetch(`https://hooks.example.com:${port}/`));
    expect(failure).toMatchObject({ reason: 'tls', message: expect.stringContaining('SELF_SIGNED') });
  });

  it('fails with the reason tls if the server does not speak TLS', async () => {
    const { port } = await serve((_request, response) => response.end('plain'));
    expect((await failureOf(outbound().fetch(`https://127.0.0.1:${port}/`))).reason).toBe('tls');
  });
});
