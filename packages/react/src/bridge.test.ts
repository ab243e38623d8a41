import { describe, expect, it } from 'vitest';
import { asMessage, type HostMessage, readHostMessage, readPageMessage } from './bridge.ts';
import { readSession } from './session-keeper.ts';

const session_id = `ses_${'0'.repeat(24)}`;
const token = `vst_${'A'.repeat(43)}`;
const look = { scheme: 'auto', colors: { accent: 'red' }, font: null, radius: null, fonts: [] } as const;

describe('what one page says to the other', () => {
  it.each<HostMessage>([
    { type: 'host.look', look },
    { type: 'host.session', session_id, token },
    { type: 'host.no_session' },
    { type: 'host.shown', shown: false },
  ])('is taken as $type', (said) => {
    const message = asMessage(said);
    expect(readHostMessage(message)).toBe(message);
    expect(readPageMessage(message)).toBeNull();
  });

  it.each([
    ['of another source', { source: 'else', type: 'host.no_session' }],
    ['that is none', 'host.no_session'],
    ['of no type', { source: 'vestra' }],
    ['named like what objects are born with', { source: 'vestra', type: 'constructor' }],
    ['without a token', { source: 'vestra', type: 'host.session', session_id }],
    ['with a key for a token', { source: 'vestra', type: 'host.session', session_id, token: 'vk_test_1' }],
    ['with a header in its token', { source: 'vestra', type: 'host.session', session_id, token: `${token}\r\nx: y` }],
    ['with a path for an id', { source: 'vestra', type: 'host.session', session_id: '../keys', token }],
    [
      'with a look of endless colours',
      { source: 'vestra', type: 'host.look', look: { ...look, font: 'x'.repeat(501) } },
    ],
    ['with a font that is none', { source: 'vestra', type: 'host.look', look: { ...look, fonts: [{ family: 'A' }] } }],
    ['shown or not', { source: 'vestra', type: 'host.shown', shown: 'yes' }],
  ])('is not taken %s [PAGE-204]', (_, message) => expect(readHostMessage(message)).toBeNull());

  it.each([
    ['without a session', { type: 'session.ready', conversation_id: null }, false],
    ['with a count', { type: 'session.unread', session_id, count: 3 }, true],
    ['with no number', { type: 'session.unread', session_id, count: '<b>' }, false],
    ['with less than nothing', { type: 'session.resize', session_id, height: -1 }, false],
    ['with a reason that is none', { type: 'session.ended', session_id, reason: 'x' }, false],
  ])('is read of a session’s page %s: %s', (_, said, isTaken) => {
    expect(readPageMessage({ source: 'vestra', ...said }) !== null).toBe(isTaken);
  });
});

describe('what a server answers', () => {
  it('is a session by its address, behind a path too', () => {
    const url = `https://a.example/vestra/session/${session_id}#token=${token}`;
    expect(readSession({ url, more: 1 })).toEqual({ url, origin: 'https://a.example', sessionId: session_id, token });
  });

  it.each([
    null,
    {},
    { url: 'no address' },
    { url: 'https://a.example/' },
    { url: `https://a.example/session/${session_id}` },
  ])('and is none as %j', (given) => expect(() => readSession(given)).toThrow('POST /v1/sessions'));
});
