/** The messages between the session page and its host page. Both sides check window, origin and shape of a message. */

/** `disabled`: the user or the org is disabled. */
export type EndReason = 'revoked' | 'expired' | 'disabled';

/** Why the session page rejects a new session. */
export type RefusalReason = 'expired' | 'revoked' | 'other_user' | 'other_conversation' | 'invalid' | 'unreachable';

/** Sent by the session page. */
export type PageMessage =
  /** The page is ready for messages. */
  | { type: 'session.opened'; session_id: string }
  | { type: 'session.ready'; session_id: string; conversation_id: string | null }
  | { type: 'session.ended'; session_id: string; reason: EndReason }
  /** The session has expired or is missing: the page waits for a new one. */
  | { type: 'session.wanted'; session_id: string }
  | { type: 'session.renewed'; session_id: string }
  | { type: 'session.refused'; session_id: string; reason: RefusalReason }
  /** The agent asks the user to take over. */
  | { type: 'session.handoff'; session_id: string; interaction_id: string }
  /** The height that shows everything without scrolling. */
  | { type: 'session.resize'; session_id: string; height: number }
  /** New messages while the page was hidden. */
  | { type: 'session.unread'; session_id: string; count: number };

/** Sent by the host page. */
export type HostMessage =
  | { type: 'host.look'; look: PageLook }
  /** A new session of the same conversation. */
  | { type: 'host.session'; session_id: string; token: string }
  | { type: 'host.no_session' }
  | { type: 'host.shown'; shown: boolean };

export const schemes = ['light', 'dark', 'auto'] as const;
export type Scheme = (typeof schemes)[number];

/** The names of the colour variables `--vestra-<name>`. */
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

/** Fonts are sent as bytes, because the session page loads nothing from other hosts. */
export type LookFont = { family: string; weight: string; style: string; data: ArrayBuffer };

export type PageLook = {
  scheme: Scheme;
  colors: Partial<Record<LookColor, string>>;
  /** A CSS font-family list. */
  font: string | null;
  radius: string | null;
  fonts: readonly LookFont[];
};

/** Marks our messages among all messages of the window. */
const source = 'vestra';

export const asMessage = <Said extends PageMessage | HostMessage>(said: Said): Said & { source: string } => ({
  source,
  ...said,
});

/** Null if the data is not a message of the session page. */
export function readPageMessage(data: unknown): PageMessage | null {
  const said = fieldsOf(data);
  if (!said || !isSessionId(said.session_id)) return null;
  const read = Object.hasOwn(pageMessages, String(said.type)) ? pageMessages[said.type as PageMessage['type']] : null;
  return read?.(said) ? (said as PageMessage) : null;
}

/** Null if the data is not a message of the host page. */
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

function isLook(value: unknown): value is PageLook {
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
