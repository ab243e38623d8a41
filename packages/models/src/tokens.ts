import type { Message } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';

/** About four characters per token, for models that do not report their usage. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4);

export function tokensOfRequest({ system, messages, tools, outputSchema }: ModelRequest): number {
  const texts = [...system, ...messages.flatMap(textsOf)];
  const schemas = [...tools, ...(outputSchema ? [outputSchema] : [])].map((each) => JSON.stringify(each));
  return [...texts, ...schemas].reduce((total, text) => total + tokensOf(text), 0);
}

function textsOf(message: Message): string[] {
  switch (message.role) {
    case 'user':
      return message.parts.map((part) => (part.kind === 'text' ? part.text : part.filename));
    case 'agent':
      return [message.text, ...message.calls.map(({ arguments: given }) => JSON.stringify(given) ?? '')];
    case 'tool':
      return message.results.map(({ output }) => output);
  }
}
