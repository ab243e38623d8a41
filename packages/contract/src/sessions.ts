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
    user_id: userId().nullable().describe('The user of the session; null: the org’s own agent.'),
    conversation_id: id('conv').nullable().describe('Its conversation; null for a session with only a screen.'),
    deployment_id: id('dep').nullable().describe('The deployment of its conversation.'),
    chat: z.boolean().describe('Whether the page has a chat.'),
    screen: z
      .literal(screenModes)
      .describe('Whether the page shows the agent’s screen, to watch (`view`) or to use (`control`).'),
    voice: z.boolean().describe('Whether the page offers voice calls.'),
    memory: z.boolean().describe('Whether the page lists memory and allows deleting it.'),
    expires_at: time.describe('When its token expires, 15 minutes after it was created.'),
    status: z.enum(sessionStatuses).describe('`live`; `expired`: its time is over; `revoked`: it was ended.'),
    opening: opening.nullable().describe('The text on its page before the first message.'),
    ice_servers: z
      .array(
        z.object({
          urls: z.array(z.string()).describe('Addresses such as `turn:turn.example.com:3478`.'),
          username: z.string().optional().describe('For a TURN server, valid until the session ends.'),
          credential: z.string().optional().describe('The password for the username.'),
        }),
      )
      .optional()
      .describe(
        'Shown to the session’s own token, with `voice`: pass them to the `RTCPeerConnection` that creates the offer. Absent if the server has none.',
      ),
    screen_paused: z.literal(true).optional().describe('Present only while a view-only screen is private.'),
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
    .describe('The user of the page; absent: the org’s own agent, unless the org requires a user.'),
  conversation_id: failsWith('invalid_conversation_id', id('conv'))
    .optional()
    .describe('A conversation of that user to continue; absent with chat or voice: a new one.'),
  deployment: namedDeployment
    .optional()
    .describe('The agent of a new conversation; absent: the user’s default deployment, then the org’s.'),
  reuse: z
    .boolean()
    .default(false)
    .describe('Continue the conversation of the user’s last session with the deployment, if there is one.'),
  chat: z.boolean().default(false).describe('True: the page has a chat.'),
  screen: z
    .literal(screenModes)
    .default(false)
    .describe('`view` shows the agent’s screen, `control` also lets the user operate it; false: no screen.'),
  voice: z
    .union([z.boolean(), text(1, 64)], 'True, false or the name of a voice.')
    .default(false)
    .describe('True, or the name of a voice.'),
  memory: z.boolean().default(false).describe('True: the page lists memory; the org’s `memory_panel` must be on.'),
  driver: z
    .enum(['bash', 'user'])
    .optional()
    .describe('`user` opens the screen under the user’s control from the first frame; absent: `bash`.'),
};

const hasConversation = (body: { chat: boolean; voice: boolean | string; conversation_id?: string | undefined }) =>
  body.chat || body.voice !== false || body.conversation_id !== undefined;

/** A position on the picture as a share of its width or height, because it may be scaled. */
const share = z.number().min(0).max(1);
const turn = z.number().min(-5000).max(5000);

const screenInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mouse').describe('`mouse`: the pointer moved or a button was used.'),
    type: z.enum(['move', 'down', 'up']).describe('The mouse action.'),
    x: share.describe('The distance from the left, as a share of the width, 0 to 1.'),
    y: share.describe('The distance from the top, as a share of the height, 0 to 1.'),
    button: z
      .enum(['none', 'left', 'middle', 'right'])
      .default('none')
      .describe('With `move`: the button that is held down.'),
    clicks: z.int().min(0).max(3).default(0).describe('The number of the click in a series: 2 for a double click.'),
  }),
  z.strictObject({
    kind: z.literal('wheel').describe('`wheel`: the wheel was turned.'),
    x: share.describe('The distance from the left, as a share of the width, 0 to 1.'),
    y: share.describe('The distance from the top, as a share of the height, 0 to 1.'),
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
      .describe('Modifier keys that are held down.'),
  }),
  z.strictObject({
    kind: z.literal('text').describe('`text`: a text was typed or pasted.'),
    text: text(1, 2000).describe('The text, at most 2,000 characters.'),
  }),
  z.strictObject({
    kind: z.literal('navigate').describe('`navigate`: goes back or forward in the history.'),
    to: z.enum(['back', 'forward']).describe('The direction in the tab’s history.'),
  }),
  z.strictObject({
    kind: z.literal('hand_back').describe('`hand_back`: the user returns the browser to the agent.'),
  }),
]);

const sessionParams = z.strictObject({ session_id: failsWith('session_not_found', id('ses')) });

export const sessions = {
  create: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Create a page for one user to chat, watch or control the screen, or call; its token is shown once.',
    description:
      'Call it from your server and open `url` in the user’s browser, or embed it: the org’s `allowed_embed_origins` lists the allowed pages. Enable at least one of chat, screen, voice and memory; the token is valid for nothing else.',
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
        .describe('`vst_…`: a bearer token for this session only; shown only once, valid for 15 minutes.'),
      url: z.string().describe('The page to open or embed; it contains the token in its fragment.'),
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
    description: 'With a key, or with the session’s own token.',
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
    summary: 'End a session at once: its token expires, its streams close, a voice call hangs up.',
    description: 'With a key, or with the session’s own token. The embedding page is notified.',
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
    summary: 'Show which origins may embed the page of a session.',
    description: 'Public: the page reads it before it allows framing.',
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
    summary: 'Return the address of the screen’s stream, valid for 5 minutes.',
    description:
      'Only with the session’s own token and `screen`. Retry while it returns `browser_not_open`: the computer is waking.',
    params: sessionParams,
    status: 200,
    response: z.object({
      object: tag('browser_stream'),
      stream_url: z.string().describe('The address of the video stream.'),
      preview_token: z.string().nullable().describe('The token of the stream; null if the address is enough.'),
      preview_token_param: z.string().optional().describe('The query parameter for the token.'),
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
    summary: 'Send the user’s mouse and keyboard input to the page on the screen.',
    description:
      'Only with the session’s own token and `screen: control`. The first input takes control from the agent, `hand_back` returns it.',
    params: sessionParams,
    body: z.strictObject({
      inputs: z.array(screenInput).min(1).max(64).describe('The inputs in order; 1 to 64 at once.'),
    }),
    status: 200,
    response: z.object({
      object: tag('screen_input'),
      driving: z.boolean().describe('Whether this session controls the browser.'),
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
    summary: 'Start a voice call with the browser’s WebRTC offer.',
    description:
      'Only with the session’s own token and `voice`. Deleting the session hangs up. Billed by the second and by the speech.',
    params: sessionParams,
    body: z.strictObject({
      sdp: failsWith(
        'sdp_required',
        z.string('A voice call needs the browser’s WebRTC offer as `sdp`.').min(1).max(65_536),
      ).describe('The browser’s WebRTC offer.'),
    }),
    status: 200,
    response: z.object({
      object: tag('voice_call'),
      sdp: z.string().describe('The answer to the offer: pass it to the browser’s peer connection.'),
      ends_at: time.describe('When the call ends at the latest, as ISO 8601 in UTC.'),
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
