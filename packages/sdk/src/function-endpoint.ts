import type { Client } from './client.ts';
import { carryOut } from './functions/company-function.ts';
import type { TakenCall } from './functions/held-call.ts';
import type { ServeOptions } from './functions.ts';
import { verifySigned, WebhookError } from './webhook.ts';

export type FunctionEndpointOptions = {
  functions: ServeOptions['functions'];
  /** The endpoint's signing secret, or both during rotation. */
  secret: string | readonly string[];
  /** Required for `progress` of functions. The key needs the scope `runtime`. */
  client?: Client | undefined;
  /** Receives errors of functions. The agent only learns that the call failed. */
  onError?: ((error: unknown, call: { call_id: string; name: string }) => void) | undefined;
};

/** Creates the handler for a deployment's function endpoint: a request from the service in, the response out. */
export function functionEndpoint(options: FunctionEndpointOptions): (request: Request) => Promise<Response> {
  const { functions, secret, client, onError = () => {} } = options;
  return async (request) => {
    const body = await request.text();
    let call: TakenCall;
    try {
      call = (await verifySigned({ body, headers: request.headers, secret })) as TakenCall;
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      return Response.json({ error: error.message }, { status: 400 });
    }
    const named = Object.hasOwn(functions, call.name) ? functions[call.name] : undefined;
    if (!named) return Response.json({ error: 'No such function is here.' }, { status: 404 });
    const { call_id, claim_id } = call;
    const progress = (text: string) =>
      void client?.functions.renew({ call_id, claim_id, progress: text.slice(0, 200) }).catch(() => {});
    const own = typeof named === 'function' ? { run: named } : named;
    const { answer, error } = await carryOut(own, call, { signal: request.signal, progress });
    if (error !== undefined) onError(error, call);
    return Response.json(answer);
  };
}
