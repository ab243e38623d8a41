import type { InteractionDraft } from '@vestra/agent/interaction';
import { askingTool, type OwnTool, text } from '@vestra/agent/own-tool';
import { z } from 'zod';

const week = 7 * 24 * 60 * 60;

export type ConnectableApp = { id: string; name: string };

const connectInput = z.strictObject({
  app: z.string().describe('The app.'),
  reason: text('What you need it for, in the person’s language, in one short sentence.', 100).optional(),
});

/** Has the person sign in to an app; its tools are there once they have. Only for apps that are not connected. */
export const connectApp = (apps: readonly ConnectableApp[], userId: string | null): OwnTool =>
  askingTool(
    {
      name: 'connect_app',
      description:
        'Ask the person to connect one of their apps, where what they want needs it, and wait until they have. You have its tools then.',
      input: connectInput,
      options: { app: apps.map(({ id }) => id) },
      isReadOnly: true,
    },
    ({ app, reason }) => connectDraft(apps.find(({ id }) => id === app) ?? { id: app, name: app }, userId, reason),
  );

/** The wait for a sign-in; it is settled by the sign-in and by nothing that anybody answers. */
export function connectDraft({ id, name }: ConnectableApp, userId: string | null, reason?: string): InteractionDraft {
  return {
    kind: 'connector_auth',
    type: 'connect',
    summary: summaryOf(`Connect ${name}.`, reason),
    moves_money: false,
    requires_present_user: false,
    details: {
      app: id,
      name,
      connect: { route: 'POST /v1/connections', body: { app: id, ...(userId !== null && { user_id: userId }) } },
    },
    expires_in_s: week,
  };
}

/** As long as any summary may be. */
const longest = 120;

function summaryOf(request: string, reason: string | undefined): string {
  const whole = `${request} ${reason?.replace(/\s+/gu, ' ').trim() ?? ''}`.trim();
  return whole.length <= longest ? whole : `${whole.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
