/** The same call as bench/model-client.ts makes it, through the AI SDK's provider. Its package is installed beside it. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

const model = createOpenAICompatible({
  name: 'compatible',
  baseURL: process.argv[2],
  includeUsage: true,
  supportsStructuredOutputs: true,
}).chatModel('scripted');

process.on('message', async ({ message, count }) => {
  const before = process.cpuUsage();
  for (let call = 0; call < count; call++) {
    const { stream } = await model.doStream({
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: message }] },
      ],
      abortSignal: new AbortController().signal,
    });
    let isComplete = false;
    for await (const part of stream) isComplete = part.type === 'finish';
    if (!isComplete) throw new Error('The answer has no end.');
  }
  const { user, system } = process.cpuUsage(before);
  process.send((user + system) / 1000 / count);
});
