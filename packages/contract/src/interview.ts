import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';

export const interview = route({
  method: 'POST',
  path: '/v1/deployments/interview',
  auth: 'key',
  scopes: ['setup'],
  summary: 'Describe a job and answer a few questions; the response contains the deployment file so far.',
  description:
    '201 starts, 200 continues; at most five to eight questions. Nothing is saved: apply the file once it is `ready`.',
  idempotent: true,
  body: z
    .strictObject({
      deployment: text(1, 120).optional().describe('To start: the name of the new deployment.'),
      describe: text(1, 8000).optional().describe('To start: the job, in your own words.'),
      conversation: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('To continue: the `conversation_id` of the previous response.'),
      answer: text(1, 8000).optional().describe('To continue: the answer to the last question.'),
    })
    .refine(beginsOrGoesOn, {
      error: 'Send `deployment` with `describe` to start, or `conversation` with `answer` to continue.',
      params: { code: 'describe_or_answer' },
    }),
  status: 201,
  alsoStatus: [200],
  response: z.object({
    object: tag('interview'),
    conversation_id: id('conv'),
    deployment: z.string().describe('The slug that the file names.'),
    status: z.enum(['asking', 'ready']).describe('`asking` until it knows enough, then `ready`.'),
    question: z.string().nullable().describe('The next question; null once it is ready.'),
    file: z
      .looseObject({ name: z.string().describe('The slug of the deployment.') })
      .nullable()
      .describe('The deployment file so far, as JSON; null before there is one.'),
    yaml: z.string().nullable().describe('The same file as YAML, to save as `service.yaml`; null before there is one.'),
    dropped: z
      .array(
        z.object({
          part: z.string().describe('The key of the file, such as `tools`.'),
          name: z.string().nullable().describe('The entry of a list, by its name; null: the whole key.'),
          message: z.string().describe('Why it would not apply.'),
        }),
      )
      .describe('What the model wrote and the file leaves out, because it would not apply.'),
  }),
  errors: [
    'describe_or_answer',
    'invalid_conversation_id',
    'wallet_empty',
    'org_cap_reached',
    'conversation_not_found',
    'deployment_archived',
    'slug_taken',
    'model_error',
    'model_unavailable',
    'timeout',
  ],
  command: 'init',
});

function beginsOrGoesOn(body: { deployment?: string; describe?: string; conversation?: string; answer?: string }) {
  const { deployment, describe, conversation, answer } = body;
  const begins = deployment !== undefined && describe !== undefined;
  const goesOn = conversation !== undefined && answer !== undefined;
  const mixes = (deployment ?? describe) !== undefined && (conversation ?? answer) !== undefined;
  return (begins || goesOn) && !mixes;
}
