import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import type { ApiResponse } from '../support/server.ts';
import { calling, type Desk, inTurn, resultsIn, startDesk } from './interactions.fixture.ts';

type Body = ApiResponse['body'];
type Call = readonly [name: string, given?: Record<string, unknown>];

/** A server whose agents have computers. */
export type ComputerDesk = Desk & {
  dataDir: string;
  /** Has work make these calls one after the other: what the model read of each, and the task. */
  calls: (body: Record<string, unknown>, ...calls: Call[]) => Promise<{ results: string[]; task: Body }>;
  /** Has work run these commands one after the other: what the model read of each. */
  commands: (body: Record<string, unknown>, ...commands: string[]) => Promise<string[]>;
  upload: (filename: string, bytes: Uint8Array | string, search?: string) => Promise<string>;
};

export async function startComputerDesk(env: Record<string, string> = {}): Promise<ComputerDesk> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vestra-desk-'));
  const desk = await startDesk({ VESTRA_DATA_DIR: dataDir, ...env });
  const calls: ComputerDesk['calls'] = async (body, ...made) => {
    desk.script(inTurn(...made.map(([name, given]) => calling(name, given)), { text: 'Done.' }));
    const task = await desk.work(body);
    return { results: resultsIn(desk.asked.at(-1)).map(plain), task };
  };
  return {
    ...desk,
    dataDir,
    calls,
    commands: async (body, ...commands) =>
      (await calls(body, ...commands.map((command): Call => ['run_command', { command }]))).results,
    async upload(filename, bytes, search = '') {
      const raw = new FormData();
      raw.set('file', new File([bytes as BlobPart], filename));
      const { status, body, text } = await desk.call('POST', `/v1/files${search}`, { raw });
      if (status !== 201) throw new Error(text);
      return body.id as string;
    },
    async stop() {
      await desk.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Without the fence in which every result of a tool stands. */
function plain(result: string): string {
  const inside = /^<data-([0-9a-f]{24}) of="[^"]*">\n([\s\S]*)\n<\/data-\1>$/.exec(result);
  if (!inside) throw new Error(`The result is not set apart as data: ${result}`);
  return inside[2] as string;
}

export const systemOf = (request: NormalisedRequest | undefined): string => request?.system.join('\n') ?? '';
