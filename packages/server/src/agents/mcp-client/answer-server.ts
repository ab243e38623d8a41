import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { type Sample, sampled } from './sampling.ts';
import { type AnsweredQuestions, questionOf, type ServerQuestion } from './server-question.ts';

/** What a server that asks something in the middle of a call gets its answers from. */
export type Answering = {
  /** Absent: nobody can be asked. */
  asking?: AnsweredQuestions | undefined;
  /** Absent: no model answers this server. */
  sample?: Sample | undefined;
  hide: (text: string) => string;
  signal: AbortSignal;
};

type Requests = readonly (readonly [key: string, request: { method: string; params?: unknown }])[];

/** What of this has to be put to the person, and what is answered at once. */
export async function answersTo(
  requests: Requests,
  { asking, sample, hide, signal }: Answering,
): Promise<{ questions: Record<string, ServerQuestion>; given: Record<string, unknown> }> {
  const questions: Record<string, ServerQuestion> = {};
  const given: Record<string, unknown> = {};
  for (const [key, { method, params }] of requests) {
    if (method === 'sampling/createMessage') given[key] = await sampled(params, sample, signal);
    else if (method === 'elicitation/create') {
      const question = questionOf(params, hide);
      if (!asking || !question) given[key] = { action: asking ? 'decline' : 'cancel' };
      else questions[key] = question;
    } else {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `The server asks for ${method}, which this client has not offered.`,
      );
    }
  }
  return { questions, given };
}
