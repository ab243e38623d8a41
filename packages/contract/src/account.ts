import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { opening, openingFields } from './opening.ts';
import { modes, roles, route } from './route.ts';
import { deploymentSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt } from './time.ts';

export const memoryModes = ['vestra', 'customer', 'none'] as const;

export const me = {
  get: route({
    method: 'GET',
    path: '/v1/me',
    auth: 'key',
    scopes: 'any',
    summary: 'Show the org, the mode and the key or member behind this call.',
    description: 'Any scope will do. The first call to make with a new key.',
    status: 200,
    response: z.object({
      object: tag('me'),
      org: z
        .object({
          id: id('org'),
          name: z.string().describe('What the org is called.'),
          status: z.string().describe('`active`; anything else: it is switched off.'),
        })
        .describe('The org that the call acts in.'),
      mode: z.enum(modes).describe('Whether test or live data is seen.'),
      key: z
        .object({
          id: id('key'),
          name: z.string().describe('What the key is called.'),
          last4: z.string().describe('The last four characters of the key.'),
        })
        .nullable()
        .describe('The key of the call; null where a member of the console calls.'),
      member: z
        .object({ role: z.enum(roles).describe('What the member may do in this org.') })
        .nullable()
        .describe('The member who calls, also by an MCP client of theirs; null where a key does.'),
    }),
    errors: [],
    command: 'me',
  }),
};

const cap = z.number().min(0).max(1_000_000);

const caps = z.object({
  org_daily_usd: cap.nullable().describe('US dollars a day (UTC) for the whole org; null: none.'),
  user_daily_usd: cap.nullable().describe('US dollars a day (UTC) for each user; null: none.'),
  max_org_daily_usd: cap.describe('The most that `org_daily_usd` may be set to; the operator’s to change.'),
  org_monthly_usd: cap.nullable().describe('US dollars a calendar month (UTC) for the whole org; null: none.'),
  user_monthly_usd: cap.nullable().describe('US dollars a calendar month (UTC) for each user; null: none.'),
});

const usageAlerts = z.object({
  thresholds: z
    .array(z.int().min(1).max(100))
    .max(5)
    .describe('Percentages of a cap at which `usage.threshold_reached` is sent, at most 5; 100 is always told.'),
});

