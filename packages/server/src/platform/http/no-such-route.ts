const ofOpenai = '/v1/openai/';
/** What clients of OpenAI's API call below an address that ends in `/v1`. */
const openaiPaths = /^\/v1\/(chat\/completions|completions|responses|embeddings|assistants|threads)(\/|$)/;

/** Whether a client of OpenAI's API asks, which reads errors in that API's shape. */
export const isOfOpenai = (path: string): boolean => path.startsWith(ofOpenai);

/** What to do instead, where it can be told what was meant. */
export function nearestRoute(method: string, path: string): string | undefined {
  if (isOfOpenai(path)) {
    const asked = `${method} ${path.slice(ofOpenai.length, ofOpenai.length + 100)}`;
    return `\`${asked}\` of OpenAI’s API is not offered here: only chat/completions, responses, conversations and models are.`;
  }
  if (openaiPaths.test(path)) {
    return 'No such route: OpenAI’s API is offered under /v1/openai. Give the client a base URL that ends so.';
  }
  return undefined;
}
