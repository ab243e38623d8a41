import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { opening, openingFields } from './opening.ts';
import { recordOfAtMost } from './record-of-at-most.ts';
import { modes, roles, route } from './route.ts';
import { deploymentSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt } from './time.ts';

export const memoryModes = ['vestra', 'customer', 'none'] as const;

/** Which conversations insights may quote and improvements may use. */
export const improvementConversations = ['all', 'rated', 'none'] as const;

export const me = {
  get: route({
    method: 'GET',
    path: '/v1/me',
    auth: 'key',
    scopes: 'any',
    summary: 'Show the org, the mode and the key or member behind this call.',
    description: 'Accepts any scope. Make this call first with a new key.',
    status: 200,
    response: z.object({
      object: tag('me'),
      org: z
        .object({
          id: id('org'),
          name: z.string().describe('The name of the org.'),
          status: z.string().describe('`active`; any other value: it is disabled.'),
        })
        .describe('The org that the call acts in.'),
      mode: z.enum(modes).describe('Whether the call uses test or live data.'),
      key: z
        .object({
          id: id('key'),
          name: z.string().describe('The name of the key.'),
          last4: z.string().describe('The last four characters of the key.'),
        })
        .nullable()
        .describe('The key of the call; null if a console member calls.'),
      member: z
        .object({ role: z.enum(roles).describe('The role of the member in this org.') })
        .nullable()
        .describe('The member who calls, also through an MCP client; null if a key calls.'),
    }),
    errors: [],
    command: 'me',
  }),
};

const cap = z.number().min(0).max(1_000_000);

const caps = z.object({
  org_daily_usd: cap.nullable().describe('US dollars a day (UTC) for the whole org; null: none.'),
  user_daily_usd: cap.nullable().describe('US dollars a day (UTC) for each user; null: none.'),
  max_org_daily_usd: cap.describe('The maximum for `org_daily_usd`; only the operator can change it.'),
  org_monthly_usd: cap.nullable().describe('US dollars a calendar month (UTC) for the whole org; null: none.'),
  user_monthly_usd: cap.nullable().describe('US dollars a calendar month (UTC) for each user; null: none.'),
});

const usageAlerts = z.object({
  thresholds: z
    .array(z.int().min(1).max(100))
    .max(5)
    .describe('Percentages of a cap at which `usage.threshold_reached` is sent, at most 5; 100 is always reported.'),
});

const org = z
  .object({
    object: tag('org'),
    id: id('org'),
    name: z.string().describe('The name of the org.'),
    status: z.string().describe('`active`; any other value: it is disabled.'),
    mode: z.enum(modes).describe('The mode of the call; settings that are stored per mode are shown for it.'),
    allowed_return_urls: z
      .array(z.string())
      .describe('Addresses to which users may return after they connected an app.'),
    allowed_embed_origins: z.array(z.string()).describe('Origins whose pages may embed sessions.'),
    default_deployment: id('dep')
      .nullable()
      .describe('The deployment that answers if none is named; null: one must be named.'),
    require_user: z.boolean().describe('Whether calls that name no user are rejected with `user_required`.'),
    memory_panel: z.boolean().describe('Whether sessions may show users their memory.'),
    memory_mode: z
      .enum(memoryModes)
      .describe(
        'Who stores memory about users: the service (`vestra`), your endpoint (`customer`), or nobody (`none`).',
      ),
    memory_endpoint: z
      .string()
      .nullable()
      .describe('The address that stores memory if `memory_mode` is `customer`; null if none is set.'),
    otlp_endpoint: z
      .string()
      .nullable()
      .describe('The address that receives traces as OpenTelemetry over HTTP; null: none.'),
    otlp_headers_secret: z.string().nullable().describe('The secret that contains the headers for it; null: none.'),
    otlp_content: z.boolean().describe('Whether traces include messages and the input and output of tools.'),
    model_fallbacks: z
      .record(z.string(), z.array(z.string()))
      .describe(
        'By the slug of a deployment, or `*` for the rest: fallback models, in order, if its own model is unavailable.',
      ),
    openings: z
      .record(z.string(), opening)
      .describe('By the slug of a deployment, or `*` for the rest: the opening text of a session’s page.'),
    conversation_retention_days: z
      .int()
      .nullable()
      .describe(
        'Days after which a conversation without activity is deleted; null: never, unless the operator sets a bound.',
      ),
    improvement_conversations: z
      .enum(improvementConversations)
      .describe('The conversations that insights quote and improvements use: `all`, `rated` ones only, or `none`.'),
    balance_usd: usd.describe('US dollars in the wallet of this mode; at zero, tasks stop with 402 `wallet_empty`.'),
    caps: caps.describe('The spending caps.'),
    usage_alerts: usageAlerts.describe('When spending is reported.'),
    created_at: createdAt,
  })
  .describe('The org with its settings, wallet and caps.');

