import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { time } from './time.ts';

const actorTypes = ['key', 'member', 'session', 'system'] as const;

const auditEntry = z.object({
  object: z.literal('audit_entry'),
  id: id('aud'),
  action: z.string(),
  actor: z.object({ type: z.enum(actorTypes), id: z.string(), name: z.string() }),
  target: z.object({ type: z.string(), id: z.string() }).nullable(),
  ip: z.string().nullable(),
  request_id: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  created_at: time,
});

const moment = failsWith('invalid_window', z.union([z.iso.datetime(), z.iso.date()]));

export const auditLog = {
  list: route({
    method: 'GET',
    path: '/v1/audit-log',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List key use, settings changes and approval answers, newest first.',
    query: z.strictObject({
      action: z.string().min(1).max(100).optional(),
      actor_id: z.string().min(1).max(128).optional(),
      from: moment.optional(),
      to: moment.optional(),
      ...pageQuery,
    }),
    status: 200,
    response: page(auditEntry),
    errors: ['invalid_window'],
    command: 'audit-log',
  }),
};