const org = z
  .object({
    object: tag('org'),
    id: id('org'),
    name: z.string().describe('What the org is called.'),
    status: z.string().describe('`active`; anything else: it is switched off.'),
    mode: z.enum(modes).describe('The mode of the call; settings that are kept per mode are shown for it.'),
    allowed_return_urls: z.array(z.string()).describe('Where users may be sent back to after they connected an app.'),
    allowed_embed_origins: z.array(z.string()).describe('Origins whose pages may embed sessions.'),
    default_deployment: id('dep')
      .nullable()
      .describe('The deployment that answers where none is named; null: one must be named.'),
    require_user: z.boolean().describe('Whether calls that name no user are refused with `user_required`.'),
    memory_panel: z.boolean().describe('Whether sessions may show users what is remembered.'),
    memory_mode: z
      .enum(memoryModes)
      .describe(
        'Who keeps what is learnt of users: the service as `vestra`, your endpoint as `customer`, nobody as `none`.',
      ),
    memory_endpoint: z
      .string()
      .nullable()
      .describe('The address that keeps memory where `memory_mode` is `customer`; null where none is set.'),
    otlp_endpoint: z.string().nullable().describe('Where traces are sent as OpenTelemetry over HTTP; null: nowhere.'),
    otlp_headers_secret: z.string().nullable().describe('The secret that holds the headers for it; null: none.'),
    otlp_content: z.boolean().describe('Whether traces hold what was said and what tools were given and answered.'),
    model_fallbacks: z
      .record(z.string(), z.array(z.string()))
      .describe(
        'By the slug of a deployment, or `*` for the rest: models to go on with, in order, where its own is away.',
      ),
    openings: z
      .record(z.string(), opening)
      .describe('By the slug of a deployment, or `*` for the rest: what a session’s page says first.'),
    balance_usd: usd.describe('US dollars in the wallet of this mode; at zero, work stops with 402 `wallet_empty`.'),
    caps: caps.describe('How much may be spent.'),
    usage_alerts: usageAlerts.describe('When spending is told of.'),
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
    description: 'Needs scope `admin`. Settings are those of the key’s mode; name and members are shared by both.',
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
    summary: 'Change settings of the org; a list sent replaces the list kept.',
    description:
      'Needs scope `admin`. Fields left out stay. Changes count for the key’s mode, so that a test key never changes what live users see.',
    body: z.strictObject({
      name: text(1, 200).optional().describe('What the org is called, 1 to 200 characters.'),
      allowed_return_urls: z
        .array(httpUrl)
        .max(20)
        .optional()
        .describe('Where users may be sent back to after they connected an app, at most 20; replaces the list.'),
      allowed_embed_origins: z
        .array(failsWith('invalid_origin', text(1, 2048)))
        .max(20)
        .optional()
        .describe('https origins whose pages may embed sessions, at most 20; replaces the list.'),
      default_deployment: failsWith('invalid_deployment', text(1, 120))
        .nullable()
        .optional()
        .describe('The deployment that answers where none is named: a dep_ id, a slug or a name; null clears it.'),
      require_user: z.boolean().optional().describe('True: calls that name no user are refused with `user_required`.'),
      memory_panel: z.boolean().optional().describe('True: sessions may show users what is remembered.'),
      memory_mode: z
        .enum(memoryModes)
        .optional()
        .describe('Who keeps what is learnt of users; `customer` needs a `memory_endpoint`.'),
      memory_endpoint: httpUrl
        .nullable()
        .optional()
        .describe('An https address that keeps memory in place of the service; null clears it.'),
      otlp_endpoint: httpUrl
        .nullable()
        .optional()
        .describe('Where to send traces as OpenTelemetry over HTTP; null stops it.'),
      otlp_headers_secret: failsWith('invalid_secret_name', z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/))
        .nullable()
        .optional()
        .describe('The name of a secret that holds a JSON object of header names to values; null clears it.'),
      otlp_content: z
        .boolean()
        .optional()
        .describe('True: traces hold what was said and what tools were given and answered, without credentials.'),
      model_fallbacks: z
        .record(deploymentOrRest, z.array(text(1, 100)).max(5))
        .refine((all) => Object.keys(all).length <= 100, 'At most 100 deployments.')
        .optional()
        .describe(
          'By the slug of a deployment, or `*` for the rest: up to 5 models to go on with where its own is away; replaces all.',
        ),
      openings: z
        .record(deploymentOrRest, openingFields)
        .refine((all) => Object.keys(all).length <= 100, 'At most 100 deployments.')
        .optional()
        .describe('By the slug of a deployment, or `*` for the rest: what a session’s page says first; replaces all.'),
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
    summary:
      'Get a new secret for the signatures of calls to the org’s memory endpoint; the old one signs for 24 hours more.',
    description: 'Needs scope `admin`. For 24 hours calls carry a signature by each secret.',
    idempotent: true,
    showsSecret: true,
    status: 200,
    response: z.object({
      object: tag('memory_endpoint'),
      url: z.string().describe('The memory endpoint of the org.'),
      secret: z.string().describe('`whsec_…`: check the signature of calls with it; shown this once.'),
    }),
    errors: ['memory_endpoint_required'],
    command: 'org roll-memory-secret',
  }),
};

const limitsAnswer = z
  .object({
    object: tag('limits'),
    caps: caps.describe('How much may be spent.'),
    usage_alerts: usageAlerts.describe('When spending is told of.'),
    rate_limits: z
      .object({
        requests_per_minute: z.int().describe('Requests a minute that each key may make.'),
        burst: z.int().describe('Requests that may come at once.'),
      })
      .describe('How often a key may call.'),
  })
  .describe('How much may be spent, and how often a key may call.');