/** The slug of a deployment, or `*` for all others. */
const deploymentOrRest = z.union([z.literal('*'), deploymentSlug]);

const httpUrl = z.url({ protocol: /^https?$/ }).max(2048);

export const orgs = {
  get: route({
    method: 'GET',
    path: '/v1/org',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show the org with its settings, wallet balance and caps.',
    description: 'Needs scope `admin`. Settings are those of the key’s mode; both modes share name and members.',
    status: 200,
    response: org,
    errors: [],
    command: 'org get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/org',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Change settings of the org; a list replaces the stored list.',
    description:
      'Needs scope `admin`. Omitted fields stay unchanged. Changes apply to the key’s mode, so that a test key never changes live settings.',
    body: z.strictObject({
      name: text(1, 200).optional().describe('The name of the org, 1 to 200 characters.'),
      allowed_return_urls: z
        .array(httpUrl)
        .max(20)
        .optional()
        .describe('Addresses to which users may return after they connected an app, at most 20; replaces the list.'),
      allowed_embed_origins: z
        .array(failsWith('invalid_origin', text(1, 2048)))
        .max(20)
        .optional()
        .describe('https origins whose pages may embed sessions, at most 20; replaces the list.'),
      default_deployment: failsWith('invalid_deployment', text(1, 120))
        .nullable()
        .optional()
        .describe('The deployment that answers if none is named: a dep_ id, a slug or a name; null clears it.'),
      require_user: z.boolean().optional().describe('True: calls that name no user are rejected with `user_required`.'),
      memory_panel: z.boolean().optional().describe('True: sessions may show users their memory.'),
      memory_mode: z
        .enum(memoryModes)
        .optional()
        .describe('Who stores memory about users; `customer` needs a `memory_endpoint`.'),
      memory_endpoint: httpUrl
        .nullable()
        .optional()
        .describe('An https address that stores memory instead of the service; null clears it.'),
      otlp_endpoint: httpUrl
        .nullable()
        .optional()
        .describe('The address to send traces to as OpenTelemetry over HTTP; null stops it.'),
      otlp_headers_secret: failsWith('invalid_secret_name', z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/))
        .nullable()
        .optional()
        .describe('The name of a secret that contains a JSON object of header names and values; null clears it.'),
      otlp_content: z
        .boolean()
        .optional()
        .describe('True: traces include messages and the input and output of tools, without credentials.'),
      model_fallbacks: recordOfAtMost(100, 'deployments', z.record(deploymentOrRest, z.array(text(1, 100)).max(5)))
        .optional()
        .describe(
          'By the slug of a deployment, or `*` for the rest: up to 5 fallback models if its own model is unavailable; replaces all.',
        ),
      openings: recordOfAtMost(100, 'deployments', z.record(deploymentOrRest, openingFields))
        .optional()
        .describe(
          'By the slug of a deployment, or `*` for the rest: the opening text of a session’s page; replaces all.',
        ),
      conversation_retention_days: z
        .int()
        .min(1)
        .max(36_500)
        .nullable()
        .optional()
        .describe('Delete a conversation after so many days without activity; null: never.'),
      improvement_conversations: z
        .enum(improvementConversations)
        .optional()
        .describe(
          'The conversations that insights may quote and improvements may use: `all`, `rated` ones only, or `none`.',
        ),
    }),
    status: 200,
    response: org,
    errors: ['invalid_origin', 'invalid_deployment', 'memory_endpoint_required', 'invalid_secret_name'],
    command: 'org update',
  }),
  rollMemorySecret: route({
    method: 'POST',
    path: '/v1/org/memory-endpoint/roll-secret',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Roll the signing secret of the org’s memory endpoint; the old one stays valid for 24 hours.',
    description: 'Needs scope `admin`. For 24 hours, requests carry a signature with each secret.',
    idempotent: true,
    showsSecret: true,
    status: 200,
    response: z.object({
      object: tag('memory_endpoint'),
      url: z.string().describe('The org’s memory endpoint.'),
      secret: z.string().describe('`whsec_…`: verify request signatures with it; shown only once.'),
    }),
    errors: ['memory_endpoint_required'],
    command: 'org roll-memory-secret',
  }),
};

