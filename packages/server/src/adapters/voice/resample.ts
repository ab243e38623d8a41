/** How far the filter reaches to either side, in samples of the lower rate. */
const reach = 12;

/** From one rate to another, piece by piece: what one piece needs of the next waits for it. */
export function createResampler(from: number, to: number): (samples: Int16Array) => Int16Array {
  if (from === to) return (samples) => samples;
  const scale = Math.min(1, to / from);
  const half = Math.ceil(reach / scale);
  let held = new Float32Array(half);
  /** Where the next sample that goes out lies in `held`. */
  let position = half;

  return (samples) => {
    const input = new Float32Array(held.length + samples.length);
    input.set(held);
    for (let at = 0; at < samples.length; at++) input[held.length + at] = samples[at] as number;
    const out: number[] = [];
    while (position + half < input.length) {
      out.push(at(input, position, scale, half));
      position += from / to;
    }
    const dropped = Math.max(0, Math.floor(position) - half);
    held = input.slice(dropped);
    position -= dropped;
    return Int16Array.from(out, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
  };
}

function at(input: Float32Array, position: number, scale: number, half: number): number {
  const middle = Math.floor(position);
  let sum = 0;
  let weights = 0;
  for (let index = Math.max(0, middle - half + 1); index <= middle + half; index++) {
    const distance = index - position;
    const weight = sinc(distance * scale) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half));
    sum += weight * (input[index] ?? 0);
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
