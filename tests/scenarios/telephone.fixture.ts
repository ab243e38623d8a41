import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setupVoice } from '@vestra/server/operator/setup-voice';
import { createOfflineSpeech } from '@vestra/server/voice/speech/offline-speech';
import { createResampler } from '@vestra/server/voice/speech/sound';
import { samplesPerSecond } from '@vestra/server/voice/speech/speech';
import { openTextToSpeech } from '@vestra/server/voice/speech/text-to-speech';
import { callFiles, speechFiles } from '@vestra/server/voice/speech/voice-packages';
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

type Note = Record<string, unknown> & { at: number };

/** A browser's end of a call without a browser: it speaks with a synthetic voice and transcribes the reply. */
type Telephone = {
  /** The server's answer to the offer. */
  answer: { sdp: string; ends_at: string };
  /** Says it into the microphone; resolves when the last word is out. */
  speak: (text: string) => Promise<void>;
  /** Waits until something is heard, then for silence, and gives the words. */
  listen: () => Promise<string>;
  /** Resolves with the first sound that is heard from now on. */
  sound: () => Promise<void>;
  /** Resolves when nothing has been heard for a moment. */
  silence: () => Promise<void>;
  /** Notes sent to the page, oldest first, with their times. */
  notes: Note[];
  note: (isWanted: (note: Note) => boolean) => Promise<Note>;
  /** Resolves when the other side has gone. */
  gone: Promise<void>;
  hangUp: () => void;
  close: () => void;
};

