import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a call is bound to: its receiver, its name and its body. A seal that was made for one opens no other. */
type Call = { to: string; name: string };

export type CallSeal = {
  seal: (call: Call, body: Uint8Array) => string;
  /** The digest that the body must have; null where the seal is not good, too old, or was used before. */
  open: (call: Call, seal: string) => string | null;
};

/** A call travels milliseconds; the rest is what clocks of two machines may differ by. */
const goodForMs = 60_000;

const form = /^v1\.(\d{1,15})\.([\w-]{22})\.([\w-]{43})\.([\w-]{43})$/;

/** Seals by which processes that share the master key know each other. */
export function createCallSeal(signingSecret: Uint8Array, now: () => number = Date.now): CallSeal {
  const secret = createHmac('sha256', signingSecret).update('calls between processes').digest();
  const sign = (...parts: string[]) => createHmac('sha256', secret).update(parts.join('\n')).digest();
  // Whoever has seen a call go by cannot send it again: each nonce is good once.
  const used = new Map<string, number>();

  function isFirst(nonce: string): boolean {
    for (const [each, until] of used) {
      if (until > now()) break;
      used.delete(each);
    }
    if (used.has(nonce)) return false;
    used.set(nonce, now() + 2 * goodForMs);
    return true;
  }

  return {
    seal({ to, name }, body) {
      const sentAt = String(now());
      const nonce = randomBytes(16).toString('base64url');
      const digest = digestOf(body);
      return `v1.${sentAt}.${nonce}.${digest}.${sign(to, name, sentAt, nonce, digest).toString('base64url')}`;
    },
    open({ to, name }, seal) {
      const [, sentAt = '', nonce = '', digest = '', signature = ''] = form.exec(seal) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(to, name, sentAt, nonce, digest);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
      if (Math.abs(now() - Number(sentAt)) > goodForMs) return null;
      return isFirst(nonce) ? digest : null;
    },
  };
}

export const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url');
