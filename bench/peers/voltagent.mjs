// A VoltAgent server as its documentation sets one up: one agent, its memory in PostgreSQL, its own HTTP server.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent, Memory, VoltAgent } from '@voltagent/core';
import { createPinoLogger } from '@voltagent/logger';
import { PostgreSQLMemoryAdapter } from '@voltagent/postgres';
import { honoServer } from '@voltagent/server-hono';

const { PORT, DATABASE_URL, MODEL_URL, POOL_SIZE, INSTRUCTIONS } = process.env;

// A warning on each call, about a message that VoltAgent itself writes, would only slow it down.
console.warn = () => {};

const model = createOpenAICompatible({ name: 'scripted', baseURL: MODEL_URL, apiKey: 'none', includeUsage: true });
const logger = createPinoLogger({ name: 'bench', level: 'error' });

const assistant = new Agent({
  id: 'bench',
  name: 'bench',
  instructions: INSTRUCTIONS,
  model: model('scripted'),
  memory: new Memory({
    storage: new PostgreSQLMemoryAdapter({ connection: DATABASE_URL, maxConnections: Number(POOL_SIZE) }),
  }),
  logger,
});

new VoltAgent({
  agents: { bench: assistant },
  server: honoServer({ port: Number(PORT), hostname: '127.0.0.1' }),
  logger,
  checkDependencies: false,
});
