import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { openingFields } from './opening.ts';
import { text } from './text.ts';

export const approvalKinds = ['payment', 'booking', 'cancellation', 'send_email', 'publish', 'delete'] as const;

/** RFC 5646, with language codes of two or three letters: no longer one is registered. */
const languageTag =
  /^(auto|[A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[Xx](-[A-Za-z0-9]{1,8})+)?)$/;

const host = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*';

const hostName = z
  .string()
  .max(253)
  .regex(new RegExp(`^${host}$`), 'Write a bare host name such as example.com.');

const blockedPath = z
  .string()
  .max(2048)
  .regex(new RegExp(`^${host}/[^\\s?#]*$`), 'Write a site and the start of a path, such as example.com/account.');

/** Sites of the user's browser. A host also allows its `www.` form. */
export const browser = z.strictObject({
  allowed_domains: z
    .array(hostName)
    .min(1)
    .max(20, 'At most 20 domains.')
    .optional()
    .describe(
      'Hosts that the user’s browser may open, each with its `www.` form; without any, a fetch opens nothing and the agent any public site.',
    ),
  blocked_paths: z
    .array(blockedPath)
    .min(1)
    .max(20, 'At most 20 paths.')
    .optional()
    .describe('Sites with the start of a path, such as `example.com/account`, that are never opened or shown.'),
});

const limits = z.strictObject({
  per_task_usd: z
    .number()
    .min(0.01)
    .max(1000)
    .optional()
    .describe('US dollars after which a task is stopped with `max_budget`.'),
  per_turn_usd: z
    .number()
    .min(0.01)
    .max(1000)
    .optional()
    .describe('US dollars after which a reply is stopped with `max_budget`.'),
  max_steps: z
    .int()
    .min(1)
    .max(500)
    .default(100)
    .describe('Model calls after which a task is stopped with `max_turns`.'),
  max_minutes: z
    .int()
    .min(1)
    .max(240)
    .default(60)
    .describe('Active minutes, without waiting, after which a task is stopped with `max_turns`.'),
  ask_above_usd: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe('A paid tool that costs more than this needs approval.'),
});

const reasoningLevels = ['off', 'low', 'medium', 'high'] as const;

/** Settings that the deployment file and the manifest share. */
export const commonSettings = {
  instructions: text(0, 8000)
    .default('')
    .describe('What the agent is, does and must not do, in your own words; at most 8,000 characters.'),
  language: failsWith(
    'invalid_language',
    text(1, 35).regex(languageTag, 'Write a language tag such as en or pt-BR, or auto.'),
  )
    .default('auto')
    .describe('A language tag such as `en`, `hi` or `pt-BR` for its answers, or `auto` to follow each user.'),
  model: text(1, 100)
    .default('default')
    .describe('A model id of `GET /v1/models`, or `default` for the server’s default.'),
  reasoning: z
    .enum(reasoningLevels, { error: 'Write off, low, medium or high.' })
    .optional()
    .describe(
      'How much the model reasons before it answers; `off`: as little as it can. Absent: as its provider decides.',
    ),
  apps: z
    .union([z.array(text(1, 64)).max(200, 'At most 200 apps.'), z.literal('all')], {
      error: 'Write `all` or a list of app names.',
    })
    .default('all')
    .describe('Which apps users can connect: `all`, or the ids of `GET /v1/apps`.'),
  approvals: z
    .array(z.enum(approvalKinds))
    .max(6, 'At most 6 approvals.')
    .default(['payment', 'booking', 'cancellation'])
    .describe('Which kinds of action are labelled as such in approval requests.'),
  opening: openingFields
    .optional()
    .describe('What a session’s page shows before the first message; absent: the org’s setting.'),
  limits: limits.prefault({}).describe('Limits of tasks and replies in money, steps and minutes.'),
};

/** A skill the org uploaded. */
export const companySkill = z.strictObject({ id: id('skl') });

/** A built-in skill. */
export const builtInSkill = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,63}$/,
      'Use lowercase letters, digits and dashes, a letter or digit first, at most 64.',
    )
    .describe('The name of a built-in skill, as `GET /v1/skills?source=built_in` lists it.'),
});