const limitsAnswer = z
  .object({
    object: tag('limits'),
    caps: caps.describe('The spending caps.'),
    usage_alerts: usageAlerts.describe('When spending is reported.'),
    rate_limits: z
      .object({
        requests_per_minute: z.int().describe('Requests per minute that each key may make.'),
        burst: z.int().describe('Requests that may arrive at once.'),
      })
      .describe('The rate limits of a key.'),
  })
  .describe('Spending caps and rate limits.');

export const limits = {
  get: route({
    method: 'GET',
    path: '/v1/limits',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show spending caps, alert thresholds and rate limits.',
    description: 'Needs scope `admin`. Caps and thresholds are stored per mode; the operator sets the rate limits.',
    status: 200,
    response: limitsAnswer,
    errors: [],
    command: 'limits get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/limits',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Set spending caps and alert thresholds within the operator’s limits.',
    description:
      'Needs scope `admin`. Applies from the next message on; a running task is stopped once a cap is reached.',
    body: z.strictObject({
      caps: z
        .strictObject({
          org_daily_usd: cap
            .nullable()
            .optional()
            .describe('US dollars a day for the whole org, at most `max_org_daily_usd`; null: none.'),
          user_daily_usd: cap
            .nullable()
            .optional()
            .describe('US dollars a day for each user, at most the org’s; null: none.'),
          org_monthly_usd: cap
            .nullable()
            .optional()
            .describe('US dollars a calendar month for the whole org; null: none.'),
          user_monthly_usd: cap
            .nullable()
            .optional()
            .describe('US dollars a calendar month for each user; null: none.'),
        })
        .optional()
        .describe('The caps to change; omitted ones stay.'),
      usage_alerts: z
        .strictObject({
          thresholds: z
            .array(z.int().min(1).max(100))
            .max(5)
            .describe('Percentages of a cap, 1 to 100, at most 5; replaces the list.'),
        })
        .optional()
        .describe('When spending is reported.'),
    }),
    status: 200,
    response: limitsAnswer,
    errors: ['cap_above_maximum'],
    command: 'limits update',
  }),
};

const check = z.object({
  status: z.enum(['ok', 'failing']).describe('Whether this part works.'),
  message: z.string().nullable().describe('The problem; null if there is none.'),
});

const healthAnswer = z
  .object({
    object: tag('health'),
    status: z.enum(['ok', 'failing']).describe('`ok`, or `failing` with 503 while the server cannot accept requests.'),
    version: z.string().describe('The version of the server.'),
    checks: z.record(z.string(), check).describe('By component, such as `database`: whether it works.'),
  })
  .describe('Whether the server and its components work.');

export const health = {
  get: route({
    method: 'GET',
    path: '/v1/health',
    auth: 'open',
    summary: 'Show whether the API is up; 503 while the database is unreachable.',
    description: 'Public, for load balancers and monitors: 503 while the server cannot accept requests.',
    status: 200,
    alsoStatus: [503],
    response: healthAnswer,
    errors: [],
    command: 'health',
  }),
};
