import { z } from 'zod';
import { browserStep, stepKinds } from './browser-step.ts';
import { namedDeployment } from './named-deployment.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';
import { userParams } from './users.ts';
import { webAddress } from './web-address.ts';

const fetchRequest = z.strictObject({
  deployment: namedDeployment
    .optional()
    .describe('Whose allowed sites count: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.'),
  url: webAddress.optional().describe('Left out to go on in a kept tab.'),
  capture: z
    .array(
      z.strictObject({
        match: text(1, 2048).describe('A substring, a glob with `*`, or `/regex/`.'),
        required: z
          .boolean()
          .default(true)
          .describe('Whether the answer waits for it; false: it is taken along if it came.'),
      }),
    )
    .max(20, 'At most 20 captures.')
    .default([])
    .describe('Which of the page’s own data calls to answer, at most 20.'),
  steps: z
    .array(browserStep)
    .max(50, 'At most 50 steps.')
    .default([])
    .describe('What to do on the page once it is open, in order, at most 50.'),
  timeout_ms: z
    .int()
    .min(1000)
    .max(60_000)
    .default(20_000)
    .describe('How long the whole fetch may take; then 504 `timeout` with what came in `partial`.'),
  keep_open_ms: z.int().min(1000).max(600_000).optional().describe('Keeps the tab for the next fetch.'),
  tab: text(1, 80).optional().describe('A kept tab, as an answer named it.'),
  tag: text(1, 80).optional().describe('Names the tab in the watch.'),
  stage: text(1, 80).optional().describe('A label shown in the watch.'),
  front: z.boolean().default(false).describe('Opens in front of the person, for a sign-in they finish.'),
  front_device: z.enum(['desktop']).optional().describe('`desktop`: the site’s desktop page at the shape of a phone.'),
  front_crop: z
    .strictObject({
      role: text(1, 80).optional().describe('The ARIA role of the element.'),
      name: text(1, 500).optional().describe('The accessible name of the element.'),
      text: text(1, 500).optional().describe('A text that the element shows.'),
    })
    .refine((crop) => Object.keys(crop).length > 0, 'Name the element by `role`, `name` or `text`.')
    .optional()
    .describe('The one element that the screen of a hand-off shows.'),
  private: z.boolean().default(false).describe('Never shown in the watch.'),
  challenge: z
    .enum(['turnstile'])
    .optional()
    .describe('`turnstile`: waits for the page’s bot check to pass by itself or by the person; it is never solved.'),
  frames: z.boolean().default(false).describe('Small pictures at milestones.'),
});

const fetchAnswer = z
  .object({
    object: tag('browser_fetch'),
    url: z.string().describe('Where the page ended up.'),
    status: z.int().describe('The HTTP status of the page; 502 where the site could not be reached.'),
    title: z.string().describe('The title of the page.'),
    tab: z
      .string()
      .nullable()
      .describe('Names the tab where it was kept open; send it as `tab` to go on. Null where it was closed.'),
    captures: z
      .array(
        z.object({
          match: z.string().describe('The `match` that it was captured by.'),
          url: z.string().describe('The address that the page called.'),
          status: z.int().describe('The HTTP status of that call.'),
          content_type: z.string().describe('What kind of content came.'),
          body: z.unknown().describe('The body: a value where it was JSON, else text.'),
          truncated: z.boolean().describe('Whether the body was longer than 1 MB and is cut.'),
        }),
      )
      .describe('What the page’s own data calls brought.'),
    steps: z
      .array(
        z.object({
          kind: z.enum(stepKinds).describe('What the step was to do.'),
          ok: z.boolean().describe('Whether it could be done.'),
          duration_ms: z.int().describe('How long it took in milliseconds.'),
          result: z.unknown().describe('Of a `page_fetch` what came back; null otherwise.'),
        }),
      )
      .describe('How each step went, in order.'),
    timings: z
      .object({
        wake_ms: z.int().describe('Milliseconds until the computer was awake.'),
        open_ms: z.int().describe('Milliseconds until the page was open.'),
        capture_ms: z.int().describe('Milliseconds until every required capture had come.'),
        total_ms: z.int().describe('Milliseconds of the whole fetch.'),
      })
      .describe('Where the time went.'),
    frames: z
      .array(
        z.object({
          milestone: z.string().describe('What had just happened, such as `opened` or `answered`.'),
          at_ms: z.int().describe('Milliseconds after the fetch began.'),
          image: z.string().describe('The page as a JPEG data URI.'),
        }),
      )
      .describe('Small pictures at milestones, where `frames` asked for them.'),
  })
  .describe('What a page and its own data calls brought.');

const watchFrame = z
  .object({
    object: tag('browser_frame'),
    type: z
      .enum(['browser.frame', 'browser.closed'])
      .describe('`browser.frame`: a tab as it looks now; `browser.closed`: it is gone.'),
    seq: z.int().describe('Counts up from 1 on this stream.'),
    tab: z.string().describe('Tells the tabs apart.'),
    tag: z.string().nullable().describe('The `tag` of the fetch; null where it has none.'),
    stage: z.string().nullable().describe('The `stage` of the fetch; null where it has none.'),
    url: z.string().nullable().describe('Where the tab is; null once it is closed or hidden.'),
    image: z.string().nullable().describe('The tab as a JPEG data URI; null once it is closed or hidden.'),
    created_at: createdAt,
  })
  .describe('How a tab looks at this moment.');

const cookieNames = z
  .string()
  .min(1)
  .max(2048)
  .transform((names) => names.split(',').map((name) => name.trim()))
  .pipe(z.array(text(1, 256)).max(50, 'At most 50 names.'))
  .describe('Names of cookies, separated by commas.');

export const browser = {
  fetch: route({
    method: 'POST',
    path: '/v1/users/{user_id}/browser/fetch',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Open one page in the user’s browser and answer what its own data calls brought.',
    description:
      'No model runs. Only sites of the deployment’s `browser.allowed_domains`. Wakes a sleeping computer; at most four run at once in one browser (409 `browser_busy`), and none while a person drives (409 `browser_in_use`).',
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
    description: 'To see whether a sign-in still holds before using it. Opens no page and wakes the computer.',
    params: userParams,
    query: z.strictObject({
      domain: z
        .hostname('Write a bare host name such as example.com.')
        .max(253)
        .describe('The site, a bare host name among the deployment’s allowed ones.'),
      names: cookieNames,
      deployment: namedDeployment
        .optional()
        .describe('Whose allowed sites count; absent: the user’s default, then the org’s.'),
    }),
    status: 200,
    response: z.object({
      object: tag('browser_cookies'),
      domain: z.string().describe('The site that was asked for.'),
      cookies: z
        .array(
          z.object({
            name: z.string().describe('What the cookie is called.'),
            domain: z.string().describe('The site that set it.'),
            expires_at: time.nullable().describe('When it ends; null: with the browser’s session.'),
          }),
        )
        .describe('Those of the names that the browser holds.'),
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
    description:
      'An event stream for showing what fetches do. Only allowed sites; tabs that are private or on a blocked path are hidden.',
    params: userParams,
    query: z.strictObject({
      deployment: namedDeployment
        .optional()
        .describe('Whose allowed sites count; absent: the user’s default, then the org’s.'),
    }),
    status: 200,
    response: watchFrame,
    produces: ['text/event-stream'],
    isJson: false,
    streams: true,
    streamed: watchFrame,
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
