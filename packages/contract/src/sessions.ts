import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { namedDeployment } from './named-deployment.ts';
import { opening } from './opening.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const sessionStatuses = ['live', 'expired', 'revoked'] as const;

/** `false`: no screen. */
const screenModes = [false, 'view', 'control'] as const;

const session = z
  .object({
    object: tag('session'),
    id: id('ses'),
    user_id: userId().nullable().describe('The one user it is for; null: the org’s own agent.'),
    conversation_id: id('conv').nullable().describe('The conversation that it opens; null for a screen opened alone.'),
    deployment_id: id('dep').nullable().describe('The agent of its conversation.'),
    chat: z.boolean().describe('Whether the page has a chat.'),
    screen: z
      .literal(screenModes)
      .describe('Whether the page shows the agent’s screen, to watch (`view`) or to use (`control`).'),
    voice: z.boolean().describe('Whether the page takes voice calls.'),
    memory: z.boolean().describe('Whether the page lists what is remembered and lets it be deleted.'),
    expires_at: time.describe('When its token stops working, 15 minutes after it was made.'),
    status: z.enum(sessionStatuses).describe('`live`; `expired`: its time is over; `revoked`: somebody ended it.'),
    opening: opening.nullable().describe('What its page says before anything was said.'),
    ice_servers: z
      .array(
        z.object({
          urls: z.array(z.string()).describe('Addresses such as `turn:turn.example.com:3478`.'),
          username: z.string().optional().describe('Of a TURN server, good until the session ends.'),
          credential: z.string().optional().describe('The password that goes with it.'),
        }),
      )
      .optional()
      .describe(
        'Shown to the session’s own token, with `voice`: give them to the `RTCPeerConnection` that makes the offer. Absent where the server has none.',
      ),
    screen_paused: z.literal(true).optional().describe('Only while a view-only screen is private.'),
  })
  .describe('A short-lived page for one user.');

const sessionSeen = {
  ...shown('object', 'id', 'user_id', 'conversation_id', 'deployment_id', 'chat', 'screen', 'voice', 'memory'),
  ...shown('expires_at', 'status', 'screen_paused'),
  opening: shown('message', 'suggestions'),
  ice_servers: shown('urls', 'username', 'credential'),
};

const frameAncestors = z.array(z.string()).describe('Origins that may embed the page; empty: none.');

export const sessionFields = {
  user_id: userId()
    .optional()
    .describe('Whom the page is for; absent: the org’s own agent, unless the org requires a user.'),
  conversation_id: failsWith('invalid_conversation_id', id('conv'))
    .optional()
    .describe('A conversation of that user to go on with; absent with chat or voice: a new one.'),
  deployment: namedDeployment
    .optional()
    .describe('Which agent answers a new conversation; absent: the user’s default deployment, then the org’s.'),
  reuse: z
    .boolean()
    .default(false)
    .describe('Go on in the conversation of the user’s last session with the deployment, where there is one.'),
  chat: z.boolean().default(false).describe('True: the page has a chat.'),
  screen: z
    .literal(screenModes)
    .default(false)
    .describe('`view` shows the agent’s screen, `control` also lets the person use it; false: no screen.'),
  voice: z
    .union([z.boolean(), text(1, 64)], 'True, false or the name of a voice.')
    .default(false)
    .describe('True, or the name of a voice.'),
  memory: z
    .boolean()
    .default(false)
    .describe('True: the page lists what is remembered; the org’s `memory_panel` must be on.'),
  driver: z
    .enum(['bash', 'user'])
    .optional()
    .describe('`user` opens the screen in the user’s hands from the first frame; absent: `bash`.'),
};

const hasConversation = (body: { chat: boolean; voice: boolean | string; conversation_id?: string | undefined }) =>
  body.chat || body.voice !== false || body.conversation_id !== undefined;

/** A position on the picture as a share of its width or height, because it may be scaled. */
const share = z.number().min(0).max(1);
const turn = z.number().min(-5000).max(5000);

const screenInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mouse').describe('`mouse`: the pointer moved or a button was used.'),
    type: z.enum(['move', 'down', 'up']).describe('What it did.'),
    x: share.describe('How far from the left, as a share of the width, 0 to 1.'),
    y: share.describe('How far from the top, as a share of the height, 0 to 1.'),
    button: z
      .enum(['none', 'left', 'middle', 'right'])
      .default('none')
      .describe('With `move`: the one that is held down meanwhile.'),
    clicks: z.int().min(0).max(3).default(0).describe('Which click of a row it is: 2 for a double click.'),
  }),
  z.strictObject({
    kind: z.literal('wheel').describe('`wheel`: the wheel was turned.'),
    x: share.describe('How far from the left, as a share of the width, 0 to 1.'),
    y: share.describe('How far from the top, as a share of the height, 0 to 1.'),
    dx: turn.describe('Pixels to the right.'),
    dy: turn.describe('Pixels down.'),
  }),
  z.strictObject({
    kind: z.literal('key').describe('`key`: one key was pressed.'),
    key: z
      .string()
      .regex(
        /^(?:[^\p{C}]|Backspace|Tab|Enter|Escape|PageUp|PageDown|End|Home|Arrow(?:Left|Up|Right|Down)|Delete)$/u,
        'One character, or the name of a key such as `Enter`.',
      )
      .describe('One character, or the name of a key such as `Enter`.'),
    modifiers: z
      .array(z.enum(['alt', 'control', 'meta', 'shift']))
      .max(4)
      .default([])
      .describe('Keys that are held down meanwhile.'),
  }),
  z.strictObject({
    kind: z.literal('text').describe('`text`: a text was typed or pasted.'),
    text: text(1, 2000).describe('The text, at most 2,000 characters.'),
  }),
  z.strictObject({
    kind: z.literal('navigate').describe('`navigate`: the page before or after is wanted.'),
    to: z.enum(['back', 'forward']).describe('Which way to go in the tab’s history.'),
  }),
  z.strictObject({
    kind: z.literal('hand_back').describe('`hand_back`: the person gives the browser back to the agent.'),
  }),
]);

const sessionParams = z.strictObject({ session_id: failsWith('session_not_found', id('ses')) });

