// Open LangGraph Server as its documentation sets it up on Hono: the graph of langgraph.mjs behind the package's own routes,
// which speak the API of LangGraph's platform. Threads and checkpoints are in PostgreSQL. It opens its own connections.
import { serve } from '@hono/node-server';
import { SystemMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { registerGraph } from '@langgraph-js/pure-graph';
import LangGraphApp from '@langgraph-js/pure-graph/dist/adapter/hono/index.js';
import { Hono } from 'hono';

const { PORT, MODEL_URL, INSTRUCTIONS } = process.env;

// On each turn it warns about a column that its schema lacks. Writing that would only slow it down.
console.warn = () => {};
console.error = () => {};
console.debug = () => {};

const model = new ChatOpenAI({
  model: 'scripted',
  apiKey: 'none',
  configuration: { baseURL: MODEL_URL },
  streaming: true,
});

registerGraph(
  'bench',
  new StateGraph(MessagesAnnotation)
    .addNode('assistant', async ({ messages }) => ({
      messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages])],
    }))
    .addEdge(START, 'assistant')
    .compile(),
);

const app = new Hono();
app.get('/ok', (c) => c.json({ ok: true }));
app.route('/', LangGraphApp);
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' });
