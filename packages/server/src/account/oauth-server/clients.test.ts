import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/pool.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { isResource } from './authorization.ts';
import { addressOf, destinationOf, findClient, isRedirectOf, refuseRedirect, shownName } from './clients.ts';
import { classifyRefreshToken, fitsChallenge, graceMs } from './tokens.ts';

describe('redirect addresses', () => {
  it.each([
    ['https://claude.ai/api/mcp/auth_callback', true],
    ['http://localhost:3118/callback', true],
    ['http://[::1]:80/', true],
    ['cursor://anysphere.cursor-mcp/oauth/callback', true],
    ['com.example.app:/callback', true],
    ['http://example.com/callback', false],
    ['http://localhost.example.com/callback', false],
    ['http://127.0.0.2/callback', false],
    ['https://claude.ai/callback#here', false],
    ['https://claude.ai/callback#', false],
    ['https://claude.ai@evil.example/', false],
    ['https://claude.ai\\@evil.example/', false],
    [' https://claude.ai/', false],
    ['https://claude.ai/\ncallback', false],
    ['vscode://vscode.github-authentication/did-authenticate', true],
    ['ms-msdt:/id', false],
    ['search-ms:query=x', false],
    ['x-javascript:alert(1)', false],
    ['myapp:/callback', false],
    ['javascript:alert(1)', false],
    ['JavaScript:alert(1)', false],
    ['data:text/html,hello', false],
    ['file:///etc/passwd', false],
    ['//claude.ai/callback', false],
    [`https://claude.ai/${'x'.repeat(2048)}`, false],
  ])('%s: %s [MCP-482]', (address, isTaken) => {
    expect(refuseRedirect(address) === null).toBe(isTaken);
  });

  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1234/callback', true],
    ['http://localhost:1/callback', 'http://localhost:2/callback', true],
    ['http://localhost/callback', 'http://127.0.0.1/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback/', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback?next=x', false],
    ['http://127.0.0.1/callback', 'https://127.0.0.1:1/callback', false],
    ['https://claude.ai/callback', 'https://claude.ai:444/callback', false],
    ['https://claude.ai/callback', 'https://claude.ai/callback/', false],
    ['https://claude.ai/callback', 'https://CLAUDE.ai/callback', false],
    ['https://claude.ai/callback', 'https://claude.ai/callback', true],
    ['javascript:alert(1)', 'javascript:alert(1)', false],
  ])('%s is asked for as %s: %s [MCP-482]', (registered, asked, isTaken) => {
    expect(isRedirectOf({ redirectUris: [registered] }, asked)).toBe(isTaken);
  });

  it('shows who gets access, and whether the name is verified [MCP-490]', () => {
    const published = { id: '', name: 'Claude', redirectUris: [], publishedBy: 'claude.ai' };
    const site = 'https://claude.ai/callback';
    expect(destinationOf(site)).toEqual({ kind: 'site', address: 'claude.ai' });
    expect(destinationOf('cursor://x/y')).toEqual({ kind: 'app', address: 'cursor:' });
    expect(addressOf(published, site)).toEqual({ address: 'claude.ai', isVerified: true });
    expect(addressOf(published, 'http://localhost:1/')).toEqual({ address: 'claude.ai', isVerified: false });
    expect(addressOf({ ...published, publishedBy: null }, site)).toEqual({ address: 'claude.ai', isVerified: false });
  });

  it('makes a client name safe to show in a sentence [MCP-490]', () => {
    expect(shownName(' Claude\u202E\n  helper\0 ', 'x')).toBe('Claude helper');
    expect(shownName('\u200B', 'claude.ai')).toBe('claude.ai');
    expect(shownName('😀'.repeat(500), 'x')).toBe('😀'.repeat(80));
  });
});

it('recognises the address of its own resource [MCP-483]', () => {
  const own = 'https://agents.example.com/v1/mcp';
  for (const same of [own, `${own}/`, `${own}?tools=core`, 'HTTPS://Agents.example.com/v1/mcp']) {
    expect(isResource(same, own)).toBe(true);
  }
  for (const other of [
    'https://agents.example.com',
    `${own}/x`,
    `${own}?x`,
    `${own}#x`,
    'https://a.example/v1/mcp',
    '',
  ]) {
    expect([other, isResource(other, own)]).toEqual([other, false]);
  }
});

it('does not request client metadata from a private address [MCP-489]', async () => {
  const outbound = createOutbound({ allowPrivate: false });
  const db = undefined as unknown as Database;
  for (const clientId of [
    'https://127.0.0.1/c.json',
    'https://[::1]/c.json',
    'https://10.0.0.1/c',
    'https://localhost/c',
  ]) {
    const found = findClient({ db, outbound }, clientId);
    await expect(found).rejects.toMatchObject({ code: 'invalid_client_metadata' });
  }
  await outbound.close();
});

it('accepts only verifiers of RFC 7636 [MCP-483]', () => {
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  expect(fitsChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', challenge)).toBe(true);
  expect(fitsChallenge(challenge, challenge)).toBe(false);
  for (const verifier of ['', 'short', 'x'.repeat(129), `${'x'.repeat(43)}+`]) {
    expect([verifier, fitsChallenge(verifier, hash('sha256', verifier, 'base64url'))]).toEqual([verifier, false]);
  }
});

it.each([
  [5, 5, 0, 'next'],
  [5, 5, 1e9, 'next'],
  [4, 5, graceMs - 1, 'again'],
  [4, 5, graceMs, 'stolen'],
  [3, 5, 0, 'stolen'],
  [1, 5, 0, 'stolen'],
] as const)(
  'a refresh token of generation %s where %s is the newest, for %s ms: %s [MCP-485]',
  (of, newest, ago, means) => {
    expect(classifyRefreshToken({ generation: of }, { generation: newest, renewedMsAgo: ago })).toBe(means);
  },
);
