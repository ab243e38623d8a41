import { createRequire } from 'node:module';
import { join } from 'node:path';
import { openFlite } from '@vestra/server/adapters/voice/flite';
import { createOfflineSpeech } from '@vestra/server/adapters/voice/offline-speech';
import { createResampler } from '@vestra/server/adapters/voice/resample';
import { samplesPerSecond } from '@vestra/server/adapters/voice/speech';
import { callFiles, speechFiles } from '@vestra/server/adapters/voice/voice-packages';
import { setupVoice } from '@vestra/server/operator/setup-voice';
import type { TestServer } from '../support/server.ts';

/** Where these tests keep what `vestra setup voice` adds, from one run to the next. */
export const voiceFolder = join(import.meta.dirname, '../../node_modules/.cache/vestra-voice');

/** Why there is no voice on this machine; null where there is. Brought by the command that brings it to everybody. */
export async function bringVoice(): Promise<string | null> {
  try {
    await setupVoice(voiceFolder);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

type SoundData = { samples: Int16Array; sampleRate: number; channelCount?: number; bitsPerSample?: number };

/** A browser's end of a call without a browser: it speaks with a voice of its own and writes down what it hears. */
type Telephone = {
  /** What the server answered to the offer. */
  answer: { sdp: string; ends_at: string };
  /** Says it into the microphone; resolves when the last word is out. */
  speak: (text: string) => Promise<void>;
  /** Waits until something is heard, then for silence, and gives the words. */
  listen: () => Promise<string>;
  /** Resolves with the first sound that is heard from now on. */
  sound: () => Promise<void>;
  /** Resolves when nothing has been heard for a moment. */
  silence: () => Promise<void>;
  /** What the page is told, oldest first. */
  notes: Record<string, unknown>[];
  note: (isWanted: (note: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
  /** Resolves when the other side has gone. */
  gone: Promise<void>;
  hangUp: () => void;
  close: () => void;
};

export type Telephones = {
  call: (server: Pick<TestServer, 'call'>, session: { id: string; token: string }) => Promise<Telephone>;
  /** A sentence as sound. */
  sayAs: (text: string) => Promise<Int16Array>;
  /** The words of sound at the rate of a call. */
  understand: (samples: Int16Array) => Promise<string>;
  close: () => Promise<void>;
};

const loud = 500;
const silentMs = 900;

export async function openTelephones(): Promise<Telephones> {
  const wrtc = createRequire(import.meta.url)(callFiles(voiceFolder).wrtc);
  const speak = await openFlite(speechFiles(voiceFolder).flite);
  const ears = createOfflineSpeech({ folder: voiceFolder });
  const open = new Set<Telephone>();

  async function understand(samples: Int16Array): Promise<string> {
    const call = ears.open('slt');
    const utterance = call.listen();
    // Minutes of silence before the first word lead the model astray.
    const first = samples.findIndex((sample) => Math.abs(sample) > loud);
    utterance.push(samples.slice(Math.max(0, first - samplesPerSecond / 4)));
    const words = await utterance.text();
    call.close();
    return words;
  }

  async function dial() {
    const peer: RTCPeerConnection = new wrtc.RTCPeerConnection({});
    const source = new wrtc.nonstandard.RTCAudioSource();
    peer.addTransceiver(source.createTrack(), { direction: 'sendrecv' });
    const channel = peer.createDataChannel('vestra');
    await peer.setLocalDescription(await peer.createOffer());
    await until(() => peer.iceGatheringState === 'complete');
    return { peer, source, channel, sdp: peer.localDescription?.sdp as string };
  }

  return {
    sayAs: (text) => speak(text, 'slt'),
    understand,
    async call(server, session) {
      const { peer, source, channel, sdp } = await dial();
      const heard: { at: number; samples: Int16Array }[] = [];
      const notes: Record<string, unknown>[] = [];
      let loudAt = 0;
      let queue: Int16Array = new Int16Array(0);
      let resample = createResampler(48_000, samplesPerSecond);
      let rate = 48_000;
      const gone = Promise.withResolvers<void>();
      peer.ontrack = ({ track }) => {
        new wrtc.nonstandard.RTCAudioSink(track).ondata = ({ samples, sampleRate, channelCount = 1 }: SoundData) => {
          if (sampleRate !== rate) {
            rate = sampleRate;
            resample = createResampler(rate, samplesPerSecond);
          }
          const mono = channelCount === 1 ? samples : samples.filter((_, at) => at % channelCount === 0);
          const now = performance.now();
          if (mono.some((sample) => Math.abs(sample) > loud)) loudAt = now;
          heard.push({ at: now, samples: resample(mono.slice()) });
        };
      };
      channel.onmessage = ({ data }) => void notes.push(JSON.parse(data));
      channel.onclose = () => gone.resolve();
      peer.onconnectionstatechange = () => {
        if (['failed', 'closed', 'disconnected'].includes(peer.connectionState)) gone.resolve();
      };
      const microphone = steadily(() => {
        const samples = new Int16Array(160);
        samples.set(queue.subarray(0, 160));
        queue = queue.slice(160);
        source.onData({ samples, sampleRate: samplesPerSecond, channelCount: 1, bitsPerSample: 16 });
      });
      const answer = await server.call('POST', `/v1/sessions/${session.id}/voice`, {
        key: session.token,
        body: { sdp },
      });
      if (answer.status !== 200) {
        clearInterval(microphone);
        peer.close();
        throw new Error(answer.text);
      }
      await peer.setRemoteDescription({ type: 'answer', sdp: answer.body.sdp });
      await until(() => peer.connectionState === 'connected' && channel.readyState === 'open');
      const sound = async (since = performance.now()) => void (await until(() => loudAt > since));
      const silence = async () => void (await until(() => performance.now() - loudAt > silentMs));
      const telephone: Telephone = {
        answer: answer.body,
        notes,
        gone: gone.promise,
        sound,
        silence,
        async speak(text) {
          queue = await speak(text, 'slt');
          await until(() => queue.length === 0);
        },
        async listen() {
          const since = performance.now();
          await sound(since);
          await silence();
          return understand(joined(heard.filter(({ at }) => at >= since).map(({ samples }) => samples)));
        },
        async note(isWanted) {
          await until(() => notes.some(isWanted));
          return notes.find(isWanted) as Record<string, unknown>;
        },
        hangUp: () => channel.send('hang_up'),
        close() {
          clearInterval(microphone);
          peer.close();
          open.delete(telephone);
        },
      };
      open.add(telephone);
      return telephone;
    },
    async close() {
      for (const each of open) each.close();
      await ears.close();
    },
  };
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  return Int16Array.from(pieces.flatMap((piece) => [...piece]));
}

function steadily(work: () => void): NodeJS.Timeout {
  const begunAt = performance.now();
  let done = 0;
  return setInterval(() => {
    const due = Math.floor((performance.now() - begunAt) / 10);
    for (; done < due; done++) work();
  }, 5);
}

async function until(isSo: () => boolean): Promise<void> {
  const since = performance.now();
  while (!isSo()) {
    if (performance.now() - since > 60_000) throw new Error('It did not come to that within a minute.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A file that a browser takes for its microphone. */
export function waveOf(samples: Int16Array): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.byteLength, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)]);
}
