import { readFile } from 'node:fs/promises';
import { openRuntime, readableModel, sessionOptions, type Tensor } from './onnx-runtime.ts';
import { frameSamples } from './speech-gate.ts';

/** The end of the frame before goes in front of each. */
const contextSamples = 64;

/** No louder than this (-60 dB) nobody speaks: most of a call is somebody who listens, behind a browser that takes away noise. */
const quiet = 32;

/** Silero's detector: how likely it is that a frame of sound holds speech. Takes half a millisecond, and silence nothing. */
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
