// LangGraph's open library as its documentation sets it up: one node that asks the model, checkpoints in PostgreSQL. Its
// own server keeps its state in memory or needs a licence, so the three routes of the benchmark stand on Hono here.
import { randomUUID } from 'node:crypto';
import { serve } from '@hono/node-server';
import { SystemMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { ChatOpenAI } from '@langchain/openai';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import pg from 'pg';

const { PORT, DATABASE_URL, MODEL_URL, POOL_SIZE, INSTRUCTIONS } = process.env;

const model = new ChatOpenAI({
  model: 'scripted',
  apiKey: 'none',
  configuration: { baseURL: MODEL_URL },
  streaming: true,
});

const checkpointer = new PostgresSaver(new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) }));
await checkpointer.setup();

const graph = new StateGraph(MessagesAnnotation)
  .addNode('assistant', async ({ messages }) => ({
    messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages])],
  }))
  .addEdge(START, 'assistant')
  .compile({ checkpointer });

const configOf = (threadId) => ({ configurable: { thread_id: threadId } });

const app = new Hono();
app.get('/ok', (c) => c.json({ ok: true }));
// A thread is its checkpoints: making one writes nothing.
app.post('/threads', (c) => c.json({ thread_id: randomUUID() }));
app.post('/threads/:id/runs/stream', async (c) => {
  const { input } = await c.req.json();
  return streamSSE(c, async (stream) => {
    const given = { messages: [{ role: 'user', content: input }] };
    const options = { ...configOf(c.req.param('id')), streamMode: 'messages' };
    // The first and the last piece of a model's stream carry no text.
    for await (const [message] of await graph.stream(given, options))
      if (message.text)
        await stream.writeSSE({ event: 'messages', data: JSON.stringify({ id: message.id, text: message.text }) });
    await stream.writeSSE({ event: 'end', data: '{}' });
  });
});
const messagesOf = async (c) => (await graph.getState(configOf(c.req.param('id')))).values.messages ?? [];
app.get('/threads/:id', async (c) => c.json({ thread_id: c.req.param('id'), messages: (await messagesOf(c)).length }));
app.get('/threads/:id/messages', async (c) => c.json((await messagesOf(c)).map(({ id, text }) => ({ id, text }))));
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' });
