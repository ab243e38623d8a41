import { join, resolve } from 'node:path';
import { explain } from '@vestra/contract/explain';
import { flatPrice } from '@vestra/models/prices';
import { type MediaKind, mediaKinds } from '@vestra/models/settings';
import { z } from 'zod';
import { StartFailure } from '../db/start-failure.ts';
import type { S3Location } from '../files/s3-client.ts';
import { type IsTrustedProxy, readTrustedProxies } from '../http/client-address.ts';
import type { CgroupSetting } from '../sandbox/cgroups.ts';
import { embeddingsOf, readClouds, readModelsFile } from './model-config.ts';
import { otlpHeadersIn } from './otlp-headers.ts';
import { withFileSettings } from './settings-files.ts';

const port = z.coerce.number('must be a number').int().min(0).max(65_535);
const flag = z.enum(['0', '1']).transform((value) => value === '1');
const present = z.string().min(1);
const days = z.coerce.number('must be a number').int().min(1).max(36_500);

const ownAddress = z.url({ protocol: /^https?$/, error: 'must be an address with http or https' }).refine((address) => {
  const { username, password } = new URL(address);
  return username === '' && password === '';
}, 'must not hold a user name or password');
/** Without this check `localhost:11434` would pass as an address with the scheme `localhost`. */
const vendorAddress = (example: string) =>
  z.url({ protocol: /^https?$/, error: `must be an address with http or https, such as ${example}` });
const webhookSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ and 24 to 64 bytes as base64');

const region = z.string().regex(/^[a-z0-9-]{1,50}$/, 'must be a region such as eu-central-1');

