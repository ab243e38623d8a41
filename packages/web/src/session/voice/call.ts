import type { Client } from '@vestra/sdk/client';

export type CallState =
  | { phase: 'asking' | 'connecting' }
  /** Whose turn it is. */
  | { phase: 'listening' | 'thinking' | 'speaking' }
  | { phase: 'ended'; why: CallEnd };

export type CallEnd =
  | 'hung_up'
  | 'microphone_refused'
  | 'no_microphone'
  | 'nobody_speaks'
  | 'budget'
  | 'session_ended'
  /** By another call of the same session. */
  | 'replaced'
  | 'lost'
  | 'unavailable';

export type CallOf = {
  client: Client;
  sessionId: string;
  /** Whom the browser asks for a way to the server. */
  iceServers: RTCIceServer[];
  failed: (error: unknown) => void;
};

export type OwnCall = { mute: (isMuted: boolean) => void; hangUp: () => void };

/** What the server says beside the sound. */
type Note = { type: 'state'; state: string } | { type: 'heard'; text: string } | { type: 'ended'; reason: string };

const gatherMs = 1_000;
const lostAfterMs = 10_000;
const microphone = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/** Calls the agent of a session. `changed` hears of everything from here on, and last of its end. */
export function beginCall(
  { client, sessionId, iceServers, failed }: CallOf,
  changed: (state: CallState) => void,
): OwnCall {
  const peer = new RTCPeerConnection({ iceServers });
  const notes = peer.createDataChannel('vestra');
  const sound = new Audio();
  let stream: MediaStream | null = null;
  let lost: number | undefined;
  let isOver = false;
  /** As the server told it last. */
  let turn: CallState = { phase: 'connecting' };

  const end = (why: CallEnd) => {
    if (isOver) return;
    isOver = true;
    window.clearTimeout(lost);
    if (stream) stop(stream);
    sound.srcObject = null;
    // A note that is on its way still goes out.
    window.setTimeout(() => peer.close(), 100);
    changed({ phase: 'ended', why });
  };

  async function begin(): Promise<void> {
    changed({ phase: 'asking' });
    stream = await askForMicrophone();
    if (isOver) return stop(stream);
    changed({ phase: 'connecting' });
    for (const track of stream.getTracks()) peer.addTrack(track, stream);
    await peer.setLocalDescription(await peer.createOffer());
    await gathered(peer);
    const sdp = peer.localDescription?.sdp ?? '';
    const answer = await client.sessions.voice({ session_id: sessionId, sdp }, { retries: 0, timeoutMs: 20_000 });
    if (!isOver) await peer.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
  }

  peer.ontrack = ({ streams, track }) => {
    sound.srcObject = streams[0] ?? new MediaStream([track]);
    void sound.play();
  };
  peer.onconnectionstatechange = () => {
    window.clearTimeout(lost);
    if (isOver) return;
    if (peer.connectionState === 'failed') end('lost');
    if (peer.connectionState === 'connected') changed(turn);
    if (peer.connectionState !== 'disconnected') return;
    // Nobody hears what is said now.
    changed({ phase: 'connecting' });
    lost = window.setTimeout(() => end('lost'), lostAfterMs);
  };
  notes.onmessage = ({ data }) => {
    const note = JSON.parse(String(data)) as Note;
    if (note.type === 'ended') end(endOf(note.reason));
    if (note.type !== 'state' || isOver || !(note.state in turns)) return;
    turn = { phase: turns[note.state as keyof typeof turns] };
    changed(turn);
  };
  notes.onclose = () => end('lost');

  void begin().catch((error: unknown) => {
    if (error instanceof MicrophoneRefused) return end(error.why);
    failed(error);
    end('unavailable');
  });
  return {
    mute(isMuted) {
      for (const track of stream?.getAudioTracks() ?? []) track.enabled = !isMuted;
    },
    hangUp() {
      if (notes.readyState === 'open') notes.send('hang_up');
      end('hung_up');
    },
  };
}

/** To a person it is the agent that listens, whether somebody speaks or not. */
const turns = {
  listening: 'listening',
  hearing: 'listening',
  reading: 'thinking',
  thinking: 'thinking',
  speaking: 'speaking',
} as const;

const told: readonly CallEnd[] = ['hung_up', 'nobody_speaks', 'budget', 'session_ended', 'replaced'];
const endOf = (reason: string): CallEnd => told.find((each) => each === reason) ?? 'lost';

class MicrophoneRefused extends Error {
  readonly why: 'microphone_refused' | 'no_microphone';

  constructor(why: MicrophoneRefused['why']) {
    super(why);
    this.why = why;
  }
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

async function askForMicrophone(): Promise<MediaStream> {
  // Absent where the page came over plain http.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  try {
    if (!devices) throw new DOMException('', 'NotAllowedError');
    return await devices.getUserMedia({ audio: microphone });
  } catch (error) {
    const isMissing = error instanceof DOMException && error.name === 'NotFoundError';
    throw new MicrophoneRefused(isMissing ? 'no_microphone' : 'microphone_refused');
  }
}

/** All addresses go into the offer: there is no second message. Those that are late are seldom the ones that are used. */
function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    if (peer.iceGatheringState === 'complete') return resolve();
    window.setTimeout(resolve, gatherMs);
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
  });
}
