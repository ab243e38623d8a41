/** How far the filter reaches to either side, in samples of the lower rate. */
const reach = 12;

/** From one rate to another, piece by piece: what one piece needs of the next waits for it. */
export function createResampler(from: number, to: number): (samples: Int16Array) => Int16Array {
  if (from === to) return (samples) => samples;
  const scale = Math.min(1, to / from);
  const half = Math.ceil(reach / scale);
  /** A sample that goes out lies between two that came in, at one of few places: each has its weights, made once. */
  const filters = new Map<number, Float32Array>();
  let held = new Float32Array(half);
  /** How many have gone out, and how many that came in were dropped from `held`: whole numbers do not drift. */
  let sent = 0;
  let dropped = -half;

  return (samples) => {
    const input = new Float32Array(held.length + samples.length);
    input.set(held);
    input.set(samples, held.length);
    const out: number[] = [];
    for (;;) {
      const middle = Math.floor((sent * from) / to) - dropped;
      if (middle + half >= input.length) break;
      const phase = (sent * from) % to;
      const weights = filters.get(phase) ?? filterOf(phase / to, scale, half);
      filters.set(phase, weights);
      let sum = 0;
      for (let at = 0; at < weights.length; at++) {
        sum += (weights[at] as number) * (input[middle - half + 1 + at] as number);
      }
      out.push(Math.max(-32_768, Math.min(32_767, Math.round(sum))));
      sent += 1;
    }
    const unused = Math.max(0, Math.floor((sent * from) / to) - dropped - half);
    held = input.slice(unused);
    dropped += unused;
    return Int16Array.from(out);
  };
}

/** A windowed sinc, as strong as what it is laid over. */
function filterOf(fraction: number, scale: number, half: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_, at) => {
    const distance = at - half + 1 - fraction;
    return sinc(distance * scale) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half));
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