export const sessions = {
  create: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Open a page for one user to chat, watch or drive the screen, or talk; its token is shown once.',
    description:
      'Call it from your server and open `url` in the user’s browser, or embed it: `allowed_embed_origins` of the org says where. At least one of chat, screen, voice and memory should be on; the token opens nothing else.',
    idempotent: true,
    showsSecret: true,
    body: z
      .strictObject(sessionFields)
      .refine((body) => body.driver === undefined || body.screen === 'control', {
        error: '`driver` goes with `screen: control`.',
        path: ['driver'],
      })
      .refine((body) => body.deployment === undefined || hasConversation(body), {
        error: '`deployment` goes with `chat` or `voice`.',
        path: ['deployment'],
      })
      .refine((body) => !body.reuse || hasConversation(body), {
        error: '`reuse` goes with `chat` or `voice`.',
        path: ['reuse'],
      }),
    bodyOptional: true,
    status: 201,
    response: session.extend({
      token: z
        .string()
        .describe('`vst_…`: a bearer token for this session alone; shown this once, good for 15 minutes.'),
      url: z.string().describe('The page to open or embed; it carries the token in its fragment.'),
      frame_ancestors: frameAncestors,
    }),
    errors: [
      'user_required',
      'user_disabled',
      'invalid_conversation_id',
      'conversation_not_found',
      'conversation_user_mismatch',
      'deployment_required',
      'invalid_deployment',
      'deployment_not_live',
      'deployment_archived',
    ],
    command: 'sessions create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/sessions/{session_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: 'itself', sends: [], sees: sessionSeen },
    summary: 'Show a session.',
    description: 'By a key, or by the session’s own token.',
    params: sessionParams,
    status: 200,
    response: session,
    errors: [],
    command: 'sessions get',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/sessions/{session_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: 'itself', sends: [], sees: sessionSeen },
    summary: 'End a session at once: its token stops working, streams close, a call hangs up.',
    description: 'By a key, or by the session’s own token. The embedding page is told.',
    params: sessionParams,
    status: 200,
    response: session,
    errors: [],
    command: 'sessions delete',
  }),
  framePolicy: route({
    method: 'GET',
    path: '/v1/sessions/{session_id}/frame-policy',
    auth: 'open',
    summary: 'Say which origins may embed the page of a session.',
    description: 'Open to everybody: the page itself asks for it before it lets itself be framed.',
    params: sessionParams,
    status: 200,
    response: z.object({ object: tag('frame_policy'), frame_ancestors: frameAncestors }),
    errors: [],
    command: null,
  }),
  screen: route({
    method: 'GET',
    path: '/v1/sessions/{session_id}/screen',
    auth: 'session',
    session: {
      needs: ['screen'],
      sends: [],
      sees: shown('object', 'stream_url', 'preview_token', 'preview_token_param', 'crop_pending'),
    },
    summary: 'Answer the address of the screen’s stream, good for 5 minutes.',
    description:
      'The session’s own token alone, with `screen`. Ask again while it answers `browser_not_open`: the computer is waking.',
    params: sessionParams,
    status: 200,
    response: z.object({
      object: tag('browser_stream'),
      stream_url: z.string().describe('Where the picture is streamed from.'),
      preview_token: z.string().nullable().describe('What opens the stream; null where the address is enough.'),
      preview_token_param: z.string().optional().describe('The query parameter that takes it.'),
      crop_pending: z.literal(true).optional().describe('The element that a hand-off shows is not on the page yet.'),
    }),
    errors: ['user_disabled', 'payment_in_progress', 'browser_in_use', 'browser_not_open', 'computer_unavailable'],
    command: null,
  }),
  screenInput: route({
    method: 'POST',
    path: '/v1/sessions/{session_id}/screen/input',
    auth: 'session',
    session: { needs: ['screen'], sends: ['inputs'], sees: shown('object', 'driving') },
    summary: 'Pass what the person does with mouse and keyboard on to the page that the screen shows.',
    description:
      'The session’s own token alone, with `screen: control`. The first input takes the browser out of the agent’s hands, `hand_back` returns it.',
    params: sessionParams,
    body: z.strictObject({
      inputs: z.array(screenInput).min(1).max(64).describe('What the person did, in order; 1 to 64 at once.'),
    }),
    status: 200,
    response: z.object({
      object: tag('screen_input'),
      driving: z.boolean().describe('Whether the browser is in the hands of this session.'),
    }),
    errors: [
      'user_disabled',
      'payment_in_progress',
      'browser_in_use',
      'browser_not_open',
      'no_open_tab',
      'computer_unavailable',
    ],
    command: null,
  }),
  voice: route({
    method: 'POST',
    path: '/v1/sessions/{session_id}/voice',
    auth: 'session',
    session: { needs: ['voice'], sends: ['sdp'], sees: shown('object', 'sdp', 'ends_at') },
    summary: 'Begin a voice call with the browser’s WebRTC offer.',
    description:
      'The session’s own token alone, with `voice`. Deleting the session hangs up. Billed by the second and by what is said.',
    params: sessionParams,
    body: z.strictObject({
      sdp: failsWith(
        'sdp_required',
        z.string('A voice call needs the browser’s WebRTC offer as `sdp`.').min(1),
      ).describe('The browser’s WebRTC offer.'),
    }),
    status: 200,
    response: z.object({
      object: tag('voice_call'),
      sdp: z.string().describe('The answer to the offer: give it to the browser’s peer connection.'),
      ends_at: time.describe('When the call is ended at the latest, as ISO 8601 in UTC.'),
    }),
    errors: [
      'conversation_required',
      'sdp_required',
      'user_disabled',
      'wallet_empty',
      'org_cap_reached',
      'user_cap_reached',
      'model_unavailable',
    ],
    command: null,
  }),
};
