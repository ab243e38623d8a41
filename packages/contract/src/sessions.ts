import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { namedDeployment } from './named-deployment.ts';
import { opening } from './opening.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const sessionStatuses = ['live', 'expired', 'revoked'] as const;

/** `false`: no screen. */
const screenModes = [false, 'view', 'control'] as const;

const session = z.object({
  object: z.literal('session'),
  id: id('ses'),
  user_id: userId().nullable(),
  conversation_id: id('conv').nullable(),
  deployment_id: id('dep').nullable().meta({ description: 'The agent of its conversation.' }),
  chat: z.boolean(),
  screen: z.literal(screenModes),
  voice: z.boolean(),
  memory: z.boolean(),
  expires_at: time,
  status: z.enum(sessionStatuses),
  opening: opening.nullable().meta({ description: 'What its page says before anything was said.' }),
  screen_paused: z.literal(true).optional().meta({ description: 'Only while a view-only screen is private.' }),
});

const sessionSeen = {
  ...shown('object', 'id', 'user_id', 'conversation_id', 'deployment_id', 'chat', 'screen', 'voice', 'memory'),
  ...shown('expires_at', 'status', 'screen_paused'),
  opening: shown('message', 'suggestions'),
};

const frameAncestors = z.array(z.string()).meta({ description: 'Origins that may embed the page; empty: none.' });

export const sessionFields = {
  user_id: userId().optional(),
  conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
  deployment: namedDeployment
    .optional()
    .meta({ description: 'Absent: the user’s default deployment, then the org’s.' }),
  reuse: z.boolean().default(false).meta({
    description: 'Go on in the conversation of the user’s last session with the deployment, where there is one.',
  }),
  chat: z.boolean().default(false),
  screen: z.literal(screenModes).default(false),
  voice: z
    .union([z.boolean(), text(1, 64)], 'True, false or the name of a voice.')
    .default(false)
    .meta({ description: 'True, or the name of a voice.' }),
  memory: z.boolean().default(false),
  driver: z
    .enum(['bash', 'user'])
    .optional()
    .meta({ description: '`user` opens the screen in the user’s hands from the first frame; absent: `bash`.' }),
};

const hasConversation = (body: { chat: boolean; voice: boolean | string; conversation_id?: string | undefined }) =>
  body.chat || body.voice !== false || body.conversation_id !== undefined;

/** A place on the picture, as a share of its width or height: the picture may be shown in any size. */
const share = z.number().min(0).max(1);
const turn = z.number().min(-5000).max(5000);

const screenInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('mouse'),
    type: z.enum(['move', 'down', 'up']),
    x: share,
    y: share,
    button: z
      .enum(['none', 'left', 'middle', 'right'])
      .default('none')
      .meta({ description: 'With `move`: the one that is held down meanwhile.' }),
    clicks: z.int().min(0).max(3).default(0),
  }),
  z.strictObject({ kind: z.literal('wheel'), x: share, y: share, dx: turn, dy: turn }),
  z.strictObject({
    kind: z.literal('key'),
    key: z
      .string()
      .regex(
        /^(?:[^\p{C}]|Backspace|Tab|Enter|Escape|PageUp|PageDown|End|Home|Arrow(?:Left|Up|Right|Down)|Delete)$/u,
        'One character, or the name of a key such as `Enter`.',
      )
      .meta({ description: 'One character, or the name of a key such as `Enter`.' }),
    modifiers: z
      .array(z.enum(['alt', 'control', 'meta', 'shift']))
      .max(4)
      .default([]),
  }),
  z.strictObject({ kind: z.literal('text'), text: text(1, 2000) }),
  z.strictObject({ kind: z.literal('navigate'), to: z.enum(['back', 'forward']) }),
  z.strictObject({ kind: z.literal('hand_back') }),
]);

const sessionParams = z.strictObject({ session_id: failsWith('session_not_found', id('ses')) });

export const sessions = {
  create: route({
    method: 'POST',
    path: '/v1/sessions',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Open a page for one user to chat, watch or drive the screen, or talk; its token is shown once.',
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
    response: session.extend({ token: z.string(), url: z.string(), frame_ancestors: frameAncestors }),
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
    params: sessionParams,
    status: 200,
    response: z.object({ object: z.literal('frame_policy'), frame_ancestors: frameAncestors }),
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
    params: sessionParams,
    status: 200,
    response: z.object({
      object: z.literal('browser_stream'),
      stream_url: z.string(),
      preview_token: z.string().nullable(),
      preview_token_param: z.string().optional(),
      crop_pending: z
        .literal(true)
        .optional()
        .meta({ description: 'The element that a hand-off shows is not on the page yet.' }),
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
    params: sessionParams,
    body: z.strictObject({ inputs: z.array(screenInput).min(1).max(64) }),
    status: 200,
    response: z.object({
      object: z.literal('screen_input'),
      driving: z.boolean().meta({ description: 'Whether the browser is in the hands of this session.' }),
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
    params: sessionParams,
    body: z.strictObject({
      sdp: failsWith('sdp_required', z.string('A voice call needs the browser’s WebRTC offer as `sdp`.').min(1)),
    }),
    status: 200,
    response: z.object({ object: z.literal('voice_call'), sdp: z.string(), ends_at: time }),
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
