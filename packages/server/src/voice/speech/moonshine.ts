import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { openRuntime, readableModel, sessionOptions, type Tensor } from './onnx-runtime.ts';
import { samplesPerSecond } from './speech.ts';

type Files = { encoder: string; decoder: string; tokenizer: string };

const layers = 6;
const heads = 8;
const headSize = 36;
const beginToken = 1;
const endToken = 2;
/** Nobody speaks faster; a decoder that has lost its way repeats itself to this point and no further. */
const tokensPerSecond = 6.5;
/** The model was trained on at most half a minute. */
const longestSamples = 30 * samplesPerSecond;
const shortestSamples = samplesPerSecond / 10;

/** Moonshine tiny: the words of up to half a minute of English speech. */
export async function openMoonshine(
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
    const samples = Float32Array.from(sound.subarray(-longestSamples), (sample) => sample / 32_768);
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
      // What it read of the sound stays as the first step has it.
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
