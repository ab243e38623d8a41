import type { ToolCaller } from './tool-caller.ts';

/** The page's address carries the token in its fragment; the bare token is for servers and stays out of a model's sight. */
export async function embedTool(given: Record<string, unknown>, { routes }: ToolCaller): Promise<unknown> {
  const { user, conversation, ...wanted } = given;
  const { token: _token, ...session } = await routes.call<Record<string, unknown>>({
    method: 'POST',
    path: '/v1/sessions',
    body: { ...wanted, user_id: user, conversation_id: conversation },
    headers: routes.once,
  });
  return session;
}
