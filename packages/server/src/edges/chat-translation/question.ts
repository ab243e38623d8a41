import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { maxUploadBytes } from '@vestra/contract/files';
import { reservedToolNames } from '@vestra/contract/reserved-names';

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

/** Functions of the client's, as a message of ours takes them, and how the client calls them itself. */
type CallerTools = {
  declared: {
    name: string;
    description: string;
    input_schema: Record<string, unknown>;
    run_without_asking: true;
    timeout_s: number;
  }[];
  /** From the name here to the client's. */
  names: Record<string, string>;
};

type Given = {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
};

/** As long as any function of a caller's may take: the client goes on when it is ready. */
const longestSeconds = 600;

const longestName = 60;

/** Names here are lowercase; those of a client are its own. */
export function callerTools(given: readonly Given[], choice: 'auto' | 'none' | null | undefined): CallerTools {
  const names: Record<string, string> = {};
  const lastNumbers = new Map<string, number>();
  const declared = (choice === 'none' ? [] : given).map(({ name, description, parameters }) => {
    const own = freeName(name, names, lastNumbers);
    names[own] = name;
    return {
      name: own,
      description: description || name,
      input_schema: { type: 'object', ...parameters },
      // Whoever declares it runs it: no yes of a person's comes before the client's own.
      run_without_asking: true as const,
      timeout_s: longestSeconds,
    };
  });
  return { declared, names };
}

/** Numbers names that are used twice, from 2 on. `lastNumbers` keeps the last of each, so that none is tried again. */
function freeName(name: string, taken: Record<string, string>, lastNumbers: Map<string, number>): string {
  const snake = name
    .slice(0, longestName)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_');
  const begun = (/^[a-z]/.test(snake) ? snake : `f_${snake}`).slice(0, longestName);
  let number = lastNumbers.get(begun) ?? 1;
  let free = number === 1 ? begun : `${begun}_${number}`;
  while (Object.hasOwn(taken, free) || reservedToolNames.has(free)) free = `${begun}_${++number}`;
  lastNumbers.set(begun, number);
  return free;
}

/** `data:image/png;base64,…`, whose beginning the schema has looked at. */
export function bytesOfDataUrl(url: string): { mediaType: string; bytes: Uint8Array<ArrayBuffer> } {
  const mediaType = url.slice('data:'.length, url.indexOf(';'));
  return { mediaType, bytes: bytesOfBase64(url.slice(url.indexOf(',') + 1)) };
}

/** Longer than a file of the largest size with line breaks: refused before megabytes are decoded and sent on. */
const longestEncoded = maxUploadBytes * 1.5;

/** Each sign is looked at once: what a client sends may be megabytes of anything. */
export function bytesOfBase64(encoded: string): Uint8Array<ArrayBuffer> {
  if (encoded.length > longestEncoded) throw fail('file_too_large');
  const text = encoded.trimEnd();
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (/[^A-Za-z0-9+/\s]/.test(text.slice(0, text.length - padding))) {
    throw fail('invalid_request', { message: 'What is sent as a file is not base64.' });
  }
  return new Uint8Array(Buffer.from(text, 'base64'));
}
