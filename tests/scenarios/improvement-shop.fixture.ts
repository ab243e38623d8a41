import type { AgentServer } from '../support/agent.ts';
import type { ApiResponse } from '../support/server.ts';
import { wrong } from './improver.fixture.ts';

export type Improvement = ApiResponse['body'];

/** Deployments with a fault, their conversations and their improvements. */
export function createShops(server: AgentServer) {
  let number = 0;
  const post = (path: string, body?: unknown, key?: string) =>
    server.call('POST', path, { ...(body !== undefined && { body }), ...(key && { key }) });

  /** A deployment whose instructions contradict its document. */
  async function deploy(more: Record<string, unknown> = {}): Promise<string> {
    const name = `shop-${++number}`;
    const { body: notebook } = await post('/v1/notebooks', { slug: `policies-${number}`, name: `Policies ${number}` });
    await post(`/v1/notebooks/${notebook.id}/documents`, { title: 'refunds.md', text: 'Refunds: 30 days.' });
    await server.apply({ name, instructions: wrong, knowledge: [{ notebook: notebook.id }], ...more });
    return name;
  }

  async function talk(deployment: string, message: string, userId = `user-${++number}`): Promise<string> {
    const { body } = await post('/v1/conversations', { deployment, message, user_id: userId });
    await server.until(`/v1/conversations/${body.id}`, ({ status }) => status === 'idle');
    return body.id;
  }

  async function rate(conversation: string, rating: 'good' | 'bad', note?: string): Promise<string> {
    const { body } = await server.call('GET', `/v1/conversations/${conversation}/messages`);
    const reply = body.data.find(({ role }: { role: string }) => role === 'agent');
    const answer = await post(`/v1/messages/${reply.id}/feedback`, { rating, ...(note && { note }) });
    if (answer.status >= 300) throw new Error(answer.text);
    return conversation;
  }

  const complain = async (shop: string) => rate(await talk(shop, 'How long can I return it?'), 'bad', 'It is 30 days.');

  const start = (deployment: string, body: object = {}) =>
    post(`/v1/deployments/${deployment}/improvements`, { from: { type: 'ratings' }, budget_usd: 20, ...body });

  const ended = (id: string): Promise<Improvement> =>
    server.until(`/v1/improvements/${id}`, ({ finished_at }) => finished_at !== null);

  async function improve(deployment: string, body: object = {}): Promise<Improvement> {
    const created = await start(deployment, body);
    if (created.status !== 201) throw new Error(created.text);
    return ended(created.body.id);
  }

  return { post, deploy, talk, rate, complain, start, ended, improve };
}
