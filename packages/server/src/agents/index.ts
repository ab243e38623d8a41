export type { DocumentReader } from './documents/reader.ts';
export { type Embeddings, EmbeddingsFailure } from './embeddings/embeddings.ts';
export type { McpClient } from './mcp-client/mcp-client.ts';
export type { McpTarget } from './mcp-client/session.ts';
