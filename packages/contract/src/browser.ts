import { z } from 'zod';
import { namedDeployment } from './named-deployment.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';
import { headers } from './tool-entry.ts';
import { userParams } from './users.ts';
import { webAddress } from './web-address.ts';

const stepKinds = ['click', 'type', 'scroll', 'wait_for', 'page_fetch'] as const;

const click = z
  .strictObject({
    kind: z.literal('click').describe('`click`: clicks one element.'),
    text: text(1, 500).optional().describe('The element that shows this text.'),
    selector: text(1, 1000).optional().describe('The element that this CSS selector finds.'),
    role: text(1, 80).optional().describe('The element with this ARIA role; goes with `name`.'),
    name: text(1, 500).optional().describe('Its accessible name; goes with `role`.'),
    within_ms: z
      .int()
      .min(0)
      .max(10_000)
      .optional()
      .describe('How long to wait for the element, at most 10,000 milliseconds.'),
    nth: z.int().min(1).max(1000).optional().describe('Which of several that match, from 1.'),
    near_text: text(1, 500).optional().describe('The match closest to this text.'),
  })
  .refine(
    (step) =>
      countGiven(step.text, step.selector, step.role) === 1 && (step.role === undefined) === (step.name === undefined),
    'A click names its element by `text`, by `selector`, or by `role` and `name`.',
  );

const type = z.strictObject({
  kind: z.literal('type').describe('`type`: types into one field.'),
  into: text(1, 1000).describe('The label, placeholder or selector of the field.'),
  text: text(0, 8000).describe('The text to type; it replaces the existing text.'),
  submit: z.boolean().default(false).describe('Whether to press Enter afterwards.'),
});

const scroll = z.strictObject({
  kind: z.literal('scroll').describe('`scroll`: scrolls the page.'),
  to: z
    .union([z.enum(['bottom', 'top']), z.int().min(-100_000).max(100_000)], 'Scroll to `bottom`, `top` or by pixels.')
    .describe('`bottom`, `top`, or a number of pixels down.'),
});

const waitFor = z
  .strictObject({
    kind: z.literal('wait_for').describe('`wait_for`: waits for something on the page.'),
    text: text(1, 500).optional().describe('Until this text shows.'),
    selector: text(1, 1000).optional().describe('Until this CSS selector finds an element.'),
    url: text(1, 2048).optional().describe('Until the address contains this.'),
    within_ms: z.int().min(0).max(60_000).optional().describe('How long to wait, at most 60,000 milliseconds.'),
  })
  .refine(
    (step) => countGiven(step.text, step.selector, step.url) === 1,
    'Wait for exactly one of `text`, `selector` or `url`.',
  );

const pageFetch = z.strictObject({
  kind: z.literal('page_fetch').describe('`page_fetch`: sends a request from inside the page, with its cookies.'),
  url: text(1, 2048).describe('The address; on one of the deployment’s allowed sites.'),
  method: z
    .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .default('GET')
    .describe('The HTTP method of the request.'),
  headers: headers.optional().describe('Headers of the request.'),
  body: z.unknown().optional().describe('Text is sent unchanged, anything else as JSON.'),
});

/** One action on the page before its responses are read. */
const browserStep = z.discriminatedUnion('kind', [click, type, scroll, waitFor, pageFetch]);

const countGiven = (...values: unknown[]): number => values.filter((value) => value !== undefined).length;

const fetchRequest = z.strictObject({
  deployment: namedDeployment
    .optional()
    .describe(
      'The deployment whose allowed sites apply: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.',
    ),
  url: webAddress.optional().describe('The address; omit it to continue in an open tab.'),
  capture: z
    .array(
      z.strictObject({
        match: text(1, 2048).describe('A substring, a glob with `*`, or `/regex/`.'),
        required: z
          .boolean()
          .default(true)
          .describe('Whether the response waits for it; false: it is included if it arrived.'),
      }),
    )
    .max(20, 'At most 20 captures.')
    .default([])
    .describe('Which of the page’s own requests to return, at most 20.'),
  steps: z
    .array(browserStep)
    .max(50, 'At most 50 steps.')
    .default([])
    .describe('Steps to run on the page once it is open, in order, at most 50.'),
  timeout_ms: z
    .int()
    .min(1000)
    .max(60_000)
    .default(20_000)
    .describe('The time limit of the whole fetch; then 504 `timeout` with the results so far in `partial`.'),
  keep_open_ms: z.int().min(1000).max(600_000).optional().describe('Keeps the tab open for the next fetch.'),
  tab: text(1, 80).optional().describe('An open tab, as named in an earlier response.'),
  tag: text(1, 80).optional().describe('The name of the tab in the watch.'),
  stage: text(1, 80).optional().describe('A label shown in the watch.'),
  front: z.boolean().default(false).describe('Opens in front of the user, for a sign-in that they finish.'),
  front_device: z.enum(['desktop']).optional().describe('`desktop`: the site’s desktop page in the format of a phone.'),
  front_crop: z
    .strictObject({
      role: text(1, 80).optional().describe('The ARIA role of the element.'),
      name: text(1, 500).optional().describe('The accessible name of the element.'),
      text: text(1, 500).optional().describe('A text that the element shows.'),
    })
    .refine((crop) => Object.keys(crop).length > 0, 'Name the element by `role`, `name` or `text`.')
    .optional()
    .describe('The only element that the screen of a hand-off shows.'),
  private: z.boolean().default(false).describe('Never shown in the watch.'),
  challenge: z
    .enum(['turnstile'])
    .optional()
    .describe(
      '`turnstile`: waits until the page’s bot check passes by itself or through the user; it is never solved.',
    ),
  frames: z.boolean().default(false).describe('Whether to return small pictures at milestones.'),
});

