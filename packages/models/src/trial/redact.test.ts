import { describe, expect, it } from 'vitest';
import { createRedactor, redactHeaders, redactUrl, removed, secretsOf } from './redact.ts';

const secret = 'pass"word/ö+1234';
const redact = createRedactor([secret, 'tiny', 'plain-configured-secret']);

describe('[MOD-767] a recording contains no secret', () => {
  it.each([
    ['a configured secret', 'a plain-configured-secret b', `a ${removed} b`],
    ['a secret in JSON', JSON.stringify({ a: secret }), `{"a":"${removed}"}`],
    ['a secret in a URL', `https://a.example/?x=${encodeURIComponent(secret)}`, `https://a.example/?x=${removed}`],
    ['a secret in Base64', Buffer.from(secret).toString('base64'), new RegExp(`^\\${removed}=*$`)],
    [
      'an unknown key',
      'Incorrect API key provided: sk-proj-abcdefgh12345678.',
      `Incorrect API key provided: ${removed}`,
    ],
    ['a masked key', 'Incorrect API key provided: sk-ab******cdef', `Incorrect API key provided: ${removed}`],
    ['a key of Google', `x AIza${'a'.repeat(35)} y`, `x ${removed} y`],
    ['a key of AWS', 'x AKIAABCDEFGHIJKLMNOP y', `x ${removed} y`],
    ['an authorization header', 'Bearer abcdef.ghi', removed],
    [
      'an access token',
      '{"access_token": "ya29.abc", "expires_in": 1}',
      `{"access_token": "${removed}", "expires_in": 1}`,
    ],
    ['a signed token', `eyJhbGciOiJ9.${'a'.repeat(12)}.b-c_d`, removed],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----', removed],
    ['words that are no secret', 'tiny skills ask-me key_points', 'tiny skills ask-me key_points'],
  ])('%s', (_what, text, expected) => {
    if (typeof expected === 'string') expect(redact(text)).toBe(expected);
    else expect(redact(text)).toMatch(expected);
  });

  it('in its addresses and headers', () => {
    expect(redactUrl('https://me:pw@a.example/v1?key=abc&alt=sse')).toBe(`https://a.example/v1?key=${removed}&alt=sse`);
    expect(redactHeaders({ authorization: 'x', 'x-api-key': 'x', cookie: 'x', 'openai-organization': 'x' })).toEqual({
      authorization: removed,
      'x-api-key': removed,
      cookie: removed,
      'openai-organization': removed,
    });
    const plain = { 'content-type': 'text/html', 'retry-after': '1', 'anthropic-beta': 'b', 'x-request-id': 'r' };
    expect(redactHeaders(plain)).toEqual(plain);
  });

  it('of the settings and the environment', () => {
    const endpoint = (key: string) => ({ apiKey: () => key, baseUrl: null });
    const keys = { accessKeyId: 'id', secretAccessKey: () => 'aws-secret', sessionToken: () => 'aws-session' };
    const account = { clientEmail: 'a', privateKey: () => 'pem', projectId: 'p', tokenUrl: 'u' };
    const settings = {
      anthropic: endpoint('a-key'),
      openai: null,
      google: endpoint('g-key'),
      compatible: null,
      clouds: {
        bedrock: { region: 'r', baseUrl: null, access: { keys } },
        azure: { endpoint: 'e', apiKey: () => 'azure-key' },
        vertex: { location: 'l', baseUrl: null, account },
      },
      own: [
        {
          id: 'x/y',
          provider: 'compatible' as const,
          name: 'y',
          model: 'y',
          endpoint: { baseUrl: 'u', apiKey: () => 'own-key' },
        },
      ],
      defaultModel: null,
    };
    const env = { QWEN_KEY: 'qwen', DATABASE_URL: 'postgresql://u:p@h/d', HOME: '/root', GITHUB_TOKEN: 'gh' };
    expect(secretsOf(settings, env).toSorted()).toEqual(
      [
        'a-key',
        'g-key',
        'azure-key',
        'own-key',
        'id',
        'aws-secret',
        'aws-session',
        'pem',
        'qwen',
        'postgresql://u:p@h/d',
        'gh',
      ].toSorted(),
    );
  });
});