/** All settings with their format. Other variables of the environment are ignored. */
const environment = z.object({
  PORT: port.optional(),
  HOST: present.default('127.0.0.1'),
  VESTRA_PUBLIC_URL: z.url().optional(),
  VESTRA_INTERNAL_URL: ownAddress.optional(),
  VESTRA_DATA_DIR: present.default('.vestra'),
  DATABASE_URL: present.optional(),
  DATABASE_DIRECT_URL: present.optional(),
  VESTRA_DATABASE_POOLER: z.enum(['transaction', 'session']).optional(),
  VESTRA_MASTER_KEY: present.optional(),
  VESTRA_METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,512}$/, 'must be 16 to 512 characters without spaces')
    .optional(),
  VESTRA_OPERATOR_PORT: port.optional(),
  VESTRA_DRAIN_SECONDS: z.coerce.number('must be a number').int().min(0).max(300).default(0),
  VESTRA_WATCHDOG_SECONDS: z.coerce
    .number('must be a number')
    .int()
    .max(3600)
    .refine((seconds) => seconds === 0 || seconds >= 5, 'must be 0 or from 5 to 3600')
    .default(30),
  VESTRA_STOP_SECONDS: z.coerce.number('must be a number').int().min(1).max(3600).default(30),
  VESTRA_ROLE: z.enum(['all', 'api', 'worker', 'computers']).default('all'),
  VESTRA_LEASE_SECONDS: z.coerce.number('must be a number').int().min(1).max(300).default(15),
  VESTRA_ALLOW_PRIVATE_ADDRESSES: flag.default(false),
  VESTRA_TRUSTED_PROXIES: z
    .string()
    .refine((text) => readTrustedProxies(text) !== null, 'must be addresses or ranges such as 10.0.0.0/8, with commas')
    .optional(),
  VESTRA_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).max(10_000_000).default(1200),
  VESTRA_OPEN_TASKS_PER_USER: z.coerce.number('must be a number').int().min(1).max(100_000).default(1000),
  VESTRA_OPEN_TASKS_PER_ORG: z.coerce.number('must be a number').int().min(1).max(100_000).default(5000),
  // Webhooks are retried for four days, and their events must exist that long.
  VESTRA_RETENTION_EVENTS_DAYS: days.min(5).default(30),
  VESTRA_RETENTION_TRACES_DAYS: days.default(90),
  VESTRA_RETENTION_DELIVERIES_DAYS: days.default(30),
  VESTRA_RETENTION_AUDIT_DAYS: days.default(365),
  VESTRA_RETENTION_CONVERSATIONS_DAYS: days.optional(),
  VESTRA_COMPUTER: z.enum(['bubblewrap', 'gvisor', 'just-bash', 'elsewhere', 'off']).optional(),
  VESTRA_COMPUTER_CPUS: z.coerce.number('must be a number').min(0.05).max(1024).optional(),
  VESTRA_CGROUP: z
    .string()
    .regex(/^(own|off|\/.+)$/, 'must be own, off or the folder of a cgroup')
    .optional(),
  VESTRA_COMPUTER_IDLE_SECONDS: z.coerce.number('must be a number').int().min(1).max(86_400).default(300),
  VESTRA_HOMES: z.enum(['local', 'snapshot']).optional(),
  VESTRA_HOMES_SAVE_SECONDS: z.coerce.number('must be a number').int().min(1).max(86_400).default(300),
  VESTRA_APPS_FILE: present.optional(),
  VESTRA_FILES: present.optional(),
  VESTRA_FILES_DIRECT: flag.default(false),
  VESTRA_S3_ENDPOINT: ownAddress.optional(),
  AWS_REGION: region.optional(),
  AWS_DEFAULT_REGION: region.optional(),
  VESTRA_VOICE: z.enum(['offline', 'openai']).default('offline'),
  VESTRA_VOICE_MODEL: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be the name of a realtime model')
    .default('gpt-realtime'),
  VESTRA_VOICE_DIR: present.optional(),
  VESTRA_VOICE_SANDBOX: z.enum(['required', 'off']).default('required'),
  VESTRA_VOICE_CALLS: z.coerce.number('must be a number').int().min(1).max(1_000).default(20),
  VESTRA_VOICE_SILENCE_SECONDS: z.coerce.number('must be a number').int().min(1).max(3_600).default(90),
  VESTRA_VOICE_PORTS: z
    .string()
    .refine((text) => portsIn(text) !== null, 'must be a range of ports such as 40000-40199')
    .optional(),
  VESTRA_VOICE_ADDRESS: z.union([z.ipv4(), z.ipv6()], 'must be an IP address').optional(),
  VESTRA_VOICE_ICE_SERVERS: z
    .string()
    .refine(
      (text) => iceUrlsIn(text) !== null,
      'must be addresses such as turn:turn.example.com:3478, with commas between',
    )
    .optional(),
  VESTRA_VOICE_TURN_SECRET: present.optional(),
  VESTRA_CHROMIUM: present.default('/usr/bin/chromium-headless-shell'),
  VESTRA_POLICY_HOOK_URL: ownAddress.optional(),
  VESTRA_POLICY_HOOK_SECRET: webhookSecret.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: ownAddress.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine((text) => otlpHeadersIn(text) !== null, 'must be name=value pairs with commas between, percent-encoded')
    .optional(),
  VESTRA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  VESTRA_DEFAULT_MODEL: present.optional(),
  VESTRA_EMBEDDINGS: z.enum(['auto', 'offline', 'openai', 'google', 'compatible']).default('auto'),
  VESTRA_EMBEDDINGS_MODEL: present.optional(),
  VESTRA_EMBEDDINGS_DIMENSIONS: z.coerce.number('must be a number').int().min(64).max(4096).optional(),
  VESTRA_MODELS_FILE: present.optional(),
  VESTRA_ASK_FOR_MODELS: flag.default(true),
  ANTHROPIC_API_KEY: present.optional(),
  ANTHROPIC_BASE_URL: vendorAddress('https://api.anthropic.com').optional(),
  OPENAI_API_KEY: present.optional(),
  OPENAI_BASE_URL: vendorAddress('https://api.openai.com/v1').optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: present.optional(),
  GOOGLE_GENERATIVE_AI_BASE_URL: vendorAddress('https://generativelanguage.googleapis.com/v1beta').optional(),
  VESTRA_BEDROCK_REGION: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as us-east-1')
    .optional(),
  VESTRA_BEDROCK_URL: ownAddress.optional(),
  AWS_BEARER_TOKEN_BEDROCK: present.optional(),
  AWS_ACCESS_KEY_ID: present.optional(),
  AWS_SECRET_ACCESS_KEY: present.optional(),
  AWS_SESSION_TOKEN: present.optional(),
  AZURE_OPENAI_ENDPOINT: ownAddress.optional(),
  AZURE_OPENAI_API_KEY: present.optional(),
  VESTRA_VERTEX_LOCATION: z
    .string()
    .regex(/^[a-z0-9-]{2,40}$/, 'must be a location such as global or us-east5')
    .optional(),
  VESTRA_VERTEX_URL: ownAddress.optional(),
  GOOGLE_APPLICATION_CREDENTIALS: present.optional(),
  OPENAI_COMPATIBLE_BASE_URL: vendorAddress('http://127.0.0.1:11434/v1').optional(),
  OPENAI_COMPATIBLE_API_KEY: present.optional(),
  OPENAI_COMPATIBLE_MODELS: present.optional(),
  OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS: z.coerce.number().int().min(256).max(1_000_000).optional(),
  OPENAI_COMPATIBLE_CONTEXT_TOKENS: z.coerce.number().int().min(1_024).max(100_000_000).optional(),
  OPENAI_COMPATIBLE_TAKES: z
    .string()
    .regex(/^(image|pdf)(,(image|pdf))*$/, 'must be image, pdf or image,pdf')
    .optional(),
  OPENAI_COMPATIBLE_PRICE: z
    .string()
    .regex(/^\d+(\.\d+)?,\d+(\.\d+)?$/, 'must be written <in>,<out>, such as 1.00,4.00')
    .optional(),
});

