import { type Client, type CreateMessageResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** What a server asks a model. All of it is the server's own: nothing of the conversation is added. */
export type SampledPrompt = {
  system: string | null;
  messages: readonly { role: 'user' | 'assistant'; text: string }[];
  maxTokens: number;
};

/** The answer of the model, or why there is none. */
export type Sample = (
  prompt: SampledPrompt,
  signal: AbortSignal,
) => Promise<{ text: string; model: string; isCut: boolean } | { refused: string }>;

const mostTokens = 4096;
const mostMessages = 50;
const mostCharacters = 100_000;

const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const request = z.looseObject({
  systemPrompt: z.string().optional(),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([text, z.array(text)]) }))
    .min(1)
    .max(mostMessages),
  maxTokens: z.number().int().positive(),
  tools: z.array(z.unknown()).max(0).optional(),
});

/** The answer to a `sampling/createMessage`; whatever is refused is an error that the server hears. */
export async function sampled(
  params: unknown,
  sample: Sample | undefined,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  if (!sample)
    throw refusal('This client answers no sampling for this server: whoever registered it has not allowed it.');
  const read = request.safeParse(params);
  if (!read.success) throw refusal(`Only up to ${mostMessages} messages of text, without tools, are answered.`);
  const { systemPrompt, messages, maxTokens } = read.data;
  const prompt: SampledPrompt = {
    system: systemPrompt ?? null,
    messages: messages.map(({ role, content }) => ({
      role,
      text: [content]
        .flat()
        .map((part) => part.text)
        .join('\n'),
    })),
    maxTokens: Math.min(maxTokens, mostTokens),
  };
  const length = [prompt.system ?? '', ...prompt.messages.map((each) => each.text)].join('').length;
  if (length > mostCharacters) throw refusal(`More than ${mostCharacters} characters are not answered.`);
  const answer = await sample(prompt, signal);
  if ('refused' in answer) throw refusal(answer.refused);
  return {
    role: 'assistant',
    content: { type: 'text', text: answer.text },
    model: answer.model,
    stopReason: answer.isCut ? 'maxTokens' : 'endTurn',
  };
}

/** For servers of the older protocol, which ask in the middle of a call and wait. */
export function answerSampling(client: Client, sample: Sample, signal: AbortSignal): void {
  client.setRequestHandler('sampling/createMessage', ({ params }) => sampled(params, sample, signal));
}

const refusal = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
