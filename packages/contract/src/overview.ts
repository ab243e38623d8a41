import { z } from 'zod';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { namedDeployment } from './named-deployment.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { time } from './time.ts';

const overviewPeriods = ['24h', '7d', '30d'] as const;

const counts = {
  conversation_count: z.int().describe('Conversations in which a message was sent.'),
  reply_count: z.int().describe('Messages whose turn settled or failed. Stopped and open turns are not counted.'),
  failed_count: z.int().describe('Those that failed.'),
};

const latency = z
  .object({
    p50: z.int().describe('Half of the replies took at most this long, in milliseconds.'),
    p95: z.int().describe('95 of 100 replies took at most this long, in milliseconds.'),
  })
  .nullable()
  .describe(
    'From the message to the end of its reply, without replies that waited for a person or became a task; null if there was none.',
  );

const deploymentRow = z
  .object({
    deployment_id: id('dep'),
    name: z.string().nullable().describe('The name of the deployment; null if it was deleted.'),
    ...counts,
    latency_ms: latency,
    cost_usd: usd.describe('Its cost, in US dollars.'),
  })
  .describe('The figures of one deployment.');

const cause = z
  .object({
    code: z.string().describe('The error code.'),
    message: z.string().describe('The sentence of the newest failure with this code.'),
    failed_count: z.int().describe('Turns that failed with this code.'),
    conversation_count: z.int().describe('The conversations of these turns.'),
    conversation_id: id('conv').describe('The conversation of the newest failure.'),
    last_at: time.describe('When the newest of them was sent, as ISO 8601 in UTC.'),
  })
  .describe('Failures with the same code.');

const slot = z
  .object({
    at: time.describe('The start of the hour or UTC day, as ISO 8601.'),
    reply_count: counts.reply_count,
    failed_count: counts.failed_count,
  })
  .describe('One hour or day.');

export const overview = {
  get: route({
    method: 'GET',
    path: '/v1/overview',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show how the agents do: conversations, failures by cause, latency, cost and pending approvals.',
    description:
      'Needs scope `runtime`. Only of the key’s mode. Conversations of test runs are not counted. The newest 50,000 messages of the period are read; if there are more, `from` is later.',
    query: z.strictObject({
      period: z
        .enum(overviewPeriods)
        .default('24h')
        .describe('`24h`: this hour and the 23 before; `7d` and `30d`: today and the days before, in UTC.'),
      deployment: namedDeployment
        .optional()
        .describe('Only of this deployment: a dep_ id, a slug or a name. `@version` is ignored.'),
    }),
    status: 200,
    response: z
      .object({
        object: tag('overview'),
        period: z.enum(overviewPeriods).describe('The requested period.'),
        from: time.describe('The start of the figures, as ISO 8601 in UTC.'),
        to: time.describe('The end of the figures, as ISO 8601 in UTC.'),
        ...counts,
        latency_ms: latency,
        cost_usd: usd.describe('The cost since `from`, in US dollars.'),
        pending_approval_count: z.int().describe('Approvals that wait for a person now, at most 1,000.'),
        slots: z.array(slot).describe('Each hour of `24h`, or each day of `7d` and `30d`, oldest first.'),
        deployments: z.array(deploymentRow).describe('The busiest 50 deployments, most replies first.'),
        failures: z.array(cause).describe('The ten most frequent causes of failures.'),
      })
      .describe('How the agents of an org do in one mode.'),
    errors: ['invalid_deployment'],
    command: 'overview',
  }),
};
