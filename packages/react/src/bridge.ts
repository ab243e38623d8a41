/**
 * What the page of a session and the page around it say to each other. Both sides take a message only from the window and
 * the origin that they expect, and read it here before they believe it.
 */

/** `disabled`: the user or the org is. */
export type EndReason = 'revoked' | 'expired' | 'disabled';

/** Why a session that was handed over is not taken in place of the one that is shown. */
export type RefusalReason = 'expired' | 'revoked' | 'other_user' | 'other_conversation' | 'invalid' | 'unreachable';

/** Said by the page of the session. */
export type PageMessage =
  /** It listens. */
  | { type: 'session.opened'; session_id: string }
  | { type: 'session.ready'; session_id: string; conversation_id: string | null }
  | { type: 'session.ended'; session_id: string; reason: EndReason }
  /** Its session has ended by time, or it has none: it waits for another. */
  | { type: 'session.wanted'; session_id: string }
  | { type: 'session.renewed'; session_id: string }
  | { type: 'session.refused'; session_id: string; reason: RefusalReason }
  /** The agent has handed something over to the person. */
  | { type: 'session.handoff'; session_id: string; interaction_id: string }
  /** How high the page would have to be to show everything without scrolling. */
  | { type: 'session.resize'; session_id: string; height: number }
  /** What came while nobody looked. */
  | { type: 'session.unread'; session_id: string; count: number };

/** Said by the page around it. */
export type HostMessage =
  | { type: 'host.look'; look: Look }
  /** Another session of the same conversation, to go on with. */
  | { type: 'host.session'; session_id: string; token: string }
  | { type: 'host.no_session' }
  | { type: 'host.shown'; shown: boolean };

export const schemes = ['light', 'dark', 'auto'] as const;
export type Scheme = (typeof schemes)[number];

/** What `--vestra-<name>` may give a colour to. */
export const lookColors = [
  'background',
  'foreground',
  'card',
  'muted',
  'muted-foreground',
  'border',
  'primary',
  'primary-foreground',
  'accent',
  'accent-soft',
  'danger',
  'good',
] as const;
export type LookColor = (typeof lookColors)[number];

/** A font comes as its bytes: the page of the session loads nothing from elsewhere. */
export type LookFont = { family: string; weight: string; style: string; data: ArrayBuffer };

export type Look = {
  scheme: Scheme;
  colors: Partial<Record<LookColor, string>>;
  /** A list of families as CSS writes it. */
  font: string | null;
  radius: string | null;
  fonts: readonly LookFont[];
};

/** Marks what is meant for the other side among all that pages say to each other. */
const source = 'vestra';

export const asMessage = <Said extends PageMessage | HostMessage>(said: Said): Said & { source: string } => ({
  source,
  ...said,
});

/** Null for whatever is no message of a session's page. */
export function readPageMessage(data: unknown): PageMessage | null {
  const said = fieldsOf(data);
  if (!said || !isSessionId(said.session_id)) return null;
  const read = Object.hasOwn(pageMessages, String(said.type)) ? pageMessages[said.type as PageMessage['type']] : null;
  return read?.(said) ? (said as PageMessage) : null;
}

/** Null for whatever is no message of a page around a session's. */
export function readHostMessage(data: unknown): HostMessage | null {
  const said = fieldsOf(data);
  if (!said) return null;
  const read = Object.hasOwn(hostMessages, String(said.type)) ? hostMessages[said.type as HostMessage['type']] : null;
  return read?.(said) ? (said as HostMessage) : null;
}

type Fields = Record<string, unknown>;

const pageMessages: Record<PageMessage['type'], (said: Fields) => boolean> = {
  'session.opened': () => true,
  'session.ready': ({ conversation_id: id }) => id === null || typeof id === 'string',
  'session.ended': ({ reason }) => isOneOf(reason, ['revoked', 'expired', 'disabled']),
  'session.wanted': () => true,
  'session.renewed': () => true,
  'session.refused': ({ reason }) => typeof reason === 'string',
  'session.handoff': ({ interaction_id: id }) => typeof id === 'string',
  'session.resize': ({ height }) => isCount(height),
  'session.unread': ({ count }) => isCount(count),
};

const hostMessages: Record<HostMessage['type'], (said: Fields) => boolean> = {
  'host.look': ({ look }) => isLook(look),
  'host.session': ({ session_id, token }) => isSessionId(session_id) && isToken(token),
  'host.no_session': () => true,
  'host.shown': ({ shown }) => typeof shown === 'boolean',
};

function fieldsOf(data: unknown): Fields | null {
  if (typeof data !== 'object' || data === null) return null;
  return (data as Fields).source === source ? (data as Fields) : null;
}

const isSessionId = (value: unknown): value is string => typeof value === 'string' && /^ses_[0-9a-z]{24}$/.test(value);
const isToken = (value: unknown): value is string => typeof value === 'string' && /^vst_[\w-]{1,508}$/.test(value);
const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < 1e9;
const isOneOf = (value: unknown, known: readonly string[]) => typeof value === 'string' && known.includes(value);
const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= 500;
const isShortOrNone = (value: unknown) => value === null || isShort(value);

const mostFonts = 12;
const largestFont = 4 * 1024 * 1024;

function isLook(value: unknown): value is Look {
  if (typeof value !== 'object' || value === null) return false;
  const { scheme, colors, font, radius, fonts } = value as Fields;
  if (!isOneOf(scheme, schemes) || !isShortOrNone(font) || !isShortOrNone(radius)) return false;
  if (typeof colors !== 'object' || colors === null || !Object.values(colors).every(isShort)) return false;
  return Array.isArray(fonts) && fonts.length <= mostFonts && fonts.every(isFont);
}

function isFont(value: unknown): value is LookFont {
  if (typeof value !== 'object' || value === null) return false;
  const { family, weight, style, data } = value as Fields;
  return [family, weight, style].every(isShort) && data instanceof ArrayBuffer && data.byteLength <= largestFont;
}
