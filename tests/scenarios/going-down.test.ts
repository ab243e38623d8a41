import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { startTestServer } from '../support/server.ts';
import { door } from './conversations.fixture.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({ name: 'desk', memory: 'none' });
});
afterAll(() => server.stop());

/** A request of which the server has seen the first line and no more. */
async function beginRequest(url: string, line: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`${line} HTTP/1.1\r\nhost: ${hostname}\r\n`);
  return socket;
}

async function endRequest(socket: Socket, body: unknown): Promise<{ status: number; body: Answered }> {
  const sent = JSON.stringify(body);
  const headers = [
    `authorization: Bearer ${server.testKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(sent)}`,
    'connection: close',
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${sent}`);
  const answer = await text(socket);
  const at = answer.indexOf('\r\n\r\n');
  const json = answer.slice(answer.indexOf('{', at), answer.lastIndexOf('}') + 1);
  return { status: Number(answer.split(' ', 2)[1]), body: JSON.parse(json) };
}

type Answered = { error?: { type: string; code: string } };

describe('a server that is going down', () => {
  it('answers what has begun, and 503 `not_ready` to what comes after, of which nothing is done [ERR-019, OPS-205]', async () => {
    const leaver = await startTestServer({ beside: server, env: { ...server.env, VESTRA_DRAIN_SECONDS: '1' } });
    const gate = door();
    const asked = door();
    server.script(async () => {
      asked.open();
      await gate.opened;
      return { text: 'To the end.' };
    });
    const { body: conversation } = await leaver.call('POST', '/v1/conversations', { body: {} });
    const begun = leaver.call('POST', `/v1/conversations/${conversation.id}/messages`, {
      body: { message: 'Hi' },
      headers: { prefer: 'wait=60' },
    });
    await asked.opened;
    const late = await beginRequest(leaver.url, 'POST /v1/users');
    // A whole answer over another connection: by then the first line has been read.
    expect((await leaver.call('GET', '/v1/me')).status).toBe(200);

    const isReady = async () => (await fetch(`${leaver.url}/health/ready`)).status;
    expect(await isReady()).toBe(200);
    const stopping = leaver.stop();
    expect(await isReady()).toBe(503);
    expect((await leaver.call('GET', '/v1/me')).status).toBe(200);
    // The wait ends early, and the reply goes on.
    expect(await begun).toMatchObject({ status: 202, body: { conversation_id: conversation.id } });
    const refused = await endRequest(late, { user_id: 'too-late' });
    expect(refused).toMatchObject({ status: 503, body: { error: { type: 'upstream', code: 'not_ready' } } });
    gate.open();
    await stopping;
    expect((await server.call('GET', '/v1/users/too-late')).status).toBe(404);
    const path = `/v1/conversations/${conversation.id}`;
    await server.until(path, ({ status }) => status === 'idle');
    const { data } = (await server.call('GET', `${path}/messages`)).body;
    expect(data.map((message: { text: string }) => message.text)).toEqual(['To the end.', 'Hi']);
  });
});
