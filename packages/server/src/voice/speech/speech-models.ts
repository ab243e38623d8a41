import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { frameSamples } from './sound.ts';
import { samplesPerSecond } from './speech.ts';

type Files = { encoder: string; decoder: string; tokenizer: string };

const layers = 6;
const heads = 8;
const headSize = 36;
const beginToken = 1;
const endToken = 2;
/** No one speaks faster. A decoder that loops stops here. */
const tokensPerSecond = 6.5;
/** The model was trained on at most 30 seconds. */
const maxSamples = 30 * samplesPerSecond;
const shortestSamples = samplesPerSecond / 10;

/** Moonshine tiny: transcribes up to 30 seconds of English speech. */
export async function openSpeechToText(
  runtimeModule: string,
  files: Files,
): Promise<(sound: Int16Array) => Promise<string>> {
  const { InferenceSession, Tensor: NewTensor } = await openRuntime(runtimeModule);
  const open = async (file: string) => InferenceSession.create(readableModel(await readFile(file)), sessionOptions);
  const encoder = await open(files.encoder);
  const decoder = await open(files.decoder);
  const { default: tokenizer } = await import(pathToFileURL(files.tokenizer).href);

  const nothingPast = () => {
    const names = Array.from({ length: layers }, (_, layer) =>
      ['decoder', 'encoder'].flatMap((part) => ['key', 'value'].map((each) => `${layer}.${part}.${each}`)),
    ).flat();
    return new Map(names.map((name) => [name, new NewTensor('float32', new Float32Array(0), [0, heads, 1, headSize])]));
  };

  return async (sound) => {
    if (sound.length < shortestSamples) return '';
    const samples = Float32Array.from(sound.subarray(-maxSamples), (sample) => sample / 32_768);
    const { last_hidden_state } = await encoder.run({
      input_values: new NewTensor('float32', samples, [1, samples.length]),
    });
    const most = Math.ceil((samples.length / samplesPerSecond) * tokensPerSecond);
    const past = nothingPast();
    const tokens: number[] = [];
    for (let token = beginToken; tokens.length < most; tokens.push(token)) {
      const isFirst = tokens.length === 0;
      const answer = await decoder.run({
        input_ids: new NewTensor('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
        encoder_hidden_states: last_hidden_state as Tensor,
        use_cache_branch: new NewTensor('bool', [!isFirst], [1]),
        ...Object.fromEntries([...past].map(([name, tensor]) => [`past_key_values.${name}`, tensor])),
      });
      token = largestOf((answer.logits as Tensor).data);
      if (token === endToken) break;
      // The encoder values of the first step stay valid.
      for (const name of past.keys()) {
        if (isFirst || name.includes('decoder')) past.set(name, answer[`present.${name}`] as Tensor);
      }
    }
    return (tokenizer.decode([beginToken, ...tokens]) as string).trim();
  };
}

function largestOf(values: Float32Array): number {
  let largest = 0;
  for (let at = 1; at < values.length; at++) if ((values[at] as number) > (values[largest] as number)) largest = at;
  return largest;
}

/** Each frame is preceded by the end of the previous one. */
const contextSamples = 64;

/** Below this level (-60 dB) there is no speech. Most of a call is silence, because browsers remove noise. */
const quiet = 32;

/**
 * Silero's detector: the probability that a frame contains speech. It takes half a millisecond, and nothing for
 * silence.
 */
export async function openVoiceActivity(
  runtimeModule: string,
  model: string,
): Promise<(frame: Int16Array) => Promise<number>> {
  const { InferenceSession, Tensor: NewTensor } = await openRuntime(runtimeModule);
  const session = await InferenceSession.create(readableModel(await readFile(model)), sessionOptions);
  const sr = new NewTensor('int64', BigInt64Array.of(16_000n), []);
  let state: Tensor = new NewTensor('float32', new Float32Array(256), [2, 1, 128]);
  const input = new Float32Array(contextSamples + frameSamples);

  return async (frame) => {
    input.copyWithin(0, frameSamples);
    for (let at = 0; at < frameSamples; at++) input[contextSamples + at] = (frame[at] as number) / 32_768;
    if (frame.every((sample) => sample < quiet && sample > -quiet)) return 0;
    const { output, stateN } = await session.run({
      input: new NewTensor('float32', input.slice(), [1, input.length]),
      state,
      sr,
    });
    state = stateN as Tensor;
    return (output as Tensor).data[0] as number;
  };
}

/** The used part of onnxruntime-node, an optional package without types. */
type Tensor = { data: Float32Array };
type Session = { run: (inputs: Record<string, object>) => Promise<Record<string, Tensor>> };
type Runtime = {
  InferenceSession: { create: (model: Uint8Array, options: Record<string, unknown>) => Promise<Session> };
  Tensor: new (
    type: 'int64' | 'float32' | 'bool',
    values: BigInt64Array | Float32Array | readonly boolean[],
    shape: readonly number[],
  ) => Tensor;
};

/**
 * One thread: a second one busy-waits and costs half as much again. Full optimisation loads half a second longer and
 * runs no faster. Only errors are logged, because the runtime warns about every unused part of these models.
 */
const sessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'basic',
  logSeverityLevel: 3,
};

async function openRuntime(module: string): Promise<Runtime> {
  return (await import(module)).default;
}

/**
 * The runtime reads the ONNX format up to version 9. Version 10 adds only number types that these models do not use, so
 * the version byte can be changed.
 */
function readableModel(bytes: Uint8Array): Uint8Array {
  if (bytes[0] === 8 && bytes[1] === 10) bytes[1] = 9;
  return bytes;
}
