// A Mastra server as its documentation sets one up: one agent, its memory in PostgreSQL, behind the Hono adapter.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { serve } from '@hono/node-server';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { MastraServer } from '@mastra/hono';
import { Memory } from '@mastra/memory';
import { PostgresStore } from '@mastra/pg';
import { Hono } from 'hono';

const { PORT, DATABASE_URL, MODEL_URL, POOL_SIZE, INSTRUCTIONS } = process.env;

const model = createOpenAICompatible({ name: 'scripted', baseURL: MODEL_URL, apiKey: 'none', includeUsage: true });

const assistant = new Agent({
  id: 'bench',
  name: 'bench',
  instructions: INSTRUCTIONS,
  model: model('scripted'),
  memory: new Memory(),
});

const mastra = new Mastra({
  agents: { bench: assistant },
  storage: new PostgresStore({ id: 'bench', connectionString: DATABASE_URL, max: Number(POOL_SIZE) }),
  logger: false,
});

const app = new Hono();
await new MastraServer({ app, mastra }).init();
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' });