export const settingNames: readonly string[] = Object.keys(environment.shape);

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: Record<string, string | undefined>) {
  // Shells and compose files set an empty variable to mean that it is not set.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const given = withFileSettings(set, settingNames);
  // The schema is used once per process, and compiling it would take longer than interpreting it.
  const result = environment.safeParse(given, { jitless: true, error: explain });
  if (!result.success) {
    const [first] = result.error.issues;
    const reason = (first?.message ?? '').replace(/^M(?=ust )/, 'm').replace(/\.$/, '');
    throw new StartFailure(`The setting ${first?.path.join('.')} is not valid: ${reason}.`);
  }
  const settings = result.data;
  const [input, output] = settings.OPENAI_COMPATIBLE_PRICE?.split(',').map(Number) ?? [];
  return {
    // Other processes read the port of these roles from the database, so several can run on one machine without a
    // setting.
    port: settings.PORT ?? (servesCallers(settings.VESTRA_ROLE) ? 4600 : 0),
    host: settings.HOST,
    publicUrl: settings.VESTRA_PUBLIC_URL ?? null,
    /** The address at which other processes reach this one; null if it is the address on which it listens. */
    internalUrl: settings.VESTRA_INTERNAL_URL ?? null,
    dataDir: resolve(settings.VESTRA_DATA_DIR),
    databaseUrl: settings.DATABASE_URL ?? null,
    pooler: { kind: settings.VESTRA_DATABASE_POOLER ?? null, directUrl: settings.DATABASE_DIRECT_URL ?? null },
    masterKey: settings.VESTRA_MASTER_KEY ?? null,
    role: settings.VESTRA_ROLE,
    /** Lets its holder read /metrics from anywhere. */
    metricsToken: keyOf(settings.VESTRA_METRICS_TOKEN),
    /** An additional port for /metrics and /health/*, also for processes that serve no API. */
    operatorPort: settings.VESTRA_OPERATOR_PORT ?? null,
    /** The time in which a stopping server still answers and reports not ready. */
    drainMs: settings.VESTRA_DRAIN_SECONDS * 1000,
    /** The time after that in which replies, streams and jobs can finish. */
    stopMs: settings.VESTRA_STOP_SECONDS * 1000,
    watchdogMs: settings.VESTRA_WATCHDOG_SECONDS * 1000,
    runs: runSettings(settings.VESTRA_LEASE_SECONDS * 1000),
    allowPrivateAddresses: settings.VESTRA_ALLOW_PRIVATE_ADDRESSES,
    isTrustedProxy: trustedBy(settings.VESTRA_TRUSTED_PROXIES),
    requestsPerMinute: settings.VESTRA_REQUESTS_PER_MINUTE,
    openTasks: { ofUser: settings.VESTRA_OPEN_TASKS_PER_USER, ofOrg: settings.VESTRA_OPEN_TASKS_PER_ORG },
    retentionDays: {
      events: settings.VESTRA_RETENTION_EVENTS_DAYS,
      traces: settings.VESTRA_RETENTION_TRACES_DAYS,
      deliveries: settings.VESTRA_RETENTION_DELIVERIES_DAYS,
      audit: settings.VESTRA_RETENTION_AUDIT_DAYS,
      conversations: settings.VESTRA_RETENTION_CONVERSATIONS_DAYS ?? null,
    },
    computer: {
      setting:
        settings.VESTRA_ROLE === 'api' && settings.VESTRA_COMPUTER !== 'off'
          ? 'elsewhere'
          : (settings.VESTRA_COMPUTER ?? null),
      /** The cgroup to divide among computers; null to use one that clearly belongs to the server. */
      cgroup: (settings.VESTRA_CGROUP ?? null) as CgroupSetting,
      cpus: settings.VESTRA_COMPUTER_CPUS ?? null,
      idleMs: settings.VESTRA_COMPUTER_IDLE_SECONDS * 1000,
      /**
       * Whether homes are saved to the file store. With files in the data folder, every process can read the homes
       * there.
       */
      savesHomes:
        (settings.VESTRA_HOMES ?? (settings.VESTRA_FILES === undefined ? 'local' : 'snapshot')) === 'snapshot',
      saveEveryMs: settings.VESTRA_HOMES_SAVE_SECONDS * 1000,
    },
    files: { s3: fileStoreOf(settings), isDirect: settings.VESTRA_FILES_DIRECT },
    appsFile: settings.VESTRA_APPS_FILE === undefined ? null : resolve(settings.VESTRA_APPS_FILE),
    voice: {
      folder: resolve(settings.VESTRA_VOICE_DIR ?? join(settings.VESTRA_DATA_DIR, 'voice')),
      isConfined: settings.VESTRA_VOICE_SANDBOX === 'required',
      realtime: realtimeOf(settings),
      mostCalls: settings.VESTRA_VOICE_CALLS,
      silenceMs: settings.VESTRA_VOICE_SILENCE_SECONDS * 1000,
      network: {
        ports: settings.VESTRA_VOICE_PORTS === undefined ? null : portsIn(settings.VESTRA_VOICE_PORTS),
        address: settings.VESTRA_VOICE_ADDRESS ?? null,
        allowPrivate: settings.VESTRA_ALLOW_PRIVATE_ADDRESSES,
      },
      ice: iceOf(settings),
    },
    chromium: settings.VESTRA_CHROMIUM,
    policyHook: {
      url: settings.VESTRA_POLICY_HOOK_URL ?? null,
      secret: keyOf(settings.VESTRA_POLICY_HOOK_SECRET),
    },
    /** The operator's collector of traces of all orgs. The headers may hold a credential. */
    traces: {
      endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
      headers: () => otlpHeadersIn(settings.OTEL_EXPORTER_OTLP_HEADERS ?? '') ?? {},
    },
    logLevel: settings.VESTRA_LOG_LEVEL,
    embeddings: embeddingsOf(
      {
        provider: settings.VESTRA_EMBEDDINGS,
        model: settings.VESTRA_EMBEDDINGS_MODEL,
        dimensions: settings.VESTRA_EMBEDDINGS_DIMENSIONS,
      },
      {
        openai: endpoint(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL),
        google: endpoint(settings.GOOGLE_GENERATIVE_AI_API_KEY, settings.GOOGLE_GENERATIVE_AI_BASE_URL),
        compatible: settings.OPENAI_COMPATIBLE_BASE_URL
          ? { apiKey: keyOf(settings.OPENAI_COMPATIBLE_API_KEY), baseUrl: settings.OPENAI_COMPATIBLE_BASE_URL }
          : null,
      },
    ),
    models: {
      anthropic: endpoint(settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL),
      openai: endpoint(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL),
      google: endpoint(settings.GOOGLE_GENERATIVE_AI_API_KEY, settings.GOOGLE_GENERATIVE_AI_BASE_URL),
      compatible: settings.OPENAI_COMPATIBLE_BASE_URL
        ? {
            baseUrl: settings.OPENAI_COMPATIBLE_BASE_URL,
            apiKey: keyOf(settings.OPENAI_COMPATIBLE_API_KEY),
            models:
              settings.OPENAI_COMPATIBLE_MODELS?.split(',')
                .map((name) => name.trim())
                .filter(Boolean) ?? [],
            price: input !== undefined && output !== undefined ? flatPrice(input, output) : null,
            maxOutputTokens: settings.OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS ?? null,
            contextTokens: settings.OPENAI_COMPATIBLE_CONTEXT_TOKENS ?? null,
            takes: mediaKindsIn(settings.OPENAI_COMPATIBLE_TAKES),
          }
        : null,
      clouds: readClouds(settings),
      own:
        settings.VESTRA_MODELS_FILE === undefined
          ? []
          : readModelsFile(resolve(settings.VESTRA_MODELS_FILE), (name) => withFileSettings(set, [name])[name]),
      defaultModel: settings.VESTRA_DEFAULT_MODEL ?? null,
    },
    /** Whether the server asks vendors for their models. */
    asksForModels: settings.VESTRA_ASK_FOR_MODELS,
  };
}

