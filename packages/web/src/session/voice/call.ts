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
  /** Another call of the same session replaced it. */
  | 'replaced'
  | 'lost'
  | 'unavailable';

export type CallOf = {
  client: Client;
  sessionId: string;
  /** STUN and TURN servers. */
  iceServers: RTCIceServer[];
  failed: (error: unknown) => void;
};

export type OwnCall = {
  mute: (isMuted: boolean) => void;
  hangUp: () => void;
  /** Null until the microphone is allowed. */
  microphone: () => MediaStream | null;
};

/** Messages of the server on the data channel. */
type Note =
  | { type: 'state'; state: string }
  | { type: 'hearing' | 'heard' | 'saying'; text: string }
  | { type: 'ended'; reason: string };

/** The words of a call, as far as they are known. */
export type Caption = { by: 'user' | 'agent'; text: string; isWhole: boolean };

const gatherMs = 1_000;
const lostAfterMs = 10_000;
const microphone = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/**
 * Starts a voice call. `changed` receives every state, the end last. `moved` is called instead of the end if the server
 * restarts: the next call reaches another process.
 */
export function beginCall(
  { client, sessionId, iceServers, failed }: CallOf,
  changed: (state: CallState) => void,
  moved: () => void,
  captioned: (caption: Caption) => void,
): OwnCall {
  const peer = new RTCPeerConnection({ iceServers });
  const notes = peer.createDataChannel('vestra');
  const sound = new Audio();
  let stream: MediaStream | null = null;
  let lost: number | undefined;
  let isOver = false;
  /** The last state from the server. */
  let turn: CallState = { phase: 'connecting' };

  const close = () => {
    isOver = true;
    window.clearTimeout(lost);
    if (stream) stop(stream);
    sound.srcObject = null;
    // The delay lets a queued message be sent.
    window.setTimeout(() => peer.close(), 100);
  };
  const end = (why: CallEnd) => {
    if (isOver) return;
    close();
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
    // Audio is not transmitted while disconnected.
    changed({ phase: 'connecting' });
    lost = window.setTimeout(() => end('lost'), lostAfterMs);
  };
  // A browser under load can lose what arrives while the channel opens. The server listens from the start.
  notes.onopen = () => {
    if (isOver || turn.phase !== 'connecting') return;
    turn = { phase: 'listening' };
    changed(turn);
  };
  notes.onmessage = ({ data }) => {
    const note = JSON.parse(String(data)) as Note;
    if (isOver) return;
    if (note.type === 'ended' && note.reason === 'server_restarting') {
      close();
      moved();
    } else if (note.type === 'ended') end(endOf(note.reason));
    if (note.type === 'saying') captioned({ by: 'agent', text: note.text, isWhole: true });
    if (note.type === 'hearing' || note.type === 'heard') {
      captioned({ by: 'user', text: note.text, isWhole: note.type === 'heard' });
    }
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
    microphone: () => stream,
    mute(isMuted) {
      for (const track of stream?.getAudioTracks() ?? []) track.enabled = !isMuted;
    },
    hangUp() {
      if (notes.readyState === 'open') notes.send('hang_up');
      end('hung_up');
    },
  };
}

/** Maps server states to what the user sees. */
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
  // Missing without https.
  const devices: MediaDevices | undefined = navigator.mediaDevices;
  try {
    if (!devices) throw new DOMException('', 'NotAllowedError');
    return await devices.getUserMedia({ audio: microphone });
  } catch (error) {
    const isMissing = error instanceof DOMException && error.name === 'NotFoundError';
    throw new MicrophoneRefused(isMissing ? 'no_microphone' : 'microphone_refused');
  }
}

/** The offer contains all candidates, because there is no trickle ICE. Late candidates are rarely needed. */
function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    if (peer.iceGatheringState === 'complete') return resolve();
    window.setTimeout(resolve, gatherMs);
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
  });
}
