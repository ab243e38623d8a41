import { randomBytes } from 'node:crypto';
import { signWebhook, type WebhookEvent } from '@vestra/sdk/webhook';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { showTime } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { followOrgEvents } from './org-events.ts';

export const listen: OwnCommand = {
  flags: [['--secret <whsec>', 'The signing secret (or VESTRA_WEBHOOK_SECRET); absent: a new one.']],
  run,
};

/** The time that the service waits for a delivery's response. */
const withinMs = 15_000;

async function run({ terminal, isJson, values, flags, connect }: Invocation): Promise<void> {
  const to = readAddress(values.to as string | undefined);
  const given = (flags.secret as string | undefined) ?? terminal.env.VESTRA_WEBHOOK_SECRET;
  if (given && !/^whsec_[A-Za-z0-9+/]+=*$/.test(given)) throw misuse('A secret is `whsec_` and base64.', '--secret');
  const secret = given ?? `whsec_${randomBytes(32).toString('base64')}`;
  const client = await connect();
  const { signal } = terminal;
  const types = new Set((values.types as string[] | undefined) ?? []);
  const sayReady = () => {
    terminal.err(`Forwarding events to ${to}. Press Ctrl-C to stop.\n`);
    // This secret was created for this run and grants no access. The local endpoint needs it.
    if (!given) terminal.err(`The signing secret is ${secret}\n`);
  };
  for await (const event of followOrgEvents(client, { signal, onReady: sayReady })) {
    if (types.size > 0 && !types.has(event.type)) continue;
    const outcome = await forward({ event, to, secret, signal });
    if (isJson) terminal.out(`${JSON.stringify({ event_id: event.id, event_type: event.type, ...outcome })}\n`);
    else terminal.out(`${lineOf(terminal, event, outcome)}\n`);
  }
}

/** `localhost:3000/hooks` is accepted without a scheme, as in other tools. */
function readAddress(given: string | undefined): string {
  if (!given) throw misuse('Missing: --to.', '--to');
  const address = /^https?:\/\//i.test(given) ? given : `http://${given}`;
  if (URL.canParse(address) && !/^[a-z][\w+.-]*:\/\//i.test(address.replace(/^https?:\/\//i, ''))) return address;
  throw misuse(`--to expects an address such as localhost:3000/hooks, not "${given}".`, '--to');
}

type Outcome = { status_code: number | null; duration_ms: number; error: string | null };

/** Forwards one delivery as the service would send it. It is not retried: the user can run the command again. */
async function forward(delivery: {
  event: WebhookEvent;
  to: string;
  secret: string;
  signal: AbortSignal;
}): Promise<Outcome> {
  const { event, to, secret, signal } = delivery;
  const body = JSON.stringify(event);
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(to, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...(await signWebhook({ id: event.id, body, secret })) },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
    });
    await response.body?.cancel();
    return { status_code: response.status, duration_ms: took(), error: null };
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    return { status_code: null, duration_ms: took(), error: cause ?? (error as Error).message };
  }
}

function lineOf({ paint }: Terminal, event: WebhookEvent, { status_code, duration_ms, error }: Outcome): string {
  const isGood = status_code !== null && status_code < 300;
  const said = paint(isGood ? 'green' : 'red', String(status_code ?? error));
  return `${paint('dim', showTime(event.created_at))}  ${event.type.padEnd(24)}  ${event.id}  → ${said} ${paint('dim', `${duration_ms} ms`)}`;
}