/** Returns null if speech comes from local packages. */
function realtimeOf(settings: z.output<typeof environment>) {
  if (settings.VESTRA_VOICE === 'offline') return null;
  const openai = endpoint(settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL);
  if (openai === null) throw new StartFailure('The setting VESTRA_VOICE=openai needs OPENAI_API_KEY.');
  return { ...openai, model: settings.VESTRA_VOICE_MODEL };
}

function portsIn(text: string): { min: number; max: number } | null {
  const [, min, max] = /^(\d{1,5})-(\d{1,5})$/.exec(text)?.map(Number) ?? [];
  if (min === undefined || max === undefined) return null;
  return min >= 1024 && max <= 65_535 && min <= max ? { min, max } : null;
}

/** Accepts the schemes that browsers know, each with a host. */
function iceUrlsIn(text: string): string[] | null {
  const urls = text.split(',').map((each) => each.trim());
  return urls.every((url) => /^(stuns?|turns?):[^\s:?/]+(:\d{1,5})?(\?transport=(udp|tcp))?$/.test(url)) ? urls : null;
}

function iceOf(settings: z.output<typeof environment>) {
  const urls = iceUrlsIn(settings.VESTRA_VOICE_ICE_SERVERS ?? '') ?? [];
  const secret = settings.VESTRA_VOICE_TURN_SECRET ?? null;
  if (secret === null && urls.some((url) => url.startsWith('turn'))) {
    throw new StartFailure('A TURN server in VESTRA_VOICE_ICE_SERVERS needs VESTRA_VOICE_TURN_SECRET.');
  }
  return { urls, secret };
}

