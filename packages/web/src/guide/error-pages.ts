import { routes } from '@vestra/contract/api';
import { impliedErrors } from '@vestra/contract/derive/implied-errors';
import { errorRemedies } from '@vestra/contract/error-remedies';
import { type ErrorCode, errorCatalogue, fail } from '@vestra/contract/errors';

/** A page for each error code, generated from the contract. */
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
    '## What to do',
    errorRemedies[code],
    ...(readOn[code] ? [`See also: ${readOn[code]}`] : []),
    '## Response',
    `\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``,
    whatElse(status),
    '## Routes',
    answeredBy(code),
    '[All codes](errors.md)',
  ].join('\n\n');
}

const generalWords =
  'Branch on `code`. The message may change and is often more specific than the one above. `param` names the field, if there is one.';

function whatElse(status: number): string {
  if (status === 429)
    return `${generalWords} \`retry_after_ms\` and the header \`Retry-After\` tell you when to retry. The SDK waits by itself.`;
  if (status >= 500) return `${generalWords} Send \`request_id\` to the operator of the server: the log contains it.`;
  return generalWords;
}

function answeredBy(code: ErrorCode): string {
  const named = answers.filter(({ codes }) => codes.has(code));
  if (named.length > answers.length / 2) return 'Almost every route.';
  if (named.length === 0) return 'No route. The code appears in a failed turn, task, test run or event.';
  const rows = named.map(({ route }) => `| \`${route.method} ${route.path}\` | ${route.summary} |`);
  return ['| route | description |', '|---|---|', ...rows].join('\n');
}

const answers = routes.map(({ route }) => ({ route, codes: new Set([...route.errors, ...impliedErrors(route)]) }));

/** Further reading for common codes. */
const readOn: Partial<Record<ErrorCode, string>> = {
  body_too_large: '[Files](files.md)',
  cap_above_maximum: '[The ceiling](users-and-money.md#the-ceiling)',
  deployment_required: '[The default deployment](modes.md#the-default-deployment)',
  interaction_expired: '[What the agent waits for](interactions.md#kinds)',
  live_key_required: '[Test and live](modes.md#shared-between-modes)',
  model_unavailable: '[Models](models.md)',
  nonce_mismatch: '[Approval requirements](interactions.md#approval-requirements)',
  org_cap_reached: '[Caps](users-and-money.md#caps)',
  origin_not_allowed: '[From your own page](sessions.md#from-your-own-page)',
  present_user_required: '[Approval requirements](interactions.md#approval-requirements)',
  secret_missing: '[The deployment file](deployment-file.md)',
  session_scope: '[What a session token opens](session-access.md)',
  tool_call_taken: '[Call distribution](functions.md#call-distribution)',
  user_cap_reached: '[Caps](users-and-money.md#caps)',
  user_disabled: '[Users](users-and-money.md#users)',
  wallet_empty: '[The wallet](users-and-money.md#the-wallet): `vestra admin credit --org org_… --mode live --usd 50`',
};
