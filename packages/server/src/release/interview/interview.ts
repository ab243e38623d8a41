import { z } from 'zod';

/** What an interview has come to, as its conversation keeps it. */
const progress = z.object({
  status: z.enum(['asking', 'ready']),
  question: z.string().nullable(),
  file: z.looseObject({ name: z.string() }).nullable(),
});

export type Progress = z.infer<typeof progress>;

/** An interview, read from the messages of its conversation. */
export type Interview = {
  deployment: string;
  description: string;
  answers: { question: string; answer: string }[];
  latest: Progress | null;
};

const fewest = 5;
const most = 8;

/** What may come next: the person decides by answering, never the model alone. */
export type Next = 'ask' | 'ask or end' | 'end';

export function nextOf({ answers, latest }: Interview): Next {
  if (latest?.status === 'ready' || answers.length >= most) return 'end';
  return answers.length < fewest ? 'ask' : 'ask or end';
}

/** A remark on a file that is ready answers no question; it is taken into the file like an answer. */
const remark = 'Is there anything to change in the file?';

export function withAnswer(interview: Interview, answer: string): Interview {
  const question = interview.latest?.question ?? remark;
  return { ...interview, answers: [...interview.answers, { question, answer }] };
}

type Said = { role: string; text: string; context: Record<string, unknown> | null; data: unknown };

/** Null where the messages are not those of an interview. */
export function readInterview(said: readonly Said[]): Interview | null {
  const [first] = said;
  const deployment = first?.context?.deployment;
  if (!first || typeof deployment !== 'string') return null;
  let interview: Interview = { deployment, description: first.text, answers: [], latest: null };
  for (const { role, text, data } of said.slice(1)) {
    if (role === 'user') interview = withAnswer(interview, text);
    else interview = { ...interview, latest: progress.parse(data) };
  }
  return interview;
}
