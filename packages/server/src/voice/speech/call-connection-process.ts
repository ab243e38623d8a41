/**
 * The WebRTC side of one call, in its own process: a hostile peer that crashes the native code ends only this call. It
 * detects speech and stops speaking without asking the server, so that an interruption counts at once.
 */
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { callPipe, openCallChannel } from './call-channel.ts';
import type { CallOffer, ConnectionSettings, FromConnection, PageNote, ToConnection } from './call-connection.ts';
import { createLoudspeaker, createResampler, createSpeechGate, frameSamples } from './sound.ts';
import { samplesPerSecond } from './speech.ts';
import { openVoiceActivity } from './speech-models.ts';

/** The part of @roamhq/wrtc that browsers do not have. */
type SoundData = { samples: Int16Array; sampleRate: number; channelCount?: number; bitsPerSample?: number };
type Wrtc = {
  RTCPeerConnection: new (options: Record<string, unknown>) => RTCPeerConnection;
  nonstandard: {
    RTCAudioSource: new () => { createTrack: () => MediaStreamTrack; onData: (data: SoundData) => void };
    RTCAudioSink: new (track: MediaStreamTrack) => { ondata: (data: SoundData) => void };
  };
};

const { files, runtime, network } = JSON.parse(process.argv[2] as string) as ConnectionSettings;
const wrtc: Wrtc = createRequire(import.meta.url)(files.wrtc);
const { send: report } = openCallChannel<FromConnection>(new Socket({ fd: callPipe }), {
  maxBytes: Number.POSITIVE_INFINITY,
  message: (message) => obey(message as ToConnection),
  /** The server process is gone, so report the end to the page from here. */
  end() {
    note({ type: 'ended', reason: 'lost' });
    close();
  },
});

/** A network that changes, such as from Wi-Fi to cable, recovers within this time or never. */
const lostAfterMs = 8_000;
const gatherMs = 3_000;
/** Time for the page to read the last note. The server kills this process half a second later. */
const farewellMs = 1_500;
/** Frames before the detected start of speech belong to it. */
const framesBefore = 12;
/** Ten seconds. A delayed process still handles earlier speech; a user who waited longer has hung up. */
const maxQueuedFrames = 312;

const speaker = createLoudspeaker((id) => report({ kind: 'said', id }));
const source = new wrtc.nonstandard.RTCAudioSource();
let connection: RTCPeerConnection | null = null;
let notes: RTCDataChannel | null = null;
let isConnected = false;
let unsent: PageNote[] = [];

function obey(message: ToConnection): void {
  if (message.kind === 'offer') void answer(message);
  if (message.kind === 'say') speaker.add(message.id, message.samples, message.isWhole);
  if (message.kind === 'resume') speaker.resume();
  if (message.kind === 'clear') speaker.clear();
  if (message.kind === 'note') note(message.note);
  if (message.kind === 'close') close();
}

async function answer({ sdp, iceServers }: CallOffer): Promise<void> {
  try {
    connection = new wrtc.RTCPeerConnection({ iceServers, ...(network.ports && { portRange: network.ports }) });
    // Loads the detector while the connection is negotiated.
    const detector = openVoiceActivity(runtime, files.activity);
    detector.catch(() => {});
    watch(connection, detector);
    await agree(connection, sdp).catch(refuseOffer);
    await gathered(connection);
    await detector;
    report({ kind: 'answer', sdp: connection.localDescription?.sdp ?? '' });
    speakSteadily();
  } catch (error) {
    if (!(error instanceof Refused)) refuse('process', error);
  }
}

/** A failure here is caused by the offer. Some faults appear only when it is answered. */
async function agree(peer: RTCPeerConnection, sdp: string): Promise<void> {
  await peer.setRemoteDescription({ type: 'offer', sdp });
  const transceiver = peer.getTransceivers().find(({ receiver }) => receiver.track.kind === 'audio');
  if (!transceiver) throw new Error('it offers no sound');
  await transceiver.sender.replaceTrack(source.createTrack());
  transceiver.direction = 'sendrecv';
  await peer.setLocalDescription(await peer.createAnswer());
}

class Refused extends Error {}

function refuseOffer(error: Error): never {
  refuse('sdp', error);
  throw new Refused();
}

function refuse(reason: 'sdp' | 'process', error: unknown): void {
  report({ kind: 'refused', reason, message: error instanceof Error ? error.message : 'unknown error' });
}

