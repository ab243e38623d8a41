import { createHmac } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';

/** The request body: a tool call that may change something. */
export type PolicyQuestion = {
  org_id: string;
  mode: Mode;
  user_id: string | null;
  conversation_id: string;
  task_id: string | null;
  deployment_id: string;
  deployment_version: number;
  tool: { name: string; server: string | null };
  arguments: unknown;
};

type PolicyAnswer = { kind: 'allowed' } | { kind: 'blocked'; message: string | null };

export type PolicyHook = {
  /** Blocks the call, with a reason, unless the hook allows it in time. Throws only the reason of the signal. */
  mayRun: (question: PolicyQuestion, signal?: AbortSignal) => Promise<PolicyAnswer>;
};

type Dependencies = {
  /** Null if the operator has no hook. Every call is then allowed. */
  url: string | null;
  /** `whsec_` followed by base64. */
  secret: string;
  /** Not the guarded fetcher: the operator's address may be private. */
  fetch?: typeof globalThis.fetch;
};

const answerTimeoutMs = 2000;
const maxAnswerBytes = 64 * 1024;
const maxMessageLength = 500;

export function createPolicyHook({ url, secret, fetch = globalThis.fetch }: Dependencies): PolicyHook {
  if (url === null) return { mayRun: async () => ({ kind: 'allowed' }) };

  return {
    async mayRun(question, signal) {
      signal?.throwIfAborted();
      const clock = AbortSignal.timeout(answerTimeoutMs);
      try {
        return await ask(question, signal ? AbortSignal.any([clock, signal]) : clock);
      } catch {
        signal?.throwIfAborted();
        return blocked(clock.aborted ? `gave no answer in ${answerTimeoutMs / 1000} seconds` : 'could not be reached');
      }
    },
  };

  async function ask(question: PolicyQuestion, signal: AbortSignal): Promise<PolicyAnswer> {
    const body = JSON.stringify(question);
    const headers = { 'content-type': 'application/json', ...signedHeaders(secret, body) };
    const response = await fetch(url as string, { method: 'POST', headers, body, signal, redirect: 'manual' });
    if (!response.ok) {
      await response.body?.cancel();
      return blocked(`answered ${response.status}`);
    }
    const text = await textOf(response);
    return text === null ? blocked('answered with too much') : readAnswer(text);
  }
}

/** Signed like webhooks: Standard Webhooks 1.0, with the same value as `Service-Signature`. */
function signedHeaders(secret: string, body: string): Record<string, string> {
  const id = newId('req');
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}

async function textOf({ body }: Response): Promise<string | null> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxAnswerBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(text: string): PolicyAnswer {
  const answer = parsed(text);
  if (typeof answer !== 'object' || answer === null || !('allow' in answer) || typeof answer.allow !== 'boolean') {
    return blocked('gave an answer that cannot be read');
  }
  if (answer.allow) return { kind: 'allowed' };
  const said = 'message' in answer && typeof answer.message === 'string' ? answer.message.trim() : '';
  return { kind: 'blocked', message: said === '' ? null : said.slice(0, maxMessageLength).toWellFormed() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const blocked = (what: string): PolicyAnswer => ({ kind: 'blocked', message: `The operator’s policy hook ${what}.` });

/** Signing secret if the operator has set none. It is the same in every process. */
export const ownPolicyHookSecret = (signingSecret: Buffer): string =>
  `whsec_${createHmac('sha256', signingSecret).update('policy-hook').digest('base64')}`;
