import { z } from 'zod';
import { browserStep, stepKinds } from './browser-step.ts';
import { namedDeployment } from './named-deployment.ts';
import { route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userParams } from './users.ts';
import { webAddress } from './web-address.ts';

const fetchRequest = z.strictObject({
  deployment: namedDeployment.optional(),
  url: webAddress.optional().meta({ description: 'Left out to go on in a kept tab.' }),
  capture: z
    .array(
      z.strictObject({
        match: text(1, 2048).meta({ description: 'A substring, a glob with `*`, or `/regex/`.' }),
        required: z.boolean().default(true),
      }),
    )
    .max(20, 'At most 20 captures.')
    .default([]),
  steps: z.array(browserStep).max(50, 'At most 50 steps.').default([]),
  timeout_ms: z.int().min(1000).max(60_000).default(20_000),
  keep_open_ms: z.int().min(1000).max(600_000).optional().meta({ description: 'Keeps the tab for the next fetch.' }),
  tab: text(1, 80).optional().meta({ description: 'A kept tab, as an answer named it.' }),
  tag: text(1, 80).optional().meta({ description: 'Names the tab in the watch.' }),
  stage: text(1, 80).optional().meta({ description: 'A label shown in the watch.' }),
  front: z.boolean().default(false).meta({ description: 'Opens in front of the person, for a sign-in they finish.' }),
  front_device: z.enum(['desktop']).optional(),
  front_crop: z
    .strictObject({ role: text(1, 80).optional(), name: text(1, 500).optional(), text: text(1, 500).optional() })
    .refine((crop) => Object.keys(crop).length > 0, 'Name the element by `role`, `name` or `text`.')
    .optional()
    .meta({ description: 'The one element that the screen of a hand-off shows.' }),
  private: z.boolean().default(false).meta({ description: 'Never shown in the watch.' }),
  challenge: z.enum(['turnstile']).optional(),
  frames: z.boolean().default(false).meta({ description: 'Small pictures at milestones.' }),
});

const fetchAnswer = z.object({
  object: z.literal('browser_fetch'),
  url: z.string(),
  status: z.int(),
  title: z.string(),
  tab: z.string().nullable(),
  captures: z.array(
    z.object({
      match: z.string(),
      url: z.string(),
      status: z.int(),
      content_type: z.string(),
      body: z.unknown(),
      truncated: z.boolean(),
    }),
  ),
  steps: z.array(z.object({ kind: z.enum(stepKinds), ok: z.boolean(), duration_ms: z.int(), result: z.unknown() })),
  timings: z.object({ wake_ms: z.int(), open_ms: z.int(), capture_ms: z.int(), total_ms: z.int() }),
  frames: z.array(z.object({ milestone: z.string(), at_ms: z.int(), image: z.string() })),
});

const watchFrame = z.object({
  object: z.literal('browser_frame'),
  type: z.enum(['browser.frame', 'browser.closed']),
  seq: z.int(),
  tab: z.string(),
  tag: z.string().nullable(),
  stage: z.string().nullable(),
  url: z.string().nullable(),
  image: z.string().nullable().meta({ description: 'The tab as a JPEG data URI; null once it is closed or hidden.' }),
  created_at: time,
});

const cookieNames = z
  .string()
  .min(1)
  .max(2048)
  .transform((names) => names.split(',').map((name) => name.trim()))
  .pipe(z.array(text(1, 256)).max(50, 'At most 50 names.'))
  .meta({ description: 'Names of cookies, separated by commas.' });

export const browser = {
  fetch: route({
    method: 'POST',
    path: '/v1/users/{user_id}/browser/fetch',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Open one page in the user’s browser and answer what its own data calls brought.',
    params: userParams,
    body: fetchRequest,
    status: 200,
    response: fetchAnswer,
    errors: [
      'user_disabled',
      'invalid_deployment',
      'deployment_required',
      'deployment_not_live',
      'deployment_archived',
      'wallet_empty',
      'org_cap_reached',
      'user_cap_reached',
      'domain_not_allowed',
      'page_blocked',
      'browser_in_use',
      'browser_busy',
      'no_open_tab',
      'computer_unavailable',
      'timeout',
    ],
    command: 'browser fetch',
  }),
  cookies: route({
    method: 'GET',
    path: '/v1/users/{user_id}/browser/cookies',
    wakes: true,
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Say which of the named cookies the browser holds for a site and until when, never a value.',
    params: userParams,
    query: z.strictObject({
      domain: z.hostname('Write a bare host name such as example.com.').max(253),
      names: cookieNames,
      deployment: namedDeployment.optional(),
    }),
    status: 200,
    response: z.object({
      object: z.literal('browser_cookies'),
      domain: z.string(),
      cookies: z.array(z.object({ name: z.string(), domain: z.string(), expires_at: time.nullable() })),
    }),
    errors: [
      'user_not_found',
      'user_disabled',
      'invalid_deployment',
      'deployment_required',
      'deployment_not_live',
      'deployment_archived',
      'domain_not_allowed',
      'computer_unavailable',
    ],
    command: 'browser cookies',
  }),
  watch: route({
    method: 'GET',
    path: '/v1/users/{user_id}/browser/watch',
    wakes: true,
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Watch the fetch tabs of a user’s browser; never wakes the computer.',
    params: userParams,
    query: z.strictObject({ deployment: namedDeployment.optional() }),
    status: 200,
    response: watchFrame,
    produces: ['text/event-stream'],
    streams: true,
    errors: [
      'user_not_found',
      'user_disabled',
      'invalid_deployment',
      'deployment_required',
      'deployment_not_live',
      'deployment_archived',
    ],
    command: 'browser watch',
  }),
};