function watch(peer: RTCPeerConnection, detector: ReturnType<typeof openVoiceActivity>): void {
  let lost: NodeJS.Timeout | undefined;
  peer.ontrack = ({ track }) => void detector.then((isSpeech) => listen(track, isSpeech));
  peer.ondatachannel = ({ channel }) => {
    notes = channel;
    channel.onmessage = ({ data }) => {
      if (data === 'hang_up') report({ kind: 'hung_up' });
    };
    channel.onopen = () => {
      for (const each of unsent.splice(0)) note(each);
    };
  };
  peer.onconnectionstatechange = () => {
    clearTimeout(lost);
    const state = peer.connectionState;
    if (state === 'connected' && !isConnected) {
      isConnected = true;
      report({ kind: 'connected' });
    }
    if (state === 'failed' || state === 'closed') report({ kind: 'lost' });
    if (state === 'disconnected') lost = setTimeout(() => report({ kind: 'lost' }), lostAfterMs);
  };
}

function note(message: PageNote): void {
  if (notes?.readyState !== 'open') unsent = [...unsent.slice(-20), message];
  else notes.send(JSON.stringify(message));
}

function listen(track: MediaStreamTrack, probabilityOf: (frame: Int16Array) => Promise<number>): void {
  const gate = createSpeechGate();
  const frames: Int16Array[] = [];
  let rate = 0;
  let resample = createResampler(samplesPerSecond, samplesPerSecond);
  let held = new Int16Array(0);
  let before: Int16Array[] = [];
  let isHeard = false;
  let isWorking = false;

  new wrtc.nonstandard.RTCAudioSink(track).ondata = ({ samples, sampleRate, channelCount = 1 }) => {
    if (sampleRate !== rate) {
      rate = sampleRate;
      resample = createResampler(rate, samplesPerSecond);
    }
    const heard = resample(firstChannel(samples, channelCount));
    const joined = new Int16Array(held.length + heard.length);
    joined.set(held);
    joined.set(heard, held.length);
    let at = 0;
    for (; at + frameSamples <= joined.length; at += frameSamples) frames.push(joined.slice(at, at + frameSamples));
    held = joined.slice(at);
    if (frames.length > maxQueuedFrames) frames.splice(0, frames.length - maxQueuedFrames);
    if (!isWorking) void work();
  };

  async function work(): Promise<void> {
    isWorking = true;
    for (let frame = frames.shift(); frame; frame = frames.shift()) take(frame, await probabilityOf(frame));
    isWorking = false;
  }

  function take(frame: Int16Array, probability: number): void {
    const news = gate(probability, speaker.isSpeaking());
    if (news === 'started' || news === 'resumed') {
      isHeard = true;
      report({ kind: 'speech', news, broken: news === 'started' ? speaker.break() : null });
      for (const each of before) report({ kind: 'sound', samples: each });
      before = [];
    }
    if (isHeard) report({ kind: 'sound', samples: frame });
    else before = [...before, frame].slice(-framesBefore);
    if (news === 'paused' || news === 'ended') {
      isHeard = false;
      report({ kind: 'speech', news, broken: null });
    }
  }
}

function firstChannel(samples: Int16Array, channels: number): Int16Array {
  return channels === 1 ? samples : samples.filter((_, at) => at % channels === 0);
}

/** Ten milliseconds at a time and never ahead: sent audio cannot be taken back. */
function speakSteadily(): void {
  const begunAt = performance.now();
  let sent = 0;
  setInterval(() => {
    const due = Math.floor((performance.now() - begunAt) / 10);
    // After a delay, skip ahead instead of sending a burst.
    if (due - sent > 20) sent = due - 1;
    for (; sent < due; sent++) {
      source.onData({ samples: speaker.next(), sampleRate: samplesPerSecond, channelCount: 1, bitsPerSample: 16 });
    }
  }, 10);
}

/** Waits for all candidates: no later message could add one. */
function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    if (peer.iceGatheringState === 'complete') return resolve();
    const timer = setTimeout(resolve, gatherMs);
    peer.onicegatheringstatechange = () => {
      if (peer.iceGatheringState !== 'complete') return;
      clearTimeout(timer);
      resolve();
    };
  });
}

/** The page hangs up after it has read the reason. Leave after a while if it does not. */
function close(): void {
  const leave = () => {
    connection?.close();
    setTimeout(() => process.exit(), 100);
  };
  connection?.getSenders().forEach((sender) => void sender.replaceTrack(null));
  if (notes) notes.onclose = leave;
  setTimeout(leave, notes?.readyState === 'open' ? farewellMs : 0);
}
