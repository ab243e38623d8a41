import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { opening, openingFields } from './opening.ts';
import { modes, roles, route } from './route.ts';
import { deploymentSlug } from './slug.ts';
import { text } from './text.ts';
import { time } from './time.ts';

export const memoryModes = ['vestra', 'customer', 'none'] as const;

export const me = {
  get: route({
    method: 'GET',
    path: '/v1/me',
    auth: 'key',
    scopes: 'any',
    summary: 'Show the org, the mode and the key or member behind this call.',
    status: 200,
    response: z.object({
      object: z.literal('me'),
      org: z.object({ id: id('org'), name: z.string(), status: z.string() }),
      mode: z.enum(modes),
      key: z.object({ id: id('key'), name: z.string(), last4: z.string() }).nullable(),
      member: z.object({ role: z.enum(roles) }).nullable(),
    }),
    errors: [],
    command: 'me',
  }),
};

const cap = z.number().min(0).max(1_000_000);

const caps = z.object({
  org_daily_usd: cap.nullable(),
  user_daily_usd: cap.nullable(),
  max_org_daily_usd: cap,
  org_monthly_usd: cap.nullable(),
  user_monthly_usd: cap.nullable(),
});

const usageAlerts = z.object({ thresholds: z.array(z.int().min(1).max(100)).max(5) });

const org = z.object({
  object: z.literal('org'),
  id: id('org'),
  name: z.string(),
  status: z.string(),
  mode: z.enum(modes),
  allowed_return_urls: z.array(z.string()),
  allowed_embed_origins: z.array(z.string()),
  default_deployment: id('dep').nullable(),
  require_user: z.boolean(),
  memory_panel: z.boolean(),
  memory_mode: z.enum(memoryModes),
  memory_endpoint: z.string().nullable(),
  otlp_endpoint: z.string().nullable(),
  otlp_headers_secret: z.string().nullable(),
  model_fallbacks: z.record(z.string(), z.array(z.string())),
  openings: z.record(z.string(), opening),
  balance_usd: usd,
  caps,
  usage_alerts: usageAlerts,
  created_at: time,
});

/** The slug of a deployment, or `*` for those that are not named. */
const deploymentOrRest = z.union([z.literal('*'), deploymentSlug]);

const httpUrl = z.url({ protocol: /^https?$/ }).max(2048);

export const orgs = {
  get: route({
    method: 'GET',
    path: '/v1/org',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show the org with its settings, wallet balance and caps.',
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
    body: z.strictObject({
      name: text(1, 200).optional(),
      allowed_return_urls: z.array(httpUrl).max(20).optional(),
      allowed_embed_origins: z
        .array(failsWith('invalid_origin', text(1, 2048)))
        .max(20)
        .optional(),
      default_deployment: failsWith('invalid_deployment', text(1, 120)).nullable().optional(),
      require_user: z.boolean().optional(),
      memory_panel: z.boolean().optional(),
      memory_mode: z.enum(memoryModes).optional(),
      memory_endpoint: httpUrl.nullable().optional(),
      otlp_endpoint: httpUrl.nullable().optional(),
      otlp_headers_secret: failsWith('invalid_secret_name', z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/))
        .nullable()
        .optional(),
      model_fallbacks: z
        .record(deploymentOrRest, z.array(text(1, 100)).max(5))
        .refine((all) => Object.keys(all).length <= 100, 'At most 100 deployments.')
        .optional(),
      openings: z
        .record(deploymentOrRest, openingFields)
        .refine((all) => Object.keys(all).length <= 100, 'At most 100 deployments.')
        .optional(),
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
    idempotent: true,
    showsSecret: true,
    status: 200,
    response: z.object({ object: z.literal('memory_endpoint'), url: z.string(), secret: z.string() }),
    errors: ['memory_endpoint_required'],
    command: 'org roll-memory-secret',
  }),
};

const limitsAnswer = z.object({
  object: z.literal('limits'),
  caps,
  usage_alerts: usageAlerts,
  rate_limits: z.object({ requests_per_minute: z.int(), burst: z.int() }),
});

export const limits = {
  get: route({
    method: 'GET',
    path: '/v1/limits',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show spending caps, alert thresholds and rate limits.',
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
    body: z.strictObject({
      caps: z
        .strictObject({
          org_daily_usd: cap.nullable().optional(),
          user_daily_usd: cap.nullable().optional(),
          org_monthly_usd: cap.nullable().optional(),
          user_monthly_usd: cap.nullable().optional(),
        })
        .optional(),
      usage_alerts: z.strictObject({ thresholds: z.array(z.int().min(1).max(100)).max(5) }).optional(),
    }),
    status: 200,
    response: limitsAnswer,
    errors: ['cap_above_maximum'],
    command: 'limits update',
  }),
};

const rates = {
  input_per_mtok: z.number(),
  output_per_mtok: z.number(),
  cache_read_per_mtok: z.number(),
  cache_write_per_mtok: z.number(),
  cache_write_long_per_mtok: z
    .number()
    .meta({ description: 'Of what is kept for the longer of the times that its provider offers.' }),
};

const model = z.object({
  object: z.literal('model'),
  id: z.string(),
  provider: z.string(),
  name: z.string(),
  default: z.boolean(),
  context_tokens: z.int(),
  max_output_tokens: z.int().meta({ description: 'The longest answer that is asked for.' }),
  takes: z.array(z.enum(['text', 'image', 'pdf', 'audio'])),
  reasons: z.boolean(),
  price: z.object({
    ...rates,
    above: z
      .object({ input_tokens: z.int(), ...rates })
      .nullable()
      .meta({ description: 'What a whole call costs that reads more than so many tokens.' }),
  }),
  priced: z.boolean().meta({
    description: 'False: its price is not known, `price` is what test mode counts it as, and live mode refuses it.',
  }),
  retires_on: z.iso.date().nullable(),
  replacement: z.string().nullable(),
  available: z.boolean(),
  unavailable_reason: z.string().nullable(),
});

export const models = {
  list: route({
    method: 'GET',
    path: '/v1/models',
    auth: 'key',
    scopes: 'any',
    summary: 'List the models that a deployment may choose.',
    status: 200,
    response: z.object({
      data: z.array(model),
      next_cursor: z.null(),
      notes: z.array(z.string()).meta({ description: 'What retires within 60 days, and what replaces it.' }),
    }),
    errors: [],
    command: 'models',
  }),
};

const check = z.object({ status: z.enum(['ok', 'failing']), message: z.string().nullable() });

const healthAnswer = z.object({
  object: z.literal('health'),
  status: z.enum(['ok', 'failing']),
  version: z.string(),
  checks: z.record(z.string(), check),
});

export const health = {
  get: route({
    method: 'GET',
    path: '/v1/health',
    auth: 'open',
    summary: 'Say whether the API is up; 503 while the database is away.',
    status: 200,
    alsoStatus: [503],
    response: healthAnswer,
    errors: [],
    command: 'health',
  }),
};
