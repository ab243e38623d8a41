import { createHash } from 'node:crypto';
import type { CallerTools } from './caller-tools.ts';

export type TalkLine = { role: 'user' | 'assistant'; text: string };

export type GivenFile = { filename: string; mediaType: string; bytes: Uint8Array<ArrayBuffer> };

/** What a client asks that speaks another API than ours, whichever it is. */
export type Question = {
  /** The deployment; absent where the conversation that is gone on with says it. */
  model: string | undefined;
  user: string | undefined;
  /** Words that no conversation has heard yet. */
  message: string;
  files: GivenFile[];
  fileIds: string[];
  toolResults: { call_id: string; output?: string; error?: string }[];
  /** To what waits for a person. */
  answers: GivenAnswer[];
  /** What was said before, as the client tells it. */
  earlier: TalkLine[];
  /** What the client would have a model believe: facts beside the instructions of the deployment. */
  system: string;
  tools: CallerTools;
  outputSchema: Record<string, unknown> | undefined;
  metadata: Record<string, string> | undefined;
  /** An answer to go on from. */
  previous: string | undefined;
  conversation: string | undefined;
  /** How the conversation is found where nothing names it. */
  talk: Talk | undefined;
};

export type GivenAnswer = {
  id: string;
  answer:
    | { approve?: boolean; answers?: string[]; decision?: 'done' | 'could_not' | 'not_now'; present_user?: boolean }
    | 'cancel';
};

/** `isWhole`: the digest is of everything that was said, so a conversation that has gone on since is another. */
export type Talk = { digest: string; isWhole: boolean };

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');
