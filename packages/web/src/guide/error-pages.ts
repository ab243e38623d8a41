import { routes } from '@vestra/contract/api';
import { impliedErrors } from '@vestra/contract/derive/implied-errors';
import { type ErrorCode, errorCatalogue, fail } from '@vestra/contract/errors';

/** A page for each error code, read off the contract: what it says, what to do, and who answers it. */
export function errorPages(): Map<string, string> {
  return new Map(codes.map((code) => [`errors/${code}`, errorPage(code)]));
}

const codes = Object.keys(errorCatalogue) as ErrorCode[];

function errorPage(code: ErrorCode): string {
  const { status, type, message } = fail(code);
  const answer = { error: { type, code, message, request_id: 'req_…' } };
  return [
    `# ${code}`,
    `**${status}** · \`${type}\``,
    message,
    ...(advice[code] ? ['## What to do', advice[code]] : []),
    '## The answer',
    `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``,
    whatElse(status),
    '## Who answers it',
    answeredBy(code),
    '[All codes](errors.md)',
  ].join('\n\n');
}

const generalWords =
  'Branch on `code`: the sentence may change, and often says more than the one above. `param` names the field, where it is one.';

function whatElse(status: number): string {
  if (status === 429)
    return `${generalWords} \`retry_after_ms\` and the header \`Retry-After\` say when to try again; the SDK waits by itself.`;
  if (status >= 500)
    return `${generalWords} Quote \`request_id\` to whoever runs the server: its log has a line with it.`;
  return generalWords;
}

function answeredBy(code: ErrorCode): string {
  const named = answers.filter(({ codes }) => codes.has(code));
  if (named.length > answers.length / 2) return 'Nearly every route.';
  if (named.length === 0) return 'No route by itself: it stands in a turn, a task, a test run or an event that failed.';
  const rows = named.map(({ route }) => `| \`${route.method} ${route.path}\` | ${route.summary} |`);
  return ['| route | what it does |', '|---|---|', ...rows].join('\n');
}

const answers = routes.map(({ route }) => ({ route, codes: new Set([...route.errors, ...impliedErrors(route)]) }));

/** What the sentence of a code leaves open: the next step, for the codes that people meet. */
const advice: Partial<Record<ErrorCode, string>> = {
  already_answered:
    'Somebody was faster, or the same answer was sent twice. Read the interaction again: `answer` and `status` say what holds.',
  body_too_large: 'Send files by `POST /v1/files` and name them by their id in `attachments`.',
  cap_above_maximum:
    'The operator’s ceiling is `max_org_daily_usd` ([users, caps and wallet](users-and-money.md#the-ceiling)).',
  deployment_required: 'Send `deployment`, or set a default: `vestra org update --default-deployment <name>`.',
  idempotency_in_progress:
    'The first call with this key still runs. Send the same request again a moment later: you get its answer.',
  idempotency_key_reused:
    'A key names one request for good. Make a new key for a new request, and keep the old one for repeats only.',
  internal_error:
    'Nothing was half done: what failed was rolled back. Send the request again with the same `Idempotency-Key`.',
  key_invalid:
    '`vestra me` says which key and server are used. A key of another server, or one with a character lost, looks like this.',
  key_missing: 'The first start writes both keys to `.vestra/credentials.json`; more are made by `vestra keys create`.',
  live_key_required:
    'Use the live key (`--live` on the command line). [Test and live](modes.md) lists what a test key may not do.',
  model_unavailable:
    'Give the server the key of a provider ([models](models.md)). The stand-in `offline` answers in test mode alone.',
  org_cap_reached: 'Raise `org_daily_usd` or wait for midnight UTC: [caps](users-and-money.md#caps).',
  present_user_required:
    'Send `present_user: true` only where the person who was asked has said yes just now ([what a yes needs](interactions.md#what-a-yes-needs)).',
  rate_limited: 'Wait as long as the answer says. The operator raises the limit with `VESTRA_REQUESTS_PER_MINUTE`.',
  scope_missing:
    'Use a key with the scope that the route opens to ([routes](routes.md)), or make one: `vestra keys create --scopes …`.',
  session_scope: 'A session opens what it was created with and no more ([what a session may do](session-access.md)).',
  user_cap_reached: 'Raise this user’s own cap or everybody’s: [caps](users-and-money.md#caps).',
  wallet_empty:
    'Whoever runs the server adds money: `vestra admin credit --org org_… --mode live --usd 50` ([the wallet](users-and-money.md#the-wallet)).',
};
