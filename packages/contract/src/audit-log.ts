import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt } from './time.ts';

const actorTypes = ['key', 'member', 'mcp_grant', 'session', 'system'] as const;

const auditEntry = z
  .object({
    object: tag('audit_entry'),
    id: id('aud'),
    action: z.string().describe('What was done, such as `key.created` or `deployment.promoted`.'),
    actor: z
      .object({
        type: z
          .enum(actorTypes)
          .describe(
            'Whether it was a key, a member of the console, an MCP client of a member, a session or the service itself.',
          ),
        id: z.string().describe('The id of that key, member, grant or session.'),
        name: z.string().describe('What that key or member is called; of an MCP client the member and the client.'),
      })
      .describe('Who did it.'),
    target: z
      .object({
        type: z.string().describe('What kind of thing it is.'),
        id: z.string().describe('The id of that thing.'),
      })
      .nullable()
      .describe('What it was done to; null where it was nothing in particular.'),
    ip: z.string().nullable().describe('The address it came from; null where the service did it.'),
    request_id: z.string().nullable().describe('The `Request-Id` of the call; null where there was none.'),
    details: z.record(z.string(), z.unknown()).describe('What changed, by the action; never a secret.'),
    created_at: createdAt,
  })
  .describe('Something that was done, and by whom.');

const moment = failsWith('invalid_window', z.union([z.iso.datetime(), z.iso.date()]));

export const auditLog = {
  list: route({
    method: 'GET',
    path: '/v1/audit-log',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List key use, settings changes and approval answers, newest first.',
    description:
      'Needs scope `admin`. Key use is one entry for each key and minute with a count. Kept for 365 days unless the operator says otherwise.',
    query: z.strictObject({
      action: z.string().min(1).max(100).optional().describe('Only entries of this action.'),
      actor_id: z.string().min(1).max(128).optional().describe('Only what this key, member or session did.'),
      from: moment.optional().describe('From this day or moment on, UTC.'),
      to: moment.optional().describe('Up to this day or moment, UTC, itself included.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(auditEntry),
    errors: ['invalid_window'],
    command: 'audit-log',
  }),
};