export const limits = {
  get: route({
    method: 'GET',
    path: '/v1/limits',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show spending caps, alert thresholds and rate limits.',
    description: 'Needs scope `admin`. Caps and thresholds are kept for each mode; rate limits are the operator’s.',
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
    summary: 'Set spending caps and alert thresholds within what the service allows.',
    description:
      'Needs scope `admin`. Counts from the next message on; work that is running is stopped once a cap is reached.',
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
        .describe('The caps to change; those left out stay.'),
      usage_alerts: z
        .strictObject({
          thresholds: z
            .array(z.int().min(1).max(100))
            .max(5)
            .describe('Percentages of a cap, 1 to 100, at most 5; replaces the list.'),
        })
        .optional()
        .describe('When spending is to be told of.'),
    }),
    status: 200,
    response: limitsAnswer,
    errors: ['cap_above_maximum'],
    command: 'limits update',
  }),
};

const rates = {
  input_per_mtok: z.number().describe('US dollars for a million tokens read.'),
  output_per_mtok: z.number().describe('US dollars for a million tokens written.'),
  cache_read_per_mtok: z.number().describe('US dollars for a million tokens read from the provider’s cache.'),
  cache_write_per_mtok: z.number().describe('US dollars for a million tokens put into the provider’s cache.'),
  cache_write_long_per_mtok: z
    .number()
    .describe('US dollars for a million tokens put there for the longer time that the provider offers.'),
};

const model = z
  .object({
    object: tag('model'),
    id: z.string().describe('What `model` of a deployment takes.'),
    provider: z.string().describe('Whose model it is.'),
    name: z.string().describe('What people call it.'),
    default: z.boolean().describe('Whether `default` means this one.'),
    context_tokens: z.int().describe('How many tokens fit into one call.'),
    max_output_tokens: z.int().describe('The longest answer that is asked for.'),
    takes: z.array(z.enum(['text', 'image', 'pdf', 'audio'])).describe('What may be sent to it besides text.'),
    reasons: z.boolean().describe('Whether it thinks before it answers.'),
    price: z
      .object({
        ...rates,
        above: z
          .object({
            input_tokens: z.int().describe('The number of tokens read above which these prices count.'),
            ...rates,
          })
          .nullable()
          .describe('What a whole call costs that reads more than so many tokens.'),
      })
      .describe('What it costs.'),
    priced: z
      .boolean()
      .describe('False: its price is not known, `price` is what test mode counts it as, and live mode refuses it.'),
    retires_on: z.iso.date().nullable().describe('The day its provider switches it off; null where that is not known.'),
    replacement: z.string().nullable().describe('The model its provider names in its place; null where none.'),
    available: z.boolean().describe('Whether a deployment may choose it now.'),
    unavailable_reason: z.string().nullable().describe('Why not; null where it may.'),
  })
  .describe('A model that a deployment may choose.');

export const models = {
  list: route({
    method: 'GET',
    path: '/v1/models',
    auth: 'key',
    scopes: 'any',
    summary: 'List the models that a deployment may choose.',
    description: 'Any scope will do. Also those that are not configured, with `unavailable_reason`.',
    status: 200,
    response: z.object({
      data: z.array(model).describe('Every model that this server knows.'),
      next_cursor: z.null().describe('Always null: all are on one page.'),
      notes: z.array(z.string()).describe('What retires within 60 days, and what replaces it.'),
    }),
    errors: [],
    command: 'models',
  }),
};

const check = z.object({
  status: z.enum(['ok', 'failing']).describe('Whether this part works.'),
  message: z.string().nullable().describe('What is wrong with it; null where nothing is.'),
});

const healthAnswer = z
  .object({
    object: tag('health'),
    status: z.enum(['ok', 'failing']).describe('`ok`, or `failing` with 503 while the server cannot take requests.'),
    version: z.string().describe('The version of the server.'),
    checks: z.record(z.string(), check).describe('By the name of a part, such as `database`: whether it works.'),
  })
  .describe('Whether the server and its parts work.');

export const health = {
  get: route({
    method: 'GET',
    path: '/v1/health',
    auth: 'open',
    summary: 'Say whether the API is up; 503 while the database is away.',
    description: 'Open to everybody, for load balancers and monitors: 503 while the server cannot take requests.',
    status: 200,
    alsoStatus: [503],
    response: healthAnswer,
    errors: [],
    command: 'health',
  }),
};