export type Telephones = {
  /**
   * `onlyRelays`: its sound goes through the relays that the session is told of, and no other way. `patienceMs`: how long any
   * one thing is waited for; what cannot come any more, because the call is over, is not waited for at all.
   */
  call: (
    server: Pick<TestServer, 'call'>,
    session: { id: string; token: string },
    options?: { onlyRelays?: boolean; patienceMs?: number },
  ) => Promise<Telephone>;
  /** The offer of a browser that never calls. */
  offer: () => Promise<string>;
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
  const speak = await openTextToSpeech(speechFiles(voiceFolder).flite);
  const ears = createOfflineSpeech({ folder: voiceFolder });
  const open = new Set<Telephone>();
  const said = new Map<string, Promise<Int16Array>>();

  /** Made once: all telephones of a test share a thread, which stutters while one of them makes a sentence. */
  function sayAs(text: string): Promise<Int16Array> {
    const sound = said.get(text) ?? speak(text, 'slt');
    said.set(text, sound);
    return sound;
  }

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

  return {
    sayAs,
    understand,
    async offer() {
      const peer: RTCPeerConnection = new wrtc.RTCPeerConnection({});
      peer.addTransceiver(new wrtc.nonstandard.RTCAudioSource().createTrack(), { direction: 'sendrecv' });
      await peer.setLocalDescription(await peer.createOffer());
      await new Promise<void>((resolve) => {
        peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
      });
      const { sdp = '' } = peer.localDescription ?? {};
      peer.close();
      return sdp;
    },
    async call(server, session, { onlyRelays = false, patienceMs = 60_000 } = {}) {
      const told = await server.call('GET', `/v1/sessions/${session.id}`, { key: session.token });
      const peer: RTCPeerConnection = new wrtc.RTCPeerConnection({
        iceServers: told.body.ice_servers ?? [],
        iceTransportPolicy: onlyRelays ? 'relay' : 'all',
      });
      const source = new wrtc.nonstandard.RTCAudioSource();
      peer.addTransceiver(source.createTrack(), { direction: 'sendrecv' });
      const channel = peer.createDataChannel('vestra');
      const notes: Note[] = [];
      /** Sound received from the beginning of `listen` to its end. */
      let heard: Int16Array[] | null = null;
      let loudAt = 0;
      let queue: Int16Array = new Int16Array(0);
      let resample = createResampler(48_000, samplesPerSecond);
      let rate = 48_000;
      let isGone = false;
      const gone = Promise.withResolvers<void>();
      const leave = () => {
        isGone = true;
        clearInterval(microphone);
        gone.resolve();
      };
      const close = () => {
        leave();
        peer.close();
      };
      const until = async (what: string, isSo: () => boolean) => {
        const since = performance.now();
        while (!isSo()) {
          const last = JSON.stringify(notes.slice(-4));
          if (isGone) throw new Error(`The call was over before ${what}. Told last: ${last}`);
          if (performance.now() - since > patienceMs)
            throw new Error(`${patienceMs / 1000} seconds were not enough for this: ${what}. Told last: ${last}`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      };
      peer.ontrack = ({ track }) => {
        new wrtc.nonstandard.RTCAudioSink(track).ondata = ({ samples, sampleRate, channelCount = 1 }: SoundData) => {
          if (sampleRate !== rate) {
            rate = sampleRate;
            resample = createResampler(rate, samplesPerSecond);
          }
          if (samples.some((sample) => Math.abs(sample) > loud)) loudAt = performance.now();
          if (heard === null) return;
          const mono = channelCount === 1 ? samples : samples.filter((_, at) => at % channelCount === 0);
          heard.push(resample(mono.slice()));
        };
      };
      channel.onmessage = ({ data }) => void notes.push({ ...JSON.parse(data), at: performance.now() });
      channel.onclose = leave;
      peer.onconnectionstatechange = () => {
        if (['failed', 'closed', 'disconnected'].includes(peer.connectionState)) leave();
      };
      const microphone = steadily(() => {
        const samples = new Int16Array(160);
        samples.set(queue.subarray(0, 160));
        queue = queue.slice(160);
        source.onData({ samples, sampleRate: samplesPerSecond, channelCount: 1, bitsPerSample: 16 });
      });
      async function connect(): Promise<Telephone['answer']> {
        await peer.setLocalDescription(await peer.createOffer());
        await until('its addresses are known', () => peer.iceGatheringState === 'complete');
        const answer = await server.call('POST', `/v1/sessions/${session.id}/voice`, {
          key: session.token,
          body: { sdp: peer.localDescription?.sdp },
        });
        if (answer.status !== 200) throw new Error(answer.text);
        await peer.setRemoteDescription({ type: 'answer', sdp: answer.body.sdp });
        await until('it is connected', () => peer.connectionState === 'connected' && channel.readyState === 'open');
        return answer.body;
      }
      const answer = await connect().catch((error: unknown) => {
        close();
        throw error;
      });
      const sound = async (since = performance.now()) => void (await until('a sound is heard', () => loudAt > since));
      const silence = async () => void (await until('nothing is heard', () => performance.now() - loudAt > silentMs));
      const telephone: Telephone = {
        answer,
        notes,
        gone: gone.promise,
        sound,
        silence,
        async speak(text) {
          queue = withoutEnd(await sayAs(text));
          await until('all is said', () => queue.length === 0);
        },
        async listen() {
          const pieces: Int16Array[] = [];
          heard = pieces;
          await sound();
          await silence();
          heard = null;
          return understand(joined(pieces));
        },
        async note(isWanted) {
          await until('it is told that', () => notes.some(isWanted));
          return notes.find(isWanted) as Note;
        },
        hangUp: () => channel.send('hang_up'),
        close() {
          close();
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

/** Without the silence that a made voice ends with: the end of speech is its last sound. */
function withoutEnd(samples: Int16Array): Int16Array {
  return samples.slice(0, samples.findLastIndex((sample) => Math.abs(sample) > loud) + 1);
}

function steadily(work: () => void): NodeJS.Timeout {
  const begunAt = performance.now();
  let done = 0;
  return setInterval(() => {
    const due = Math.floor((performance.now() - begunAt) / 10);
    for (; done < due; done++) work();
  }, 5);
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
