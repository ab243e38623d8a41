export type { DocumentReader } from './documents/reader.ts';
export type { Embeddings } from './embeddings/embeddings.ts';
export { EmbeddingsFailure } from './embeddings/embeddings-failure.ts';
export type { McpClient } from './mcp-client/mcp-client.ts';
export type { McpTarget } from './mcp-client/session.ts';
