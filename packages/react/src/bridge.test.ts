import { describe, expect, it } from 'vitest';
import { asMessage, type HostMessage, readHostMessage, readPageMessage } from './bridge.ts';
import { readSession } from './session-keeper.ts';

const session_id = `ses_${'0'.repeat(24)}`;
const token = `vst_${'A'.repeat(43)}`;
const look = { scheme: 'auto', colors: { accent: 'red' }, font: null, radius: null, fonts: [] } as const;

describe('bridge messages', () => {
  it.each<HostMessage>([
    { type: 'host.look', look },
    { type: 'host.session', session_id, token },
    { type: 'host.no_session' },
    { type: 'host.shown', shown: false },
  ])('accepts $type from the host page only', (said) => {
    const message = asMessage(said);
    expect(readHostMessage(message)).toBe(message);
    expect(readPageMessage(message)).toBeNull();
  });

  it.each([
    ['from another source', { source: 'else', type: 'host.no_session' }],
    ['that is a string', 'host.no_session'],
    ['without a type', { source: 'vestra' }],
    ['named like a property of Object.prototype', { source: 'vestra', type: 'constructor' }],
    ['without a token', { source: 'vestra', type: 'host.session', session_id }],
    ['with an API key as token', { source: 'vestra', type: 'host.session', session_id, token: 'vk_test_1' }],
    ['with a header in its token', { source: 'vestra', type: 'host.session', session_id, token: `${token}\r\nx: y` }],
    ['with a path as id', { source: 'vestra', type: 'host.session', session_id: '../keys', token }],
    [
      'with a font name that is too long',
      { source: 'vestra', type: 'host.look', look: { ...look, font: 'x'.repeat(501) } },
    ],
    ['with an incomplete font', { source: 'vestra', type: 'host.look', look: { ...look, fonts: [{ family: 'A' }] } }],
    ['with a non-boolean `shown`', { source: 'vestra', type: 'host.shown', shown: 'yes' }],
  ])('rejects a host message %s [PAGE-204]', (_, message) => expect(readHostMessage(message)).toBeNull());

  it.each([
    ['without a session', { type: 'session.ready', conversation_id: null }, false],
    ['with a count', { type: 'session.unread', session_id, count: 3 }, true],
    ['with a count that is not a number', { type: 'session.unread', session_id, count: '<b>' }, false],
    ['with a negative height', { type: 'session.resize', session_id, height: -1 }, false],
    ['with an unknown reason', { type: 'session.ended', session_id, reason: 'x' }, false],
  ])('reads a message of the session page %s: %s', (_, said, isTaken) => {
    expect(readPageMessage({ source: 'vestra', ...said }) !== null).toBe(isTaken);
  });
});

describe('the session of your server', () => {
  it('is read from its URL, also behind a path prefix', () => {
    const url = `https://a.example/vestra/session/${session_id}#token=${token}`;
    expect(readSession({ url, more: 1 })).toEqual({ url, origin: 'https://a.example', sessionId: session_id, token });
  });

  it.each([
    null,
    {},
    { url: 'no address' },
    { url: 'https://a.example/' },
    { url: `https://a.example/session/${session_id}` },
  ])('rejects %j', (given) => expect(() => readSession(given)).toThrow('POST /v1/sessions'));
});
