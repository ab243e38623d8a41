import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddingSettings } from '@vestra/models/embeddings/embedding-vendor';

type Body = {
  input?: string[];
  dimensions?: number;
  requests?: { content: { parts: { text: string }[] }; taskType: string; outputDimensionality: number }[];
};
type EmbeddingRequest = { path: string; key: string | undefined; body: Body; texts: string[] };

/** Words with the same meaning have the same number. That is enough to test the flow of a text in any language. */
const meanings = [
  ['dog', 'dogs', 'hund', 'perro', 'cachorro', 'कुत्ता', '犬'],
  ['milk', 'milch', 'leche', 'leite', 'दूध', '牛乳'],
  ['train', 'zug', 'tren', 'trem', 'ट्रेन', '電車'],
];

/** An endpoint with the wire formats of all providers on a real socket. Its vectors only know a few words. */
export async function startEmbeddingEndpoint(
  /** Answers instead of the endpoint if it returns true. */
  intercept: (request: EmbeddingRequest, response: ServerResponse) => boolean | Promise<boolean> = () => false,
) {
  const asked: EmbeddingRequest[] = [];
  let size = 64;
  let running = 0;
  let mostRunning = 0;
  const server = createServer(async (request, response) => {
    mostRunning = Math.max(mostRunning, ++running);
    const body = JSON.parse(await textOf(request)) as Body;
    const texts = body.input ?? body.requests?.map(({ content }) => content.parts[0]?.text ?? '') ?? [];
    const { authorization, 'x-goog-api-key': key } = request.headers;
    const call: EmbeddingRequest = { path: request.url ?? '', key: authorization ?? String(key), body, texts };
    asked.push(call);
    if (!(await intercept(call, response))) {
      const vectors = texts.map((text) => vectorOf(text, size));
      const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse();
      const answer = body.requests ? { embeddings: vectors.map((values) => ({ values })) } : { object: 'list', data };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }
    running--;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    asked,
    mostRunning: () => mostRunning,
    /** Sets the length of the vectors from now on. */
    resize: (dimensions: number) => {
      size = dimensions;
    },
    settings: (provider: EmbeddingSettings['provider'] = 'openai', dimensions = 64): EmbeddingSettings => ({
      provider,
      apiKey: () => 'sk-embed-0123456789abcdef',
      baseUrl,
      model: 'scripted-embedding',
      dimensions,
    }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A number for each meaning, and a small one for each text, so that none is without direction. */
function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const [at, words] of meanings.entries()) {
    if (words.some((word) => text.toLowerCase().includes(word))) vector[at] = 3;
  }
  const hash = [...text].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) as number)) % 1_000_003, 7);
  const own = meanings.length + (hash % (dimensions - meanings.length));
  vector[own] = 0.5;
  return vector;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