/** The other roles work for these two. */
export const servesCallers = (role: 'all' | 'api' | 'worker' | 'computers'): boolean =>
  role === 'all' || role === 'api';

const trustedBy = (text: string | undefined): IsTrustedProxy =>
  (text === undefined ? null : readTrustedProxies(text)) ?? (() => false);

/**
 * Two renewals may fail before a lease expires. Sweeps are frequent, so that the run of a dead process soon continues.
 */
const runSettings = (leaseMs: number) => ({
  leaseMs,
  renewEveryMs: Math.round(leaseMs / 4),
  sweepEveryMs: Math.round(leaseMs / 3),
});

function endpoint(key: string | undefined, baseUrl: string | undefined) {
  const apiKey = keyOf(key);
  return apiKey && { apiKey, baseUrl: baseUrl ?? null };
}

/** Returns a function, so that a printed or serialised configuration cannot show the key. */
const keyOf = (key: string | undefined) => (key === undefined ? null : () => key);

const mediaKindsIn = (list: string | undefined): MediaKind[] | null =>
  list === undefined ? null : mediaKinds.filter((kind) => list.split(',').includes(kind));

type Settings = Readonly<
  Partial<
    Record<
      | 'VESTRA_FILES'
      | 'VESTRA_S3_ENDPOINT'
      | 'AWS_REGION'
      | 'AWS_DEFAULT_REGION'
      | 'AWS_ACCESS_KEY_ID'
      | 'AWS_SECRET_ACCESS_KEY'
      | 'AWS_SESSION_TOKEN',
      string
    >
  >
>;

const address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*))?\/?$/;

/** The bucket for files; null if they are in the data folder. */
function fileStoreOf(settings: Settings): S3Location | null {
  if (settings.VESTRA_FILES === undefined) return null;
  const [, bucket, prefix = ''] = address.exec(settings.VESTRA_FILES) ?? [];
  if (bucket === undefined || prefix.split('/').some((part) => /^\.+$/.test(part))) {
    throw new StartFailure('The setting VESTRA_FILES is not valid: it must be s3://bucket or s3://bucket/prefix.');
  }
  const { VESTRA_S3_ENDPOINT: endpoint, AWS_REGION, AWS_DEFAULT_REGION } = settings;
  // Self-hosted stores have one region, which most of them call us-east-1.
  const region = AWS_REGION ?? AWS_DEFAULT_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
  if (region === undefined) throw new StartFailure('VESTRA_FILES is set: set AWS_REGION or VESTRA_S3_ENDPOINT too.');
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = settings;
  if (id === undefined || secret === undefined) {
    throw new StartFailure('VESTRA_FILES is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY too.');
  }
  return {
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    prefix,
    keys: {
      accessKeyId: id,
      secretAccessKey: () => secret,
      sessionToken: session === undefined ? null : () => session,
    },
  };
}
