import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calling, type Desk, inTurn, paperDesk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
let client: OpenAI;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk);
  client = new OpenAI({ apiKey: desk.testKey, baseURL: `${desk.url}/v1/openai`, maxRetries: 0 });
});
afterAll(() => desk.stop());

const model = 'desk';
const textFile = (text: string, name = 'note.txt') => new File([text], name, { type: 'text/plain' });
const lastAsked = () => JSON.stringify(desk.asked.at(-1));

describe('a file that OpenAI’s package uploads', () => {
  it('is read in messages of any user, and can be shown and deleted [OAI-705]', async () => {
    desk.script(() => ({ text: 'I see.' }));
    const file = await client.files.create({ file: textFile('The code is 4711.'), purpose: 'user_data' });
    expect(file).toMatchObject({ object: 'file', bytes: 17, filename: 'note.txt', purpose: 'user_data' });
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect((await desk.call('GET', `/v1/files/${file.id}`)).body).toMatchObject({ user_id: null, source: 'upload' });

    const content = [
      { type: 'text' as const, text: 'Read this' },
      { type: 'file' as const, file: { file_id: file.id } },
    ];
    for (const user of ['ada', undefined]) {
      await client.chat.completions.create({ model, messages: [{ role: 'user', content }], user });
      expect(lastAsked()).toContain('The code is 4711.');
    }
    const input = [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: file.id }] }];
    const response = await client.responses.create({ model, input, user: 'ada' });
    expect(lastAsked()).toContain('The code is 4711.');
    const { data } = await client.responses.inputItems.list(response.id);
    expect(data).toMatchObject([{ type: 'message', content: [{ type: 'input_file', filename: 'note.txt' }] }]);

    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  });

  it('of one user is not read for another [OAI-705]', async () => {
    const of = { file: textFile('Secret'), purpose: 'user_data', user: 'ada' } as OpenAI.FileCreateParams;
    const file = await client.files.create(of);
    expect((await desk.call('GET', `/v1/files/${file.id}`)).body.user_id).toBe('ada');
    const input = [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: file.id }] }];
    await expect(client.responses.create({ model, input, user: 'eve' })).rejects.toMatchObject({ status: 400 });
  });

  it('is refused in a sentence if it is too large or is no form [OAI-705]', async () => {
    const large = new File([new Uint8Array(11 * 1024 * 1024)], 'large.bin');
    await expect(client.files.create({ file: large, purpose: 'user_data' })).rejects.toMatchObject({
      status: 413,
      code: 'file_too_large',
      message: expect.stringContaining('larger than this route takes'),
    });
    const raw = await desk.call('POST', '/v1/openai/files', { body: { purpose: 'user_data' } });
    expect([raw.status, raw.body.error]).toMatchObject([
      400,
      { code: 'multipart_required', type: 'invalid_request_error' },
    ]);
  });
});

describe('the input of a response', () => {
  const inputOf = async (id: string) => (await client.responses.inputItems.list(id, { order: 'asc' })).data;

  it('is its message [OAI-706]', async () => {
    desk.script(() => ({ text: 'Hello.' }));
    const { id } = await client.responses.create({ model, input: 'Good morning' });
    expect(await inputOf(id)).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Good morning' }] },
    ]);
    const unknown = client.responses.inputItems.list('resp_nothing');
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'response_not_found' });
  });

  it('is the results of functions that it continued with [OAI-706]', async () => {
    const tools = [
      { type: 'function' as const, name: 'look', strict: false, parameters: { type: 'object', properties: {} } },
    ];
    const callsIn = ({ output }: OpenAI.Responses.Response) =>
      output.filter(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall[];
    desk.script(inTurn(calling('look', {}), { text: 'It is there.' }));
    const asked = await client.responses.create({ model, input: 'Look', tools });
    const [call] = callsIn(asked);
    const input = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'found 3' }];
    const answered = await client.responses.create({ model, input, tools, previous_response_id: asked.id });
    expect(answered.output_text).toBe('It is there.');
    expect(await inputOf(answered.id)).toMatchObject([
      { type: 'function_call_output', call_id: call?.call_id, output: expect.stringContaining('found 3') },
    ]);
    expect(await inputOf(asked.id)).toMatchObject([{ type: 'message' }]);

    desk.script(() => ({ text: '{}' }));
    const forced = await client.responses.create({ model, input: 'Look', tools, tool_choice: 'required' });
    const [second] = callsIn(forced);
    desk.script(() => ({ text: 'Done.' }));
    const result = [{ type: 'function_call_output' as const, call_id: second?.call_id ?? '', output: 'found 4' }];
    const last = await client.responses.create({ model, input: result, previous_response_id: forced.id });
    expect(await inputOf(last.id)).toMatchObject([
      { type: 'function_call_output', call_id: second?.call_id, output: 'found 4' },
    ]);
  });
});
