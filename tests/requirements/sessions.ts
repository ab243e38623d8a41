import { area } from '../requirement.ts';

export const sessions = area('sessions', 'done', [
  [
    'SES-001',
    'docs/api/sessions.md#session',
    'A session shows `id` (`ses_`), `object: session`, `user_id`, `conversation_id`, `chat`, `screen`, `voice`, `memory`, `expires_at`, `status`.',
  ],
  ['SES-002', 'docs/api/sessions.md#session', '`conversation_id` is null for a screen opened alone.'],
  ['SES-003', 'docs/api/sessions.md#post-v1sessions', '`screen` is `false`, `view` or `control`.'],
  ['SES-004', 'docs/api/sessions.md#session', '`status` is `live`, `expired` or `revoked`.'],
  [
    'SES-005',
    'docs/api/sessions.md#session',
    '`screen_paused` is true only while a view-only screen is private, and absent otherwise.',
  ],
  [
    'SES-006',
    'docs/api/sessions.md#post-v1sessions',
    '`POST /v1/sessions` answers 201 with the session, `token`, `url`, `frame_ancestors` and `expires_at`.',
  ],
  ['SES-007', 'docs/sessions.md', '`token` is shown in the create answer only and is good for 15 minutes.'],
  ['SES-008', 'docs/api/sessions.md#framepolicy', "`frame_ancestors` is the org's allowed embed origins."],
  [
    'SES-009',
    'docs/api/sessions.md#post-v1sessions',
    "With chat or voice and no `conversation_id`, a new conversation on the user's default deployment, then the org's, is created.",
  ],
  [
    'SES-010',
    'docs/api/sessions.md#post-v1sessions',
    '`chat`, `voice` and `memory` are false and `screen` is `false` when absent.',
  ],
  ['SES-011', 'docs/api/sessions.md#post-v1sessions', '`voice` accepts a boolean or the name of a voice.'],
  ['SES-012', 'docs/api/sessions.md#post-v1sessions', '`driver` accepts `bash` (when absent) and `user`.'],
  ['SES-013', 'docs/api/sessions.md#post-v1sessions', '`driver` without `screen: control` answers 400.'],
  ['SES-014', 'docs/sessions.md', "`driver: user` opens the screen in the user's hands from the first frame."],
  [
    'SES-015',
    'docs/api/sessions.md#get-v1sessionssession_id',
    '`GET /v1/sessions/{session_id}` answers the session, to a key or to its own token.',
  ],
  [
    'SES-016',
    'docs/sessions.md#expiry-and-revocation',
    '`DELETE /v1/sessions/{session_id}` answers the session as `revoked`.',
  ],
  ['SES-017', 'docs/api/sessions.md#delete-v1sessionssession_id', 'After the delete the token stops at once.'],
  [
    'SES-018',
    'docs/api/sessions.md#delete-v1sessionssession_id',
    "After the delete the session's streams close and its call hangs up.",
  ],
  [
    'SES-019',
    'docs/api/sessions.md#get-v1sessionssession_idframe-policy',
    '`GET …/frame-policy` answers `{object: frame_policy, frame_ancestors}` without a key.',
  ],
  [
    'SES-020',
    'docs/api/sessions.md#browserstream',
    '`GET …/screen` answers `{object: browser_stream, stream_url, preview_token, preview_token_param?}` to a session token.',
  ],
  [
    'SES-021',
    'docs/api/sessions.md#get-v1sessionssession_idscreen',
    'The credentials of the screen are good for 5 minutes.',
  ],
  [
    'SES-022',
    'docs/session-screen.md#the-screen',
    'The screen answers 409 `payment_in_progress` while the person pays in their browser.',
  ],
  ['SES-023', 'docs/browser.md#watch-and-inspect', 'The screen answers 409 `browser_in_use` while it is private.'],
  ['SES-024', 'docs/session-page.md#the-page', 'The screen page asks every 3 seconds whether the session is open.'],
  [
    'SES-025',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "When the caller's server ends the session, the page shows that it can be closed and notifies the embedding page.",
  ],
  [
    'SES-026',
    'docs/session-screen.md#the-screen',
    "While a hand-off's crop element is not on the page the screen answers `crop_pending: true`.",
  ],
  [
    'SES-027',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "After 20 seconds without the crop element the page's part shows as before.",
  ],
  [
    'SES-028',
    'docs/session-page.md#the-page',
    'The page retries for up to 30 seconds while the computer is waking (`browser_not_open`).',
  ],
  ['SES-029', 'docs/api/sessions.md#session', 'A token 15 minutes old makes the session `expired`.'],
  ['SES-030', 'docs/sessions.md', 'The page URL carries the token in its fragment, never in path or query.'],
  [
    'SES-031',
    'docs/api/sessions.md#post-v1sessions',
    '`conversation_id` of another user than `user_id` answers 400 `conversation_user_mismatch`.',
  ],
  [
    'SES-032',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "`memory: true` while the org's `memory_panel` is off answers 400 `invalid_request` on `memory`.",
  ],
  [
    'SES-033',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "With empty `frame_ancestors` the page carries `Content-Security-Policy: frame-ancestors 'none'`.",
  ],
  [
    'SES-034',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "With embed origins the page's policy names exactly those origins.",
  ],
  [
    'SES-035',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'An unknown session answers 404 `session_not_found`.',
  ],
  [
    'SES-101',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'A session token opens the routes of what its session has switched on; with nothing switched on it is shown and ended, and no more.',
  ],
  [
    'SES-102',
    'docs/session-access.md',
    'A body or query field that a row does not open to session tokens answers 403 `session_scope` with `param` naming it.',
  ],
  [
    'SES-103',
    'docs/sessions.md#token-access',
    'A session sees no `context`, `metadata`, costs, nor arguments of pending tool calls in any answer.',
  ],
  [
    'SES-104',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'Hidden fields are in no event either, followed, paged, or streamed as the answer to a message.',
  ],
  [
    'SES-105',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'A session token neither reads nor answers an interaction of type `tool_call`.',
  ],
  [
    'SES-106',
    'docs/conversation-reference.md#turns-and-messages',
    "A message's `tools` entry named like a function of the deployment answers 400 `duplicate_name`; the function keeps its schema and its wait.",
  ],
  [
    'SES-107',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "A session token reads and sends files of its conversation and its user's uploads, no outputs of other conversations.",
  ],
  [
    'SES-108',
    'docs/sessions.md#token-access',
    'An Idempotency-Key of a session finds answers to the sessions of its conversation alone.',
  ],
  [
    'SES-109',
    'docs/sessions.md#token-access',
    'A session holds at most 20 streams and waiting calls open: 429 `rate_limited`.',
  ],
  [
    'SES-110',
    'docs/sessions.md#token-access',
    "A failure reaches a session with its code and a plain sentence in place of the operator's.",
  ],
  [
    'SES-111',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'A field that an answer gains, at any depth, is hidden from sessions until its row opens it.',
  ],
  [
    'SES-112',
    'docs/sessions.md#token-access',
    'The OpenAPI document lists for each operation what a session token may do.',
  ],
  [
    'SES-201',
    'docs/api/sessions.md#session',
    '`deployment` names the agent of the conversation that is opened; the session shows `deployment_id`.',
  ],
  [
    'SES-202',
    'docs/sessions.md',
    "`reuse: true` continues in the conversation of the user's last session with the deployment in the mode, else opens one; many at once open one.",
  ],
  [
    'SES-203',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    '`reuse` without a user answers 400 `user_required`.',
  ],
  [
    'SES-204',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'A preflight of a route that takes session tokens answers an origin that an org lists, names it and never `*`; others get 405. Every answer there varies by `Origin`.',
  ],
  [
    'SES-205',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "Answers and refusals of a session token can be read by pages of the origins that its org lists in its mode, and by no others'.",
  ],
  [
    'SES-206',
    'docs/sessions.md#from-your-own-page',
    'No answer to an API key can be read by a page of another origin.',
  ],
  [
    'SES-207',
    'docs/sessions.md#from-your-own-page',
    'A session token sent by a page of an origin that is not listed answers 403 `origin_not_allowed` and changes nothing.',
  ],
  [
    'SES-208',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'A page that may not embed a session gets a sentence about it in its frame, and nothing of the session.',
  ],
  [
    'SES-209',
    'docs/session-page.md#greeting',
    "The session shows the `opening` that the org's `openings` have for its deployment, else for `*`, else null.",
  ],
  [
    'SES-420',
    'docs/session-page.md#the-page',
    'The page has no barrier that axe finds and fits a phone in every state, light and dark.',
  ],
  [
    'SES-421',
    'docs/functions.md#call-distribution',
    'A call of the company’s code outlives the server that gave it out: it is answered once, and the page shows it.',
  ],
  [
    'SES-541',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'Everything a session holds open closes when its user is deleted, however soon the erasure removes the session.',
  ],
  [
    'SES-542',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'Everything a session of a disabled or erased user holds open closes also in a process that was not notified.',
  ],
  [
    'SES-532',
    'docs/session-page.md#the-page',
    'A reply comes through a line that is cut again and again, without a word lost or doubled.',
  ],
  [
    'SES-531',
    'docs/embedding.md#1-the-origin-of-your-page',
    'A page on http://localhost or http://127.0.0.1 embeds a session of test mode, and none of live mode: its frame shows why.',
  ],
]);
