import type { Contender } from './contender.ts';
import { each, percentile } from './load.ts';
import { slowWords } from './model-process.ts';
import { cpuMs, postgresCpuMs, residentMb } from './processes.ts';

/** Figures of replies that the model types: 200 tokens over four seconds. Times are in milliseconds. */
export type TypedReplies = {
  serverCpu: number;
  postgresCpu: number;
  bothCpu: number;
  /** From the request to the first text at the client. */
  firstTextP50: number;
  firstTextP95: number;
  /** Between two arrivals of text at the client. The model sends a token every 20 ms. */
  pauseP95: number;
  /** Memory of the server in the middle of the replies, less than before, per open reply. */
  kilobytesPerReply: number;
};

/** `rounds` replies of each of `atOnce` readers. */
export async function measureTypedReplies(
  contender: Contender,
  { postmaster, atOnce, rounds }: { postmaster: number; atOnce: number; rounds: number },
): Promise<TypedReplies> {
  const replies = atOnce * rounds;
  const waits: number[] = [];
  const pauses: number[] = [];
  const before = { server: cpuMs(contender.pid), postgres: postgresCpuMs(postmaster), mb: residentMb(contender.pid) };
  let mb = before.mb;
  // Two seconds into the first round, all of its replies are open.
  const middle = setTimeout(() => {
    mb = residentMb(contender.pid);
  }, 2_000);
  await each(replies, atOnce, async () => {
    const { sentAt, textAt } = await contender.turn(slowWords);
    waits.push((textAt[0] as number) - sentAt);
    for (const [at, time] of textAt.entries()) if (at > 0) pauses.push(time - (textAt[at - 1] as number));
  });
  clearTimeout(middle);
  const serverCpu = (cpuMs(contender.pid) - before.server) / replies;
  const postgresCpu = (postgresCpuMs(postmaster) - before.postgres) / replies;
  waits.sort((a, b) => a - b);
  pauses.sort((a, b) => a - b);
  return {
    serverCpu,
    postgresCpu,
    bothCpu: serverCpu + postgresCpu,
    firstTextP50: percentile(waits, 0.5),
    firstTextP95: percentile(waits, 0.95),
    pauseP95: percentile(pauses, 0.95),
    kilobytesPerReply: Math.max(0, ((mb - before.mb) * 1024) / atOnce),
  };
}