const fetchAnswer = z
  .object({
    object: tag('browser_fetch'),
    url: z.string().describe('The final address of the page.'),
    status: z.int().describe('The HTTP status of the page; 502 if the site could not be reached.'),
    title: z.string().describe('The title of the page.'),
    tab: z
      .string()
      .nullable()
      .describe('The name of the tab if it stays open; send it as `tab` to continue. Null if it was closed.'),
    captures: z
      .array(
        z.object({
          match: z.string().describe('The `match` that captured it.'),
          url: z.string().describe('The address of the page’s request.'),
          status: z.int().describe('The HTTP status of that request.'),
          content_type: z.string().describe('The content type of the response.'),
          body: z.unknown().describe('The body: a value if it was JSON, else text.'),
          truncated: z.boolean().describe('Whether the body was longer than 1 MB and was cut.'),
        }),
      )
      .describe('The captured responses of the page’s own requests.'),
    steps: z
      .array(
        z.object({
          kind: z.enum(stepKinds).describe('The type of step.'),
          ok: z.boolean().describe('Whether it succeeded.'),
          duration_ms: z.int().describe('The duration in milliseconds.'),
          result: z.unknown().describe('The response of a `page_fetch`; null otherwise.'),
        }),
      )
      .describe('The result of each step, in order.'),
    timings: z
      .object({
        wake_ms: z.int().describe('Milliseconds until the computer was awake.'),
        open_ms: z.int().describe('Milliseconds until the page was open.'),
        capture_ms: z.int().describe('Milliseconds until every required capture had arrived.'),
        total_ms: z.int().describe('The total duration in milliseconds.'),
      })
      .describe('The durations of each phase.'),
    frames: z
      .array(
        z.object({
          milestone: z.string().describe('The milestone, such as `opened` or `answered`.'),
          at_ms: z.int().describe('Milliseconds since the fetch started.'),
          image: z.string().describe('The page as a JPEG data URI.'),
        }),
      )
      .describe('Small pictures at milestones, if `frames` requested them.'),
  })
  .describe('The results of a page and its own requests.');

const watchFrame = z
  .object({
    object: tag('browser_frame'),
    type: z
      .enum(['browser.frame', 'browser.closed', 'stream.closed'])
      .describe(
        '`browser.frame`: the current picture of a tab; `browser.closed`: the tab was closed; `stream.closed`: the server restarts, so watch again.',
      ),
    seq: z.int().describe('Counts up from 1 on this stream. `stream.closed` repeats the last one.'),
    tab: z.string().describe('Identifies the tab; empty with `stream.closed`.'),
    tag: z.string().nullable().describe('The `tag` of the fetch; null if it has none.'),
    stage: z.string().nullable().describe('The `stage` of the fetch; null if it has none.'),
    url: z.string().nullable().describe('The address of the tab; null once it is closed or hidden.'),
    image: z.string().nullable().describe('The tab as a JPEG data URI; null once it is closed or hidden.'),
    created_at: createdAt,
  })
  .describe('The current picture of a tab.');

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
    summary: 'Open one page in the user’s browser and return the responses of its own requests.',
    description:
      'Runs no model. Only sites of the deployment’s `browser.allowed_domains`. Wakes a sleeping computer; at most four fetches run at once in one browser (409 `browser_busy`), and none while a person controls it (409 `browser_in_use`).',
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
    summary: 'Show which of the named cookies the browser has for a site and when they expire, never a value.',
    description: 'Use it to check whether a sign-in is still valid. Opens no page and wakes the computer.',
    params: userParams,
    query: z.strictObject({
      domain: z
        .hostname('Write a bare host name such as example.com.')
        .max(253)
        .describe('The site, a bare host name among the deployment’s allowed ones.'),
      names: cookieNames,
      deployment: namedDeployment
        .optional()
        .describe('The deployment whose allowed sites apply; absent: the user’s default, then the org’s.'),
    }),
    status: 200,
    response: z.object({
      object: tag('browser_cookies'),
      domain: z.string().describe('The requested site.'),
      cookies: z
        .array(
          z.object({
            name: z.string().describe('The name of the cookie.'),
            domain: z.string().describe('The site that set it.'),
            expires_at: time.nullable().describe('When it expires; null: with the browser’s session.'),
          }),
        )
        .describe('The named cookies that the browser has.'),
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
      'An event stream that shows what fetches do. Only allowed sites; private tabs and blocked paths are hidden.',
    params: userParams,
    query: z.strictObject({
      deployment: namedDeployment
        .optional()
        .describe('The deployment whose allowed sites apply; absent: the user’s default, then the org’s.'),
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
