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
    action: z.string().describe('The action, such as `key.created` or `deployment.promoted`.'),
    actor: z
      .object({
        type: z
          .enum(actorTypes)
          .describe('Whether a key, a console member, a member’s MCP client, a session or the service did it.'),
        id: z.string().describe('The id of that key, member, grant or session.'),
        name: z.string().describe('The name of that key or member; for an MCP client, the member and the client.'),
      })
      .describe('Who did it.'),
    target: z
      .object({
        type: z.string().describe('The type of the object.'),
        id: z.string().describe('The id of the object.'),
      })
      .nullable()
      .describe('The object of the action; null if there is none.'),
    ip: z.string().nullable().describe('The IP address of the caller; null if the service did it.'),
    request_id: z.string().nullable().describe('The `Request-Id` of the call; null if there was none.'),
    details: z.record(z.string(), z.unknown()).describe('The changes, depending on the action; never a secret.'),
    created_at: createdAt,
  })
  .describe('An action, and who did it.');

const moment = failsWith('invalid_window', z.union([z.iso.datetime().max(64), z.iso.date()]));

export const auditLog = {
  list: route({
    method: 'GET',
    path: '/v1/audit-log',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List key use, settings changes and approval answers, newest first.',
    description:
      'Needs scope `admin`. Key use is one entry per key and minute with a count. Stored for 365 days unless the operator changes it.',
    query: z.strictObject({
      action: z.string().min(1).max(100).optional().describe('Only entries with this action.'),
      actor_id: z.string().min(1).max(128).optional().describe('Only actions of this key, member or session.'),
      from: moment.optional().describe('From this day or time on, UTC.'),
      to: moment.optional().describe('Up to and including this day or time, UTC.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(auditEntry),
    errors: ['invalid_window'],
    command: 'audit-log',
  }),
};
